import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { DEFAULTS, heldUntil, computeHoldMs, quietUntil } from './preferences.ts'
import { isEndless, isTimeZone, type QuietHours, WEEKDAYS } from '#shared/quiet-hours.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

const quiet = (over: Partial<QuietHours> = {}): QuietHours => ({
  enabled: true,
  start: '22:00',
  end: '07:00',
  time_zone: 'UTC',
  days: WEEKDAYS,
  ...over,
})
const until = (over: Partial<QuietHours>, at: string): string | null =>
  quietUntil(quiet(over), new Date(at))?.toISOString() ?? null

describe('the end of quiet hours', () => {
  // 2026-11-20 is a Friday.
  test.each<[string, Partial<QuietHours>, string, string | null]>([
    ['before they begin', {}, '2026-11-20T21:59:59.999Z', null],
    ['at their start', {}, '2026-11-20T22:00:00.000Z', '2026-11-21T07:00:00.000Z'],
    ['after midnight', {}, '2026-11-21T03:00:00.000Z', '2026-11-21T07:00:00.000Z'],
    ['at their end', {}, '2026-11-21T07:00:00.000Z', null],
    ['switched off', { enabled: false }, '2026-11-20T23:00:00.000Z', null],
    ['within one day', { start: '12:00', end: '13:30' }, '2026-11-20T12:10:00.000Z', '2026-11-20T13:30:00.000Z'],
    ['on another day', { days: ['mon'] }, '2026-11-20T23:00:00.000Z', null],
    ['the morning after their day', { days: ['thu'] }, '2026-11-20T06:00:00.000Z', '2026-11-20T07:00:00.000Z'],
    ['Kathmandu, +05:45', { time_zone: 'Asia/Kathmandu' }, '2026-11-20T16:15:00.000Z', '2026-11-21T01:15:00.000Z'],
    ['Kolkata, +05:30', { time_zone: 'Asia/Kolkata' }, '2026-11-20T16:29:59.000Z', null],
    ['Chatham, +13:45', { time_zone: 'Pacific/Chatham' }, '2026-11-20T08:15:00.000Z', '2026-11-20T17:15:00.000Z'],
    [
      'a whole day',
      { start: '08:00', end: '08:00', days: ['fri'] },
      '2026-11-20T09:00:00.000Z',
      '2026-11-21T08:00:00.000Z',
    ],
    [
      'days that follow each other',
      { start: '00:00', end: '00:00', days: ['sat', 'sun'] },
      '2026-11-21T01:00:00.000Z',
      '2026-11-23T00:00:00.000Z',
    ],
    // Berlin: 25 October 2026 has 25 hours, 29 March 23.
    ['a long night', { time_zone: 'Europe/Berlin' }, '2026-10-24T20:00:00.000Z', '2026-10-25T06:00:00.000Z'],
    ['a short night', { time_zone: 'Europe/Berlin' }, '2026-03-28T21:00:00.000Z', '2026-03-29T05:00:00.000Z'],
    [
      'an end that is skipped',
      { time_zone: 'Europe/Berlin', end: '02:30' },
      '2026-03-29T00:00:00.000Z',
      '2026-03-29T01:30:00.000Z',
    ],
    [
      'an end that happens twice',
      { time_zone: 'Europe/Berlin', end: '02:30' },
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T00:30:00.000Z',
    ],
    [
      'Lord Howe, half an hour',
      { time_zone: 'Australia/Lord_Howe' },
      '2026-10-03T11:30:00.000Z',
      '2026-10-03T20:00:00.000Z',
    ],
    // Samoa had no 30 December 2011.
    ['a day that never was', { time_zone: 'Pacific/Apia' }, '2011-12-30T08:30:00.000Z', '2011-12-30T17:00:00.000Z'],
  ])('%s', (_name, over, at, expected) => {
    expect(until(over, at)).toBe(expected)
  })

  test('holds nothing critical, and a length for the outbox', () => {
    const now = new Date('2026-11-20T23:00:00.000Z')
    const preferences = { ...DEFAULTS, quietHours: quiet() }
    const end = heldUntil(preferences, 'high', now)
    expect(end).toEqual(new Date('2026-11-21T07:00:00.000Z'))
    expect(computeHoldMs(end, now)).toBe(8 * 60 * MINUTE_MS)
    expect(heldUntil(preferences, 'critical', now)).toBeNull()
    expect(computeHoldMs(null, now)).toBe(0)
    expect(heldUntil(DEFAULTS, 'low', now)).toBeNull()
  })
})

/** The time that a wall clock in the zone shows. */
function wallClock(timeZone: string, at: Date): { time: string; day: (typeof WEEKDAYS)[number] } {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
    .formatToParts(at)
    .map(({ type, value }) => [type, value] as const)
  const { weekday = '', hour = '', minute = '' } = Object.fromEntries(parts)
  const day = WEEKDAYS.find((one) => one === weekday.toLowerCase())
  if (day === undefined) throw new Error(`no day: ${weekday}`)
  return { time: `${hour}:${minute}`, day }
}

/** Whether quiet hours hold by the wall clock alone, which is right unless the clocks change. */
function isQuietByWallClock({ start, end, time_zone, days }: QuietHours, at: Date): boolean {
  const { time, day } = wallClock(time_zone, at)
  const dayBefore = WEEKDAYS[(WEEKDAYS.indexOf(day) + 6) % 7] ?? day
  if (start < end) return days.includes(day) && time >= start && time < end
  return (days.includes(day) && time >= start) || (days.includes(dayBefore) && time < end)
}

const aTime = fc.integer({ min: 0, max: 1_439 }).map((minutes) => {
  const text = (n: number): string => String(n).padStart(2, '0')
  return `${text(Math.floor(minutes / 60))}:${text(minutes % 60)}`
})
const someDays = fc.subarray([...WEEKDAYS], { minLength: 1 })
const steadyZone = fc.constantFrom(
  'UTC',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Australia/Eucla',
  'Pacific/Marquesas',
  'Asia/Tokyo',
)
const zone = fc.oneof(
  steadyZone,
  fc.constantFrom('Europe/Berlin', 'America/New_York', 'Pacific/Chatham', 'Australia/Lord_Howe', 'America/St_Johns'),
)
const anInstant = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2035, 0, 1) }).map((ms) => new Date(ms))
const anyQuiet = (timeZone: fc.Arbitrary<string>) =>
  fc
    .record({
      enabled: fc.constant(true),
      start: aTime,
      end: fc.oneof(aTime, fc.constant('same')),
      time_zone: timeZone,
      days: someDays,
    })
    .map((one): QuietHours => ({ ...one, end: one.end === 'same' ? one.start : one.end }))
    .filter((one) => !isEndless(one))

describe('for any quiet hours', () => {
  test('a zone without summer time: the wall clock decides', () => {
    fc.assert(
      fc.property(anyQuiet(steadyZone), anInstant, (hours, now) => {
        const end = quietUntil(hours, now)
        expect(end !== null).toBe(isQuietByWallClock(hours, now))
        if (end !== null) expect(wallClock(hours.time_zone, end).time).toBe(hours.end)
      }),
      { numRuns: cases(500, 20_000) },
    )
  })

  test('they end within eight days, nothing is quiet at their end, and everything before it is', () => {
    fc.assert(
      fc.property(
        anyQuiet(zone),
        anInstant,
        fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
        (hours, now, share) => {
          const end = quietUntil(hours, now)
          if (end === null) return
          const leftMs = end.getTime() - now.getTime()
          expect(leftMs).toBeGreaterThan(0)
          expect(leftMs).toBeLessThanOrEqual(8 * DAY_MS)
          expect(quietUntil(hours, end)).toBeNull()
          expect(quietUntil(hours, new Date(now.getTime() + Math.floor(leftMs * share)))).toEqual(end)
        },
      ),
      { numRuns: cases(500, 20_000) },
    )
  })
})

test('time zones by their IANA name', () => {
  for (const name of ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'Asia/Calcutta'])
    expect(isTimeZone(name), name).toBe(true)
  for (const name of ['', '+05:30', 'Europe/Atlantis', 'local', '../etc/passwd', 'Europe/Berlin\n', 'a'.repeat(70)])
    expect(isTimeZone(name), name).toBe(false)
})
