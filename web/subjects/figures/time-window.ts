import type { Buckets } from '../../ui/chart/use-chart-reading.ts'

/** A selected part of a range: times in the address, buckets in the chart. Pure. */

export type Window = { from: string; to: string }
type Points = readonly { readonly t: string }[]

/** The form in the address: `2026-11-20T06:15Z`. */
const minuteOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 16)}Z`

/** The time from the start of the first bucket to the end of the last. */
export function windowOfBuckets([from, to]: Buckets, points: Points, intervalSeconds: number): Window | null {
  const [first, last] = [points[from], points[to]]
  if (first === undefined || last === undefined) return null
  return { from: minuteOf(Date.parse(first.t)), to: minuteOf(Date.parse(last.t) + intervalSeconds * 1000) }
}

/** The buckets that the window overlaps; null if it is outside the chart. */
export function windowBuckets(window: Window | null, points: Points, intervalSeconds: number): Buckets | null {
  const [first] = points
  if (window === null || first === undefined) return null
  const place = (time: string) => (Date.parse(time) - Date.parse(first.t)) / 1000 / intervalSeconds
  const from = Math.floor(place(window.from))
  const to = Math.ceil(place(window.to)) - 1
  return to < 0 || from >= points.length ? null : [Math.max(0, from), Math.min(points.length - 1, to)]
}
