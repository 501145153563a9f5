import { sql, type Kysely, type SqlBool } from 'kysely'
import type { Tables } from '../../storage/tables.ts'
import { METRICS, type Metric } from '../../protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import type { PerformanceFilter } from './read-performance.ts'
import { metricAt } from './record.queries.ts'
import type { Grain } from './series.ts'

export type Scope = {
  readonly projectIds: readonly string[]
  readonly metrics: readonly Metric[]
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly filter: PerformanceFilter
}

export type Measured = {
  readonly name: string
  readonly op: string
  readonly metric: Metric
  readonly bucket: Date
  readonly failures: number
  readonly leftOut: number
  readonly sketch: DDSketch
}

/** Rows of rollups in the grain asked for, and what is not folded yet. */
export async function readRows(db: Kysely<Tables>, scope: Scope, grain: Grain): Promise<Measured[]> {
  const rows = await union(db, scope, grain)
    .select(['name', 'op', 'metric', 'bucket', 'failures', 'left_out', 'sketch'])
    .execute()
  return rows.map((row) => ({
    name: row.name,
    op: row.op,
    metric: metricAt(row.metric),
    bucket: row.bucket,
    failures: Number(row.failures),
    leftOut: Number(row.left_out),
    sketch: DDSketch.fromBytes(row.sketch),
  }))
}

/** Names with the most values of a metric, without looking into a sketch. */
export async function topNames(
  db: Kysely<Tables>,
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

function union(db: Kysely<Tables>, scope: Scope, grain: Grain) {
  const folded = db
    .selectFrom('performance_rollups as r')
    .innerJoin('performance_series as s', (join) =>
      join.onRef('s.project_id', '=', 'r.project_id').onRef('s.id', '=', 'r.series_id'),
    )
    .where('r.project_id', 'in', [...scope.projectIds])
    .where('r.grain', '=', grain)
    .where('r.metric', 'in', codes(scope))
    .where('r.bucket', '>=', scope.from)
    .where('r.bucket', '<', scope.to)
    .where(matches(scope.filter))
    .select(['s.name', 's.op', 'r.metric', 'r.bucket', 'r.count', 'r.failures', 'r.left_out', 'r.sketch'])
  const fresh = db
    .selectFrom('performance_deltas as d')
    .innerJoin('performance_series as s', (join) =>
      join.onRef('s.project_id', '=', 'd.project_id').onRef('s.id', '=', 'd.series_id'),
    )
    .where('d.project_id', 'in', [...scope.projectIds])
    .where('d.metric', 'in', codes(scope))
    .where('d.minute', '>=', scope.from)
    .where('d.minute', '<', scope.to)
    .where(matches(scope.filter))
    .select(['s.name', 's.op', 'd.metric', 'd.minute as bucket', 'd.count', 'd.failures', 'd.left_out', 'd.sketch'])
  return db.selectFrom(folded.unionAll(fresh).as('m'))
}

const codes = ({ metrics }: Scope): number[] => metrics.map((metric) => METRICS.indexOf(metric))

/** Conditions on the series, by the alias `s`. */
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
