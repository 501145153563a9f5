import { isOfOneDay } from '#shared/daily-limits.ts'
import type { Breakdown, MetricSeries, StoreGuard } from '../../../api/metric-queries.ts'
import type { Word } from '../../../subjects/figures/limits.ts'
import { DAY_MS, formatCount, formatDuration, formatRate, formatShare } from '../../../ui/format.ts'
import { metricsTexts } from './texts.ts'

/** View models of the metrics page. Pure. */

type Rate = Pick<MetricSeries, 'total' | 'bands' | 'points' | 'interval_seconds'>

/** How much of the way to the limit a rate has gone, 0 to 1. */
export const shareOfLimit = ({ total, bands }: Pick<Rate, 'total' | 'bands'>): number =>
  total === null || bands === null ? 0 : Math.min(1, total / bands.poor)

/**
 * The ANR rate that is compared with the limit, and its word. Over more than a day it is the rate of daily users,
 * because the limit is a share of daily users.
 * @param guard null if the figures are filtered
 */
export function chooseJudgedRate(
  { range, total, word }: Pick<MetricSeries, 'range' | 'total' | 'word'>,
  guard: { readonly anr: Pick<StoreGuard['anr'], 'rate' | 'state'> } | null,
): { readonly word: Word | null; readonly rate: number | null } {
  if (isOfOneDay(range) || total === null) return { word, rate: total }
  return { word: guard?.anr.state ?? null, rate: guard?.anr.rate ?? null }
}

/** The newest known value, next to the limit: a rise is seen there first. */
export function newestText({ points, bands, interval_seconds: seconds }: Rate): string | null {
  const newest = points.findLast((point) => point.value !== null && point.incomplete !== true)
  if (newest === undefined || bands === null) return null
  return metricsTexts.newest(formatDuration(seconds * 1000), formatRate(newest.value), formatRate(bands.poor))
}

type Forecast = { readonly text: string; readonly word: Word | null }

/**
 * Why the rate beside its limit has no word, or what the word of few rests on; null where the word says enough.
 * @param guard null if the figures are filtered
 */
export function fewText(
  { range, total, word }: Pick<MetricSeries, 'range' | 'total' | 'word'>,
  guard: { readonly anr: Pick<StoreGuard['anr'], 'rate' | 'state' | 'user_days'> } | null,
  limit: number,
): string | null {
  const shown = formatRate(limit)
  if (total === null) return null
  if (isOfOneDay(range)) return word === null ? metricsTexts.tooFewUsers(shown) : null
  if (guard === null) return metricsTexts.notOfDays(shown)
  if (guard.anr.rate !== null) return null
  return guard.anr.state === 'poor'
    ? metricsTexts.fewOverLimit(shown, formatCount(guard.anr.user_days))
    : metricsTexts.tooFewUsers(shown)
}

/** The 28-day rate beside the limit, with the time that is left where it approaches it. */
export function limitText(
  guard: { readonly rate: number | null; readonly forecast: StoreGuard['anr']['forecast'] },
  limit: number,
): Forecast['text'] {
  const shown = formatRate(limit)
  if (guard.rate === null) return metricsTexts.limit(shown)
  const rate = formatRate(guard.rate)
  if (guard.rate >= limit) return metricsTexts.limitPassed(rate, shown)
  const days = guard.forecast?.days ?? null
  return days === null
    ? metricsTexts.limitLeft(rate, shown)
    : metricsTexts.limitIn(rate, shown, metricsTexts.daysLong(days))
}

/** With fewer users of days the service gives no 28-day rate. */
export const MIN_USER_DAYS = 1_000

/** The projection is drawn no further than this, in days. */
const MAX_PROJECTED_DAYS = 28

export type MonthLine = {
  /** The start of each day: those of the window, then those of the projection. */
  readonly days: readonly string[]
  readonly values: readonly (number | null)[]
  /** From the newest known day to the limit; null without a forecast. */
  readonly projection: readonly (number | null)[] | null
}

/** The 28-day rate by day, and where its slope leads. */
export function buildMonthLine(
  guard: Pick<StoreGuard['anr'], 'days' | 'forecast' | 'rate'>,
  limit: number,
): MonthLine | null {
  const known = guard.days.filter((day) => day.rate_of_window !== null)
  const last = guard.days.findLastIndex((day) => day.rate_of_window !== null)
  const newest = guard.days[last]
  if (known.length < 2 || newest === undefined || newest.rate_of_window === null) return null
  const values = guard.days.map((day) => day.rate_of_window)
  const ahead = guard.forecast === null ? 0 : Math.min(MAX_PROJECTED_DAYS, Math.max(0, guard.forecast.days))
  const first = Date.parse(guard.days[0]?.day ?? newest.day)
  const length = Math.max(guard.days.length, last + 1 + ahead)
  const days = Array.from({ length }, (_, index) => new Date(first + index * DAY_MS).toISOString())
  if (guard.forecast === null || ahead === 0)
    return { days, values: days.map((_, index) => values[index] ?? null), projection: null }
  // To the limit on the day of the forecast; a longer way is drawn in part.
  const end =
    guard.forecast.days <= MAX_PROJECTED_DAYS ? limit : newest.rate_of_window + guard.forecast.slope_per_day * ahead
  const from = newest.rate_of_window
  return {
    days,
    values: days.map((_, index) => values[index] ?? null),
    projection: days.map((_, index) =>
      index < last || index > last + ahead ? null : from + ((end - from) * (index - last)) / ahead,
    ),
  }
}

type Known = Pick<Breakdown, 'coverage' | 'other' | 'sessions'>

/** Which sessions a table of devices leaves out; null if it shows them all. */
export function coverageText({ coverage, other, sessions }: Known): string | null {
  const parts = [
    ...(coverage === null || coverage > 0.995 ? [] : [metricsTexts.coverage(formatShare(coverage))]),
    ...(other === null || sessions === 0
      ? []
      : [metricsTexts.others(formatCount(other.names), formatShare(other.sessions / sessions))]),
  ]
  return parts.length === 0 ? null : parts.join(' ')
}
