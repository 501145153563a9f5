import { sql } from 'kysely'
import { CANARY_PROJECT_NUMBER } from '../../platform/kernel/ids.ts'
import { PART_NUMBERS, SHARDS } from './entry.ts'
import type { Connection, Statements, Tx } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'

/** Channel of notifications about new rows. */
const SPOOL_CHANNEL = 'faultline_spool'

/**
 * First half of the advisory locks of readers. Second half: a part that is locked as a whole, as processes did that knew
 * only parts, or a shard, whose numbers come after those of parts.
 */
const READER_LOCK = 720_199
const FIRST_SHARD_LOCK = PART_NUMBERS.length

export type NewRow = {
  /** The column `shard` of the table. */
  readonly part: number
  readonly projectNumber: number
  readonly receivedAt: Date
  readonly entryCount: number
  readonly entries: Buffer
  readonly body: Buffer
}

const COLUMNS_PER_ROW = 7

/** Maximum rows of {@link insertRows}: a statement is prepared once per number of rows. */
export const MAX_INSERT_ROWS = 64

/**
 * Writes rows in one statement, which is one commit; prepared once per connection and number of rows.
 * @param notify parts whose readers are notified
 * @returns the id of each row; null for several of one project, because nothing says which is which
 */
export async function insertRows(
  session: Connection,
  rows: readonly NewRow[],
  notify: readonly number[],
): Promise<(number | null)[]> {
  const places = rows
    .map(
      (_, row) =>
        `(${Array.from({ length: COLUMNS_PER_ROW }, (_unused, column) => `$${row * COLUMNS_PER_ROW + column + 1}`).join(',')})`,
    )
    .join(',')
  const insert = `insert into spool (shard, project_number, received_at, entry_count, byte_count, entries, body) values ${places}`
  const values: unknown[] = rows.flatMap((row) => [
    row.part,
    row.projectNumber,
    row.receivedAt,
    row.entryCount,
    row.body.length,
    row.entries,
    row.body,
  ])
  const { rows: added } = await session.query<{ project: number; id: number }>(
    notify.length === 0
      ? { name: `spool_insert_${rows.length}`, text: `${insert} returning project_number as project, id`, values }
      : {
          name: `spool_insert_${rows.length}_notify`,
          text: `with added as (${insert} returning project_number as project, id), notified as (select pg_notify('${SPOOL_CHANNEL}', $${values.length + 1}))
                 select project, id from added, notified`,
          values: [...values, notify.join(',')],
        },
  )
  const ids = new Map<number, number | null>()
  for (const { project, id } of added) ids.set(project, ids.has(project) ? null : id)
  return rows.map(({ projectNumber }) => ids.get(projectNumber) ?? null)
}

/** Turns synchronous_commit on: without it a power cut could lose acknowledged requests. */
export async function demandDurability(session: Connection): Promise<void> {
  await session.query(
    `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
  )
}

/**
 * Keeps plans, unlike other connections of the pool (0.1 ms per insert): the plan of an insert does not depend on the
 * tables' contents.
 */
export async function keepInsertPlans(session: Connection): Promise<void> {
  await session.query('set plan_cache_mode = auto')
}

/** Subscribes the connection to notifications about new rows. */
export async function listenForRows(session: Connection): Promise<void> {
  await session.query(`listen ${SPOOL_CHANNEL}`)
}

/** Resolves when the connection answers. */
export async function ping(session: Connection): Promise<void> {
  await session.query('select 1')
}

/**
 * Takes shards for this connection, until it ends. The part of a shard is locked too, shared by all its shards, so that no
 * process reads it that locks whole parts.
 * @returns those that no other connection has
 */
export async function tryLockShards(session: Connection, shards: readonly number[]): Promise<number[]> {
  const { rows } = await session.query<{ shard: number }>(
    `select shard from unnest($1::int[]) as shard
     where case when not pg_try_advisory_lock($2, $3 + shard) then false
                when pg_try_advisory_lock_shared($2, shard % $4) then true
                else not pg_advisory_unlock($2, $3 + shard) end`,
    [shards, READER_LOCK, FIRST_SHARD_LOCK, PART_NUMBERS.length],
  )
  return rows.map(({ shard }) => shard)
}

/** Ends all locks of a connection. */
export async function unlockShards(session: Connection): Promise<void> {
  await session.query('select pg_advisory_unlock_all()')
}

/** A row of a part. */
export type RowKey = { readonly projectNumber: number; readonly id: number }

export type StoredRow = RowKey & { receivedAt: Date; attempts: number; entries: Buffer; body: Buffer }

/** Which projects are wanted: those of some shards, in a range of parts, that have other rows than `except`. */
type LanesWanted = {
  readonly firstPart: number
  readonly lastPart: number
  readonly shards: readonly number[]
  readonly except: readonly number[]
}

/** The projects that have rows. */
export async function selectLanes(
  db: Connection,
  { firstPart, lastPart, shards, except }: LanesWanted,
): Promise<{ part: number; projectNumber: number }[]> {
  // One look into the index for each project, however many rows it has.
  const { rows } = await db.query<{ part: number; project_number: number }>(
    `with recursive lanes (shard, project_number) as (
       (select shard, project_number from spool where shard between $1::smallint and $2::smallint
        order by shard, project_number limit 1)
       union all
       select next.* from lanes cross join lateral (
         select s.shard, s.project_number from spool s
         where (s.shard, s.project_number) > (lanes.shard, lanes.project_number) and s.shard <= $2::smallint
         order by s.shard, s.project_number limit 1) next
     )
     select shard as part, project_number from lanes
     where project_number % ${SHARDS} = any ($3::int[])
       and exists (select from spool s where s.shard = lanes.shard and s.project_number = lanes.project_number
                                         and s.id <> all ($4::bigint[]))`,
    [firstPart, lastPart, shards, except],
  )
  return rows.map((row) => ({ part: row.part, projectNumber: row.project_number }))
}

/** The shards of projects whose oldest row was received before a time. */
export async function selectLateShards(db: Connection, before: Date): Promise<number[]> {
  const { rows } = await db.query<{ shard: number }>(
    // As in selectLanes: one look into the index for each project.
    `with recursive oldest (shard, project_number, received_at) as (
       (select shard, project_number, received_at from spool order by shard, project_number, id limit 1)
       union all
       select next.* from oldest cross join lateral (
         select s.shard, s.project_number, s.received_at from spool s
         where (s.shard, s.project_number) > (oldest.shard, oldest.project_number)
         order by s.shard, s.project_number, s.id limit 1) next
     )
     select distinct project_number % ${SHARDS} as shard from oldest where received_at < $1`,
    [before],
  )
  return rows.map(({ shard }) => shard)
}

/** Which rows of a project are wanted. */
export type LaneRange = {
  readonly projectNumber: number
  readonly afterId: number
  /** Only rows below this id; null for all. */
  readonly beforeId: number | null
  /** Rows and bytes of the project; at least one row is read. */
  readonly maxRows: number
  readonly maxBytes: number
}

export type RowRange = {
  readonly part: number
  readonly lanes: readonly LaneRange[]
  readonly except: readonly number[]
  readonly maxRows: number
  readonly maxBytes: number
}

/**
 * The oldest rows of projects of a part, one project after the other, up to `maxRows` and about `maxBytes`, at least one. By
 * COPY, because the driver reads query results as text, where a body is a hexadecimal string of twice its bytes.
 */
export async function selectRows(db: Connection, range: RowRange): Promise<StoredRow[]> {
  // COPY takes no parameters.
  const number = (value: number): string => {
    if (!Number.isSafeInteger(value)) throw new Error(`not a whole number: ${value}`)
    return String(value)
  }
  const { lanes, except } = range
  const [part, maxRows, maxBytes] = [number(range.part), number(range.maxRows), number(range.maxBytes)]
  const others = except.length === 0 ? '' : `and id <> all ('{${except.map(number).join(',')}}'::bigint[])`
  const wanted = lanes.map(({ projectNumber, afterId, beforeId, ...max }, place) =>
    [place, projectNumber, afterId, beforeId ?? Number.MAX_SAFE_INTEGER, max.maxRows, max.maxBytes]
      .map(number)
      .join('::bigint, '),
  )
  const statement = `
      select project_number::bigint, id, (extract(epoch from received_at) * 1000)::bigint, attempts::bigint, entries, body from (
        select *, sum(byte_count) over (order by place, id) - byte_count as before,
               sum(byte_count) over (partition by place order by id) - byte_count as before_in_lane
        from (
          select lanes.place, lanes.max_bytes, rows.*
          from (values ${wanted.map((lane) => `(${lane}::bigint)`).join(', ')}) as lanes (place, lane, after_id, before_id, max_rows, max_bytes)
          cross join lateral (
            select * from spool where shard = ${part}::smallint and project_number = lanes.lane::integer
              and id > lanes.after_id and id < lanes.before_id ${others} order by id limit lanes.max_rows
          ) as rows
          order by lanes.place, rows.id limit ${maxRows}
        ) as oldest
      ) as counted where before < ${maxBytes} and (before_in_lane = 0 or before_in_lane < max_bytes) order by place, id`
  return (await db.copyOut(statement, 6)).map(([projectNumber, id, receivedMs, attempts, entries, body]) => ({
    projectNumber: wholeNumber(projectNumber),
    id: wholeNumber(id),
    receivedAt: new Date(wholeNumber(receivedMs)),
    attempts: wholeNumber(attempts),
    entries: entries ?? Buffer.alloc(0),
    body: body ?? Buffer.alloc(0),
  }))
}

/** A bigint field. */
const wholeNumber = (field: Buffer | null | undefined): number => Number(field?.readBigInt64BE() ?? 0n)

export async function countAttempt(tx: Connection, part: number, { projectNumber, id }: RowKey): Promise<void> {
  await tx.query('update spool set attempts = attempts + 1 where shard = $1 and project_number = $2 and id = $3', [
    part,
    projectNumber,
    id,
  ])
}

/** Deletes rows. @returns the number of rows that still existed */
export async function deleteRows(on: Statements, part: number, rows: readonly RowKey[]): Promise<number> {
  const result = await on.query({
    name: 'spool_delete',
    // An id stands for one row; the projects lead to it in the index.
    text: 'delete from spool where shard = $1 and project_number = any($2::integer[]) and id = any($3::bigint[])',
    values: [part, [...new Set(rows.map(({ projectNumber }) => projectNumber))], rows.map(({ id }) => id)],
  })
  return result.rowCount ?? 0
}

/** Whether a commit is on disk when it answers. A test server is not durable as a whole. */
export async function areCommitsDurable(on: Statements): Promise<boolean> {
  const { rows } = await on.query<{ off: boolean }>(
    `select setting = 'off' and source in ('database', 'user', 'database user', 'session') as off
     from pg_settings where name = 'synchronous_commit'`,
  )
  return rows[0]?.off !== true
}

/** For a transaction that moves rows: durable in any case, and no waiting for a batch that takes long while others wait for it. */
export async function prepareMove(tx: Tx): Promise<void> {
  await tx.query(`select set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '1s', true)`)
}

/** Notes rows of the file as settled. @returns those that were not settled before */
export async function insertSettled(on: Statements, ids: readonly number[]): Promise<Set<number>> {
  // In one order, so that two that settle the same rows wait for each other and cannot deadlock.
  const { rows } = await on.query<{ id: number }>({
    name: 'spool_settle',
    text: 'insert into spool_settled (id) select id from unnest($1::bigint[]) as id on conflict do nothing returning id',
    values: [ids.toSorted((a, b) => a - b)],
  })
  return new Set(rows.map(({ id }) => id))
}

/** Forgets settled rows whose place in the file was written again. */
export async function deleteSettled(on: Statements, firstId: number, lastId: number): Promise<void> {
  await on.query('delete from spool_settled where id between $1 and $2', [firstId, lastId])
}

/** Forgets all of them, for an empty file. */
export async function clearSettled(on: Statements): Promise<void> {
  await on.query('delete from spool_settled')
}

type QuarantinedRow = {
  readonly projectId: string
  readonly receivedAt: Date
  readonly quarantinedAt: Date
  readonly reason: string
  readonly attempts: number
  readonly entry: Buffer
  readonly body: Buffer
  /** Categories with their quantities, as counted. */
  readonly counted: QuarantineCounted
}

/** Categories of items with their quantities. */
export type QuarantineCounted = readonly (readonly [category: string, quantity: number])[]

export async function insertQuarantined(on: Statements, row: QuarantinedRow): Promise<void> {
  await on.query(
    `insert into spool_quarantine (project_id, received_at, quarantined_at, reason, attempts, entry, body, counted)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      row.projectId,
      row.receivedAt,
      row.quarantinedAt,
      row.reason,
      row.attempts,
      row.entry,
      row.body,
      JSON.stringify(row.counted),
    ],
  )
}

export type Backlog = {
  readonly rows: number
  readonly entries: number
  readonly bytes: number
  /** Age of the oldest entry; 0 when there is none. */
  readonly oldestAgeMs: number
}

/** Entries that wait for digestion, without the canary's. */
export async function selectBacklog(db: Connection, now: Date): Promise<Backlog> {
  const result = await sql<{ rows: number; entries: number; bytes: number; oldest: Date | null }>`
    select count(*) as rows, coalesce(sum(entry_count), 0)::bigint as entries, coalesce(sum(byte_count), 0)::bigint as bytes,
           min(received_at) as oldest
    from spool where project_number <> ${CANARY_PROJECT_NUMBER}`.execute(db)
  const row = result.rows[0]
  return {
    rows: row?.rows ?? 0,
    entries: row?.entries ?? 0,
    bytes: row?.bytes ?? 0,
    oldestAgeMs: row?.oldest == null ? 0 : Math.max(0, now.getTime() - row.oldest.getTime()),
  }
}

/** Waiting entries of a project, and whose it is. */
export type OwnBacklog = Pick<Backlog, 'entries' | 'bytes'> & {
  readonly projectNumber: number
  readonly orgId: string
}

/** The backlog of each project that has something waiting. */
export async function selectBacklogs(db: Connection): Promise<OwnBacklog[]> {
  const { rows } = await db.query<{ project: number; org: string; entries: number; bytes: number }>(
    `select s.project_number as project, p.org_id as org, s.entries, s.bytes
     from (select project_number, sum(entry_count)::bigint as entries, sum(byte_count)::bigint as bytes
           from spool group by project_number) as s
     join projects p on p.number = s.project_number`,
  )
  return rows.map(({ project, org, ...of }) => ({ projectNumber: project, orgId: org, ...of }))
}

/** Waiting entries of a project. */
export type ProjectBacklog = Omit<Backlog, 'rows'> & { readonly projectNumber: number }

/** The backlog of one project; null when nothing waits. */
export async function selectProjectBacklog(
  db: Connection,
  projectId: string,
  now: Date,
): Promise<ProjectBacklog | null> {
  const { rows } = await db.query<BacklogRow>(
    `select p.number as project, sum(s.entry_count)::bigint as entries, sum(s.byte_count)::bigint as bytes,
            min(s.received_at) as oldest
     from projects p join spool s on s.shard in (${PART_NUMBERS.join(', ')}) and s.project_number = p.number
     where p.id = $1 group by p.number`,
    [projectId],
  )
  return rows.map((row) => backlogOf(row, now))[0] ?? null
}

/** The lags of the projects whose oldest entry waits longest. */
export async function selectLargestLags(db: Connection, max: number, now: Date): Promise<ProjectBacklog[]> {
  const { rows } = await db.query<BacklogRow>(
    `select project_number as project, sum(entry_count)::bigint as entries, sum(byte_count)::bigint as bytes,
            min(received_at) as oldest
     from spool where project_number <> ${CANARY_PROJECT_NUMBER} group by project_number order by oldest limit $1`,
    [max],
  )
  return rows.map((row) => backlogOf(row, now))
}

type BacklogRow = { project: number; entries: number; bytes: number; oldest: Date }

const backlogOf = ({ project, entries, bytes, oldest }: BacklogRow, now: Date): ProjectBacklog => ({
  projectNumber: project,
  entries,
  bytes,
  oldestAgeMs: Math.max(0, now.getTime() - oldest.getTime()),
})

/** Whether there are rows with requests received up to a time. */
export async function hasRowsBefore(db: Connection, time: Date): Promise<boolean> {
  const { rows } = await db.query<{ left: boolean }>(
    'select exists (select from spool where received_at <= $1) as left',
    [time],
  )
  return rows[0]?.left === true
}

/** Quarantined requests of a project after an id, oldest first. */
export async function selectQuarantined(
  db: Connection,
  projectId: string,
  afterId: number,
  max: number,
): Promise<{ id: number; entry: Buffer; body: Buffer }[]> {
  const { rows } = await db.query<{ id: number; entry: Buffer; body: Buffer }>(
    'select id, entry, body from spool_quarantine where project_id = $1 and id > $2 order by id limit $3',
    [projectId, afterId, max],
  )
  return rows
}

/** Requests in quarantine, of all projects unless filtered. */
export async function countQuarantined(db: Connection, filter: QuarantineFilter = {}): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*) as n from spool_quarantine q where ${QUARANTINE_FILTER}`,
    filterValues(filter),
  )
  return rows[0]?.n ?? 0
}

/** The id of the newest request in quarantine; 0 without any. */
export async function newestQuarantined(db: Connection): Promise<number> {
  const { rows } = await db.query<{ id: number }>('select coalesce(max(id), 0) as id from spool_quarantine')
  return rows[0]?.id ?? 0
}

/** Requests in quarantine by their ids or project; all without either. */
export type QuarantineFilter = { readonly ids?: readonly number[]; readonly projectId?: string }

const QUARANTINE_FILTER = `($1::bigint[] is null or q.id = any($1)) and ($2::uuid is null or q.project_id = $2)`
const filterValues = ({ ids, projectId }: QuarantineFilter): unknown[] => [ids ?? null, projectId ?? null]

type QuarantineGroup = {
  readonly orgSlug: string
  readonly projectSlug: string
  readonly reason: string
  readonly requests: number
  readonly bytes: number
  readonly firstId: number
  readonly lastId: number
  readonly oldest: Date
  readonly newest: Date
}

/** Requests in quarantine by project and reason, the latest first. */
export async function groupQuarantined(db: Connection, filter: QuarantineFilter): Promise<QuarantineGroup[]> {
  const { rows } = await db.query<QuarantineGroup>(
    `select o.slug as "orgSlug", p.slug as "projectSlug", q.reason, count(*) as requests,
            sum(octet_length(q.body))::bigint as bytes, min(q.id) as "firstId", max(q.id) as "lastId",
            min(q.received_at) as oldest, max(q.received_at) as newest
     from spool_quarantine q join projects p on p.id = q.project_id join orgs o on o.id = p.org_id
     where ${QUARANTINE_FILTER}
     group by o.slug, p.slug, q.reason order by max(q.received_at) desc, min(q.id)`,
    filterValues(filter),
  )
  return rows
}

type QuarantineCause = { readonly reason: string; readonly count: number; readonly oldest: Date }

/** Requests in quarantine by cause. */
export async function quarantineByReason(db: Connection, max: number): Promise<QuarantineCause[]> {
  const { rows } = await db.query<QuarantineCause>(
    `select reason, count(*)::int as count, min(quarantined_at) as oldest from spool_quarantine
     group by reason order by count(*) desc, reason limit $1`,
    [max],
  )
  return rows
}

/** Requests to try again, oldest first, locked for the transaction; those of deleted projects are left out. */
export async function takeQuarantined(
  tx: Tx,
  filter: QuarantineFilter,
  { afterId, lastId, max }: { readonly afterId: number; readonly lastId: number; readonly max: number },
): Promise<{ id: number; entry: Buffer; body: Buffer; counted: unknown }[]> {
  const { rows } = await tx.query<{ id: number; entry: Buffer; body: Buffer; counted: unknown }>(
    `select q.id, q.entry, q.body, q.counted from spool_quarantine q
     where ${QUARANTINE_FILTER} and q.id > $3 and q.id <= $4
       and exists (select from projects p where p.id = q.project_id)
     order by q.id limit $5 for update skip locked`,
    [...filterValues(filter), afterId, lastId, max],
  )
  return rows
}

/** @returns the number of deleted requests */
export async function deleteAllQuarantined(db: Connection, filter: QuarantineFilter): Promise<number> {
  const { rowCount } = await db.query(`delete from spool_quarantine q where ${QUARANTINE_FILTER}`, filterValues(filter))
  return rowCount ?? 0
}

export async function deleteQuarantined(db: Connection, id: number): Promise<void> {
  await db.query('delete from spool_quarantine where id = $1', [id])
}

/** Deletes quarantined requests of deleted projects. @returns the number of requests */
export async function deleteOrphanedQuarantine(on: Connection): Promise<number> {
  const { rowCount } = await on.query(
    'delete from spool_quarantine q where not exists (select from projects p where p.id = q.project_id)',
  )
  return rowCount ?? 0
}

export const QUARANTINE_ROWS = ownRows('spool_quarantine')
/** Requests in the spool share rows with those of other projects: digestion drops them. */
export const QUARANTINE_PART = projectPart(200, [QUARANTINE_ROWS])

/** Whether one of the rows of a project is in the spool. */
export async function stillWaiting(db: Connection, projectNumber: number, ids: readonly number[]): Promise<boolean> {
  if (ids.length === 0) return false
  const row = await db
    .selectFrom('spool')
    .select('id')
    .where('project_number', '=', projectNumber)
    .where('id', 'in', [...ids])
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
