import type { Metric } from '../protocol/span-values.ts'
import type { Connection } from '../storage/database.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { readRows, topNames, type Measured, type PerformanceFilter, type Scope } from './read.queries.ts'
import type { Grain } from './series.queries.ts'

/** A metric over a time range. Times in milliseconds; null without values. */
export type MetricSummary = {
  readonly count: number
  /** Only for `duration`. */
  readonly failures: number
  /** Values that were not counted: impossible ones, and app starts that the system prewarmed. */
  readonly leftOut: number
  readonly sum: number
  readonly p50: number | null
  readonly p75: number | null
  readonly p95: number | null
  readonly max: number | null
}

export type PerformancePoint = MetricSummary & { readonly t: Date }

/**
 * A metric in equal buckets from `from` on, including empty ones. Reads one row per bucket and series of the coarsest
 * grain that the filter allows. The caller has checked the actor's access to the projects.
 * @param intervalMs at least the step of rollups of that age (steps.ts); `from` is a multiple of it
 */
export async function readPerformanceSeries(
  db: Connection,
  scope: Omit<Scope, 'metrics'> & { readonly metric: Metric; readonly intervalMs: number },
): Promise<PerformancePoint[]> {
  const { filter, metric, intervalMs, from, to } = scope
  const split = { byName: false, intervalMs }
  const rows = await readRows(db, { ...scope, metrics: [metric] }, grainOf(filter, false), split)
  const bySlot = new Map(rows.map((row) => [row.slot, row]))
  const length = Math.max(0, Math.ceil((to.getTime() - from.getTime()) / intervalMs))
  return Array.from({ length }, (_, slot) => ({
    t: new Date(from.getTime() + slot * intervalMs),
    ...summaryOf(bySlot.get(slot)),
  }))
}

/** Several metrics over the whole range. The map has every requested metric. */
export async function readPerformanceTotals(db: Connection, scope: Scope): Promise<ReadonlyMap<Metric, MetricSummary>> {
  const rows = await readRows(db, scope, grainOf(scope.filter, false), WHOLE)
  return summariesOf(scope, rows)
}

export type NamedPerformance = {
  readonly name: string
  readonly op: string
  readonly metrics: ReadonlyMap<Metric, MetricSummary>
}

/** The transactions or screens with the most values of the first metric, in descending order, with all their metrics. */
export async function readPerformanceByName(db: Connection, scope: Scope, limit: number): Promise<NamedPerformance[]> {
  const grain = grainOf(scope.filter, true)
  const [first] = scope.metrics
  if (first === undefined) return []
  const top = await topNames(db, { ...scope, metrics: [first] }, grain, limit)
  if (top.length === 0) return []
  const split = { byName: true, intervalMs: null }
  const rows = await readRows(db, { ...scope, filter: { ...scope.filter, names: top } }, grain, split)
  const byName = Map.groupBy(rows, ({ name, op }) => `${name}\n${op}`)
  return top.map(({ name, op }) => ({ name, op, metrics: summariesOf(scope, byName.get(`${name}\n${op}`) ?? []) }))
}

/** The share of values at or above a limit, such as cold starts of 5 s and more; null without values. */
export async function readShareFrom(
  db: Connection,
  scope: Omit<Scope, 'metrics'> & { readonly metric: Metric; readonly border: number },
): Promise<number | null> {
  const [row] = await readRows(db, { ...scope, metrics: [scope.metric] }, grainOf(scope.filter, false), WHOLE)
  return row === undefined || row.sketch.count === 0 ? null : row.sketch.countFrom(scope.border) / row.sketch.count
}

const WHOLE = { byName: false, intervalMs: null }

/** The coarsest grain that can answer. */
function grainOf(filter: PerformanceFilter, byName: boolean): Grain {
  if (filter.release !== undefined || filter.os !== undefined || filter.deviceClass !== undefined) return 0
  const needsName = byName || filter.name !== undefined || filter.names !== undefined || filter.ops !== undefined
  return needsName ? 1 : 2
}

function summariesOf({ metrics }: Scope, rows: readonly Measured[]): Map<Metric, MetricSummary> {
  const byMetric = new Map(rows.map((row) => [row.metric, row]))
  return new Map(metrics.map((metric) => [metric, summaryOf(byMetric.get(metric))]))
}

function summaryOf(row: Measured | undefined): MetricSummary {
  const { sketch, failures, leftOut } = row ?? { sketch: NOTHING, failures: 0, leftOut: 0 }
  const [p50 = null, p75 = null, p95 = null] = sketch.quantiles([0.5, 0.75, 0.95])
  return { count: sketch.count, failures, leftOut, sum: sketch.sum, p50, p75, p95, max: sketch.max }
}

const NOTHING = new DDSketch()
