import type { RangeName } from '#shared/issue-values.ts'
import { countsStart, rangeEnd, TIME_RANGES } from '#shared/time-ranges.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { MINUTE_MS, HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/**
 * Users by slots, which are quarters of an hour since 1970 (docs/decisions/issue-ranges.md). A user who is seen in a slot
 * is counted there under the slot in which the user was seen before. The distinct users of a time from `a` to `b` are the
 * users of slots from `a` to `b` who were seen before `a`, or never.
 */

export const SLOT_MS = 900_000
const SLOTS_PER_HOUR = 4
export const SLOTS_PER_DAY = 24 * SLOTS_PER_HOUR

export const toSlot = (ms: number): number => Math.floor(ms / SLOT_MS)

/**
 * How precisely the slot before is kept: the start of a time is aligned the more coarsely the longer the time is
 * (`count-window.ts`), and only a time that is longer than the distance of both slots can begin between them. The
 * distances are longer than the longest time of each alignment by what alignment adds.
 */
const PRECISION = [
  { maxDistance: SLOTS_PER_DAY + SLOTS_PER_HOUR, step: 1 },
  { maxDistance: 7 * SLOTS_PER_DAY + 2 * SLOTS_PER_HOUR, step: SLOTS_PER_HOUR },
  { maxDistance: 92 * SLOTS_PER_DAY, step: 6 * SLOTS_PER_HOUR },
] as const

/** SQL of the slot that is kept of the slot before. @param slot, before columns; `before` is 0 for never */
export const beforeSlot = (slot: string, before: string): string =>
  `case when ${before} = 0 then 0 ${PRECISION.map(
    ({ maxDistance, step }) => `when ${slot} - ${before} <= ${maxDistance} then ${before} - ${before} % ${step}`,
  ).join(' ')} else 0 end`

/** The time in which events and users of issues are counted: the same for rows, their trends and the strip. Pure. */
export type CountWindow = {
  /** Start of a slot. */
  readonly from: number
  /** Excluded. */
  readonly to: number
}
/** With the interval of its chart. */
export type ChartWindow = CountWindow & { readonly intervalMs: number }

const MAX_WINDOW_DAYS = 90
/** Before that, users are unknown: `tasks.ts` deletes their slots after 100 days. */
const USERS_KNOWN_MS = 99 * DAY_MS

/** Times of events are far before it. Beyond the year 9999 there is no RFC 3339 time. */
const LATEST_MS = Date.UTC(2999)

/** How times are aligned by their length, and the interval of their strip. `beforeSlot` relies on these alignments. */
const ALIGNMENTS = [
  { maxMs: HOUR_MS, alignMs: SLOT_MS, intervalMs: MINUTE_MS },
  { maxMs: DAY_MS, alignMs: SLOT_MS, intervalMs: SLOT_MS },
  { maxMs: 7 * DAY_MS, alignMs: HOUR_MS, intervalMs: HOUR_MS },
  { maxMs: MAX_WINDOW_DAYS * DAY_MS, alignMs: 6 * HOUR_MS, intervalMs: 6 * HOUR_MS },
] as const

/** Query parameters, as the contract parses them. */
export type WindowInput = {
  readonly range?: RangeName | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/**
 * The window that is asked for; null for none. A range ends with the current bucket, as in every chart; a time of one's own
 * is extended to whole quarters of an hour, beyond a day to whole hours, beyond a week to six hours.
 * @throws AppError invalid
 */
export function parseChartWindow({ range, from, to }: WindowInput, now: Date): ChartWindow | null {
  if (range !== undefined) {
    if (from !== undefined || to !== undefined) throw invalid('Send either range, or from and to.')
    return windowOfRange(range, now)
  }
  if (from === undefined) {
    if (to !== undefined) throw invalid('to needs from.')
    return null
  }
  const [start, end] = [Date.parse(from), to === undefined ? now.getTime() : Date.parse(to)]
  if (start < 0 || end > LATEST_MS) throw invalid('from and to must lie between the years 1970 and 2999.')
  if (start >= end) throw invalid('from must be before to.')
  const alignment = ALIGNMENTS.find(({ maxMs }) => end - start <= maxMs)
  if (alignment === undefined) throw invalid(`from and to must be at most ${MAX_WINDOW_DAYS} days apart.`)
  const { alignMs, intervalMs } = alignment
  return { from: Math.floor(start / alignMs) * alignMs, to: Math.ceil(end / alignMs) * alignMs, intervalMs }
}

/** The window of a range. The last hour begins with a whole quarter of an hour. */
export function windowOfRange(range: RangeName, now: Date): ChartWindow {
  const at = now.getTime()
  return {
    from: countsStart(at, range),
    to: rangeEnd(at, range),
    intervalMs: TIME_RANGES[range].stepSeconds * 1000,
  }
}

/** The last 24 hours, in whole hours. */
export function lastDayWindow(now: Date): CountWindow {
  const to = (Math.floor(now.getTime() / HOUR_MS) + 1) * HOUR_MS
  return { from: to - DAY_MS, to }
}

/** Whether times can be a window. */
export const isWindow = ({ from, to }: CountWindow): boolean =>
  from % SLOT_MS === 0 && from >= 0 && to > from && to - from <= (MAX_WINDOW_DAYS + 1) * DAY_MS

/** Slots of the window. @returns `to` is excluded */
export const windowSlots = ({ from, to }: CountWindow): { readonly from: number; readonly to: number } => ({
  from: toSlot(from),
  to: Math.ceil(to / SLOT_MS),
})

export const knowsUsers = ({ from }: CountWindow, now: Date): boolean => now.getTime() - from <= USERS_KNOWN_MS

/** Whether no event can have occurred after the window. */
export const reachesNow = ({ to }: CountWindow, now: Date): boolean => to > now.getTime()

const TREND_INTERVALS_MS = [SLOT_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 3 * DAY_MS] as const
/** The trend of a row is 96 px wide. */
const MAX_TREND_BUCKETS = 32

/** Interval of the trend in a row: a quarter in the last hour, an hour in a day, six in a week, a day in 30 days. */
export const trendIntervalMs = ({ from, to }: CountWindow): number =>
  TREND_INTERVALS_MS.find((ms) => to - from <= MAX_TREND_BUCKETS * ms) ?? 3 * DAY_MS

/** A window, as the API returns it. */
export const viewWindow = ({ from, to }: CountWindow): { from: string; to: string } => ({
  from: new Date(from).toISOString(),
  to: new Date(to).toISOString(),
})
