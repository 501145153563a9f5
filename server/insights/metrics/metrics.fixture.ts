import type { TestProject } from '#test/kit/founder.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import type { TestServer } from '#test/kit/test-server.ts'

/** One run of an app as an SDK reports it. */
export type SentSession = {
  /** Its start before now. */
  readonly agoMs: number
  readonly did?: string
  readonly status?: string
  readonly mechanism?: string
  readonly release?: string
  readonly environment?: string
  readonly userAgent?: string
  /** Fields of the item that replace others. */
  readonly fields?: Record<string, unknown>
}

/** The user agent of a browser whose system is known. */
export const IPHONE =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1'

export const times = (n: number, session: SentSession): SentSession[] => Array.from({ length: n }, () => session)

/** Items that one envelope holds. */
const PER_ENVELOPE = 90

/** Sends sessions through the intake and digests them. */
export async function sendSessions(
  { url, app, service }: TestServer,
  project: TestProject,
  sessions: readonly SentSession[],
): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const now = app.clock.now().getTime()
  for (const [userAgent, of] of Map.groupBy(sessions, (one) => one.userAgent ?? 'sdk/1.0')) {
    for (let at = 0; at < of.length; at += PER_ENVELOPE) {
      const items = of.slice(at, at + PER_ENVELOPE).map((one) => JSON.stringify(itemOf(one, now)))
      const answer = await fetch(`${url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
        method: 'POST',
        headers: { 'user-agent': userAgent },
        body: ['{}', ...items.flatMap((item) => ['{"type":"session"}', item])].join('\n'),
      })
      if (answer.status !== 200) throw new Error(`the intake answered ${answer.status}: ${await answer.text()}`)
      await answer.text()
    }
  }
  await service.drain()
}

const itemOf = (session: SentSession, now: number): Record<string, unknown> => ({
  sid: newEventId(),
  init: true,
  did: session.did,
  status: session.status ?? 'exited',
  abnormal_mechanism: session.mechanism,
  started: new Date(now - session.agoMs).toISOString(),
  timestamp: new Date(now - session.agoMs + 1_000).toISOString(),
  attrs: { release: session.release ?? 'shop@1.0.0', environment: session.environment ?? 'production' },
  ...session.fields,
})
