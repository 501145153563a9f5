import { expect, test } from 'vitest'
import { parseDecision, initialFieldValue } from './decide-model.ts'

const NOW = new Date('2026-11-20T12:00:00Z')
const decide = (ask: Parameters<typeof parseDecision>[0], value: string, window = '') =>
  parseDecision(ask, value, window, NOW)

test.each([
  ['release', ' shop@2.3.1+77 ', { in_release: 'shop@2.3.1+77' }],
  ['release', '2.3.1, 3.0.2', { in_release: ['2.3.1', '3.0.2'] }],
  ['release', '🚀', { in_release: '🚀' }],
  ['commit', 'ABCDEF1', { in_commit: 'abcdef1' }],
] as const)('%s %j resolves', (ask, value, resolution) => {
  expect(decide(ask, value)).toEqual({ kind: 'status', status: 'resolved', resolution })
})

test('a count of events or users, with or without a window, ignores', () => {
  expect(decide('count', '1,000')).toMatchObject({
    status: 'ignored',
    ignore_until: { count: 1000, window: undefined },
  })
  expect(decide('users', '5', '60')).toMatchObject({ ignore_until: { users: 5, window: 60 } })
})

test('a date is in the local time zone and in the future', () => {
  expect(decide('time', initialFieldValue('time', null, NOW))).toMatchObject({
    ignore_until: { time: '2026-11-27T12:00:00.000Z' },
  })
})

test.each([
  ['release', ''],
  ['release', '1.0,'],
  ['release', 'a\u0007b'],
  ['release', 'Latest'],
  ['release', 'x'.repeat(201)],
  ['commit', 'abc'],
  ['commit', 'not a hash'],
  ['count', '0'],
  ['count', '1.5'],
  ['count', 'many'],
  ['users', '99999999999'],
  ['time', ''],
  ['time', '2020-01-01T00:00'],
] as const)('%s %j is an error of the field', (ask, value) => {
  expect(decide(ask, value)).toMatchObject({ field: 'value', error: expect.any(String) as string })
})

test('a window longer than a week is refused', () => {
  expect(decide('count', '5', '10081')).toMatchObject({ field: 'window' })
})
