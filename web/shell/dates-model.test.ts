import { afterEach, expect, test } from 'vitest'
import { setZone } from '../ui/format.ts'
import { parseDates, parseWallClock, wallText } from './dates-model.ts'

const NOW = Date.parse('2026-11-20T12:00:30Z')
afterEach(() => setZone('local'))

test('a text of the wall clock is an instant, and back', () => {
  expect(wallText(NOW)).toMatch(/^2026-11-\d\dT\d\d:\d0$/)
  // Every hour of a year: also around changes of the clock.
  for (let at = Date.parse('2026-01-01T00:00Z'); at < Date.parse('2027-01-01T00:00Z'); at += 3_600_000) {
    const back = parseWallClock(wallText(at))
    // An hour that the clock repeats is one of the two.
    expect(wallText(back ?? 0)).toBe(wallText(at))
  }
  setZone('utc')
  expect(wallText(NOW)).toBe('2026-11-20T12:00')
  expect(parseWallClock('2026-11-20T12:00')).toBe(Date.parse('2026-11-20T12:00Z'))
  for (const text of ['', '2026-11-20', '2026-13-40T99:99', 'now', '+020261-11-20T12:00'])
    expect(parseWallClock(text)).toBeNull()
})

test.each([
  ['2026-11-20T09:00', '2026-11-20T12:00', { dates: { from: '2026-11-20T09:00Z', to: '2026-11-20T12:00Z' } }],
  ['2026-08-22T12:00', '2026-11-20T12:00', { dates: { from: '2026-08-22T12:00Z', to: '2026-11-20T12:00Z' } }],
  ['2026-11-20T12:00', '2026-11-20T12:00', { errors: { to: 'The end must be after the start.' } }],
  ['2026-11-20T10:00', '2026-11-20T09:00', { errors: { to: 'The end must be after the start.' } }],
  ['2026-11-20T10:00', '2026-11-20T12:01', { errors: { to: 'This time is in the future.' } }],
  [
    '2027-01-01T00:00',
    '2027-01-02T00:00',
    { errors: { from: 'This time is in the future.', to: 'This time is in the future.' } },
  ],
  ['', '2026-11-20T12:00', { errors: { from: 'Enter a date and a time.' } }],
  ['2026-11-20T12:00', '', { errors: { to: 'Enter a date and a time.' } }],
  [
    '2026-08-22T11:59',
    '2026-11-20T12:00',
    { errors: { from: 'At most 90 days are shown. Start at 22 Aug, 12:00 or later.' } },
  ],
])('%s to %s', (from, to, expected) => {
  setZone('utc')
  expect(parseDates({ from, to }, NOW)).toEqual(expected)
})
