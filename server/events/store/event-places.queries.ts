import { sql } from 'kysely'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'

/** Reads of stored events without their bodies; each one is limited. */

/** The events to read: those stored under these issues, received on this day or later. */
export type EventSources = { readonly issueIds: readonly string[]; readonly oldestDay: string }

/** For {@link EventSources.oldestDay}: all stored events. */
export const ANY_DAY = '-infinity'

/** The position of an event in the order of occurrence: by time, then by id. */
export type EventSpot = { readonly occurredAt: Date; readonly eventId: string }

export type EventFacts = EventSpot & {
  readonly issueId: string
  readonly receivedDay: string
  readonly receivedAt: Date
  readonly release: string | null
  readonly environment: string
  readonly level: string
  readonly userHash: number | null
  /** Size of its JSON. */
  readonly sizeBytes: number
}

export type Look = {
  readonly direction: 'older' | 'newer'
  /** Starts after this event; null starts at the newest or oldest. */
  readonly from: EventSpot | null
  /** Occurred at `since` or later, and before `until`. */
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  readonly max: number
}

type FactsRow = {
  event_id: string
  issue_id: string
  occurred_at: Date
  received_day: string
  received_at: Date
  release: string | null
  environment: string
  level: string
  user_hash: number | null
  size_bytes: number
}

/** The next events of these issues in one direction, nearest first. */
export async function lookAtEvents(db: Connection, sources: EventSources, look: Look): Promise<EventFacts[]> {
  const { rows } = await sql<FactsRow>`${windowOf(sources, look)}`.execute(db)
  return rows.map((row) => ({
    eventId: unhyphenate(row.event_id),
    issueId: row.issue_id,
    occurredAt: row.occurred_at,
    receivedDay: row.received_day,
    receivedAt: row.received_at,
    release: row.release,
    environment: row.environment,
    level: row.level,
    userHash: row.user_hash,
    sizeBytes: row.size_bytes,
  }))
}

/**
 * A limit whose value the planner does not know, so that it merges the indexes of the days in order. With a known limit
 * it may expect fewer events of the issue, and read and sort all of them, which can be millions.
 */
export const unknownLimit = (max: number) => sql`(select ${max}::int)`

/** Reads each issue by its index and merges them: with `any` PostgreSQL would sort all of their events. */
function windowOf({ issueIds, oldestDay }: EventSources, { direction, from, since, until, max }: Look) {
  const order = direction === 'older' ? sql`desc` : sql`asc`
  const beyond = direction === 'older' ? sql`<` : sql`>`
  const conditions = [
    sql`e.issue_id = i.id and e.received_day >= ${oldestDay}::date`,
    ...(from === null
      ? []
      : [
          sql`(e.occurred_at, e.event_id) ${beyond} (${from.occurredAt}::timestamptz, ${hyphenate(from.eventId)}::uuid)`,
        ]),
    // An event is at max a minute ahead of its receipt (docs/protocol.md §15.1), so earlier days have none.
    ...(since === undefined
      ? []
      : [sql`e.occurred_at >= ${since} and e.received_day >= ${dayPlus(utcDay(since), -1)}::date`]),
    ...(until === undefined ? [] : [sql`e.occurred_at < ${until}`]),
  ]
  return sql`select n.* from unnest(${[...issueIds]}::uuid[]) i (id)
    cross join lateral (
      select e.event_id, e.issue_id, e.occurred_at, e.received_day, e.received_at, e.release, e.environment, e.level,
        e.user_hash, e.body_end - e.body_start as size_bytes
      from events e where ${sql.join(conditions, sql` and `)}
      order by e.occurred_at ${order}, e.event_id ${order} limit ${unknownLimit(max)}
    ) n order by n.occurred_at ${order}, n.event_id ${order} limit ${max}`
}

/** Number of stored events of these issues, counted up to `max`. */
export async function countEvents(db: Connection, { issueIds, oldestDay }: EventSources, max: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count(*)::int as n from (
    select from events where issue_id = any(${[...issueIds]}::uuid[]) and received_day >= ${oldestDay}::date limit ${max}) c`.execute(
    db,
  )
  return rows[0]?.n ?? 0
}

type ReleaseCount = {
  readonly release: string | null
  readonly events: number
  readonly first: Date
  readonly last: Date
}

/** Releases of the newest `max` events; the release with the newest event first. */
export async function countReleases(
  db: Connection,
  sources: EventSources,
  max: number,
): Promise<{ releases: ReleaseCount[]; lookedAt: number }> {
  const { rows } = await sql<{ release: string | null; events: number; first: Date; last: Date }>`
    select release, count(*)::int as events, min(occurred_at) as first, max(occurred_at) as last
    from (${windowOf(sources, { direction: 'older', from: null, max })}) w
    group by release order by last desc, events desc`.execute(db)
  return { releases: rows, lookedAt: rows.reduce((sum, row) => sum + row.events, 0) }
}

export type UserCount = {
  readonly userHash: number
  readonly events: number
  readonly first: Date
  readonly last: Date
  /** The user's newest event. */
  readonly eventId: string
  readonly receivedDay: string
}

/** Users of the newest `max` events; the user with the most events first. */
export async function countUsers(
  db: Connection,
  sources: EventSources,
  max: number,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ users: UserCount[]; distinct: number; lookedAt: number }> {
  const { rows } = await sql<{
    user_hash: number
    events: number
    first: Date
    last: Date
    event_id: string
    received_day: string
  }>`
    select user_hash, count(*)::int as events, min(occurred_at) as first, max(occurred_at) as last,
      (array_agg(event_id order by occurred_at desc, event_id desc))[1] as event_id,
      (array_agg(received_day order by occurred_at desc, event_id desc))[1] as received_day
    from (${windowOf(sources, { direction: 'older', from: null, max })}) w
    where user_hash is not null group by user_hash order by events desc, last desc, user_hash`.execute(db)
  const total = await sql<{ n: number }>`
    select count(*)::int as n from (${windowOf(sources, { direction: 'older', from: null, max })}) w`.execute(db)
  return {
    users: rows.slice(page.offset, page.offset + page.limit).map((row) => ({
      userHash: row.user_hash,
      events: row.events,
      first: row.first,
      last: row.last,
      eventId: unhyphenate(row.event_id),
      receivedDay: row.received_day,
    })),
    distinct: rows.length,
    lookedAt: total.rows[0]?.n ?? 0,
  }
}

/**
 * Distinct users of the events of these issues from `since` to `until`, and the number of events.
 * @returns null for more than `max` events
 */
export async function countUsersBetween(
  db: Connection,
  issueIds: readonly string[],
  { since, until, max }: { readonly since: Date; readonly until: Date; readonly max: number },
): Promise<{ readonly users: number; readonly events: number } | null> {
  const { rows } = await sql<{ users: number; events: number }>`
    select count(distinct user_hash)::float8 as users, count(*)::float8 as events from (
      select e.user_hash from unnest(${[...issueIds]}::uuid[]) i (id) cross join lateral (
        select user_hash from events where issue_id = i.id and occurred_at >= ${since} and occurred_at < ${until}
          and received_day >= ${dayPlus(utcDay(since), -1)}::date offset 0) e
      limit ${unknownLimit(max + 1)}) w`.execute(db)
  const [counted] = rows
  return counted === undefined || counted.events > max ? null : counted
}
