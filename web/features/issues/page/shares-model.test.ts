import { expect, test } from 'vitest'
import { isNotable, wholePercentText, sharesByKey } from './shares-model.ts'

const share = (key: string, value: string, of: number) => ({
  key,
  value,
  count: of * 100,
  share: of,
  baseline_count: 0,
  baseline_share: 0.1,
  lift: 2,
})

test('keys keep their order, values are sorted by frequency', () => {
  const keys = sharesByKey([share('os', 'b', 0.2), share('device', 'x', 1), share('os', 'a', 0.7)])
  expect(keys.map(({ key, values }) => [key, values.map(({ value }) => value)])).toEqual([
    ['os', ['a', 'b']],
    ['device', ['x']],
  ])
})

test('few events or a small difference are not notable', () => {
  expect(isNotable({ lift: 2, share: 0.7, count: 70 })).toBe(true)
  expect(isNotable({ lift: 2, share: 1, count: 2 })).toBe(false)
  expect(isNotable({ lift: 1.2, share: 1, count: 100 })).toBe(false)
  expect(isNotable({ lift: null, share: 1, count: 100 })).toBe(false)
  expect(isNotable({ lift: 9, share: 0.02, count: 4 })).toBe(false)
})

test('shares as text', () => {
  expect([0, 0.001, 0.5, 1].map(wholePercentText)).toEqual(['0\u202f%', '<1\u202f%', '50\u202f%', '100\u202f%'])
})
