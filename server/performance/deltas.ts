import type { Metric } from '../protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'

/** What one batch adds to a series, metric and minute. */
export type Delta = {
  readonly projectId: string
  readonly seriesId: string
  readonly metric: Metric
  readonly minute: Date
  failures: number
  leftOut: number
  readonly sketch: DDSketch
}

const MINUTE_MS = 60_000

/** Merges the values of a batch by series, metric and minute: one row each. */
export class Deltas {
  readonly #byKey = new Map<string, Delta>()

  add(
    projectId: string,
    seriesId: string,
    at: Date,
    value: { readonly metric: Metric; readonly value: number; readonly isOut: boolean },
    failed = false,
  ): void {
    const minute = Math.floor(at.getTime() / MINUTE_MS) * MINUTE_MS
    const key = `${projectId}/${seriesId}/${value.metric}/${minute}`
    let delta = this.#byKey.get(key)
    if (delta === undefined) {
      delta = {
        projectId,
        seriesId,
        metric: value.metric,
        minute: new Date(minute),
        failures: 0,
        leftOut: 0,
        sketch: new DDSketch(),
      }
      this.#byKey.set(key, delta)
    }
    if (value.isOut) delta.leftOut++
    else delta.sketch.add(value.value)
    if (failed) delta.failures++
  }

  list(): Delta[] {
    return [...this.#byKey.values()]
  }
}
