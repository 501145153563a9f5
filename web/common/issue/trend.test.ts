import { expect, test } from 'vitest'
import { levelStartOf, isNew, moveInTrend, stepFactor, toneOf, versionOf } from './trend.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')

test('an unresolved issue that was first seen within a day is new', () => {
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(true)
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'ignored' }, NOW)).toBe(false)
  expect(isNew({ first_seen: '2026-11-18T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(false)
  expect(toneOf({ first_seen: '2026-11-20T07:00:00.000Z', status: 'regressed' }, NOW)).toBe('regressed')
})

test('an escalated issue has a factor, unless it had no events before', () => {
  const of = (status: 'escalated' | 'regressed', counts: number[]) =>
    stepFactor({ status, first_seen: '2026-11-01T00:00:00.000Z', trend: { ...trendOf(counts) } }, NOW)
  expect(of('escalated', [2, 2, 2, 2, 12, 14, 5])).toBe(6.5)
  expect(of('escalated', [1, 1, 1, 9])).toBe(9)
  expect(of('escalated', [0, 0, 0, 9, 9, 9])).toBeNull()
  expect(of('escalated', [3, 3, 3, 3])).toBeNull()
  expect(of('regressed', [1, 1, 1, 9])).toBeNull()
})

const START = '2026-11-20T00:00:00.000Z'
const BEFORE = '2026-11-01T00:00:00.000Z'
const trendOf = (counts: readonly number[]) => ({ start: START, interval_seconds: 3600, counts: [...counts] })

test.each([
  ['unresolved', BEFORE, [0, 0, 5], null],
  ['unresolved', '2026-11-20T02:10:00.000Z', [0, 0, 5], 2],
  ['unresolved', '2026-11-20T02:10:00.000Z', [0, 0, 0], null],
  ['regressed', BEFORE, [4, 3, 0, 0, 0, 7, 9], 5],
  ['regressed', BEFORE, [0, 0, 0, 0, 7, 9, 9], 4],
  // Buckets before the first event do not show a fix.
  ['regressed', '2026-11-20T04:00:00.000Z', [0, 0, 0, 0, 7, 9, 9], null],
  ['regressed', '2026-11-20T01:00:00.000Z', [0, 5, 0, 0, 0, 9, 9], 5],
  // One empty hour does not show a fix.
  ['regressed', BEFORE, [4, 0, 3, 5, 7, 9, 2], null],
  ['escalated', BEFORE, [1, 1, 1, 1, 9, 8, 9, 9], 4],
  ['escalated', BEFORE, [5, 5, 5, 5, 5, 5], null],
] as const)('%s, first seen %s, with %j changes at %s', (status, first_seen, counts, at) => {
  expect(levelStartOf({ status, first_seen, trend: trendOf(counts) }, NOW)).toBe(at)
})

test('a change of status has a place in the trend, unless it was before', () => {
  expect(moveInTrend('2026-11-20T02:30:00.000Z', trendOf([1, 1, 1, 1]))).toBe(2.5)
  expect(moveInTrend('2026-11-19T23:00:00.000Z', trendOf([1, 1, 1, 1]))).toBeNull()
  expect(moveInTrend('2026-11-20T04:00:00.000Z', trendOf([1, 1, 1, 1]))).toBeNull()
  expect(moveInTrend(null, trendOf([1]))).toBeNull()
})

test.each([
  ['shop@4.12.1+41200', '4.12.1'],
  ['@scope/shop@1.0.0', '1.0.0'],
  ['a3f91c2', 'a3f91c2'],
  ['shop@', 'shop@'],
])('%s is shown as %s', (release, version) => expect(versionOf(release)).toBe(version))
