import { expect, test } from 'vitest'
import { dayPlus } from '../../platform/kernel/day.ts'
import { guard, guardDevices, guardedDays, computeUserDayRate } from './store-guard.ts'
import { LIMITS } from './limits.ts'

const FIRST = '2026-09-01'
const daysOf = (affected: (day: number) => number, users = 100_000) =>
  Array.from({ length: 56 }, (_, day) => ({ day: dayPlus(FIRST, day), users, affected: affected(day) }))

test('the rate is the sum of affected users of each day ÷ the sum of active users of each day', () => {
  const days = [
    { users: 600, affected: 6 },
    { users: 400, affected: 14 },
  ]
  expect(computeUserDayRate(days)).toEqual({ rate: 0.02, user_days: 1_000, affected_user_days: 20 })
  expect(computeUserDayRate([{ users: 999, affected: 999 }])).toMatchObject({ rate: null, user_days: 999 })
  expect(computeUserDayRate([])).toMatchObject({ rate: null, user_days: 0 })
})

test('each day has the rate of the window that ends with it', () => {
  const { days, rate } = guard(
    daysOf((day) => (day < 28 ? 0 : 280)),
    LIMITS.crash,
  )
  expect(days).toHaveLength(28)
  expect(days[0]).toEqual({ day: '2026-09-29', users: 100_000, affected: 280, rate_of_window: 0.0028 / 28 })
  expect(days.at(-1)?.rate_of_window).toBeCloseTo(0.0028, 10)
  expect(rate).toBeCloseTo(0.0028, 10)
})

test('a rate that rises passes the limit where its line does', () => {
  // 0.3 % in the window before, then 0.8 %: the window's rate rises by (0.8 − 0.3) / 28 a day.
  const { rate, forecast, state } = guard(
    daysOf((day) => (day < 36 ? 300 : 800)),
    LIMITS.crash,
  )
  const slope = 0.005 / 28
  expect(rate).toBeCloseTo(0.003 + 20 * slope, 10)
  expect(state).toBe('watch')
  expect(forecast?.slope_per_day).toBeCloseTo(slope, 8)
  expect(forecast?.days).toBe(Math.ceil((0.0109 - (rate ?? 0)) / slope - 1e-9))
  expect(forecast?.passes_limit_at).toBe(`${dayPlus('2026-10-26', forecast?.days ?? 0)}T00:00:00.000Z`)
})

test.each<[string, (day: number) => number, number?]>([
  ['it stays', () => 300],
  ['it falls', (day) => 900 - day * 10],
  ['it is already above', (day) => 2_000 + day * 10],
  ['it rises by less than chance', (day) => 300 + day / 20],
  ['it rises, but there are few users', (day) => Math.round(day / 50), 100],
  ['there are too few users for a rate', () => 1, 10],
  ['it would pass it in years', (day) => 300 + day / 5],
  ['one day was bad', (day) => (day === 50 ? 5_000 : 300)],
])('no forecast when %s', (_name, affected, users) => {
  expect(guard(daysOf(affected, users), LIMITS.crash).forecast).toBeNull()
})

test('devices need 1,000 user-days; the worst is first, and 8 % is poor', () => {
  const of = (device: string, user_days: number, crashed_user_days: number, anr_user_days = 0) => ({
    device,
    user_days,
    crashed_user_days,
    anr_user_days,
  })
  const devices = [of('good', 2_000, 2), of('rare', 999, 999), of('hangs', 1_000, 0, 90), of('crashes', 5_000, 100)]
  expect(guardDevices(devices, 10)).toMatchObject([
    { device: 'hangs', anr_rate: 0.09, state: 'poor' },
    { device: 'crashes', crash_rate: 0.02, state: 'watch' },
    { device: 'good', state: 'good' },
  ])
  expect(guardDevices(devices, 1)).toHaveLength(1)
})

test('guarded days are the 56 whole days before now', () => {
  const days = guardedDays(new Date('2026-11-20T12:00:00Z'))
  expect([days[0], days.at(-1), days.length]).toEqual(['2026-09-25', '2026-11-19', 56])
})

test('few users show a rate that is clearly over the limit, and nothing else', () => {
  const stateOf = (affected: number, users: number) =>
    guard(
      daysOf(() => affected, users),
      LIMITS.anr,
    )
  // 280 user-days in the window: 14 of them had an ANR, which is ten times the limit.
  expect(
    guard(
      daysOf((day) => (day % 2 === 0 ? 1 : 0), 10),
      LIMITS.anr,
    ),
  ).toMatchObject({ rate: null, state: 'poor' })
  expect(
    guard(
      daysOf((day) => (day === 50 ? 1 : 0), 10),
      LIMITS.anr,
    ),
  ).toMatchObject({ rate: null, state: null })
  expect(stateOf(0, 10)).toMatchObject({ rate: null, state: null })
  expect(stateOf(0, 0)).toMatchObject({ rate: null, state: null })
})
