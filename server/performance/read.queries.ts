import { sql, type SqlBool } from 'kysely'
import type { Connection } from '../storage/database.ts'
import type { DeviceClass } from '../protocol/device-class.ts'
import { METRICS, type Metric } from '../protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { metricAt } from './record.queries.ts'
import type { Grain } from './series.queries.ts'

export type PerformanceFilter = {
  readonly name?: string
  /** Pairs of name and op. */
  readonly names?: readonly { readonly name: string; readonly op: string }[]
  readonly ops?: readonly string[]
  readonly release?: string
  readonly environment?: string
  readonly os?: string
  readonly deviceClass?: DeviceClass
}

export type Scope = {
  readonly projectIds: readonly string[]
  readonly metrics: readonly Metric[]
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly filter: PerformanceFilter
}

export type Measured = {
  /** Empty unless split by name. */
  readonly name: string
  readonly op: string
  readonly metric: Metric
  /** Number of the interval after `from`; 0 without intervals. */
  readonly slot: number
  readonly failures: number
  readonly leftOut: number
  readonly sketch: DDSketch
}

/**
 * Reads rollups of a grain, and deltas that are not folded yet. The sketches of a group come concatenated in one row,
 * because rows cost more than bytes.
 * @param split whether by name and op, and the length of intervals from `from` on
 */
export async function readRows(
  db: Connection,
  scope: Scope,
  grain: Grain,
  split: { readonly byName: boolean; readonly intervalMs: number | null },
): Promise<Measured[]> {
  const slot =
    split.intervalMs === null
      ? sql<number>`0`
      : sql<number>`floor((extract(epoch from bucket) * 1000 - ${scope.from.getTime()}::float8) / ${split.intervalMs}::float8)::int`
  const name = split.byName ? sql<string>`name` : sql<string>`''`
  const op = split.byName ? sql<string>`op` : sql<string>`''`
  const rows = await union(db, scope, grain)
    .select([
      name.as('group_name'),
      op.as('group_op'),
      'metric',
      slot.as('slot'),
      (eb) => eb.fn.sum<number>('failures').as('failures'),
      (eb) => eb.fn.sum<number>('left_out').as('left_out'),
      sql<Buffer>`string_agg(int4send(length(sketch)) || sketch, ''::bytea)`.as('sketches'),
    ])
    .groupBy([sql`1`, sql`2`, sql`3`, sql`4`])
    .execute()
  return rows.map((row) => ({
    name: row.group_name,
    op: row.group_op,
    metric: metricAt(row.metric),
    slot: row.slot,
    failures: Number(row.failures),
    leftOut: Number(row.left_out),
    sketch: merged(row.sketches),
  }))
}

/** Merges concatenated sketches, each preceded by its length. */
function merged(sketches: Buffer): DDSketch {
  const sum = new DDSketch()
  for (let at = 0; at < sketches.length;) {
    const start = at + 4
    at = start + sketches.readInt32BE(at)
    sum.mergeBytes(sketches.subarray(start, at))
  }
  return sum
}

/** Names with the most values of a metric. Reads no sketches. */
export async function topNames(
  db: Connection,
  scope: Scope,
  grain: Grain,
  limit: number,
): Promise<{ name: string; op: string }[]> {
  return union(db, scope, grain)
    .select(['name', 'op'])
    .groupBy(['name', 'op'])
    .orderBy(sql`sum(count)`, 'desc')
    .orderBy('name')
    .orderBy('op')
    .limit(limit)
    .execute()
}

function union(db: Connection, scope: Scope, grain: Grain) {
  const folded = db
    .selectFrom('performance_rollups as r')
    .innerJoin('performance_series as s', (join) =>
      join.onRef('s.project_id', '=', 'r.project_id').onRef('s.id', '=', 'r.series_id'),
    )
    .where(sql<SqlBool>`r.project_id = any(${[...scope.projectIds]}::uuid[])`)
    .where('r.grain', '=', grain)
    .where(sql<SqlBool>`r.metric = any(${codes(scope)}::smallint[])`)
    .where('r.bucket', '>=', scope.from)
    .where('r.bucket', '<', scope.to)
    .where(matches(scope.filter))
    .select(['s.name', 's.op', 'r.metric', 'r.bucket', 'r.count', 'r.failures', 'r.left_out', 'r.sketch'])
  const fresh = db
    .selectFrom('performance_deltas as d')
    .innerJoin('performance_series as s', (join) =>
      join.onRef('s.project_id', '=', 'd.project_id').onRef('s.id', '=', 'd.series_id'),
    )
    .where(sql<SqlBool>`d.project_id = any(${[...scope.projectIds]}::uuid[])`)
    .where(sql<SqlBool>`d.metric = any(${codes(scope)}::smallint[])`)
    .where('d.minute', '>=', scope.from)
    .where('d.minute', '<', scope.to)
    .where(matches(scope.filter))
    .select(['s.name', 's.op', 'd.metric', 'd.minute as bucket', 'd.count', 'd.failures', 'd.left_out', 'd.sketch'])
  return db.selectFrom(folded.unionAll(fresh).as('m'))
}

const codes = ({ metrics }: Scope): number[] => metrics.map((metric) => METRICS.indexOf(metric))

/** Conditions on the series with the alias `s`. */
function matches(filter: PerformanceFilter) {
  const conditions = [sql<SqlBool>`true`]
  if (filter.name !== undefined) conditions.push(sql<SqlBool>`s.name = ${filter.name}`)
  if (filter.names !== undefined)
    conditions.push(
      sql<SqlBool>`(s.name, s.op) in (select * from unnest(${filter.names.map(({ name }) => name)}::text[], ${filter.names.map(({ op }) => op)}::text[]))`,
    )
  if (filter.ops !== undefined) conditions.push(sql<SqlBool>`s.op = any(${[...filter.ops]}::text[])`)
  if (filter.release !== undefined) conditions.push(sql<SqlBool>`s.release = ${filter.release}`)
  if (filter.environment !== undefined) conditions.push(sql<SqlBool>`s.environment = ${filter.environment}`)
  if (filter.os !== undefined) conditions.push(sql<SqlBool>`s.os = ${filter.os}`)
  if (filter.deviceClass !== undefined) conditions.push(sql<SqlBool>`s.device_class = ${filter.deviceClass}`)
  return sql<SqlBool>`${sql.join(conditions, sql` and `)}`
}
