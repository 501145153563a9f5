import type { App } from '../../platform/context/app.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'
import type { Tx } from '../../platform/storage/database.ts'
import * as sql from './outside-mails.queries.ts'

/**
 * Bounds of mails about alerts to addresses that belong to no member of the organisation, per hour: nothing proves that
 * such a receiver wants them. Transactions that are under way are not counted.
 */
export const OUTSIDE_PER_HOUR = { address: 60, org: 300, installation: 3_000 } as const

const count = (n: number): string => n.toLocaleString('en')
const REASONS: Readonly<Record<keyof typeof OUTSIDE_PER_HOUR, string>> = {
  address: `This address has got ${count(OUTSIDE_PER_HOUR.address)} mails about alerts within an hour. Invite its owner: members have no such limit.`,
  org: `The organisation has sent ${count(OUTSIDE_PER_HOUR.org)} mails about alerts to addresses of no member within an hour.`,
  installation: `This installation has sent ${count(OUTSIDE_PER_HOUR.installation)} mails about alerts to addresses of no member within an hour.`,
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
