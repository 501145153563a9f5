import { MIN_VALUES } from '#shared/rate-words.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import type { MetricSpread } from './read-performance.ts'

/** Percentiles of few values: one start an hour has the same p50, p75 and p95, and a line through them says nothing. Pure. */

/** How many intervals of a chart lie in one longer interval: those of quarters of an hour, hours, days and weeks. */
const FACTORS = [1, 2, 3, 4, 6, 8, 12, 24, 28, 42, 56, 84, 168]

type Quantified = Pick<MetricSpread, 'p50' | 'p75' | 'p95' | 'count'>

export type Coarse = {
  /** How many intervals the percentiles of a point cover. */
  readonly factor: number
  /** Each interval with its own count, and the percentiles of the longer interval around it. */
  readonly points: readonly Quantified[]
}

/**
 * The intervals of a chart, oldest first, with percentiles of longer intervals where there are few values: of the shortest
 * whose intervals with values have {@link MIN_VALUES} on average. They are counted from the newest.
 */
export function coarsen(points: readonly MetricSpread[]): Coarse {
  const total = points.reduce((sum, { count }) => sum + count, 0)
  const factor =
    total === 0
      ? 1
      : (FACTORS.find((one) => one < points.length && total / countFilled(points, one) >= MIN_VALUES) ?? points.length)
  if (factor <= 1) return { factor: 1, points }
  const merged = new Map<number, MetricSpread['sketch']>()
  for (const [index, { sketch, count }] of points.entries()) {
    if (count === 0) continue
    const group = groupOf(points, index, factor)
    const sum = merged.get(group) ?? new DDSketch()
    sum.merge(sketch)
    merged.set(group, sum)
  }
  const quantiles = new Map([...merged].map(([group, sketch]) => [group, sketch.quantiles([0.5, 0.75, 0.95])]))
  return {
    factor,
    points: points.map(({ count }, index) => {
      const [p50 = null, p75 = null, p95 = null] = quantiles.get(groupOf(points, index, factor)) ?? []
      return { count, p50, p75, p95 }
    }),
  }
}

const groupOf = (points: readonly unknown[], index: number, factor: number): number =>
  Math.floor((points.length - 1 - index) / factor)

const countFilled = (points: readonly MetricSpread[], factor: number): number =>
  new Set(points.flatMap(({ count }, index) => (count === 0 ? [] : [groupOf(points, index, factor)]))).size
