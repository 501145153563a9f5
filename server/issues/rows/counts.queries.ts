import { sql, type RawBuilder } from 'kysely'
import { type CountWindow, windowSlots, SLOT_MS } from '../rules/count-window.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { HOUR_MS } from '../../platform/kernel/day.ts'

/** Counts of issues in a time: events by quarters of an hour, users by slots (docs/decisions/issue-ranges.md). */

/** The quarters of an hour `h` of `issue_hours`, with their slots. */
const QUARTERS = `lateral (
  select (extract(epoch from h.hour) / 900)::int + v.n, v.events, v.fatal from (values
    (0, h.events_1, h.fatal_1), (1, h.events_2, h.fatal_2), (2, h.events_3, h.fatal_3),
    (3, h.events - h.events_1 - h.events_2 - h.events_3, h.fatal - h.fatal_1 - h.fatal_2 - h.fatal_3)
  ) as v (n, events, fatal)
) as q (slot, events, fatal)`

/**
 * Groups `g`, and `rows` of each. Of a page of issues they are looked up group by group: the planner would read the whole
 * table, because it takes the rows of a group for scattered.
 */
const rowsOf = (rows: RawBuilder<unknown>, alias: string, isPage: boolean) =>
  sql`issue_groups g cross join lateral (${rows} ${sql.raw(isPage ? 'offset 0' : '')}) ${sql.raw(alias)}`

/**
 * A query for the events of groups in a window: rows `g` of `issue_groups` and `q` of quarters, or of hours where the ends
 * of the window and of its buckets are hours.
 */
export function eventsIn(
  window: CountWindow,
  { bucketMs = HOUR_MS, isPage = false }: { readonly bucketMs?: number; readonly isPage?: boolean } = {},
): RawBuilder<unknown> {
  const { from, to } = windowSlots(window)
  const isWhole = [window.from, window.to, bucketMs].every((ms) => ms % HOUR_MS === 0)
  const start = new Date(window.from - (window.from % HOUR_MS))
  const hours = rowsOf(
    sql`select * from issue_hours h where h.group_id = g.id and h.hour >= ${start} and h.hour < ${new Date(window.to)}`,
    'h',
    isPage,
  )
  return isWhole
    ? sql`${hours} cross join lateral (values ((extract(epoch from h.hour) / 900)::int, h.events, h.fatal)) as q (slot, events, fatal)`
    : sql`${hours} join ${sql.raw(QUARTERS)} on q.slot >= ${from}::int and q.slot < ${to}::int and q.events > 0`
}

/** A query for the users of groups in a window: rows `g` of `issue_groups` and `s` of slots. */
export function usersIn(window: CountWindow, isPage = false): RawBuilder<unknown> {
  const { from, to } = windowSlots(window)
  const slots = sql`select s.users from issue_user_slots s where s.group_id = g.id
    and s.slot >= ${from}::int and s.slot < ${to}::int and s.before_slot < ${from}::int`
  return rowsOf(slots, 's', isPage)
}

/** The number of the bucket of a slot; bucket 0 begins at `start`. */
export const slotBucket = (slot: RawBuilder<unknown>, start: number, bucketMs: number): RawBuilder<number> =>
  sql`((${slot} - ${Math.floor(start / SLOT_MS)}::int) / ${bucketMs / SLOT_MS}::int)`

/** Events of issues in buckets of a window, oldest first. @returns by issue id; all zero for other issues */
export async function selectTrends(
  db: Connection,
  issueIds: readonly string[],
  window: CountWindow,
  bucketMs: number,
): Promise<(issueId: string) => number[]> {
  const { rows } =
    issueIds.length === 0
      ? { rows: [] }
      : await sql<{ issue_id: string; bucket: number; events: number }>`
          select g.issue_id, ${slotBucket(sql`q.slot`, window.from, bucketMs)} as bucket, sum(q.events)::float8 as events
          from ${eventsIn(window, { bucketMs, isPage: true })} where g.issue_id = any(${[...issueIds]}::uuid[]) group by 1, 2`.execute(
          db,
        )
  const { from, to } = windowSlots(window)
  const buckets = Math.ceil(((to - from) * SLOT_MS) / bucketMs)
  const trends = new Map<string, number[]>()
  const empty = () => Array.from({ length: buckets }, () => 0)
  for (const { issue_id: id, bucket, events } of rows) {
    const trend = trends.get(id) ?? empty()
    trend[bucket] = events
    trends.set(id, trend)
  }
  return (issueId) => trends.get(issueId) ?? empty()
}

/** Distinct users of issues in a window; a user of two groups of an issue may count twice. */
export async function selectUsersIn(
  db: Connection,
  issueIds: readonly string[],
  window: CountWindow,
): Promise<Map<string, number>> {
  if (issueIds.length === 0) return new Map()
  const { rows } = await sql<{ issue_id: string; users: number }>`
    select g.issue_id, sum(s.users)::float8 as users
    from ${usersIn(window, true)} where g.issue_id = any(${[...issueIds]}::uuid[]) group by 1`.execute(db)
  return new Map(rows.map((row) => [row.issue_id, row.users]))
}
