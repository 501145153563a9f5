import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { share } from './figures.ts'
import { isClearlyPoor, rateWord, type Bands, type Word } from '#shared/rate-words.ts'
import { LIMITS } from './limits.ts'

/** The rates that app stores judge an app by: shares of daily users over 28 whole days of UTC. */

export const WINDOW_DAYS = 28
/** With fewer user-days a rate says nothing. */
export const MIN_USER_DAYS = 1_000
/** Windows that a forecast looks at. */
const FORECAST_DAYS = 14
/** A forecast further ahead is not worth a line. */
const MAX_AHEAD_DAYS = 90
/** One-sided 2.5 %: a rise by chance is rarer than that. */
const SIGNIFICANT = 1.96

/** Active users of a day, and those of them that were affected. */
type DayUsers = { readonly day: string; readonly users: number; readonly affected: number }

export type Window = DayUsers & { readonly rate_of_window: number | null }

export type Forecast = {
  readonly passes_limit_at: string
  readonly days: number
  readonly slope_per_day: number
}

export type GuardedRate = {
  readonly rate: number | null
  readonly user_days: number
  readonly affected_user_days: number
  readonly state: Word | null
  readonly forecast: Forecast | null
  readonly days: Window[]
}

/**
 * The rate of the last window, of the windows before it, and when its slope passes the limit.
 * @param days all days up to the last whole one, oldest first, without gaps: twice the window
 */
export function guard(days: readonly DayUsers[], bands: Bands): GuardedRate {
  const windows = days.map((day, index): Window => {
    const { rate } = computeUserDayRate(days.slice(Math.max(0, index + 1 - WINDOW_DAYS), index + 1))
    return { ...day, rate_of_window: rate }
  })
  const last = computeUserDayRate(days.slice(-WINDOW_DAYS))
  return {
    ...last,
    state: last.rate === null ? wordOfFew(last, bands) : rateWord(last.rate, last.user_days, bands),
    forecast: forecastOf(windows, last, bands.poor),
    days: windows.slice(-WINDOW_DAYS),
  }
}

/** Fewer user-days than a rate needs may show that it is over the limit. */
const wordOfFew = (
  of: { readonly user_days: number; readonly affected_user_days: number },
  bands: Bands,
): Word | null =>
  of.user_days > 0 && isClearlyPoor(of.affected_user_days / of.user_days, of.user_days, bands) ? 'poor' : null

/** Σ affected users of each day ÷ Σ active users of each day; null below 1,000 user-days. */
export function computeUserDayRate(days: readonly Pick<DayUsers, 'users' | 'affected'>[]) {
  const sum = (name: 'users' | 'affected'): number => days.reduce((total, day) => total + day[name], 0)
  const [users, affected] = [sum('users'), sum('affected')]
  return {
    rate: users < MIN_USER_DAYS ? null : share(affected, users),
    user_days: users,
    affected_user_days: affected,
  }
}

/**
 * When a rate that keeps rising as in the last 14 windows passes the limit. Null when it is above it, when it does not
 * rise or only by chance, and when that is more than 90 days ahead.
 */
function forecastOf(
  windows: readonly Window[],
  last: { readonly rate: number | null; readonly user_days: number },
  limit: number,
): Forecast | null {
  const recent = windows.slice(-FORECAST_DAYS)
  const rates = recent.flatMap(({ rate_of_window: rate }) => (rate === null ? [] : [rate]))
  const first = rates[0]
  if (last.rate === null || first === undefined || last.rate >= limit || rates.length < FORECAST_DAYS) return null
  const slope = medianSlope(rates)
  // Neighbouring windows share their days. What differs are the days that came and those that left.
  const changed = recent.reduce((sum, { users }) => sum + users, 0)
  const error = Math.sqrt(last.rate * (1 - last.rate) * 2 * changed) / last.user_days
  const left = windows.slice(-FORECAST_DAYS - WINDOW_DAYS, -WINDOW_DAYS)
  if (slope <= 0 || last.rate - first <= SIGNIFICANT * error || comparedDays(recent, left) <= SIGNIFICANT) return null
  const days = Math.ceil((limit - last.rate) / slope)
  const lastDay = recent.at(-1)?.day
  if (days > MAX_AHEAD_DAYS || lastDay === undefined) return null
  return { passes_limit_at: `${dayPlus(lastDay, days)}T00:00:00.000Z`, days, slope_per_day: slope }
}

const pairs = (values: readonly number[]): { readonly apart: number; readonly rise: number }[] =>
  values.flatMap((late, index) =>
    values.slice(0, index).map((early, at) => ({ apart: index - at, rise: late - early })),
  )

/** Theil and Sen: the median of the slopes of all pairs, which single days do not move. */
function medianSlope(values: readonly number[]): number {
  const slopes = pairs(values)
    .map(({ apart, rise }) => rise / apart)
    .sort((a, b) => a - b)
  const middle = slopes.length >> 1
  return slopes.length % 2 === 1 ? (slopes[middle] ?? 0) : ((slopes[middle - 1] ?? 0) + (slopes[middle] ?? 0)) / 2
}

const rateOfDay = ({ users, affected }: DayUsers): number => share(affected, users) ?? 0

/**
 * Mann and Whitney: by how many standard errors the days that came into the window rank above those that left it. One
 * bad day moves the rate, but is no rise.
 */
function comparedDays(came: readonly DayUsers[], left: readonly DayUsers[]): number {
  const n = came.length * left.length
  const above = came.reduce(
    (sum, day) => sum + left.reduce((of, old) => of + Math.sign(rateOfDay(day) - rateOfDay(old)), 0),
    0,
  )
  return above / 2 / Math.sqrt((n * (came.length + left.length + 1)) / 12)
}

export type DeviceUsers = {
  readonly device: string
  readonly user_days: number
  readonly crashed_user_days: number
  readonly anr_user_days: number
}

/** Models with enough user-days, the worst first. */
export function guardDevices(devices: readonly DeviceUsers[], max: number) {
  return devices
    .filter(({ user_days }) => user_days >= MIN_USER_DAYS)
    .map(({ device, user_days, crashed_user_days, anr_user_days }) => {
      const [crash, anr] = [crashed_user_days / user_days, anr_user_days / user_days]
      const state = rateWord(Math.max(crash, anr), user_days, LIMITS.device)
      return { device, user_days, crash_rate: crash, anr_rate: anr, state }
    })
    .sort((a, b) => Math.max(b.crash_rate, b.anr_rate) - Math.max(a.crash_rate, a.anr_rate))
    .slice(0, max)
}

/** The whole days before a time, oldest first: two windows, because each day has the window that ends with it. */
export const guardedDays = (now: Date): string[] =>
  Array.from({ length: 2 * WINDOW_DAYS }, (_, index) => dayPlus(utcDay(now), index - 2 * WINDOW_DAYS))
