/** Requests to the intake as an SDK sends them, always to this server, also if the DSN names another host. */

/** `https://<key>@host/<number>` → its key and number. */
export function partsOfDsn(dsn: string): { key: string; number: string; host: string } {
  const url = new URL(dsn)
  return { key: url.username, number: url.pathname.split('/').findLast((part) => part !== '') ?? '', host: url.host }
}

const envelopePath = (dsn: string): string => {
  const { key, number } = partsOfDsn(dsn)
  return `/api/${number}/envelope/?sentry_version=7&sentry_key=${encodeURIComponent(key)}&sentry_client=faultline-onboarding%2F1`
}

/** Whether the intake responds; sends no event. */
export async function askIntake(dsn: string): Promise<{ ok: boolean; status: number; durationMs: number }> {
  const start = performance.now()
  const response = await fetch(envelopePath(dsn), { method: 'OPTIONS', credentials: 'omit' })
  return { ok: response.ok, status: response.status, durationMs: performance.now() - start }
}

const hexId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * Sends one error event, marked as a test.
 * @throws Error with the intake's reason if it is rejected
 */
export async function sendTestEvent(dsn: string): Promise<void> {
  const eventId = hexId()
  const event = {
    event_id: eventId,
    timestamp: Date.now() / 1000,
    platform: 'javascript',
    level: 'error',
    environment: 'test',
    tags: { 'faultline.test': 'yes' },
    exception: {
      values: [
        {
          type: 'TestEvent',
          value: 'Sent from the onboarding page of Faultline',
          mechanism: { type: 'generic', handled: true },
          stacktrace: {
            frames: [
              { function: 'sendTestEvent', filename: 'onboarding-test-event.ts', in_app: true, lineno: 1, colno: 1 },
            ],
          },
        },
      ],
    },
    breadcrumbs: {
      values: [{ timestamp: Date.now() / 1000 - 1, type: 'user', category: 'ui.click', message: 'Send a test event' }],
    },
  }
  const payload = JSON.stringify(event)
  const header = JSON.stringify({ event_id: eventId, sent_at: new Date().toISOString() })
  const item = JSON.stringify({ type: 'event', length: new TextEncoder().encode(payload).length })
  const response = await fetch(envelopePath(dsn), {
    method: 'POST',
    credentials: 'omit',
    headers: { 'content-type': 'application/x-sentry-envelope' },
    body: `${header}\n${item}\n${payload}\n`,
  })
  if (response.ok) return
  const answer: unknown = await response.json().catch(() => null)
  const detail =
    typeof answer === 'object' && answer !== null && 'detail' in answer && typeof answer.detail === 'string'
      ? answer.detail
      : null
  const reason =
    typeof answer === 'object' && answer !== null && 'error' in answer && typeof answer.error === 'string'
      ? answer.error
      : null
  throw new Error(detail ?? reason ?? response.headers.get('x-sentry-error') ?? `status ${response.status}.`)
}
