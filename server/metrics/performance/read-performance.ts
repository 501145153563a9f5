import type { DeviceClass } from '../../protocol/device-class.ts'
import type { Metric } from '../../protocol/span-values.ts'
import type { Database } from '../../storage/pool.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { readRows, topNames, type Measured, type Scope } from './read.queries.ts'
import type { Grain } from './series.ts'

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

/** What is known of a metric over some time. Times in milliseconds; null where nothing was measured. */
export type MetricSummary = {
  readonly count: number
  /** Only `duration` has them. */
  readonly failures: number
  /** Values not counted: impossible ones, and starts the system did ahead of time. */
  readonly leftOut: number
  readonly sum: number
  readonly p50: number | null
  readonly p75: number | null
  readonly p95: number | null
  readonly max: number | null
}

export type PerformancePoint = MetricSummary & { readonly t: Date }

/**
 * A metric over time in equal buckets from `from` on, empty ones included. The caller has checked that these projects
 * are the actor's. Costs a row per bucket and series of the coarsest grain the filter allows, whatever was counted.
 * @param intervalMs at least the step rollups of that age have (steps.ts); `from` a multiple of it
 */
export async function readPerformanceSeries(
  db: Database,
  scope: Omit<Scope, 'metrics'> & { readonly metric: Metric; readonly intervalMs: number },
): Promise<PerformancePoint[]> {
  const rows = await readRows(db, { ...scope, metrics: [scope.metric] }, grainOf(scope.filter, false))
  const start = scope.from.getTime()
  const buckets = Map.groupBy(rows, ({ bucket }) => Math.floor((bucket.getTime() - start) / scope.intervalMs))
  const length = Math.max(0, Math.ceil((scope.to.getTime() - start) / scope.intervalMs))
  return Array.from({ length }, (_, index) => ({
    t: new Date(start + index * scope.intervalMs),
    ...summaryOf(buckets.get(index) ?? []),
  }))
}

/** Several metrics over the whole time, by metric; every one asked for is there. */
export async function readPerformanceTotals(db: Database, scope: Scope): Promise<ReadonlyMap<Metric, MetricSummary>> {
  const rows = Map.groupBy(await readRows(db, scope, grainOf(scope.filter, false)), ({ metric }) => metric)
  return new Map(scope.metrics.map((metric) => [metric, summaryOf(rows.get(metric) ?? [])]))
}

export type NamedPerformance = {
  readonly name: string
  readonly op: string
  readonly metrics: ReadonlyMap<Metric, MetricSummary>
}

/** The transactions or screens with the most values of the first metric, most first, and all metrics of each. */
export async function readPerformanceByName(db: Database, scope: Scope, limit: number): Promise<NamedPerformance[]> {
  const grain = grainOf(scope.filter, true)
  const [first] = scope.metrics
  if (first === undefined) return []
  const top = await topNames(db, { ...scope, metrics: [first] }, grain, limit)
  if (top.length === 0) return []
  const rows = await readRows(db, { ...scope, filter: { ...scope.filter, names: top } }, grain)
  const byName = Map.groupBy(rows, ({ name, op }) => `${name}\n${op}`)
  return top.map(({ name, op }) => {
    const own = Map.groupBy(byName.get(`${name}\n${op}`) ?? [], ({ metric }) => metric)
    return { name, op, metrics: new Map(scope.metrics.map((metric) => [metric, summaryOf(own.get(metric) ?? [])])) }
  })
}

/** The share of values at or above a border, such as cold starts from 5 s on; null where nothing was measured. */
export async function readShareFrom(
  db: Database,
  scope: Omit<Scope, 'metrics'> & { readonly metric: Metric; readonly border: number },
): Promise<number | null> {
  const sketch = mergeOf(await readRows(db, { ...scope, metrics: [scope.metric] }, grainOf(scope.filter, false)))
  return sketch.count === 0 ? null : sketch.countFrom(scope.border) / sketch.count
}

/** The coarsest grain that can answer. */
function grainOf(filter: PerformanceFilter, byName: boolean): Grain {
  if (filter.release !== undefined || filter.os !== undefined || filter.deviceClass !== undefined) return 0
  const needsName = byName || filter.name !== undefined || filter.names !== undefined || filter.ops !== undefined
  return needsName ? 1 : 2
}

function mergeOf(rows: readonly Measured[]): DDSketch {
  const sketch = new DDSketch()
  for (const row of rows) sketch.merge(row.sketch)
  return sketch
}

function summaryOf(rows: readonly Measured[]): MetricSummary {
  const sketch = mergeOf(rows)
  const [p50 = null, p75 = null, p95 = null] = sketch.quantiles([0.5, 0.75, 0.95])
  return {
    count: sketch.count,
    failures: rows.reduce((sum, row) => sum + row.failures, 0),
    leftOut: rows.reduce((sum, row) => sum + row.leftOut, 0),
    sum: sketch.sum,
    p50,
    p75,
    p95,
    max: sketch.max,
  }
}
