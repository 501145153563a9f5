import { ownRows } from '../storage/own-rows.ts'
import type { Tx } from '../storage/database.ts'

/** Mails to addresses that belong to no member. */

type OutsideMails = {
  readonly all: number
  readonly ofOrg: number
  /** By the hash of the address, hexadecimal. */
  readonly ofAddresses: ReadonlyMap<string, number>
}

/** Counts the mails since a time, each number up to its bound. */
export async function countOutsideMails(
  tx: Tx,
  orgId: string,
  hashes: readonly Buffer[],
  since: Date,
  max: { readonly address: number; readonly org: number; readonly installation: number },
): Promise<OutsideMails> {
  const { rows } = await tx.query<{ all: number; of_org: number; hash: string; of_address: number }>({
    name: 'outside-mails-count',
    text: `select
        (select count(*)::int from (select from alert_outside_mails where sent_at > $3 limit $6) s) as all,
        (select count(*)::int from (select from alert_outside_mails where org_id = $1 and sent_at > $3 limit $5) s) as of_org,
        encode(k.hash, 'hex') as hash,
        (select count(*)::int from (
          select from alert_outside_mails m where m.address_hash = k.hash and m.sent_at > $3 limit $4
        ) s) as of_address
      from unnest($2::bytea[]) k (hash)`,
    values: [orgId, hashes, since, max.address, max.org, max.installation],
  })
  return {
    all: rows[0]?.all ?? 0,
    ofOrg: rows[0]?.of_org ?? 0,
    ofAddresses: new Map(rows.map(({ hash, of_address: n }) => [hash, n])),
  }
}

export async function insertOutsideMails(tx: Tx, orgId: string, hashes: readonly Buffer[], at: Date): Promise<void> {
  if (hashes.length === 0) return
  await tx.query({
    name: 'outside-mails-insert',
    text: 'insert into alert_outside_mails (address_hash, org_id, sent_at) select k, $2, $3 from unnest($1::bytea[]) k',
    values: [hashes, orgId, at],
  })
}

export const OUTSIDE_MAIL_ROWS = ownRows('alert_outside_mails')
