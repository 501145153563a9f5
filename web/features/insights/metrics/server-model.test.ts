import { expect, test } from 'vitest'
import { perThousand, requestPoints } from './server-model.ts'

test('errors per thousand requests are unknown for too few requests', () => {
  expect(perThousand(3, 2_000)).toBe(1.5)
  expect(perThousand(0, 20)).toBe(0)
  expect(perThousand(1, 19)).toBeNull()
  expect(perThousand(3, 0)).toBeNull()
  expect(perThousand(null, 100)).toBeNull()
})

test('intervals with few requests have the rate of the longer one around them', () => {
  const at = (index: number) => new Date(Date.UTC(2026, 10, 20, index)).toISOString()
  const series = [3, 6, 14, 10, 30].map((count, index) => ({
    t: at(index),
    transactions: { count, failure_rate: 0 },
  }))
  const errors = [1, 1, 0, 2, 0].map((value, index) => ({ t: at(index), value }))
  const rates = (factor: number) => requestPoints(series, errors, [], factor).map(({ errorRate }) => errorRate)
  expect(rates(1)).toEqual([null, null, null, null, 0])
  // The oldest is alone: three requests.
  expect(rates(2)).toEqual([null, 50, 50, 50, 50])
})
