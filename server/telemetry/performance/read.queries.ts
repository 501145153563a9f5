import { type RawBuilder, sql, type SqlBool } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import type { DeviceClass } from '../../events/protocol/device-signals.ts'
import { LEFT_OUT, METRICS, type Metric } from '../../events/protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { metricCode, type LeftOutCounts, type StoredMetric } from './deltas.ts'
import { metricAt, type Grain, type Series } from './record.queries.ts'
import { LONG, coverRange, STEPS, WHOLE } from './steps.ts'
import { shortId } from '#shared/issue-values.ts'
import type { ReleaseFacts } from '../../projects/releases/order.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'

/** One value, or any of several. */
type OneOf<T extends string> = T | readonly T[]

export type PerformanceFilter = {
  readonly name?: string | undefined
  /** Pairs of name and op. */
  /** Pairs of project and name. */
  readonly projectNames?: readonly { readonly projectId: string; readonly name: string }[] | undefined
  readonly names?: readonly { readonly name: string; readonly op: string }[] | undefined
  readonly ops?: readonly string[] | undefined
  readonly release?: OneOf<string> | undefined
  readonly environment?: OneOf<string> | undefined
  readonly os?: OneOf<string> | undefined
  readonly deviceClass?: OneOf<DeviceClass> | undefined
  /** Combines with release and environment. */
  readonly device?: OneOf<string> | undefined
}

export type Scope = {
  readonly projectIds: readonly string[]
  readonly metrics: readonly Metric[]
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly filter: PerformanceFilter
}

/** Values that the rows of a group share: name and op, or an attribute. */
export type SplitKey = 'name' | 'release' | 'environment' | 'os' | 'device_class' | 'device'

/** By which attributes and in which intervals a result is split. */
export type Split = {
  readonly by: SplitKey | null
  /** Also by release. */
  readonly byRelease?: boolean
  readonly intervalMs: number | null
}

/** A range to read, in intervals or as a whole. */
export type Asked = Pick<Scope, 'from' | 'to'> & { readonly intervalMs: number | null }

export type Measured = {
  /** The place of its range. */
  readonly place: number
  /** The attribute by which the result is split; empty without one. */
  readonly name: string
  /** Only where split by name. */
  readonly op: string
  /** Only where split by release. */
  readonly release: string
  readonly metric: Metric
  /** Number of the interval after `from`; 0 without intervals. */
  readonly slot: number
  readonly failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
}

/**
 * Reads rollups of a grain, and deltas that are not folded yet. The sketches of a group come concatenated in one row,
 * because rows cost more than bytes.
 * @param others further ranges to read as a whole, whose places follow the place of the scope, 0
 */
export async function readRows(
  db: Connection,
  scope: Scope,
  grain: Grain,
  split: Split,
  others: readonly Pick<Scope, 'from' | 'to'>[] = [],
): Promise<Measured[]> {
  const { by, byRelease = false, intervalMs } = split
  const slot = slotIn(scope, intervalMs)
  const asked = [scope, ...others].map((range) => ({ ...range, intervalMs }))
  const rows = await union(db, scope, grain, asked)
    .select([
      'place',
      (by === null ? sql<string>`''` : sql<string>`${sql.ref(by)}`).as('group_name'),
      (by === 'name' ? sql<string>`op` : sql<string>`''`).as('group_op'),
      (byRelease ? sql<string>`release` : sql<string>`''`).as('group_release'),
      'metric',
      slot.as('slot'),
      sql<number>`sum(count::float8)`.as('count'),
      sql<number>`sum(failures::float8)`.as('failures'),
      ...LEFT_OUT.map((reason) => sql<number>`sum(${sql.ref(reason)}::float8)`.as(reason)),
      sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches'),
    ])
    .groupBy([sql`1`, sql`2`, sql`3`, sql`4`, sql`5`, sql`6`])
    .execute()
  return rows.map((row) => ({
    place: row.place,
    name: row.group_name,
    op: row.group_op,
    release: row.group_release,
    metric: metricAt(row.metric),
    slot: row.slot,
    failures: row.failures,
    leftOut: { too_long: row.too_long, prewarmed: row.prewarmed, invalid: row.invalid },
    sketch: merged(row.sketches, row.count),
  }))
}

/** The number of the interval that a bucket is in. */
const slotIn = ({ from }: Pick<Scope, 'from'>, intervalMs: number | null) =>
  intervalMs === null
    ? sql<number>`0`
    : sql<number>`floor((extract(epoch from bucket) * 1000 - ${from.getTime()}::float8) / ${intervalMs}::float8)::int`

/** Merges concatenated sketches, each preceded by its length. @param count of all their values */
export const merged = (sketches: Buffer, count: number): DDSketch => DDSketch.sumOf(apart(sketches), count)

/** Concatenated bytes, each preceded by its length. */
function apart(sketches: Buffer): Buffer[] {
  const all: Buffer[] = []
  for (let at = 0; at < sketches.length;) {
    const start = at + 4
    at = start + sketches.readInt32BE(at)
    all.push(sketches.subarray(start, at))
  }
  return all
}

/**
 * Distinct users of the transactions of each range, read as a whole; null where none named its user. They are stored with
 * all attributes, so that every filter but the device applies.
 */
export async function readUsers(
  db: Connection,
  scope: Omit<Scope, 'metrics'>,
  others: readonly Pick<Scope, 'from' | 'to'>[],
): Promise<(number | null)[]> {
  const asked = [scope, ...others].map((range) => ({ ...range, intervalMs: null }))
  const rows = await union(db, { ...scope, metrics: ['duration'] }, 0, asked, 'users')
    .where('sketch', 'is not', null)
    .select(['place', sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches')])
    .groupBy('place')
    .execute()
  return asked.map((_, wanted) => {
    const row = rows.find(({ place }) => place === wanted)
    if (row === undefined) return null
    const users = new HyperLogLog()
    for (const bytes of apart(row.sketches)) users.mergeBytes(bytes)
    return users.count()
  })
}

/** Names with the most values of a metric. Reads no sketches. */
export async function topNames(
  db: Connection,
  scope: Scope,
  grain: Grain,
  limit: number,
): Promise<{ name: string; op: string }[]> {
  return union(db, scope, grain, [{ ...scope, intervalMs: null }])
    .select(['name', 'op'])
    .groupBy(['name', 'op'])
    .orderBy(sql`sum(count)`, 'desc')
    .orderBy('name')
    .orderBy('op')
    .limit(limit)
    .execute()
}

/** The first day of a range on which series took what exceeded the limit of their project; null without one. */
export async function firstDayBeyondLimit(
  db: Connection,
  { from, to }: Pick<Scope, 'from' | 'to'>,
  overflows: readonly Series[],
): Promise<string | null> {
  const { rows } = await db.query<{ day: string | null }>({
    name: 'performance-first-day-beyond-limit',
    text: `select min(at)::date as day from (
             select r.bucket as at from performance_rollups r
             join unnest($1::uuid[], $2::uuid[]) k (project_id, series_id) using (project_id, series_id)
             where r.grain = 0 and r.metric = any($3::smallint[]) and r.step = any($4::smallint[]) and r.bucket >= $5 and r.bucket < $6
             union all
             select d.minute from performance_deltas d
             join unnest($1::uuid[], $2::uuid[]) k (project_id, series_id) using (project_id, series_id)
             where d.metric = any($3::smallint[]) and d.minute >= $5 and d.minute < $6) m`,
    values: [
      overflows.map(({ projectId }) => projectId),
      overflows.map(({ id }) => id),
      METRICS.map((_, metric) => metric),
      [LONG[0]],
      from,
      to,
    ],
  })
  return rows[0]?.day ?? null
}

const FINE_STEPS = STEPS.map(({ minutes }) => minutes).filter((minutes) => !WHOLE.some((step) => step === minutes))

type StoredScope = Pick<Scope, 'projectIds' | 'filter'> & { readonly metrics: readonly StoredMetric[] }

/** A measurement of a series in a bucket: of rollups, or of deltas that are not folded yet. */
type Measurement = {
  readonly place: number
  readonly project_id: string
  readonly name: string
  readonly op: string
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly device_class: string
  readonly device: string
  readonly span: string
  readonly metric: number
  readonly bucket: Date
  readonly count: number
  readonly failures: number
  readonly sketch: Buffer
} & LeftOutCounts

/**
 * The measurements of a grain: rollups, and deltas that are not folded yet. Parts of the range are rows of one scan: with a
 * scan for each of them, most of the database's time was planning.
 */
export function union(
  db: Connection,
  scope: StoredScope,
  grain: Grain,
  asked: readonly Asked[],
  sketch: 'sketch' | 'users' = 'sketch',
) {
  const { projectIds, filter } = scope
  const ofProjects = sql`any(${[...projectIds]}::uuid[])`
  const ofMetrics = sql`any(${codes(scope)}::smallint[])`
  const counted = (alias: 'd' | 'r') =>
    sql.join([
      ...['count', 'failures', ...LEFT_OUT].map((column) => sql.ref(`${alias}.${column}`)),
      sql`${sql.ref(`${alias}.${sketch}`)} as sketch`,
    ])
  const attributes = sql`s.project_id, s.name, s.op, s.release, s.environment, s.os, s.device_class, s.span`
  // A select for each range: joined with ranges, the planner reads the series of all deltas for each of them.
  const deltas = asked.map(
    ({ from, to }, place) => sql`
      select ${place}::int as place, ${attributes}, d.device, d.metric, d.minute as bucket, ${counted('d')}
      from performance_deltas d join performance_series s on s.project_id = d.project_id and s.id = d.series_id
      where d.project_id = ${ofProjects} and d.metric = ${ofMetrics} and d.minute >= ${from} and d.minute < ${to}
        and ${matches(filter, 'd.device')} and ${grain === 4 ? sql`d.device <> ''` : sql`true`}`,
  )
  return db.selectFrom(
    sql<Measurement>`(
      ${sql.join(deltas, sql` union all `)}
      union all
      select b.place, ${attributes}, s.device, r.metric, r.bucket, ${counted('r')}
      from performance_series s cross join ${buckets(asked)} b
      cross join lateral (
        select r.* from performance_rollups r
        where r.project_id = s.project_id and r.grain = ${grain}::smallint and r.metric = ${ofMetrics} and r.series_id = s.id
          and r.step = b.step and r.bucket >= b.first and r.bucket < b.last
        offset 0) r
      where s.project_id = ${ofProjects} and s.grain = ${grain}::smallint and s.last_day >= ${firstDay(asked)}::date
        and ${matches(filter, 's.device')})`.as('m'),
  )
}

/** Series that were written last before this day have nothing in the ranges; a day more, for clocks that are ahead. */
const firstDay = (asked: readonly Asked[]): string =>
  dayPlus(utcDay(new Date(Math.min(...asked.map(({ from }) => from.getTime())))), -1)

/** Which buckets to read: the place of their range, their length, and between which times they begin. */
function buckets(asked: readonly Asked[]): RawBuilder<unknown> {
  const parts = asked.flatMap(({ from, to, intervalMs }, place) =>
    coverRange(from, to, intervalMs).map((part) => ({ ...part, place, intervalMs })),
  )
  const rows = parts.flatMap(({ step, ...part }) =>
    (step === null ? FINE_STEPS : [step]).map((minutes) => ({ minutes, ...part })),
  )
  // Where short buckets are gone, an interval has the hours that begin in it.
  const older = parts.filter(({ step, intervalMs }) => step === null && intervalMs !== null)
  const ofOlder = sql`union all select o.place, ${WHOLE[0]}::smallint, o.first, least(o.last, coalesce(date_trunc('hour',
      (select min(f.bucket) from performance_rollups f where f.step = any(${FINE_STEPS}::smallint[]))), 'infinity'))
    from unnest(${older.map(({ place }) => place)}::int[], ${older.map(({ from }) => from)}::timestamptz[],
      ${older.map(({ to }) => to)}::timestamptz[]) o (place, first, last)`
  return sql`(
    select * from unnest(${rows.map(({ place }) => place)}::int[], ${rows.map(({ minutes }) => minutes)}::smallint[],
      ${rows.map(({ from }) => from)}::timestamptz[], ${rows.map(({ to }) => to)}::timestamptz[])
      k (place, step, first, last) ${older.length === 0 ? sql`` : ofOlder})`
}

const codes = ({ metrics }: Pick<StoredScope, 'metrics'>): number[] => metrics.map(metricCode)

/** Conditions on the series with the alias `s`. */
function matches(filter: PerformanceFilter, device: 'd.device' | 's.device') {
  const conditions = [sql<SqlBool>`true`]
  if (filter.name !== undefined) conditions.push(sql<SqlBool>`s.name = ${filter.name}`)
  if (filter.projectNames !== undefined)
    conditions.push(
      sql<SqlBool>`(s.project_id, s.name) in (select * from unnest(${filter.projectNames.map(({ projectId }) => projectId)}::uuid[], ${filter.projectNames.map(({ name }) => name)}::text[]))`,
    )
  if (filter.names !== undefined)
    conditions.push(
      sql<SqlBool>`(s.name, s.op) in (select * from unnest(${filter.names.map(({ name }) => name)}::text[], ${filter.names.map(({ op }) => op)}::text[]))`,
    )
  const any = (column: string, values: OneOf<string> | undefined): void => {
    if (values === undefined) return
    const list = typeof values === 'string' ? [values] : [...values]
    conditions.push(sql<SqlBool>`${sql.ref(column)} = any(${list}::text[])`)
  }
  any('s.op', filter.ops)
  any('s.release', filter.release)
  any('s.environment', filter.environment)
  any('s.os', filter.os)
  any('s.device_class', filter.deviceClass)
  any(device, filter.device)
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}

/** Spans of a transaction that do the same. */
export type MeasuredSpans = {
  /** The transaction; empty where the spans did not name it. */
  readonly transaction: string
  readonly op: string
  /** Their operation, or the part of the time. */
  readonly span: string
  readonly metric: StoredMetric
  readonly failures: number
  readonly sketch: DDSketch
}

/** Reads the operations of transactions, or the parts of their time. @param spans only these; default: all */
export async function readSpans(
  db: Connection,
  scope: Omit<Scope, 'metrics'>,
  metrics: readonly Extract<StoredMetric, 'span' | 'cache_hit' | 'part'>[],
  spans?: readonly string[],
): Promise<MeasuredSpans[]> {
  const grain = metrics.includes('part') ? 6 : 5
  const rows = await union(db, { ...scope, metrics }, grain, [{ ...scope, intervalMs: null }])
    .where(spans === undefined ? sql<SqlBool>`true` : sql<SqlBool>`span = any(${[...spans]}::text[])`)
    .select([
      'name',
      'op',
      'span',
      'metric',
      sql<number>`sum(count::float8)`.as('count'),
      sql<number>`sum(failures::float8)`.as('failures'),
      sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches'),
    ])
    .groupBy(['name', 'op', 'span', 'metric'])
    .execute()
  const byCode = new Map(metrics.map((metric) => [metricCode(metric), metric]))
  return rows.flatMap(({ name, op, span, failures, ...row }) => {
    const metric = byCode.get(row.metric)
    return metric === undefined
      ? []
      : [{ transaction: name, op, span, metric, failures, sketch: merged(row.sketches, row.count) }]
  })
}

/** An issue as causes of ANRs link to it. */
export type LinkedIssue = { readonly id: string; readonly shortId: string }

/** The issues that show the groups of fingerprints, by the fingerprint in hexadecimal. Others are no fingerprints. */
export async function issuesOfFingerprints(
  db: Connection,
  projectIds: readonly string[],
  hashes: readonly string[],
): Promise<Map<string, LinkedIssue>> {
  const valid = hashes.filter((hash) => /^(?:[0-9a-f]{2})+$/.test(hash)).map((hash) => Buffer.from(hash, 'hex'))
  const rows = await db
    .selectFrom('issue_fingerprints as f')
    .innerJoin('issue_groups as g', 'g.id', 'f.group_id')
    .innerJoin('issues as i', 'i.id', 'g.issue_id')
    .innerJoin('projects as p', 'p.id', 'i.project_id')
    .where('f.project_id', 'in', [...projectIds])
    .where('f.hash', 'in', valid)
    .select(['f.hash', 'i.id', 'i.number', 'p.slug'])
    .execute()
  return new Map(
    rows.map(({ hash, id, number, slug }) => [hash.toString('hex'), { id, shortId: shortId(slug, number) }]),
  )
}

const MAX_RELEASES = 50

/** The releases with the most values of the metrics, at least `min`, in no order. Reads no sketches. */
export async function measuredReleases(
  db: Connection,
  scope: Scope,
  grain: Grain,
  min: number,
): Promise<ReleaseFacts[]> {
  const rows = await db
    .with('measured', () =>
      union(db, scope, grain, [{ ...scope, intervalMs: null }])
        .select(['release', sql<number>`sum(count)`.as('n')])
        .where('release', '!=', '')
        .groupBy('release')
        .having(sql<number>`sum(count)`, '>=', min)
        .orderBy('n', 'desc')
        .limit(MAX_RELEASES),
    )
    .selectFrom('measured')
    .innerJoin('releases as r', (join) => join.onRef('r.version', '=', 'measured.release'))
    .where(sql<boolean>`r.project_id = any(${[...scope.projectIds]}::uuid[])`)
    .select(['r.version', 'r.released_at', 'r.created_at', 'r.first_seen_at'])
    .execute()
  return rows.map((row) => ({
    version: row.version,
    releasedAt: row.released_at,
    createdAt: row.created_at,
    firstSeenAt: row.first_seen_at,
  }))
}

/** Measurements of many projects at once, each for itself: one statement, however many there are. */

/** The measurements to read for each project. */
type ProjectsScope = Omit<Scope, 'filter'> & {
  /** Length of the intervals to tell apart; null for the whole range. */
  readonly intervalMs: number | null
}

export type MeasuredOfProject = {
  readonly projectId: string
  /** Empty where all names count together. */
  readonly name: string
  readonly metric: Metric
  /** Number of the interval after `from`; 0 without intervals. */
  readonly slot: number
  readonly failures: number
  readonly sketch: DDSketch
}

/** Reads the measurements of all names together. */
export const readOfProjects = (db: Connection, scope: ProjectsScope): Promise<MeasuredOfProject[]> =>
  read(db, scope, {}, false)

/** Reads the measurements of these names, each for itself. */
export async function readOfNames(
  db: Connection,
  scope: ProjectsScope,
  names: NonNullable<PerformanceFilter['projectNames']>,
): Promise<MeasuredOfProject[]> {
  return names.length === 0 ? [] : read(db, scope, { projectNames: names }, true)
}

async function read(
  db: Connection,
  scope: ProjectsScope,
  filter: PerformanceFilter,
  withNames: boolean,
): Promise<MeasuredOfProject[]> {
  if (scope.projectIds.length === 0 || scope.metrics.length === 0) return []
  const { intervalMs } = scope
  const rows = await union(db, { ...scope, filter }, withNames ? 1 : 2, [scope])
    .select([
      'project_id',
      (withNames ? sql<string>`name` : sql<string>`''`).as('group_name'),
      'metric',
      slotIn(scope, intervalMs).as('slot'),
      sql<number>`sum(count::float8)`.as('count'),
      (eb) => eb.fn.sum<number>('failures').as('failures'),
      sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches'),
    ])
    .groupBy([sql`1`, sql`2`, sql`3`, sql`4`])
    .execute()
  return rows.map((row) => ({
    projectId: row.project_id,
    name: row.group_name,
    metric: metricAt(row.metric),
    slot: row.slot,
    failures: Number(row.failures),
    sketch: merged(row.sketches, row.count),
  }))
}

/** Names of the projects that received something since a time. */
export async function namesSince(
  db: Connection,
  projectIds: readonly string[],
  since: Date,
): Promise<{ projectId: string; name: string }[]> {
  const { rows } = await db.query<{ project_id: string; name: string }>({
    name: 'performance-names-since',
    // Names that are not folded yet are in grain 0 only.
    text: `select distinct project_id, name from performance_series
           where project_id = any($1::uuid[]) and grain in (0, 1) and last_day >= $2::date and name <> ''`,
    values: [projectIds, utcDay(since)],
  })
  return rows.map(({ project_id: projectId, name }) => ({ projectId, name }))
}

/** Devices whose battery drained, by project and hour. */
export async function drainedDevices(
  db: Connection,
  projectIds: readonly string[],
  from: Date,
  to: Date,
): Promise<{ projectId: string; hour: Date; devices: readonly number[] }[]> {
  const { rows } = await db.query<{ project_id: string; hour: Date; devices: number[] }>({
    name: 'performance-drained-devices',
    text: `select project_id, hour, array_agg(device_key) as devices from battery_hours
           where project_id = any($1::uuid[]) and hour >= $2 and hour < $3 group by 1, 2`,
    values: [projectIds, from, to],
  })
  return rows.map(({ project_id: projectId, ...row }) => ({ projectId, ...row }))
}

/** How many distinct devices drained in the hours of a range. */
export async function countDrainedDevices(
  db: Connection,
  projectIds: readonly string[],
  from: Date,
  to: Date,
): Promise<Map<string, number>> {
  const { rows } = await db.query<{ project_id: string; devices: number }>({
    name: 'performance-count-drained-devices',
    text: `select project_id, count(distinct device_key)::int as devices from battery_hours
           where project_id = any($1::uuid[]) and hour >= date_trunc('hour', $2::timestamptz) and hour < $3 group by 1`,
    values: [projectIds, from, to],
  })
  return new Map(rows.map(({ project_id, devices }) => [project_id, devices]))
}
