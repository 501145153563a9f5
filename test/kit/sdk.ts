import { randomBytes } from 'node:crypto'

/** Requests as an SDK sends them, for tests of what happens afterwards. */

export const newEventId = (): string => randomBytes(16).toString('hex')

/** The error of an event. Events whose code failed `in` the same function are one issue. */
export type ErrorFields = {
  /** A function: `alpha` throws `alphaError: alpha failed` in `src/alpha.ts`. */
  readonly in?: string
  /** Module of the frame, as Java and Python name it. */
  readonly module?: string
  readonly type?: string
  readonly value?: string
  /** True when the app caught the error; false for a crash. */
  readonly handled?: boolean
  /** Replaces the one frame of `in`. */
  readonly frames?: readonly Record<string, unknown>[]
}

/** Fields as SDKs send them; `error` is the name of the function that failed, or more of the error. */
export type EventFields = { readonly error?: string | ErrorFields; readonly [field: string]: unknown }

/** An error event; given fields replace the defaults. */
export function anEvent({ error, ...fields }: EventFields = {}): Record<string, unknown> {
  return {
    event_id: newEventId(),
    platform: 'javascript',
    level: 'error',
    release: 'shop@1.0.0',
    environment: 'production',
    exception: { values: [error === undefined ? anException() : anError(error)] },
    ...fields,
  }
}

function anError(error: string | ErrorFields): Record<string, unknown> {
  const { in: name, module, type, value, handled, frames } = typeof error === 'string' ? { in: error } : error
  const thrownIn =
    name === undefined ? undefined : [{ filename: `src/${name}.ts`, function: name, module, lineno: 1, in_app: true }]
  const shown = frames ?? thrownIn
  return anException({
    ...(name === undefined ? {} : { type: `${name}Error`, value: `${name} failed` }),
    ...(type === undefined ? {} : { type }),
    ...(value === undefined ? {} : { value }),
    ...(handled === undefined ? {} : { mechanism: { type: handled ? 'generic' : 'onerror', handled } }),
    ...(shown === undefined ? {} : { stacktrace: { frames: shown } }),
  })
}

/** The exception of an event in full. */
export function anException(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    type: 'PaymentError',
    value: 'card declined',
    mechanism: { type: 'generic', handled: true },
    stacktrace: {
      frames: [
        { filename: 'node:internal/main', function: 'run', lineno: 1, in_app: false },
        {
          filename: 'src/checkout.ts',
          function: 'confirmPayment',
          lineno: 42,
          colno: 7,
          in_app: true,
          context_line: '  throw new PaymentError()',
          pre_context: ['async function confirmPayment() {'],
          post_context: ['}'],
        },
      ],
    },
    ...fields,
  }
}

const MINUTE_MS = 60_000

/**
 * An envelope with one event. It has `sent_at` only when the event's time is near the real one: with a test's clock the
 * intake would take the difference for a wrong client clock and correct it.
 */
export function envelopeOf(event: Record<string, unknown>): string {
  const now = new Date()
  const at = event['timestamp']
  const isOtherClock = typeof at === 'number' && Math.abs(at * 1000 - now.getTime()) > MINUTE_MS
  const header = { event_id: event['event_id'], ...(isOtherClock ? {} : { sent_at: now.toISOString() }) }
  return `${JSON.stringify(header)}\n{"type":"event"}\n${JSON.stringify(event)}\n`
}

/** Parts of a DSN. */
export function dsnParts(dsn: string): { origin: string; key: string; projectNumber: string } {
  const url = new URL(dsn)
  return { origin: url.origin, key: url.username, projectNumber: url.pathname.slice(1) }
}

/** Sends one event as SDKs do; returns the status. The service's own address replaces the DSN's. */
export async function sendEvent(
  serviceUrl: string,
  dsn: string,
  event: Record<string, unknown>,
): Promise<{ status: number; id: string | null }> {
  const { key, projectNumber } = dsnParts(dsn)
  const response = await fetch(`${serviceUrl}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
    method: 'POST',
    body: envelopeOf(event),
  })
  const body: unknown = await response.json()
  const id = typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'string' ? body.id : null
  return { status: response.status, id }
}
