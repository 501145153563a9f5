import { sql, type RawBuilder, type SqlBool } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { escapeLike, toLikePattern } from './query-error.ts'
import type { UserKey } from './facts.ts'
import { valuePart } from './index-terms.ts'
import type { Pattern } from './query.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** The table of what events said about users of apps. */

export type UserIdentity = {
  readonly projectId: string
  readonly userHash: number
  readonly key: UserKey
  readonly value: string
}

/** A row is updated again after so many days: each update is a write. */
const REFRESH_DAYS = 7
/** Above {@link REFRESH_DAYS}, and a day for the clocks of other processes. */
const ORPHAN_DAYS = REFRESH_DAYS + 2

/** Writes identities that are missing, in a fixed order, because other processes may write the same. */
export function insertIdentities(tx: Tx, day: string, rows: readonly UserIdentity[]): void {
  if (rows.length === 0) return
  tx.send({
    name: 'search-insert-identities',
    // Rows that are fresh are skipped first, because a conflict locks, and so writes, the row. In a subquery, because a
    // join may read the whole table.
    text: `with due as (
             select distinct k.* from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[]) k (project_id, user_hash, key, value)
             where coalesce((select i.seen_day from user_identities i
               where i.project_id = k.project_id and i.key = k.key and i.value = k.value and i.user_hash = k.user_hash
             ) < $5::date - $6::int, true)
             order by 1, 3, 4, 2)
           insert into user_identities as i (project_id, user_hash, key, value, seen_day)
           select project_id, user_hash, key, value, $5::date from due
           on conflict (project_id, key, value, user_hash) do update set seen_day = excluded.seen_day
             where i.seen_day < excluded.seen_day`,
    values: [
      rows.map((row) => row.projectId),
      rows.map((row) => row.userHash),
      rows.map((row) => row.key),
      rows.map((row) => valuePart(row.value)),
      day,
      REFRESH_DAYS,
    ],
  })
}

type IdentityFilter = {
  readonly projectIds: readonly string[]
  readonly keys: readonly UserKey[]
  readonly values: readonly Pattern[]
}

type UsersIdentified = { readonly read: number; readonly hashes: readonly number[] }

/**
 * Returns the hashes of the users with one of these values, or null if more than `max` identities would be read: those
 * that begin as a pattern does, up to its first `*`.
 */
export async function selectUsersIdentified(
  db: Connection,
  { projectIds, keys, values }: IdentityFilter,
  max: number,
): Promise<UsersIdentified | null> {
  // One scan of the index per value.
  const reads = values.map(({ text, glob }) => {
    const value = glob
      ? sql`like ${`${escapeLike(valuePart(text.slice(0, text.indexOf('*'))))}%`}`
      : sql`= ${valuePart(text)}`
    return sql`select user_hash, value from user_identities
      where project_id = any(${[...projectIds]}::uuid[]) and key = any(${[...keys]}::text[]) and value ${value}`
  })
  const patterns = values.map(({ text, glob }) => (glob ? toLikePattern(valuePart(text)) : escapeLike(valuePart(text))))
  const { rows } = await sql<UsersIdentified>`
    with i as materialized (${sql.join(reads, sql` union all `)} limit ${max + 1})
    select n as read, array(select distinct user_hash::float8 from i where value like any(${patterns}::text[])) as hashes
    from (select count(*) as n from i) c where n <= ${max}`.execute(db)
  return rows[0] ?? null
}

/** Whether the user `u` of `issue_users` has one of these values; they are no patterns. */
export const isIdentified = ({ projectIds, keys, values }: IdentityFilter): RawBuilder<SqlBool> =>
  sql<SqlBool>`exists (select from user_identities d where d.project_id = any(${[...projectIds]}::uuid[])
    and d.key = any(${[...keys]}::text[]) and d.value = any(${values.map(({ text }) => valuePart(text))}::text[])
    and d.user_hash = u.user_hash)`

export async function deleteIdentities(
  db: Connection,
  projectId: string,
  userHashes: readonly number[],
): Promise<void> {
  await db
    .deleteFrom('user_identities')
    .where('project_id', '=', projectId)
    .where('user_hash', 'in', [...userHashes])
    .execute()
}

/**
 * Deletes at most `max` identities of users that no issue has any more, and of deleted projects. Spares those that a
 * process remembers as written, or writes a moment before the user. Returns the number.
 */
export async function deleteOrphanedIdentities(db: Connection, today: string, max: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from user_identities where ctid = any(array(
       select i.ctid from user_identities i
       where i.seen_day < $1::date - $2::int
         and (not exists (select from issue_users u where u.user_hash = i.user_hash)
           or not exists (select from projects p where p.id = i.project_id))
       limit $3 for update of i skip locked))`,
    [today, ORPHAN_DAYS, max],
  )
  return rowCount ?? 0
}

/** Documents are deleted with their issues. */
export const IDENTITY_PART = projectPart(5_000, [ownRows('user_identities')])

/** Deletes new terms of issues that are about to be deleted. */
export async function deleteNewTermsOfIssues(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`delete from issue_new_terms where issue_id = any(${[...issueIds]}::uuid[])`.execute(tx)
}
