import { createHash } from 'node:crypto'
import type { Mail } from '../context/mail.ts'
import { hyphenate, newPrefixedId } from '../kernel/ids.ts'
import { enqueue } from '../outbox/enqueue.ts'
import { openLane } from '../outbox/open-lane.ts'
import type { Tx } from '../storage/database.ts'
import { mailChannel } from './mail-channel.ts'

/** A mail whose sending is retried when the server does not take it. */
export type QueuedMail = Mail & {
  /** Why it is sent, such as `webhook.endpoint.auto_paused`. */
  readonly type: string
  /** The receiver, if it is a user: an erasure empties the mail. */
  readonly userId: string | null
}

/** Sends mails of an organisation when the transaction commits. */
export async function enqueueMails(tx: Tx, orgId: string, mails: readonly QueuedMail[]): Promise<void> {
  if (mails.length === 0) return
  const laneId = mailLaneOf(orgId)
  await openLane(tx, { id: laneId, orgId, channel: mailChannel.name })
  const messages = mails.map(({ type, userId, ...mail }) => ({
    id: newPrefixedId('evt'),
    orgId,
    type,
    userId,
    body: Buffer.from(JSON.stringify(mail)),
  }))
  await enqueue(
    tx,
    messages,
    messages.map(({ id }) => ({ messageId: id, laneId })),
  )
}

/** The lane of an organisation's mails: a UUID that follows from the organisation's. */
export function mailLaneOf(orgId: string): string {
  const hex = createHash('sha256').update(`mails of ${orgId}`).digest('hex')
  return hyphenate(`${hex.slice(0, 12)}8${hex.slice(13, 16)}8${hex.slice(17, 32)}`)
}
