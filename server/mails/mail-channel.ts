import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { AttemptResult, Channel } from '../outbox/channel.ts'

/** The mail as it is stored in its message. */
const Mail = z.object({ to: z.string(), subject: z.string(), text: z.string() })

const MINUTE_MS = 60_000

/** Sends mails through the SMTP server of the installation; a lane is an organisation. */
export const mailChannel: Channel = {
  name: 'mail',
  delaysMs: [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS],
  timeoutMs: 20_000,
  prepare: (app) => Promise.resolve(({ body }) => send(app, body)),
  settled: () => Promise.resolve(),
}

async function send(app: App, body: Buffer): Promise<AttemptResult> {
  const startedMs = app.clock.monotonicMs()
  await app.mail.send(Mail.parse(JSON.parse(body.toString())))
  const durationMs = app.clock.monotonicMs() - startedMs
  return { outcome: 'delivered', status: null, errorCode: null, errorText: null, durationMs, details: {} }
}
