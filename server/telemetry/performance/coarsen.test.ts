import { expect, test } from 'vitest'
import { DDSketch } from '../sketch/ddsketch.ts'
import { MIN_VALUES } from '#shared/rate-words.ts'
import { coarsen } from './coarsen.ts'
import { noneLeftOut } from './deltas.ts'
import type { MetricSpread } from './read-performance.ts'

const spread = (values: readonly number[]): MetricSpread => {
  const sketch = DDSketch.of(values)
  const [p50 = null, p75 = null, p95 = null] = sketch.quantiles([0.5, 0.75, 0.95])
  return { count: values.length, failures: 0, leftOut: noneLeftOut(), sum: 0, p50, p75, p95, max: null, sketch }
}

test('many values keep their intervals', () => {
  const points = Array.from({ length: 24 }, () => spread(Array.from({ length: MIN_VALUES }, (_, n) => n)))
  expect(coarsen(points)).toEqual({ factor: 1, points })
  expect(coarsen([])).toMatchObject({ factor: 1 })
  expect(coarsen(Array.from({ length: 24 }, () => spread([])))).toMatchObject({ factor: 1 })
})

test('one value an hour is shown as the percentiles of a day', () => {
  const points = Array.from({ length: 168 }, (_, hour) => spread(hour % 24 < 21 ? [1_000 + 100 * (hour % 24)] : []))
  const { factor, points: shown } = coarsen(points)
  expect(factor).toBe(24)
  expect(shown.map(({ count }) => count)).toEqual(points.map(({ count }) => count))
  for (const { p50, p75, p95 } of shown) {
    expect(p50).toBeLessThan(p75 ?? 0)
    expect(p75).toBeLessThan(p95 ?? 0)
  }
  // Every day has the same values.
  expect(new Set(shown.map(({ p95 }) => p95)).size).toBe(1)
})

test('very few values are those of the whole range, and longer intervals without any stay empty', () => {
  expect(coarsen([spread([1]), spread([]), spread([3])])).toMatchObject({ factor: 3 })
  const points = Array.from({ length: 48 }, (_, hour) => spread(hour < 24 ? [] : [hour, hour]))
  const { factor, points: shown } = coarsen(points)
  expect(factor).toBe(12)
  expect(shown.slice(0, 24).every(({ p50 }) => p50 === null)).toBe(true)
  expect(shown.slice(24).every(({ p50 }) => p50 !== null)).toBe(true)
})
