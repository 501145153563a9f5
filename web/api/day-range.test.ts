import { expect, test } from 'vitest'
import { dayRange } from './day-range.ts'

test('the last day is included, also at the end of a month and of a year', () => {
  expect(dayRange('2026-11-20', '2026-11-20')).toEqual({ from: '2026-11-20T00:00:00Z', to: '2026-11-21T00:00:00.000Z' })
  expect(dayRange(undefined, '2026-12-31')).toEqual({ to: '2027-01-01T00:00:00.000Z' })
  expect(dayRange('2026-02-28', undefined)).toEqual({ from: '2026-02-28T00:00:00Z' })
  expect(dayRange(undefined, undefined)).toEqual({})
})
