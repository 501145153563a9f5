import type { App } from '../context/app.ts'
import { newPrefixedId } from '../kernel/ids.ts'
import { enqueue } from '../outbox/enqueue.ts'
import { laneIdFor } from '../outbox/lane-id.ts'
import { openLane } from '../outbox/change-lane.ts'
import type { Tx } from '../storage/database.ts'
import type { Sealer } from '../storage/seal.ts'
import { mailChannel } from './mail-channel.ts'
import type { MailContent } from './mail-content.ts'
import { sealMail } from './sealed-mail.ts'

/** A mail whose sending is retried when the server does not take it. */
export type QueuedMail = MailContent & {
  readonly to: string
  /** Why it is sent, such as `webhook.endpoint.auto_paused`. */
  readonly type: string
  /** The receiver, if it is a user: an erasure empties the mail. */
  readonly userId: string | null
  /** Not before so long from now, such as the rest of the receiver's quiet hours. */
  readonly holdMs?: number
}

/** Deliveries of one organisation at a time: servers limit connections of one client. */
const MAX_IN_FLIGHT = 5

/**
 * Sends mails of an organisation when the transaction commits. They are sealed: some contain secrets.
 * @returns ids of the deliveries, in their order
 */
export async function enqueueMails(
  tx: Tx,
  { sealer }: Pick<App, 'sealer'>,
  orgId: string,
  mails: readonly QueuedMail[],
): Promise<string[]> {
  if (mails.length === 0) return []
  const laneId = mailLaneId(orgId)
  await openLane(tx, { id: laneId, orgId, channel: mailChannel.name, maxInFlight: MAX_IN_FLIGHT })
  const made = mails.map(({ holdMs, ...mail }) => ({ message: messageOf(sealer, orgId, mail), holdMs }))
  return enqueue(
    tx,
    made.map(({ message }) => message),
    made.map(({ message, holdMs }) => ({ messageId: message.id, laneId, holdMs })),
  )
}

function messageOf(sealer: Sealer, orgId: string, { type, userId, ...mail }: Omit<QueuedMail, 'holdMs'>) {
  const id = newPrefixedId('evt')
  return { id, orgId, type, userId, body: sealMail(sealer, { messageId: id, orgId }, mail) }
}

/** The lane of an organisation's mails. */
export const mailLaneId = (orgId: string): string => laneIdFor(`mails of ${orgId}`)
