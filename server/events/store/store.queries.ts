import { sql } from 'kysely'
import { CONTENT_ENCODINGS } from '../../platform/kernel/inflate.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection, RowTarget, Statements, Tx } from '../../platform/storage/database.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { type EventSources, unknownLimit } from './event-places.queries.ts'
import { UNIQUE_DAYS, type StoredEvent } from './event.ts'
import { NO_VALUE_IDS, numberEventValues } from './event-values.ts'
import { type Part, newBlocks } from './blocks.ts'
import {
  insertBlocks,
  listPackedParts,
  removeParts,
  storedEvents,
  takeBlockIds,
  type EventRow,
} from './packed-bodies.queries.ts'

/** The store of events: only this folder reads and writes their table. */

const COLUMNS = [
  'received_day',
  'project_id',
  'event_id',
  'issue_id',
  'received_at',
  'occurred_at',
  'sent_at',
  'level',
  'release',
  'environment',
  'client_ip',
  'user_agent',
  'user_hash',
  'body_encoding',
  'body_start',
  'body_end',
  'body',
  'block_id',
  'os_id',
  'device_id',
  'exception_type_id',
] as const

/**
 * Writes events. Partitions of their days must exist.
 * @param into where the tables of events are; what it writes counts once the caller commits
 * @param inBlocks stores bodies in blocks, where enough come together: 35 µs per 20 kB event, for half the space
 */
export async function insertEvents(
  into: RowTarget,
  events: readonly StoredEvent[],
  { inBlocks = false }: { readonly inBlocks?: boolean } = {},
): Promise<void> {
  if (events.length === 0) return
  const blocks = inBlocks ? newBlocks(events) : []
  const ids = await takeBlockIds(into, blocks.length)
  const places = new Map<StoredEvent, Part & { readonly blockId: number | null }>()
  for (const [index, { parts }] of blocks.entries())
    for (const [event, part] of parts) places.set(event, { ...part, blockId: ids[index] ?? null })
  const newest = events.reduce((last, { receivedAt }) => (receivedAt > last ? receivedAt : last), new Date(0))
  const valueIds = await numberEventValues(into, utcDay(newest), events)
  const rows = new CopyRows()
  for (const [index, event] of events.entries()) {
    const place = places.get(event)
    rows.row(COLUMNS.length)
    rows.day(utcDay(event.receivedAt))
    rows.uuid(event.projectId)
    rows.uuid(event.eventId)
    rows.uuid(event.issueId)
    rows.time(event.receivedAt)
    rows.time(event.occurredAt)
    rows.time(event.sentAt)
    rows.text(event.level)
    rows.text(event.release)
    rows.text(event.environment)
    rows.text(event.clientIp)
    rows.text(event.userAgent)
    rows.int64(event.userHash)
    rows.int16(CONTENT_ENCODINGS.indexOf(place === undefined ? event.encoding : 'none'))
    rows.int32(place?.start ?? event.bodyStart)
    rows.int32(place?.end ?? event.bodyEnd)
    if (place === undefined) rows.bytes(event.body)
    else rows.nothing()
    rows.int64(place?.blockId ?? null)
    for (const id of valueIds[index] ?? NO_VALUE_IDS) {
      if (id === null) rows.nothing()
      else rows.int32(id)
    }
  }
  // First events, then blocks: packing locks the tables in this order.
  into.sendRows(`events (${COLUMNS.join(', ')})`, rows)
  if (blocks.length === 0) return
  await insertBlocks(
    into,
    'event_blocks',
    blocks.map(({ day, body }, index) => ({ day, body, id: ids[index] ?? 0 })),
  )
}

export type EventKey = { readonly projectId: string; readonly eventId: string }

/** Received days: after the first, until the second, which is one of them. */
export type ReceivedDays = { readonly after: string; readonly until: string }

/** The keys that are stored or were left out by packing, as `projectId/eventId`, in these received days. */
export async function findStored(on: Statements, keys: readonly EventKey[], days: ReceivedDays): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const { rows } = await on.query<{ project_id: string; event_id: string }>({
    name: 'events-find-stored',
    text: `select e.project_id, e.event_id from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join events e on e.project_id = k.project_id and e.event_id = k.event_id
           where e.received_day > $3::date and e.received_day <= $4::date
           union all
           select k.project_id, k.event_id from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join capped_events c on c.project_id = k.project_id and c.event_id = k.event_id
           where c.received_day > $3::date and c.received_day <= $4::date`,
    values: [keys.map((key) => key.projectId), keys.map((key) => hyphenate(key.eventId)), days.after, days.until],
  })
  return new Set(rows.map((row) => `${row.project_id}/${unhyphenate(row.event_id)}`))
}

/** The newest or oldest event of an issue by time of occurrence, or the one with an id; null when there is none. */
export async function readEvent(
  db: Connection,
  issueId: string,
  which: 'latest' | 'oldest' | EventKey,
): Promise<StoredEvent | null> {
  let query = db.selectFrom('events').selectAll().where('issue_id', '=', issueId)
  // Project and event id have an index; by issue alone all of its events would be read.
  if (typeof which === 'object')
    query = query.where('project_id', '=', which.projectId).where('event_id', '=', hyphenate(which.eventId))
  const direction = which === 'oldest' ? 'asc' : 'desc'
  const row = await query.orderBy('occurred_at', direction).orderBy('event_id', direction).limit(1).executeTakeFirst()
  const [event] = row === undefined ? [] : await storedEvents(db, [row])
  return event ?? null
}

type NewestLimits = {
  readonly limit: number
  /** Maximum bytes of JSON; the first event is returned even if it is larger. */
  readonly maxBytes: number
  /** Maximum blocks to read for packed events; unlimited by default. */
  readonly maxBlocks?: number
}

/** The newest events of these issues within the limits, newest first. */
export async function newestEvents(
  db: Connection,
  { issueIds, oldestDay }: EventSources,
  { limit, maxBytes, maxBlocks = Infinity }: NewestLimits,
): Promise<StoredEvent[]> {
  const { rows } = await sql<EventRow>`
    select w.* from (
      select n.*, sum(n.body_end - n.body_start) over (order by n.occurred_at desc, n.event_id desc) - (n.body_end - n.body_start) as bytes_before
      from unnest(${[...issueIds]}::uuid[]) i (id)
      cross join lateral (
        select e.* from events e where e.issue_id = i.id and e.received_day >= ${oldestDay}::date
        order by e.occurred_at desc, e.event_id desc limit ${unknownLimit(limit)}
      ) n order by n.occurred_at desc, n.event_id desc limit ${limit}
    ) w where bytes_before < ${maxBytes} order by occurred_at desc, event_id desc`.execute(db)
  return storedEvents(db, withinBlocks(rows, maxBlocks))
}

/** Rows before the first that needs more than `max` blocks. */
function withinBlocks(rows: readonly EventRow[], max: number): readonly EventRow[] {
  const blocks = new Set<string>()
  const end = rows.findIndex((row) => {
    if (row.block_id !== null) blocks.add(`${row.received_day}/${row.block_id}`)
    return blocks.size > max
  })
  return end === -1 ? rows : rows.slice(0, end)
}

/** The key of an event with its day of receipt, which makes reading it cheap. */
export type EventPlace = EventKey & {
  readonly issueId: string
  readonly receivedDay: string
  readonly occurredAt: Date
}

/** Fields of an event without its body. */
export type Arrived = Pick<StoredEvent, 'eventId' | 'release' | 'occurredAt' | 'receivedAt'>

/** The newest events of these issues by time of occurrence, without their bodies. */
export async function newestArrived(db: Connection, issueIds: readonly string[], limit: number): Promise<Arrived[]> {
  const { rows } = await sql<{ event_id: string; release: string | null; occurred_at: Date; received_at: Date }>`
    select n.* from unnest(${[...issueIds]}::uuid[]) i (id)
    cross join lateral (
      select e.event_id, e.release, e.occurred_at, e.received_at from events e where e.issue_id = i.id
      order by e.occurred_at desc, e.event_id desc limit ${unknownLimit(limit)}
    ) n order by n.occurred_at desc, n.event_id desc limit ${limit}`.execute(db)
  return rows.map((row) => ({
    eventId: unhyphenate(row.event_id),
    release: row.release,
    occurredAt: row.occurred_at,
    receivedAt: row.received_at,
  }))
}

/**
 * The places of the newest events of these issues by time of occurrence, newest first; only events that occurred at
 * `since` or later and were received at `oldestDay` or later.
 */
export async function newestPlaces(
  db: Connection,
  issueIds: readonly string[],
  { since, oldestDay, limit }: { readonly since: Date; readonly oldestDay: string; readonly limit: number },
): Promise<EventPlace[]> {
  if (issueIds.length === 0) return []
  // An event is at most a minute ahead of its receipt (docs/protocol.md §15.1), so earlier days have none.
  const firstDay = dayPlus(utcDay(since), -1)
  const { rows } = await sql<{
    project_id: string
    event_id: string
    issue_id: string
    received_day: string
    occurred_at: Date
  }>`select n.* from unnest(${[...issueIds]}::uuid[]) i (id)
     cross join lateral (
       select e.project_id, e.event_id, e.issue_id, e.received_day, e.occurred_at from events e
       where e.issue_id = i.id and e.occurred_at >= ${since} and e.received_day >= greatest(${firstDay}::date, ${oldestDay}::date)
       order by e.occurred_at desc, e.event_id desc limit ${unknownLimit(limit)}
     ) n order by n.occurred_at desc, n.event_id desc limit ${limit}`.execute(db)
  return rows.map((row) => ({
    projectId: row.project_id,
    eventId: unhyphenate(row.event_id),
    issueId: row.issue_id,
    receivedDay: row.received_day,
    occurredAt: row.occurred_at,
  }))
}

/** Events of a project by id, in no particular order, without deleted ones. `days` limits the search to received days. */
export async function readEvents(
  db: Connection,
  projectId: string,
  eventIds: readonly string[],
  days: { readonly first: string; readonly last: string } | null,
): Promise<StoredEvent[]> {
  if (eventIds.length === 0) return []
  let query = db
    .selectFrom('events')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('event_id', '=', sql<string>`any(${eventIds.map(hyphenate)}::uuid[])`)
  if (days !== null) query = query.where('received_day', '>=', days.first).where('received_day', '<=', days.last)
  return storedEvents(db, await query.execute())
}

/** Events of a project by id and received day, in no particular order, without deleted ones. */
export async function readEventsAt(
  db: Connection,
  projectId: string,
  places: readonly { readonly eventId: string; readonly receivedDay: string }[],
): Promise<StoredEvent[]> {
  if (places.length === 0) return []
  // Joined by day: a search for all ids in all days costs events × days.
  const { rows } = await sql<EventRow>`
    select e.* from unnest(${places.map((place) => place.receivedDay)}::date[], ${places.map((place) => hyphenate(place.eventId))}::uuid[]) k (day, id)
    join events e on e.project_id = ${projectId} and e.event_id = k.id and e.received_day = k.day`.execute(db)
  return storedEvents(db, rows)
}

/** Deletes at most `max` events of an issue with their bodies. @returns their keys */
export const deleteIssueEvents = (tx: Tx, issueId: string, max: number): Promise<EventKey[]> =>
  deleteEvents(tx, selectRows(tx).where('issue_id', '=', issueId).limit(max))

/** Deletes at most `max` events of users in an issue with their bodies. @returns their keys */
export const deleteEventsOfUser = (
  tx: Tx,
  issueId: string,
  userHashes: readonly number[],
  max: number,
): Promise<EventKey[]> =>
  deleteEvents(
    tx,
    selectRows(tx)
      .where('issue_id', '=', issueId)
      .where('user_hash', 'in', [...userHashes])
      .limit(max),
  )

/** Issues of the events that a project received on a day, with their number of events, in the order of packing. */
export async function issuesOfDay(
  db: Connection,
  projectId: string,
  day: string,
): Promise<{ issueId: string; events: number }[]> {
  const rows = await db
    .selectFrom('events')
    .select(['issue_id', (eb) => eb.fn.countAll<number>().as('events')])
    .where('project_id', '=', projectId)
    .where('received_day', '=', day)
    .groupBy('issue_id')
    .orderBy('issue_id')
    .execute()
  return rows.map((row) => ({ issueId: row.issue_id, events: row.events }))
}

/**
 * Deletes at most `max` events of these issues that were received on a day, with their bodies, in the order of packing,
 * so that each block is rewritten once. Skips events that another process is deleting.
 * @returns the number of deleted events
 */
export async function deleteEventsOfDay(
  tx: Tx,
  issueIds: readonly string[],
  day: string,
  max: number,
): Promise<number> {
  // Issue by issue: without statistics, after packing, the planner would read the whole day each time. A `ctid` is valid
  // because the rows are locked and a day is one partition.
  const { rows } = await sql<RemovedRow>`
    delete from events e where e.received_day = ${day}::date and e.ctid = any(array(
      select n.place from unnest(${[...issueIds]}::uuid[]) i (id) cross join lateral (
        select ctid as place from events where issue_id = i.id and received_day = ${day}::date
        order by occurred_at, event_id limit ${max} for update skip locked
      ) n limit ${max}
    )) returning e.received_day, e.block_id, e.body_start, e.body_end`.execute(tx)
  await removeParts(tx, listPackedParts(rows))
  return rows.length
}

type RemovedRow = Pick<EventRow, 'received_day' | 'block_id' | 'body_start' | 'body_end'>

const selectRows = (tx: Tx) => tx.selectFrom('events').select(['received_day', 'project_id', 'event_id'])

async function deleteEvents(tx: Tx, some: ReturnType<typeof selectRows>): Promise<EventKey[]> {
  const rows = await tx
    .deleteFrom('events as e')
    .using(some.as('some'))
    .whereRef('e.project_id', '=', 'some.project_id')
    .whereRef('e.event_id', '=', 'some.event_id')
    .whereRef('e.received_day', '=', 'some.received_day')
    .returning(['e.received_day', 'e.project_id', 'e.event_id', 'e.block_id', 'e.body_start', 'e.body_end'])
    .execute()
  await removeParts(tx, listPackedParts(rows))
  return rows.map((row) => ({ projectId: row.project_id, eventId: unhyphenate(row.event_id) }))
}

/** The issues of stored events, by `projectId/eventId`. */
export async function findIssuesByEvent(tx: Connection, keys: readonly EventKey[]): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const { rows } = await tx.query<{ project_id: string; event_id: string; issue_id: string }>({
    name: 'events-find-issues',
    text: `select e.project_id, e.event_id, e.issue_id from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join events e on e.project_id = k.project_id and e.event_id = k.event_id`,
    values: [keys.map((key) => key.projectId), keys.map((key) => hyphenate(key.eventId))],
  })
  return new Map(rows.map((row) => [`${row.project_id}/${unhyphenate(row.event_id)}`, row.issue_id]))
}

/** Environments of events received within the last days, by `project id/event id`. */
export async function findEventEnvironments(
  on: Connection,
  keys: readonly EventKey[],
  now: Date,
): Promise<Map<string, string>> {
  const { rows } = await on.query<{ project_id: string; event_id: string; environment: string }>({
    name: 'events-environments',
    text: `select e.project_id, e.event_id, e.environment from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join events e on e.project_id = k.project_id and e.event_id = k.event_id
           where e.received_day > $3::date and e.received_day <= $4::date`,
    values: [
      keys.map(({ projectId }) => projectId),
      keys.map(({ eventId }) => hyphenate(eventId)),
      dayPlus(utcDay(now), -UNIQUE_DAYS),
      dayPlus(utcDay(now), 1),
    ],
  })
  return new Map(rows.map((row) => [`${row.project_id}/${unhyphenate(row.event_id)}`, row.environment]))
}

/** Events of an issue that are looked at to count its users: more users pass every limit. */
const MAX_USER_EVENTS = 50_000

/** Distinct users of the events of issues in a range of their own time; of issues with very many, of the newest. */
export async function usersOfIssues(
  on: Connection,
  issueIds: readonly string[],
  from: Date,
  to: Date,
): Promise<Map<string, number>> {
  const { rows } = await on.query<{ issue_id: string; users: number }>({
    name: 'events-users-of-issues',
    text: `select k as issue_id, u.users from unnest($1::uuid[]) k cross join lateral (
             select count(distinct e.user_hash)::int as users from (
               select events.user_hash from issue_groups g join events on events.issue_id = g.id
               where g.issue_id = k and events.occurred_at > $2 and events.occurred_at <= $3
               order by events.occurred_at desc limit ${MAX_USER_EVENTS}) e) u`,
    values: [issueIds, from, to],
  })
  return new Map(rows.map((row) => [row.issue_id, row.users]))
}

/** The groups of events, by event id; events that are not stored are missing. */
export async function groupsOfEvents(
  db: Connection,
  projectId: string,
  eventIds: readonly string[],
): Promise<Map<string, string>> {
  if (eventIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('events')
    .select(['event_id', 'issue_id'])
    .where('project_id', '=', projectId)
    .where('event_id', 'in', eventIds.map(hyphenate))
    .execute()
  return new Map(rows.map((row) => [unhyphenate(row.event_id), row.issue_id]))
}
