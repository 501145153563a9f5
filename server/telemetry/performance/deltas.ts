import { LEFT_OUT, type LeftOut, type Metric } from '../../events/protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** Numbers of left-out values by reason. */
export type LeftOutCounts = { [K in LeftOut]: number }
export const noneLeftOut = (): LeftOutCounts => ({ too_long: 0, prewarmed: 0, invalid: 0 })

export function addLeftOut(to: LeftOutCounts, counts: LeftOutCounts): void {
  for (const reason of LEFT_OUT) to[reason] += counts[reason]
}

/** The changes that one batch adds to a series, device, metric and minute. */
export type Delta = {
  readonly projectId: string
  readonly seriesId: string
  readonly device: string
  readonly metric: Metric
  readonly minute: Date
  failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
}

/** Merges the values of a batch by series, device, metric and minute: one row each. */
export class Deltas {
  readonly #byKey = new Map<string, Delta>()

  add(
    projectId: string,
    series: { readonly id: string; readonly device: string },
    at: Date,
    value: { readonly metric: Metric; readonly value: number; readonly leftOut: LeftOut | null },
    failed = false,
  ): void {
    const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS
    const key = `${projectId}/${series.id}/${value.metric}/${minute}/${series.device}`
    let delta = this.#byKey.get(key)
    if (delta === undefined) {
      delta = {
        projectId,
        seriesId: series.id,
        device: series.device,
        metric: value.metric,
        minute: new Date(minute),
        failures: 0,
        leftOut: noneLeftOut(),
        sketch: new DDSketch(),
      }
      this.#byKey.set(key, delta)
    }
    if (value.leftOut === null) delta.sketch.add(value.value)
    else delta.leftOut[value.leftOut]++
    if (failed) delta.failures++
  }

  list(): Delta[] {
    return [...this.#byKey.values()]
  }
}
