import { expect, test } from 'vitest'
import { findLevelStart, isNew, moveInTrend, stepFactor, trendTone, shortVersion } from './trend.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')

const START = '2026-11-20T00:00:00.000Z'
const BEFORE = '2026-11-01T00:00:00.000Z'
const trendOf = (counts: readonly number[]) => ({ start: START, interval_seconds: 3600, counts: [...counts] })

test('an unresolved issue that was first seen within a day is new', () => {
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(true)
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'ignored' }, NOW)).toBe(false)
  expect(isNew({ first_seen: '2026-11-18T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(false)
  expect(trendTone({ first_seen: '2026-11-20T07:00:00.000Z', status: 'regressed' }, NOW)).toBe('regressed')
})

test('an escalated issue has a factor, unless it had no events before', () => {
  const of = (status: 'escalated' | 'regressed', counts: number[], status_changed_at: string) =>
    stepFactor({ status, status_changed_at, first_seen: BEFORE, trend: trendOf(counts) }, NOW)
  expect(of('escalated', [2, 2, 2, 2, 12, 14, 5], '2026-11-20T04:30:00.000Z')).toBe(6.5)
  expect(of('escalated', [1, 1, 1, 9], '2026-11-20T03:10:00.000Z')).toBe(9)
  expect(of('escalated', [0, 0, 0, 9, 9, 9], '2026-11-20T03:10:00.000Z')).toBeNull()
  expect(of('escalated', [3, 3, 3, 3], '2026-11-20T02:10:00.000Z')).toBeNull()
  // It escalated before the trend: nothing to compare with.
  expect(of('escalated', [1, 1, 9, 9], BEFORE)).toBeNull()
  expect(of('regressed', [1, 1, 1, 9], '2026-11-20T03:10:00.000Z')).toBeNull()
})

test.each([
  ['unresolved', BEFORE, BEFORE, [0, 0, 5], null],
  ['unresolved', '2026-11-20T02:10:00.000Z', BEFORE, [0, 0, 5], 2],
  ['unresolved', '2026-11-20T02:10:00.000Z', BEFORE, [0, 0, 0], null],
  ['regressed', BEFORE, '2026-11-20T05:30:00.000Z', [4, 3, 0, 0, 0, 7, 9], 5],
  // After the longest silence, but before the change: events of the level before.
  ['regressed', BEFORE, '2026-11-20T06:20:00.000Z', [4, 3, 0, 0, 0, 7, 9], 6],
  // Without any silence.
  ['regressed', BEFORE, '2026-11-20T01:00:00.000Z', [4, 5, 4, 4], 1],
  // The status changed before the trend: all of it is since the change.
  ['regressed', BEFORE, '2026-11-19T08:00:00.000Z', [4, 0, 0, 0, 7, 9, 2], 0],
  ['escalated', BEFORE, '2026-11-20T04:01:00.000Z', [1, 1, 1, 1, 9, 8, 9, 9], 4],
  ['escalated', BEFORE, '2026-11-20T03:00:00.000Z', [5, 5, 5, 5, 5, 5], 3],
  // The trend was read before the change.
  ['escalated', BEFORE, '2026-11-20T09:00:00.000Z', [5, 5, 5, 5], null],
] as const)(
  '%s, first seen %s and changed %s, with %j: the level starts at %s',
  (status, first_seen, at, counts, start) => {
    const issue = { status, first_seen, status_changed_at: at, trend: trendOf(counts) }
    expect(findLevelStart(issue, NOW)).toBe(start)
  },
)

test('a change of status has a place in the trend, unless it was before', () => {
  expect(moveInTrend('2026-11-20T02:30:00.000Z', trendOf([1, 1, 1, 1]))).toBe(2.5)
  expect(moveInTrend('2026-11-19T23:00:00.000Z', trendOf([1, 1, 1, 1]))).toBeNull()
  expect(moveInTrend('2026-11-20T04:00:00.000Z', trendOf([1, 1, 1, 1]))).toBeNull()
})

test.each([
  ['shop@4.12.1+41200', '4.12.1'],
  ['@scope/shop@1.0.0', '1.0.0'],
  ['a3f91c2', 'a3f91c2'],
  ['shop@', 'shop@'],
  ['@acme/web@1.2.3', '1.2.3'],
  ['shop/api:1.4.2', 'shop/api:1.4.2'],
  ['registry.example.com/shop/api:1.4.2', 'api:1.4.2'],
])('%s is shown as %s', (release, version) => expect(shortVersion(release)).toBe(version))
