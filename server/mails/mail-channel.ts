import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { AttemptResult, Channel, SettledAttempt } from '../outbox/channel.ts'

/** The mail as it is stored in its message. */
const Mail = z.object({ to: z.string(), subject: z.string(), text: z.string() })

const MINUTE_MS = 60_000

/** Sends mails through the SMTP server of the installation; a lane is an organisation. */
export const mailChannel: Channel = {
  name: 'mail',
  delaysMs: [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS],
  timeoutMs: 20_000,
  prepare: (app) => Promise.resolve(({ body }, signal) => send(app, body, signal)),
  async settled(_tx, app, attempts) {
    reportLost(app, attempts)
  },
}

async function send(app: App, body: Buffer, signal: AbortSignal): Promise<AttemptResult> {
  const startedMs = app.clock.monotonicMs()
  await app.mail.send(Mail.parse(JSON.parse(body.toString())), signal)
  const durationMs = app.clock.monotonicMs() - startedMs
  return { outcome: 'delivered', status: null, errorCode: null, errorText: null, durationMs, details: {} }
}

/** No page shows the deliveries of mails, so the log names those that are lost. */
function reportLost(app: App, attempts: readonly SettledAttempt[]): void {
  for (const { delivery, result, isExhausted } of attempts)
    if (isExhausted)
      app.log.error(
        { type: delivery.type, org_id: delivery.orgId, delivery_id: delivery.id, error_code: result.errorCode },
        'a mail could not be sent and is given up',
      )
}
