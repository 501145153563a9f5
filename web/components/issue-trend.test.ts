import { expect, test } from 'vitest'
import { faultOf, isNew, toneOf } from './issue-trend.ts'

const NOW = Date.parse('2026-11-20T08:00:00.000Z')

test('new is what was first seen within a day and not decided about', () => {
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(true)
  expect(isNew({ first_seen: '2026-11-20T07:00:00.000Z', status: 'ignored' }, NOW)).toBe(false)
  expect(isNew({ first_seen: '2026-11-18T07:00:00.000Z', status: 'unresolved' }, NOW)).toBe(false)
  expect(toneOf({ first_seen: '2026-11-20T07:00:00.000Z', status: 'regressed' }, NOW)).toBe('regressed')
})

test.each([
  ['plain', [0, 0, 5], null],
  ['new', [0, 0, 5], 2],
  ['new', [0, 0, 0], null],
  ['regressed', [4, 3, 0, 0, 0, 7, 9], 5],
  ['regressed', [0, 0, 0, 0, 7, 9, 9], 4],
  // Quiet for an hour is not fixed.
  ['regressed', [4, 0, 3, 5, 7, 9, 2], null],
  ['escalated', [1, 1, 1, 1, 9, 8, 9, 9], 4],
  ['escalated', [5, 5, 5, 5, 5, 5], null],
] as const)('%s with %j changes at %s', (tone, counts, at) => {
  expect(faultOf(tone, { counts: [...counts] })).toBe(at)
})
