import type { Metric } from '../../events/protocol/span-values.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { noneLeftOut, type LeftOutCounts } from './deltas.ts'
import { readRows, topNames, type Measured, type PerformanceFilter, type Scope, type SplitKey } from './read.queries.ts'
import type { Grain } from './record.queries.ts'

export type { PerformanceFilter, Scope } from './read.queries.ts'

/** A metric over a time range. Times in milliseconds; null without values. */
export type MetricSummary = {
  readonly count: number
  /** Only for `duration`. */
  readonly failures: number
  /** Values that were not counted: impossible ones, and app starts that the system prewarmed. */
  readonly leftOut: LeftOutCounts
  readonly sum: number
  readonly p50: number | null
  readonly p75: number | null
  readonly p95: number | null
  readonly max: number | null
}

/** With the distribution of its values. */
export type MetricSpread = MetricSummary & { readonly sketch: DDSketch }

export type Metrics = ReadonlyMap<Metric, MetricSpread>

/**
 * Metrics in equal buckets from `from` on, including empty ones. Reads one row per bucket and series of the coarsest
 * grain that the filter allows. The caller has checked the actor's access to the projects.
 * @param intervalMs at least the step of rollups of that age (steps.ts); `from` is a multiple of it
 */
export async function readMetricsSeries(
  db: Connection,
  scope: Scope & { readonly intervalMs: number },
): Promise<{ readonly t: Date; readonly metrics: Metrics }[]> {
  const { filter, intervalMs, from, to } = scope
  const rows = await readRows(db, scope, chooseGrain(filter, null), { by: null, intervalMs })
  const bySlot = Map.groupBy(rows, ({ slot }) => slot)
  const length = Math.max(0, Math.ceil((to.getTime() - from.getTime()) / intervalMs))
  return Array.from({ length }, (_, slot) => ({
    t: new Date(from.getTime() + slot * intervalMs),
    metrics: toMetrics(scope.metrics, bySlot.get(slot) ?? []),
  }))
}

/** Several metrics over the whole range. The map has every requested metric. */
export async function readPerformanceTotals(db: Connection, scope: Scope): Promise<Metrics> {
  return toMetrics(scope.metrics, await readRows(db, scope, chooseGrain(scope.filter, null), WHOLE))
}

/** The same of two ranges, read together. */
export async function readTotalsOfBoth(
  db: Connection,
  scope: Scope,
  other: Pick<Scope, 'from' | 'to'>,
): Promise<readonly [Metrics, Metrics]> {
  const rows = await readRows(db, scope, chooseGrain(scope.filter, null), WHOLE, [other])
  const at = (wanted: number): Metrics =>
    toMetrics(
      scope.metrics,
      rows.filter(({ place }) => place === wanted),
    )
  return [at(0), at(1)]
}

export type NamedPerformance = { readonly name: string; readonly op: string; readonly metrics: Metrics }

/** The transactions or screens with the most values of the first metric, in descending order, with all their metrics. */
export async function readPerformanceByName(db: Connection, scope: Scope, limit: number): Promise<NamedPerformance[]> {
  const [first] = scope.metrics
  if (first === undefined) return []
  const top = await topNames(db, { ...scope, metrics: [first] }, chooseGrain(scope.filter, 'name'), limit)
  if (top.length === 0) return []
  const found = await readPerformanceBy(db, { ...scope, filter: { ...scope.filter, names: top } }, 'name')
  const byName = new Map(found.map((one) => [nameAndOpKey(one), one]))
  return top.map((one) => byName.get(nameAndOpKey(one)) ?? { ...one, metrics: toMetrics(scope.metrics, []) })
}

/** Every value of an attribute with its metrics, in no order. Only names have an op. */
export async function readPerformanceBy(db: Connection, scope: Scope, by: SplitKey): Promise<NamedPerformance[]> {
  const rows = await readRows(db, scope, chooseGrain(scope.filter, by), { by, intervalMs: null })
  return namesIn(scope, rows)
}

const namesIn = ({ metrics }: Scope, rows: readonly Measured[]): NamedPerformance[] =>
  [...Map.groupBy(rows, nameAndOpKey).values()].flatMap((group) => {
    const [first] = group
    return first === undefined ? [] : [{ name: first.name, op: first.op, metrics: toMetrics(metrics, group) }]
  })

/** Every name with its metrics in each of the releases of the filter, by release. */
export async function readNamesOfReleases(db: Connection, scope: Scope): Promise<Map<string, NamedPerformance[]>> {
  const rows = await readRows(db, scope, chooseGrain(scope.filter, 'name'), {
    by: 'name',
    byRelease: true,
    intervalMs: null,
  })
  return new Map([...Map.groupBy(rows, ({ release }) => release)].map(([release, of]) => [release, namesIn(scope, of)]))
}

/** A name and its op as a key of maps. */
export const nameAndOpKey = ({ name, op }: { readonly name: string; readonly op: string }): string => `${name}\n${op}`

const WHOLE = { by: null, intervalMs: null }

/** The coarsest grain that can answer. @throws Error where devices are combined with what they are not counted with */
export function chooseGrain(filter: PerformanceFilter, by: SplitKey | null): Grain {
  const needsName = by === 'name' || filter.name !== undefined || filter.names !== undefined || filter.ops !== undefined
  const needsOrigin =
    filter.os !== undefined || filter.deviceClass !== undefined || by === 'device_class' || by === 'os'
  if (by === 'device' || filter.device !== undefined) {
    if (needsName || needsOrigin) throw new Error('Devices combine with releases and environments only.')
    return 4
  }
  if (needsOrigin || by === 'release' || filter.release !== undefined) return needsName ? 0 : 3
  return needsName ? 1 : 2
}

/** The metrics of rows of one group; the map has each of them. */
export function toMetrics(metrics: readonly Metric[], rows: readonly Measured[]): Metrics {
  const byMetric = new Map(rows.map((row) => [row.metric, row]))
  return new Map(metrics.map((metric) => [metric, spreadOf(byMetric.get(metric))]))
}

/** A metric of a group, empty when nothing was measured. */
export const spreadIn = (metrics: Metrics | undefined, metric: Metric): MetricSpread =>
  metrics?.get(metric) ?? UNMEASURED

/** A chart has thousands: percentiles are computed when they are asked for, which most are not. */
class Spread implements MetricSpread {
  readonly failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
  #quantiles: readonly (number | null)[] | null = null

  constructor({ failures, leftOut, sketch }: Pick<Measured, 'failures' | 'leftOut' | 'sketch'>) {
    this.failures = failures
    this.leftOut = leftOut
    this.sketch = sketch
  }

  get count(): number {
    return this.sketch.count
  }

  get sum(): number {
    return this.sketch.sum
  }

  get max(): number | null {
    return this.sketch.max
  }

  get p50(): number | null {
    return this.#quantile(0)
  }

  get p75(): number | null {
    return this.#quantile(1)
  }

  get p95(): number | null {
    return this.#quantile(2)
  }

  #quantile(index: number): number | null {
    return (this.#quantiles ??= this.sketch.quantiles([0.5, 0.75, 0.95]))[index] ?? null
  }
}

const UNMEASURED: MetricSpread = new Spread({ failures: 0, leftOut: noneLeftOut(), sketch: new DDSketch() })

const spreadOf = (row: Measured | undefined): MetricSpread => (row === undefined ? UNMEASURED : new Spread(row))
