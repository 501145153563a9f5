import { afterEach, describe, expect, test } from 'vitest'
import * as format from './format.ts'

const {
  formatAge,
  formatAgo,
  formatChange,
  formatClock,
  formatCount,
  formatDay,
  formatDuration,
  formatExact,
  formatFactor,
  formatLeft,
  formatMark,
  formatMoment,
  formatPoints,
  formatRate,
  formatShortCount,
  formatSince,
  formatSize,
  setZone,
  zoneName,
} = format

/** Makes the narrow no-break space visible in failures. */
const n = (text: string): string => text.replaceAll('_', '\u202f').replaceAll('~', '\u2212')

const NOW = '2026-11-19T14:07:22.000Z'
const before = (ms: number): string => new Date(Date.parse(NOW) - ms).toISOString()
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

afterEach(() => setZone('local'))

describe('counts', () => {
  test.each([
    [0, '0'],
    [1284, '1,284'],
    [-1284, '~1,284'],
    [12_345_678, '12,345,678'],
  ])('%d in a table', (count, text) => expect(formatCount(count)).toBe(n(text)))

  test.each([
    [9_999, '9,999'],
    [10_000, '10_k'],
    [48_200, '48.2_k'],
    [48_249, '48.2_k'],
    [999_949, '999.9_k'],
    [999_950, '1_M'],
    [1_900_000, '1.9_M'],
    [999_950_000, '1_G'],
    [2_340_000_000, '2.3_G'],
  ])('%d in a card', (count, text) => expect(formatShortCount(count)).toBe(n(text)))

  test('unknown is "no data", never 0', () => {
    const unknown = [
      formatCount(null),
      formatShortCount(null),
      formatRate(null),
      formatPoints(null),
      formatChange(null, 3),
      formatChange(3, null),
      formatChange(3, 0),
      formatDuration(null),
      formatSize(null),
    ]
    expect(new Set(unknown)).toEqual(new Set(['no data']))
  })
})

describe('rates and changes', () => {
  test('a rate has two decimals', () => {
    expect(formatRate(0.0041)).toBe(n('0.41_%'))
    expect(formatRate(1)).toBe(n('100.00_%'))
    expect(formatRate(0)).toBe(n('0.00_%'))
  })
  test('a difference of rates is in points, with its sign', () => {
    expect(formatPoints(0.0005)).toBe(n('+0.05_pt'))
    expect(formatPoints(-0.0021)).toBe(n('~0.21_pt'))
    expect(formatPoints(0)).toBe(n('0.00_pt'))
  })
  test('any other change is in whole percent, with its sign', () => {
    expect(formatChange(118, 100)).toBe(n('+18_%'))
    expect(formatChange(50, 100)).toBe(n('~50_%'))
    expect(formatChange(100, 100)).toBe(n('0_%'))
    expect(formatChange(5000, 100)).toBe(n('+4,900_%'))
  })
  test('a factor', () => {
    expect(formatFactor(6.23)).toBe('×6.2')
    expect(formatFactor(41.4)).toBe('×41')
    expect(formatFactor(2)).toBe('×2')
  })
})

describe('durations and sizes', () => {
  test.each([
    [0, '0_ms'],
    [940, '940_ms'],
    [999.4, '999_ms'],
    [1_180, '1.18_s'],
    [12_340, '12.3_s'],
    [59_994, '60_s'],
    [192_000, '3_min 12_s'],
    [180_000, '3_min'],
    [2 * HOUR + 5 * MINUTE, '2_h 5_min'],
    [DAY + HOUR, '1_d 1_h'],
    [-5, '0_ms'],
  ])('%d ms', (ms, text) => expect(formatDuration(ms)).toBe(n(text)))
  test('durations of some seconds have as many digits as each other', () =>
    expect([3_400, 3_330, 3_000, 9_996, 12_400].map(formatDuration)).toEqual(
      ['3.40_s', '3.33_s', '3_s', '10_s', '12.4_s'].map(n),
    ))

  test.each([
    [12, '12_B'],
    [1_500, '1.5_kB'],
    [31_400_000, '31.4_MB'],
    [2_000_000_000, '2_GB'],
  ])('%d bytes', (bytes, text) => expect(formatSize(bytes)).toBe(n(text)))
})

describe('times', () => {
  test.each([
    [0, '0_s'],
    [40 * SECOND, '40_s'],
    [59_999, '59_s'],
    [MINUTE, '1_min'],
    [3 * MINUTE + 59 * SECOND, '3_min'],
    [7 * HOUR, '7_h'],
    [DAY - 1, '23_h'],
    [-5 * MINUTE, '0_s'],
  ])('%d ms ago', (ms, text) => expect(formatAgo(before(ms), NOW, 'utc')).toBe(n(text)))

  test('times older than a day are dates, with the year only if it is another', () => {
    expect(formatAgo('2026-11-09T08:00:00Z', NOW, 'utc')).toBe('9 Nov')
    expect(formatAgo('2025-11-09T08:00:00Z', NOW, 'utc')).toBe('9 Nov 2025')
    expect(formatDay('2026-01-31T23:59:59Z', NOW, 'utc')).toBe('31 Jan')
  })

  test('`since` adds "ago" only to durations', () => {
    expect(formatSince(before(3 * MINUTE), NOW, 'utc')).toBe(n('3_min ago'))
    expect(formatSince('2026-11-09T08:00:00Z', NOW, 'utc')).toBe('9 Nov')
  })

  test.each([
    [26 * MINUTE, '26_min'],
    [9 * DAY, '9_d'],
    [13 * DAY, '13_d'],
    [14 * DAY, '2_wk'],
    [5 * 7 * DAY, '5_wk'],
    [92 * DAY, '3_mo'],
    [364 * DAY, '11_mo'],
    [365 * DAY, '1_y'],
    [800 * DAY, '2_y'],
  ])('an age of %d ms', (ms, text) => expect(formatAge(before(ms), NOW)).toBe(n(text)))

  test('a countdown is rounded up and ends at 0', () => {
    expect(formatLeft('2026-11-19T14:11:00Z', NOW)).toBe(n('3_min 38_s'))
    expect(formatLeft(before(-1200), NOW)).toBe(n('2_s'))
    expect(formatLeft(before(1200), NOW)).toBe(n('0_s'))
  })

  test('exact, in UTC', () => {
    expect(formatExact(NOW, 'utc')).toBe('19 Nov 2026 14:07:22 UTC')
    expect(formatClock('2026-11-19T04:05:59Z', 'utc')).toBe('04:05')
    expect(formatMoment('2026-11-19T04:05:59Z', NOW, 'utc')).toBe('19 Nov, 04:05')
  })

  test('the local zone is named by its offset from UTC', () => {
    const at = new Date(NOW)
    at.getTimezoneOffset = () => -120
    expect(zoneName(at, 'local')).toBe('UTC+2')
    at.getTimezoneOffset = () => 210
    expect(zoneName(at, 'local')).toBe(n('UTC~3:30'))
    at.getTimezoneOffset = () => 0
    expect(zoneName(at, 'local')).toBe('UTC')
  })

  test('all forms use the chosen zone', () => {
    setZone('utc')
    expect(formatExact(NOW)).toBe('19 Nov 2026 14:07:22 UTC')
    expect(formatClock(NOW)).toBe('14:07')
  })
})

test('a time of today has seconds, of another day the day', () => {
  expect(formatMark('2026-11-19T14:05:04.999Z', NOW, 'utc')).toBe('14:05:04')
  expect(formatMark('2026-11-18T14:05:04Z', NOW, 'utc')).toBe('18 Nov, 14:05')
})

test('a time left of more than an hour has no seconds', () => {
  expect(formatLeft(Date.parse(NOW) + 86_400_000 - 1, NOW)).toBe(n('1_d'))
  expect(formatLeft(Date.parse(NOW) + 86_340_000, NOW)).toBe(n('23_h 59_min'))
})
