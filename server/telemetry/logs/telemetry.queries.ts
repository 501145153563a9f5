import { sql, type Expression, type SelectQueryBuilder, type SqlBool } from 'kysely'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { hyphenate, unhyphenate } from '../../platform/kernel/ids.ts'
import { TOTAL_CAP } from '../../platform/kernel/page.api.ts'
import type { Connection } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'
import type { LogLevel } from '../../events/protocol/telemetry.api.ts'
import type { TimeCursor } from '../../platform/kernel/time-cursor.ts'

/** Queries of telemetry lists, newest first. An index or {@link MAX_SEARCHED} bounds each of them. */

/** Entries that a filter without an index reads. */
export const MAX_SEARCHED = 100_000

export type Slice = {
  readonly limit: number
  readonly offset: number
  readonly after: TimeCursor | null
}

export type TimeRange = {
  readonly from: Date | null
  readonly to: Date | null
  /** Entries received before this day are not shown. */
  readonly oldestDay: string
}

export type LogFilter = TimeRange & {
  readonly projectId: string
  readonly levels: readonly string[] | null
  readonly text: string | null
  readonly traceId: string | null
  /** Every one of these attributes has its value. */
  readonly having: readonly AttributeValue[]
  /** None of these attributes has its value. */
  readonly lacking: readonly AttributeValue[]
}

/** An attribute by name, `environment` or `release`, and its value as text. */
export type AttributeValue = { readonly name: string; readonly value: string }

const LOG_COLUMNS = [
  'id',
  'project_id',
  'occurred_at',
  'received_at',
  'level',
  'severity_number',
  'body',
  'trace_id',
  'span_id',
  'release',
  'environment',
  'attributes',
  'notes',
] as const

/** Indexes of these levels exist. */
const FAILURES: ReadonlySet<string> = new Set(['error', 'fatal'])
const WARNINGS: ReadonlySet<string> = new Set(['warn', ...FAILURES])

/** Entries of the project, range and trace, which indexes find. */
function logsInRange(db: Connection, { projectId, oldestDay, from, to, traceId }: LogFilter) {
  let source = db
    .selectFrom('logs')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('received_day', '>=', oldestDay)
  if (from !== null)
    source = source
      .where('occurred_at', '>=', from)
      // Nothing occurs more than a minute after its receipt: older partitions have no entries of the range.
      .where('received_day', '>=', dayPlus(utcDay(from), -1))
  if (to !== null) source = source.where('occurred_at', '<', to)
  if (traceId !== null) source = source.where('trace_id', '=', hyphenate(traceId))
  return source
}

/** Whether the filter is about the content of entries, which has no index. */
export const readsContent = ({ text, having, lacking }: LogFilter): boolean =>
  text !== null || having.length > 0 || lacking.length > 0

/**
 * Filtered log entries. Without a filter of their content, and with levels that have an index, uses the index; otherwise
 * reads the newest {@link MAX_SEARCHED} of the range.
 */
function filteredLogs(db: Connection, filter: LogFilter) {
  const { levels, text, having, lacking } = filter
  const isIndexed = !readsContent(filter) && (levels === null || levels.every((level) => WARNINGS.has(level)))
  let source = logsInRange(db, filter)
  if (!isIndexed) source = source.orderBy('occurred_at', 'desc').orderBy('id', 'desc').limit(MAX_SEARCHED)
  let query = db.selectFrom(source.as('l'))
  if (levels !== null) {
    query = query.where('level', '=', sql<string>`any(${sql.val([...levels])}::text[])`)
    // The words of a partial index: the planner does not find it by parameters.
    if (levels.every((level) => FAILURES.has(level))) query = query.where(sql<SqlBool>`level in ('error', 'fatal')`)
    else if (isIndexed) query = query.where(sql<SqlBool>`level in ('warn', 'error', 'fatal')`)
  }
  if (text !== null) query = query.where(sql<SqlBool>`body ilike ${containing(text)}`)
  for (const { name, value } of having) query = query.where(sql<SqlBool>`${valueOf(name)} = ${value}`)
  for (const { name, value } of lacking) query = query.where(sql<SqlBool>`${valueOf(name)} is distinct from ${value}`)
  return query
}

/** The value of an attribute as text. */
function valueOf(name: string) {
  if (name === 'environment' || name === 'release') return sql`${sql.ref(name)}`
  return sql`attributes #>> array[${name}, 'value']::text[]`
}

/**
 * The time of the oldest entry that a search of content reads; null when it reads the whole range.
 */
export async function selectSearchedFrom(db: Connection, filter: LogFilter): Promise<Date | null> {
  const row = await logsInRange(db, filter)
    .clearSelect()
    .select('occurred_at')
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .offset(MAX_SEARCHED - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.occurred_at ?? null
}

/** Entries that match a filter of content, by step and level. Reads the newest {@link MAX_SEARCHED}. */
export async function countByStep(
  db: Connection,
  filter: LogFilter,
  { from, stepSeconds }: { readonly from: Date; readonly stepSeconds: number },
): Promise<{ at: Date; level: LogLevel; n: number }[]> {
  const { rows } = await sql<{ at: Date; level: LogLevel; n: number }>`
    select date_bin(make_interval(secs => ${stepSeconds}::int), occurred_at, ${from}::timestamptz) as at, level,
      count(*)::int as n
    from (${filteredLogs(db, { ...filter, levels: null }).select(['occurred_at', 'level'])}) matching
    group by 1, 2`.execute(db)
  return rows
}

type AttributeCount = {
  readonly name: string
  readonly lines: number
  readonly values: number
  readonly value: string
  readonly n: number
}

/** Values are not compared beyond this length. */
const MAX_VALUE = 200
/** They say the same as `environment` and `release`. */
const REPEATED_NAMES = ['environment', 'release', 'sentry.environment', 'sentry.release']

/** Attributes of the newest entries that match, those of most entries first, each with its most frequent values. */
export async function countAttributes(
  db: Connection,
  filter: LogFilter,
  max: { readonly lines: number; readonly names: number; readonly values: number },
): Promise<AttributeCount[]> {
  const newestLines = filteredLogs(db, filter)
    .select(['attributes', 'environment', 'release'])
    .orderBy('occurred_at', 'desc')
    .orderBy('id', 'desc')
    .limit(max.lines)
  const { rows } = await sql<AttributeCount>`
    with lines as materialized (${newestLines}),
    pairs as (
      select key as name, attribute ->> 'value' as value from lines, jsonb_each(attributes) a(key, attribute)
      where jsonb_typeof(attribute -> 'value') <> 'array' and key <> all(${REPEATED_NAMES}::text[])
      union all select 'environment', environment from lines
      union all select 'release', release from lines where release is not null
    ),
    counts as (
      select name, value, count(*)::int as n, sum(count(*)) over (partition by name)::int as lines,
        count(*) over (partition by name)::int as values,
        row_number() over (partition by name order by count(*) desc, value) as place
      from pairs where length(value) <= ${MAX_VALUE} group by name, value
    ),
    names as (select name from counts where place = 1 order by lines desc, name limit ${max.names})
    select name, lines, values, value, n from counts join names using (name)
    where place <= ${max.values} order by lines desc, name, n desc, value`.execute(db)
  return rows
}

/** Entries around a moment, newest first: so many at and after it, so many before. */
export async function selectAround(db: Connection, filter: LogFilter, at: Date, limit: number) {
  const side = (after: boolean) =>
    logsInRange(db, { ...filter, from: after ? at : null, to: after ? null : at })
      .clearSelect()
      .select(LOG_COLUMNS)
      .orderBy('occurred_at', after ? 'asc' : 'desc')
      .orderBy('id', after ? 'asc' : 'desc')
      .limit(limit)
      .execute()
  const [after, earlier] = await Promise.all([side(true), side(false)])
  return [...after.toReversed(), ...earlier].map((row) => ({ ...row, trace_id: plainId(row.trace_id) }))
}

/** A pattern for `like` that finds the text anywhere, with its wildcards escaped. */
const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

export async function selectLogs(db: Connection, filter: LogFilter, slice: Slice) {
  const rows = await newest(filteredLogs(db, filter).select(LOG_COLUMNS), slice).execute()
  return rows.map((row) => ({ ...row, trace_id: plainId(row.trace_id) }))
}

export const countLogs = (db: Connection, filter: LogFilter): Promise<number> =>
  countUpTo(db, filteredLogs(db, filter).select('id'))

export type MetricFilter = TimeRange & {
  readonly projectId: string
  readonly name: string | null
  readonly type: string | null
  readonly traceId: string | null
}

const METRIC_COLUMNS = [
  'id',
  'project_id',
  'occurred_at',
  'received_at',
  'name',
  'type',
  'value',
  'unit',
  'trace_id',
  'span_id',
  'release',
  'environment',
  'attributes',
  'notes',
] as const

function filteredMetrics(db: Connection, filter: MetricFilter) {
  const isIndexed = filter.type === null && filter.traceId === null
  let source = db
    .selectFrom('trace_metrics')
    .selectAll()
    .where('project_id', '=', filter.projectId)
    .where('received_day', '>=', filter.oldestDay)
  if (filter.from !== null)
    source = source
      .where('occurred_at', '>=', filter.from)
      .where('received_day', '>=', dayPlus(utcDay(filter.from), -1))
  if (filter.to !== null) source = source.where('occurred_at', '<', filter.to)
  if (filter.name !== null) source = source.where('name', '=', filter.name)
  if (!isIndexed) source = source.orderBy('occurred_at', 'desc').orderBy('id', 'desc').limit(MAX_SEARCHED)
  let query = db.selectFrom(source.as('m'))
  if (filter.type !== null) query = query.where('type', '=', filter.type)
  if (filter.traceId !== null) query = query.where('trace_id', '=', hyphenate(filter.traceId))
  return query
}

export async function selectMetrics(db: Connection, filter: MetricFilter, slice: Slice) {
  const rows = await newest(filteredMetrics(db, filter).select(METRIC_COLUMNS), slice).execute()
  return rows.map((row) => ({ ...row, trace_id: plainId(row.trace_id) }))
}

export const countMetrics = (db: Connection, filter: MetricFilter): Promise<number> =>
  countUpTo(db, filteredMetrics(db, filter).select('id'))

type Status = Tables['check_ins']['status']

export type RunFilter = TimeRange & {
  readonly projectId: string
  readonly monitor: string | null
  readonly statuses: readonly string[] | null
  readonly environment: string | null
}

function filteredRuns(db: Connection, filter: RunFilter) {
  let query = db
    .selectFrom('check_ins as c')
    .innerJoin('monitors as m', 'm.id', 'c.monitor_id')
    .where('c.project_id', '=', filter.projectId)
    .where('c.received_at', '>=', new Date(`${filter.oldestDay}T00:00:00Z`))
  if (filter.monitor !== null)
    query = query.where('m.project_id', '=', filter.projectId).where('m.slug', '=', filter.monitor)
  if (filter.from !== null) query = query.where('c.received_at', '>=', filter.from)
  if (filter.to !== null) query = query.where('c.received_at', '<', filter.to)
  if (filter.environment !== null) query = query.where('c.environment', '=', filter.environment)
  if (filter.statuses !== null)
    query = query.where('c.status', '=', sql<Status>`any(${sql.val([...filter.statuses])}::text[])`)
  return query
}

export async function selectRuns(db: Connection, filter: RunFilter, slice: Slice) {
  let query = filteredRuns(db, filter)
    .select([
      'c.id',
      'c.project_id',
      'c.status',
      'c.environment',
      'c.release',
      'c.trace_id',
      'c.duration_ms',
      'c.started_at',
      'c.finished_at',
      'c.received_at',
      'c.updated_at',
      'c.notes',
    ])
    .select([
      'm.id as monitor_id',
      'm.slug',
      'm.schedule_type',
      'm.schedule_value',
      'm.schedule_unit',
      'm.timezone',
      'm.checkin_margin_minutes',
      'm.max_runtime_minutes',
      'm.failure_issue_threshold',
      'm.recovery_threshold',
      'm.owner',
    ])
  if (slice.after !== null) query = query.where(before(slice.after, 'c.received_at', 'c.id'))
  return query
    .orderBy('c.received_at', 'desc')
    .orderBy('c.id', 'desc')
    .limit(slice.limit)
    .offset(slice.offset)
    .execute()
}

export const countRuns = (db: Connection, filter: RunFilter): Promise<number> =>
  countUpTo(db, filteredRuns(db, filter).select('c.id'))

const before = (cursor: TimeCursor, column: string, id = 'id') =>
  sql<SqlBool>`(${sql.ref(column)}, ${sql.ref(id)}) < (${cursor.at}::timestamptz, ${cursor.id}::uuid)`

/** A page of entries, newest first. */
function newest<DB, T extends keyof DB, O>(query: SelectQueryBuilder<DB, T, O>, { after, limit, offset }: Slice) {
  const following = after === null ? query : query.where(before(after, 'occurred_at'))
  return following.orderBy(sql.ref('occurred_at'), 'desc').orderBy(sql.ref('id'), 'desc').limit(limit).offset(offset)
}

/** Number of rows, counted up to {@link TOTAL_CAP} + 1. */
async function countUpTo(db: Connection, rows: Expression<unknown>): Promise<number> {
  const capped = sql`(select from (${rows}) as entries limit ${TOTAL_CAP + 1}) as capped`
  const counted = await sql<{ n: number }>`select count(*) as n from ${capped}`.execute(db)
  return counted.rows[0]?.n ?? 0
}

export const plainId = (uuid: string | null): string | null => (uuid === null ? null : unhyphenate(uuid))
