import type { DDSketch } from '../sketch/ddsketch.ts'
import type { Performance, Requests, Start, Vital } from './performance.api.ts'
import type { MetricSpread } from './read-performance.ts'

/** Figures of the API from sketches. Pure. */

type Quantiles = { p50_ms: number | null; p75_ms: number | null; p95_ms: number | null; count: number }

export const toQuantiles = ({
  p50,
  p75,
  p95,
  count,
}: Pick<MetricSpread, 'p50' | 'p75' | 'p95' | 'count'>): Quantiles => ({
  p50_ms: p50,
  p75_ms: p75,
  p95_ms: p95,
  count,
})

/** The sum of counts that apps sent: they may be fractions, or too large for a whole number. */
export const wholeSum = ({ sum }: Pick<MetricSpread, 'sum'>): number =>
  Math.min(Number.MAX_SAFE_INTEGER, Math.round(sum))

/** A part of a whole; null, not 0, of nothing. */
export const ratio = (part: number, whole: number): number | null => (whole > 0 ? part / whole : null)

/** Growth from one value to another; null when either is unknown. */
export const growth = (from: number | null, to: number | null): number | null =>
  from === null || to === null || from <= 0 ? null : to / from - 1

export const frameRatios = (total: MetricSpread, slow: MetricSpread, frozen: MetricSpread) => ({
  slow_frame_ratio: ratio(slow.sum, total.sum),
  frozen_frame_ratio: ratio(frozen.sum, total.sum),
})

/** From `watchMs` on a start needs attention, from `poorMs` on it is bad. Without a watch both are the same. */
export type Limits = {
  readonly watchMs: number
  readonly poorMs: number
  readonly binMs: number
  readonly bins: number
}
/** Histograms end a fifth above the limit, which is the border of two bins. */
export const COLD: Limits = { watchMs: 3_000, poorMs: 5_000, binMs: 125, bins: 48 }
export const WARM: Limits = { watchMs: 2_000, poorMs: 2_000, binMs: 50, bins: 48 }
/** Bins of the histograms of screens and pages. */
export const RENDER = { binMs: 125, bins: 48 }

export function startFigures(now: MetricSpread, before: MetricSpread, limits: Limits): Start {
  return {
    ...toQuantiles(now),
    previous: toQuantiles(before),
    left_out: now.leftOut,
    bands: bandsOf(now.sketch, limits),
    spread: toHistogram(now.sketch, limits),
  }
}

function bandsOf(sketch: DDSketch, { watchMs, poorMs }: Limits): Start['bands'] {
  const fromWatch = sketch.countFrom(watchMs)
  const poor = sketch.countFrom(poorMs)
  const band = (from_ms: number, to_ms: number | null, count: number) => ({
    from_ms,
    to_ms,
    count,
    share: ratio(count, sketch.count),
  })
  return {
    good: band(0, watchMs, sketch.count - fromWatch),
    watch: watchMs === poorMs ? null : band(watchMs, poorMs, fromWatch - poor),
    poor: band(poorMs, null, poor),
  }
}

/** A histogram whose counts add up to the count of the sketch; empty without values. */
export function toHistogram(sketch: DDSketch, { binMs, bins }: Pick<Limits, 'binMs' | 'bins'>): Start['spread'] {
  if (sketch.count === 0) return []
  const below = Array.from({ length: bins + 1 }, (_, bin) => Math.round(sketch.countBelow(bin * binMs)))
  const spread = Array.from({ length: bins }, (_, bin) => ({
    from_ms: bin * binMs,
    to_ms: (bin + 1) * binMs,
    count: (below[bin + 1] ?? 0) - (bin === 0 ? 0 : (below[bin] ?? 0)),
  }))
  return [...spread, { from_ms: bins * binMs, to_ms: null, count: sketch.count - (below[bins] ?? 0) }]
}

type Drain = { p50: number | null; p75: number | null; p95: number | null; count: number }
export const drainFigures = ({ p50, p75, p95, count }: MetricSpread): Drain => ({ p50, p75, p95, count })

/** A wake lock is long from here on. */
export const LONG_LOCK_MS = 2 * 3_600_000

export function wakeLockFigures(now: MetricSpread, before: MetricSpread): Performance['wake_locks'] {
  const long = now.sketch.countFrom(LONG_LOCK_MS)
  return {
    count: now.count,
    long,
    share: ratio(long, now.count),
    p95_ms: now.p95,
    previous_share: ratio(before.sketch.countFrom(LONG_LOCK_MS), before.count),
  }
}

/** From the first value on a web vital needs work, from the second on it is poor. */
const VITAL_LIMITS: Readonly<Record<Vital, readonly [number, number]>> = {
  lcp: [2_500, 4_000],
  inp: [200, 500],
  cls: [0.1, 0.25],
  fcp: [1_800, 3_000],
  ttfb: [800, 1_800],
}

/** A web vital with its values by word; they add up to its count. */
export function vitalFigures(name: Vital, now: MetricSpread, before: MetricSpread): Performance['web_vitals'][Vital] {
  const [watch, limit] = VITAL_LIMITS[name]
  const fromWatch = now.sketch.countFrom(watch)
  const poor = now.sketch.countFrom(limit)
  return {
    p75: now.p75,
    count: now.count,
    previous_p75: before.p75,
    good: now.count - fromWatch,
    needs_work: fromWatch - poor,
    poor,
  }
}

/** Durations with throughput and failures. @param minutes length of the range, and of the one before */
export function requestFigures(
  now: MetricSpread,
  before: MetricSpread,
  minutes: { readonly now: number; readonly before: number },
): Requests {
  const ratesOf = (spread: MetricSpread, length: number) => ({
    ...toQuantiles(spread),
    total_ms: spread.sum,
    failures: spread.failures,
    failure_rate: ratio(spread.failures, spread.count),
    throughput: spread.count / length,
  })
  return { ...ratesOf(now, minutes.now), previous: ratesOf(before, minutes.before) }
}
