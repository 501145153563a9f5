import { MIN_VALUES } from '#shared/rate-words.ts'
import type { Spread, Start } from '../../../api/performance-queries.ts'
import type { PerformanceSearch } from '../../../address/search.ts'
import { COLD_LIMITS, figureWord, type Limits, type Word } from '../../../subjects/figures/limits.ts'
import type { HistogramBin } from '../../../ui/chart/histogram.tsx'
import { formatCount, formatDuration } from '../../../ui/format.ts'
import { performanceTexts } from './texts.ts'

/** View models of the performance pages. Pure. */

/** Bins with their colours; the open last one is as wide as the others. */
export function histogramBins(spread: Spread, poorFrom: number): HistogramBin[] {
  const [first] = spread
  const width = first === undefined || first.to_ms === null ? 1 : first.to_ms - first.from_ms
  return spread.map(({ from_ms: from, to_ms: to, count }) => ({
    from,
    to: to ?? from + width,
    count,
    tone: from >= poorFrom ? 'bad' : 'p50',
  }))
}

/** Whether a bin is the open one at the end, which has no upper edge. */
export const isOpenBin = (spread: Spread, bin: Pick<HistogramBin, 'from'>): boolean =>
  spread.at(-1)?.from_ms === bin.from && spread.at(-1)?.to_ms === null

/** `Good, under 3 s`. */
export const judgedText = (word: Word, { watch, poor }: Limits, format: (value: number) => string): string =>
  performanceTexts.judged(word, format(watch), format(poor))

/** How many starts there are, and which were left out and why. */
export function leftOutText({ count, left_out: out }: Pick<Start, 'count' | 'left_out'>): string {
  const parts = [
    [out.too_long, performanceTexts.tooLong],
    [out.prewarmed, performanceTexts.prewarmed],
    [out.invalid, performanceTexts.invalid],
  ] as const
  return performanceTexts.leftOut(
    formatCount(count),
    parts.filter(([many]) => many > 0).map(([many, text]) => text(formatCount(many))),
  )
}

/** The end of the axis of range plots: the slowest P95, rounded up. */
export function rangeEnd(rows: readonly { readonly render: { readonly p95_ms: number | null } }[]): number {
  const slowest = Math.max(0, ...rows.map(({ render }) => render.p95_ms ?? 0))
  const step = slowest <= 1_000 ? 250 : slowest <= 4_000 ? 1_000 : slowest <= 20_000 ? 2_000 : 10_000
  return Math.max(step, Math.ceil(slowest / step) * step)
}

const TONES = { good: 'plain', watch: 'warn', poor: 'bad' } as const

/** The colour of a time in a range plot. A screen is judged like a start, which is what users wait for. */
export const rangeTone = (ms: number | null): 'plain' | 'warn' | 'bad' => TONES[figureWord(ms, COLD_LIMITS) ?? 'good']

/** Web vitals: from the first value on they need work, from the second on they are poor. */
export const VITAL_LIMITS = {
  lcp: { watch: 2_500, poor: 4_000 },
  inp: { watch: 200, poor: 500 },
  cls: { watch: 0.1, poor: 0.25 },
  fcp: { watch: 1_800, poor: 3_000 },
  ttfb: { watch: 800, poor: 1_800 },
} as const satisfies Record<string, Limits>
export type VitalName = keyof typeof VITAL_LIMITS
export const VITAL_NAMES: readonly VitalName[] = ['lcp', 'inp', 'cls', 'fcp', 'ttfb']

/** A layout shift is a score without a unit. */
export const formatVital = (name: VitalName, value: number | null): string =>
  value === null || name !== 'cls' ? formatDuration(value) : String(Number(value.toFixed(3)))

/** The growth from one value to another; null where one is unknown. */
export const relativeGrowth = (now: number | null, before: number | null): number | null =>
  now === null || before === null || before === 0 ? null : now / before - 1

/** A smaller change is noise. */
const NOTABLE = 0.05
export const changeTone = (growth: number): 'better' | 'worse' | 'same' =>
  growth >= NOTABLE ? 'worse' : growth <= -NOTABLE ? 'better' : 'same'

/** A smaller change of a rate is noise. */
const NOTABLE_POINTS = 0.005
export const pointTone = (points: number): 'better' | 'worse' | 'same' =>
  points >= NOTABLE_POINTS ? 'worse' : points <= -NOTABLE_POINTS ? 'better' : 'same'

/** The note of a chart whose percentiles are those of longer intervals; empty where they are not. */
export const coarseText = (percentileSeconds: number, intervalSeconds: number): string =>
  percentileSeconds <= intervalSeconds ? '' : performanceTexts.coarse(formatDuration(percentileSeconds * 1000))

type Failures = { readonly count: number; readonly failure_rate: number | null }

/**
 * The failure rate of each interval, over the longer interval of the percentiles around it: one failure of two requests is
 * no 50 %. Counted from the newest, as the service counts.
 */
export function coarseFailures(points: readonly Failures[], factor: number): (number | null)[] {
  const groupOf = (index: number): number => Math.floor((points.length - 1 - index) / Math.max(1, factor))
  const sums = new Map<number, { count: number; failures: number }>()
  for (const [index, { count, failure_rate: rate }] of points.entries()) {
    const sum = sums.get(groupOf(index)) ?? { count: 0, failures: 0 }
    sums.set(groupOf(index), { count: sum.count + count, failures: sum.failures + count * (rate ?? 0) })
  }
  return points.map((_, index) => {
    const sum = sums.get(groupOf(index))
    return sum === undefined || sum.count === 0 ? null : sum.failures / sum.count
  })
}

/** A share of time: `31.4 %`. */
export const formatTimeShare = (share: number): string => `${(share * 100).toFixed(1)}\u202f%`

export const enough = (value: number | null, count: number): number | null => (count < MIN_VALUES ? null : value)

/** The search of another page of the same project, time and filters. */
export function listSearch(search: PerformanceSearch): PerformanceSearch {
  const { screen: _, order: __, from: ___, to: ____, ...kept } = search
  return kept
}
