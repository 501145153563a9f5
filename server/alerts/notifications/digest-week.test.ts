import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { digestWeek } from './digest-week.ts'

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Pacific/Apia',
  'Australia/Lord_Howe',
] as const
const WEEK_MS = 7 * 86_400_000

test.each([
  ['2026-11-30T07:59:59.999Z', 'UTC', '2026-11-23', '2026-11-23T08:00:00.000Z'],
  ['2026-11-30T08:00:00.000Z', 'UTC', '2026-11-30', '2026-11-30T08:00:00.000Z'],
  // Sunday in UTC, Monday there.
  ['2026-11-29T21:00:00.000Z', 'Pacific/Auckland', '2026-11-30', '2026-11-29T19:00:00.000Z'],
  // The clocks changed on the day before.
  ['2026-03-30T12:00:00.000Z', 'Europe/Berlin', '2026-03-30', '2026-03-30T06:00:00.000Z'],
])('at %s in %s', (now, zone, week, at) => {
  expect(digestWeek(new Date(now), zone)).toEqual({ week, at: new Date(at) })
})

test('is a Monday within the last week, and steps by one week', () => {
  const times = fc.date({ min: new Date('2015-01-01'), max: new Date('2040-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(times, fc.constantFrom(...ZONES), (now, zone) => {
      const { week, at } = digestWeek(now, zone)
      expect(at.getTime()).toBeLessThanOrEqual(now.getTime())
      // A week with a change of summer time is an hour longer.
      expect(now.getTime() - at.getTime()).toBeLessThan(WEEK_MS + 3_600_000)
      expect(Temporal.PlainDate.from(week).dayOfWeek).toBe(1)
      expect(digestWeek(new Date(at.getTime() - 1), zone).week).toBe(
        Temporal.PlainDate.from(week).subtract({ days: 7 }).toString(),
      )
    }),
    { numRuns: cases(200, 20_000) },
  )
})
