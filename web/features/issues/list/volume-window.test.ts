import { expect, test } from 'vitest'
import { toStreamFilters, toApiQuery, typedQueryStart } from '../../../api/issue-queries.ts'
import { windowBuckets, windowOfBuckets } from '../../../subjects/figures/time-window.ts'
import { sumOfPoints } from './volume-window.ts'

const QUARTER_S = 900
const points = Array.from({ length: 8 }, (_, index) => ({
  t: new Date(Date.parse('2026-11-20T06:00:00Z') + index * QUARTER_S * 1000).toISOString(),
  events: index,
  fatal: index % 2,
}))

test('buckets become a window of the address, and the window becomes the same buckets', () => {
  const window = windowOfBuckets([2, 4], points, QUARTER_S)
  expect(window).toEqual({ from: '2026-11-20T06:30Z', to: '2026-11-20T07:15Z' })
  expect(windowBuckets(window, points, QUARTER_S)).toEqual([2, 4])
  expect(windowBuckets(windowOfBuckets([0, 7], points, QUARTER_S), points, QUARTER_S)).toEqual([0, 7])
  expect(windowOfBuckets([2, 9], points, QUARTER_S)).toBeNull()
})

test.each([
  ['2026-11-20T05:00Z', '2026-11-20T06:00Z', null],
  ['2026-11-20T08:00Z', '2026-11-20T09:00Z', null],
  ['2026-11-19T00:00Z', '2026-11-20T06:01Z', [0, 0]],
  ['2026-11-20T07:50Z', '2026-11-21T00:00Z', [7, 7]],
  ['2026-11-20T06:20Z', '2026-11-20T06:40Z', [1, 2]],
] as const)('what is drawn of %s to %s', (from, to, buckets) => {
  expect(windowBuckets({ from, to }, points, QUARTER_S)).toEqual(buckets)
})

test('sums of all and of a part', () => {
  expect(sumOfPoints(points, null)).toEqual({ events: 28, fatal: 4 })
  expect(sumOfPoints(points, [1, 3])).toEqual({ events: 6, fatal: 2 })
  expect(sumOfPoints([], null)).toEqual({ events: 0, fatal: 0 })
})

test('a window narrows any query', () => {
  const window = { from: '2026-11-20T06:30Z', to: '2026-11-20T07:15Z' }
  const asked = (q: string) => toApiQuery(toStreamFilters({ q, ...window }))
  expect(asked('')).toBe('first_seen:<2026-11-20T07:15Z')
  expect(asked('level:fatal')).toBe('level:fatal first_seen:<2026-11-20T07:15Z')
  expect(asked('a OR b')).toBe('(a OR b) first_seen:<2026-11-20T07:15Z')
  // NOT would turn the window round.
  expect(asked('a NOT')).toBe('(a NOT) first_seen:<2026-11-20T07:15Z')
  // A query that cannot be read is refused as it is.
  for (const broken of ['(a OR b', 'a OR b)', 'a OR "b', 'a OR level:[']) expect(asked(broken)).toBe(broken)
  expect(toApiQuery(toStreamFilters({ q: ' a ' }))).toBe('a')
  expect(toApiQuery(toStreamFilters({ from: window.to, to: window.from }))).toBeNull()
  expect(toApiQuery(toStreamFilters({ from: window.from }))).toBeNull()
})

test.each(['', 'level:eror', 'a OR b', 'NOT level:eror', '(a OR b', '(a OR b)', 'a OR "x'])(
  'where %s begins in the query that is sent with a window',
  (q) => {
    const filters = toStreamFilters({ q, from: '2026-11-20T06:30Z', to: '2026-11-20T07:15Z' })
    const start = typedQueryStart(filters)
    expect(toApiQuery(filters)?.slice(start, start + q.length)).toBe(q)
    expect(typedQueryStart(toStreamFilters({ q }))).toBe(0)
  },
)
