import { sql } from 'kysely'
import type { OrgActor } from '../../platform/context/actor.ts'
import { slotBucket, eventsIn, usersIn } from '../rows/counts.queries.ts'
import { type CountWindow, windowSlots } from '../rules/count-window.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { Cursor, RangeSortKey } from './list-cursor.ts'
import { filtered, type IssueFilter, type IssuePage } from './list.queries.ts'

/** Counts of all issues of a list in a window: their order by them, and their sums. */

const matching = (db: Connection, actor: OrgActor, filter: IssueFilter) =>
  sql`m as materialized (${filtered(db, actor, filter).select(['i.id', 'i.user_count'])})`

/** Users of the issues `m` in a window, at most those of their lifetime: see `viewIssues`. */
const usersOf = (window: CountWindow) =>
  sql`select m.id, least(sum(s.users), m.user_count) as n from m, ${usersIn(window)} where g.issue_id = m.id group by m.id, m.user_count`

/** Returns the ids of one page of issues, and one more if there is a next page, with their counts in the window. */
export async function rankByCounts(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  page: Pick<IssuePage, 'limit' | 'offset'>,
  {
    key,
    isDescending,
    cursor,
    window,
  }: {
    readonly key: RangeSortKey
    readonly isDescending: boolean
    readonly cursor: Cursor | null
    readonly window: CountWindow
  },
): Promise<{ readonly id: string; readonly count: number }[]> {
  const counts =
    key === 'event_count_in_range'
      ? sql`select m.id, sum(q.events) as n from m, ${eventsIn(window)} where g.issue_id = m.id group by m.id`
      : usersOf(window)
  const direction = sql.raw(isDescending ? 'desc' : 'asc')
  const beyond =
    cursor === null
      ? sql`true`
      : sql`(n, id) ${sql.raw(isDescending ? '<' : '>')} (${cursor.value}::bigint, ${cursor.id}::uuid)`
  const { rows } = await sql<{ id: string; count: number }>`
    with ${matching(db, actor, filter)}, c as (${counts}),
      ranked as (select m.id, coalesce(c.n, 0)::bigint as n from m left join c on c.id = m.id)
    select id, n::float8 as count from ranked where ${beyond}
    order by n ${direction}, id ${direction} limit ${page.limit + 1} offset ${cursor === null ? page.offset : 0}`.execute(
    db,
  )
  return rows
}

export type BucketSums = { readonly bucket: number; readonly events: number; readonly fatal: number }

/** Events of all issues by bucket. Bucket 0 begins with the window; -1 is all since `previousFrom`. */
export async function sumEvents(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  window: CountWindow,
  { previousFrom, bucketMs }: { readonly previousFrom: number; readonly bucketMs: number },
): Promise<BucketSums[]> {
  const { rows } = await sql<BucketSums>`
    with ${matching(db, actor, filter)}
    select case when q.slot < ${windowSlots(window).from}::int then -1 else ${slotBucket(sql`q.slot`, window.from, bucketMs)} end as bucket,
      sum(q.events)::float8 as events, sum(q.fatal)::float8 as fatal
    from m, ${eventsIn({ from: previousFrom, to: window.to }, { bucketMs })} where g.issue_id = m.id group by 1`.execute(
    db,
  )
  return rows
}

/** Rows of users that one count reads. Of more it reads the users of a share of all hashes. */
const MAX_READ_USERS = 100_000
/** A share with fewer users than these is estimated less precisely than within 2 %. */
const MIN_SAMPLE = 15_000
const HASHES = 2 ** 52

/**
 * Distinct users of all issues since the start of a window that reaches to now: `issue_users` holds when each was seen last.
 * Exact up to `maxRead` rows. Of more it asks `ofEvents`, which is exact, too, and knows no answer where the window has many
 * events; then it counts the users of a share of all hashes, which are evenly distributed: the estimate of 15,000 users has
 * a standard error of 0.8 %.
 */
export async function countUsersSince(
  db: Connection,
  actor: OrgActor,
  filter: IssueFilter,
  window: CountWindow,
  {
    maxRead = MAX_READ_USERS,
    ofEvents,
  }: { readonly maxRead?: number; readonly ofEvents?: () => Promise<number | null> } = {},
): Promise<number> {
  const since = new Date(window.from)
  const groups = sql`${matching(db, actor, filter)},
    g as materialized (select g.id, g.user_count from m join issue_groups g on g.issue_id = m.id where g.last_seen >= ${since})`
  const sizes = await sql<{
    users: number
  }>`with ${groups} select coalesce(sum(user_count), 0)::float8 as users from g`.execute(db)
  const users = sizes.rows[0]?.users ?? 0
  const countIn = async (share: number): Promise<number> => {
    const { rows } = await sql<{ users: number }>`with ${groups}
      select count(*)::float8 as users from (select distinct u.user_hash from g cross join lateral (
        select user_hash from issue_users where group_id = g.id and user_hash < ${Math.round(share * HASHES)}::bigint
          and seen_slot >= ${windowSlots(window).from}::int offset 0) u) d`.execute(db)
    return rows[0]?.users ?? 0
  }
  const exact = users > maxRead ? ((await ofEvents?.()) ?? null) : null
  if (exact !== null) return exact
  const share = Math.min(1, maxRead / Math.max(1, users))
  const found = await countIn(share)
  if (share === 1 || found >= MIN_SAMPLE) return Math.round(found / share)
  const larger = Math.min(1, 4 * share, (share * MIN_SAMPLE) / Math.max(1, found))
  return Math.round((await countIn(larger)) / larger)
}

/** The groups of all issues. */
export async function selectGroupsMatching(db: Connection, actor: OrgActor, filter: IssueFilter): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with ${matching(db, actor, filter)} select g.id from m join issue_groups g on g.issue_id = m.id`.execute(db)
  return rows.map(({ id }) => id)
}
