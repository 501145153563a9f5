import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { AttemptResult, Channel, ClaimedDelivery, SettledAttempt } from '../outbox/channel.ts'
import { openMail } from './sealed-mail.ts'
import { renderMail } from './render-mail.ts'
import { MINUTE_MS } from '../kernel/day.ts'

/** Sends mails through the SMTP server of the installation; a lane is an organisation. */
export const mailChannel: Channel = {
  name: 'mail',
  delaysMs: [0, MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 120 * MINUTE_MS, 720 * MINUTE_MS],
  timeoutMs: 20_000,
  prepare: (app) => Promise.resolve((delivery, signal) => send(app, delivery, signal)),
  async settled(_tx, app, attempts) {
    reportLost(app, attempts)
  },
}

async function send(
  app: App,
  { messageId, orgId, body }: ClaimedDelivery,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const startedMs = app.clock.monotonicMs()
  const ended = (): Pick<AttemptResult, 'durationMs' | 'details'> => ({
    durationMs: app.clock.monotonicMs() - startedMs,
    details: {},
  })
  const { to, ...content } = openMail(app.sealer, { messageId, orgId }, body)
  try {
    await app.mail.send({ to, ...renderMail(content, app.config.publicUrl) }, signal)
    return { outcome: 'delivered', status: null, errorCode: null, errorText: null, ...ended() }
  } catch (error) {
    const refused = Refused.safeParse(error)
    if (!refused.success) throw error
    const { responseCode: status, code: errorCode, response: errorText } = refused.data
    return { outcome: 'failed', status, errorCode, errorText, ...ended() }
  }
}

/** The answer of the server, as nodemailer reports it. */
const Refused = z.object({
  responseCode: z.number().int(),
  code: z.string().max(100),
  response: z.string().transform((text) => text.slice(0, 1_000)),
})

/** No page shows the deliveries of mails, so the log names those that are lost. */
function reportLost(app: App, attempts: readonly SettledAttempt[]): void {
  for (const { delivery, result, isExhausted } of attempts)
    if (isExhausted)
      app.log.error(
        { type: delivery.type, org_id: delivery.orgId, delivery_id: delivery.id, error_code: result.errorCode },
        'a mail could not be sent and is given up',
      )
}
