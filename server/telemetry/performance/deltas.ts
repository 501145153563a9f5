import { LEFT_OUT, METRICS, type LeftOut, type Metric } from '../../events/protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** Numbers of left-out values by reason. */
export type LeftOutCounts = { [K in LeftOut]: number }
export const noneLeftOut = (): LeftOutCounts => ({ too_long: 0, prewarmed: 0, invalid: 0 })

export function addLeftOut(to: LeftOutCounts, counts: LeftOutCounts): void {
  for (const reason of LEFT_OUT) to[reason] += counts[reason]
}

/**
 * Metrics of spans, beside those of transactions: the duration of an operation, the time of a part of a transaction, and
 * whether a cache had a key (1 or 0).
 */
const SPAN_METRICS = ['span', 'part', 'cache_hit'] as const
export type StoredMetric = Metric | (typeof SPAN_METRICS)[number]

/** Stored numbers of metrics. */
const CODES = new Map<StoredMetric, number>([
  ...METRICS.map((metric, index) => [metric, index] as const),
  ...SPAN_METRICS.map((metric, index) => [metric, 1_000 + index] as const),
])
export const metricCode = (metric: StoredMetric): number => CODES.get(metric) ?? -1

/** The changes that one batch adds to a series, device, metric and minute. */
export type Delta = {
  readonly projectId: string
  readonly seriesId: string
  readonly device: string
  readonly metric: StoredMetric
  readonly minute: Date
  failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
  /** The users of transactions; null where none is named. */
  users: HyperLogLog | null
}

/** Merges the values of a batch by series, device, metric and minute: one row each. */
export class Deltas {
  readonly #byKey = new Map<string, Delta>()

  add(
    projectId: string,
    series: { readonly id: string; readonly device: string },
    at: Date,
    value: { readonly metric: Metric; readonly value: number; readonly leftOut: LeftOut | null },
    { failed = false, user }: { readonly failed?: boolean; readonly user?: number | undefined } = {},
  ): void {
    const delta = this.at(projectId, series, at, value.metric)
    if (value.leftOut === null) delta.sketch.add(value.value)
    else delta.leftOut[value.leftOut]++
    if (failed) delta.failures++
    if (user !== undefined) (delta.users ??= new HyperLogLog()).add(user)
  }

  /** The changes to a series and metric in the minute of a time. */
  at(
    projectId: string,
    series: { readonly id: string; readonly device: string },
    at: Date,
    metric: StoredMetric,
  ): Delta {
    const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS
    const key = `${projectId}/${series.id}/${metric}/${minute}/${series.device}`
    let delta = this.#byKey.get(key)
    if (delta === undefined) {
      delta = {
        projectId,
        seriesId: series.id,
        device: series.device,
        metric,
        minute: new Date(minute),
        failures: 0,
        leftOut: noneLeftOut(),
        sketch: new DDSketch(),
        users: null,
      }
      this.#byKey.set(key, delta)
    }
    return delta
  }

  list(): Delta[] {
    return [...this.#byKey.values()]
  }
}
