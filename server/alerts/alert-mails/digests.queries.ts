import { sql } from 'kysely'
import { activeMembers } from '../../identity/team/members.queries.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

export type DigestReader = {
  readonly org_id: string
  readonly user_id: string
  readonly name: string
  readonly email: string
  readonly digest_time_zone: string
  /** The Monday of the last one, as YYYY-MM-DD. */
  readonly digest_week: string | null
}

/** Active members who asked for the digest, by organisation. */
export const selectDigestReaders = (db: Connection): Promise<DigestReader[]> =>
  db
    .selectFrom('notification_preferences as p')
    .innerJoin(activeMembers(db).as('m'), (join) =>
      join.onRef('m.id', '=', 'p.user_id').onRef('m.org_id', '=', 'p.org_id'),
    )
    .select(['p.org_id', 'p.user_id', 'm.name', 'm.email', 'p.digest_time_zone'])
    .select(sql<string | null>`p.digest_week::text`.as('digest_week'))
    .where('p.digest', '=', true)
    .orderBy('p.org_id')
    .orderBy('p.user_id')
    .execute()

/** @returns whether the digest of the week was not sent yet; then it counts as sent when the transaction commits */
export async function claimDigest(
  tx: Tx,
  { org_id, user_id }: Pick<DigestReader, 'org_id' | 'user_id'>,
  week: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('notification_preferences')
    .set({ digest_week: week })
    .where('org_id', '=', org_id)
    .where('user_id', '=', user_id)
    .where('digest', '=', true)
    .where((where) => where.or([where('digest_week', 'is', null), where('digest_week', '<', week)]))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
