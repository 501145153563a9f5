import type { App } from '../context/app.ts'
import type { AgingRows } from '../jobs/purge.ts'
import { HOUR_MS } from '../kernel/day.ts'
import { newPrefixedId } from '../kernel/ids.ts'
import { enqueue } from '../outbox/enqueue.ts'
import { laneIdFor } from '../outbox/lane-id.ts'
import { openLane } from '../outbox/change-lane.ts'
import type { Tx } from '../storage/database.ts'
import type { Sealer } from '../storage/seal.ts'
import { mailChannel } from './mail-channel.ts'
import type { MailContent } from './mail-content.ts'
import { sealMail } from './sealed-mail.ts'
import * as sql from './outside-mails.queries.ts'

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

/**
 * Bounds of mails to addresses that belong to no member of the organisation, per hour: nothing proves that
 * such a receiver wants them. Transactions that are under way are not counted.
 */
export const OUTSIDE_PER_HOUR = { address: 60, org: 300, installation: 3_000 } as const

const count = (n: number): string => n.toLocaleString('en')
const REASONS: Readonly<Record<keyof typeof OUTSIDE_PER_HOUR, string>> = {
  address: `This address has got ${count(OUTSIDE_PER_HOUR.address)} mails within an hour. Invite its owner: members have no such limit.`,
  org: `The organisation has sent ${count(OUTSIDE_PER_HOUR.org)} mails to addresses of no member within an hour.`,
  installation: `This installation has sent ${count(OUTSIDE_PER_HOUR.installation)} mails to addresses of no member within an hour.`,
}

/**
 * Counts mails to addresses outside of an organisation, up to the bounds.
 * @param emails folded
 * @returns why the mail to an address must not be sent; addresses that may get it are missing
 */
export async function boundOutsideMails(
  tx: Tx,
  { auditKey }: Pick<App, 'auditKey'>,
  orgId: string,
  emails: readonly string[],
  at: Date,
): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>()
  if (emails.length === 0) return held
  const addresses = emails.map((email) => ({ email, hash: auditKey.mac('address of outside mails', email) }))
  const since = new Date(at.getTime() - HOUR_MS)
  const sent = await sql.countOutsideMails(
    tx,
    orgId,
    addresses.map(({ hash }) => hash),
    since,
    OUTSIDE_PER_HOUR,
  )
  const taken: Buffer[] = []
  for (const { email, hash } of addresses) {
    const isOver = (bound: keyof typeof OUTSIDE_PER_HOUR, before: number): boolean => before >= OUTSIDE_PER_HOUR[bound]
    const reason = isOver('address', sent.ofAddresses.get(hash.toString('hex')) ?? 0)
      ? REASONS.address
      : isOver('org', sent.ofOrg + taken.length)
        ? REASONS.org
        : isOver('installation', sent.all + taken.length)
          ? REASONS.installation
          : null
    if (reason === null) taken.push(hash)
    else held.set(email, reason)
  }
  await sql.insertOutsideMails(tx, orgId, taken, at)
  return held
}

/** The counted mails, which nothing needs after an hour. */
export const OUTSIDE_MAILS: AgingRows = { rows: sql.OUTSIDE_MAIL_ROWS, column: 'sent_at', kept: { ms: HOUR_MS } }
