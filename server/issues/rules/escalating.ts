import { ISSUE_RULE_BOUNDS } from '#shared/limits.ts'
import { DEFAULT_ESCALATING, type EscalatingRules } from './issue-settings.api.ts'
import { HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/** The escalating limit: how many events an issue may have in an hour, computed from its history. Pure. */

/** No project can set a lower limit, so hours with fewer events are not checked. */
export const MIN_LIMIT = ISSUE_RULE_BOUNDS.hourlyLimit.min

/** An issue is new until it has this much history. */
const NEW_ISSUE_MS = 7 * DAY_MS
/** The longest history that a limit is computed from. */
export const HISTORY_MS = 14 * DAY_MS
/** Minimum time between two automatic escalations of an issue. */
export const SPIKE_PAUSE_MS = DAY_MS
/** An issue stops being escalated after this time below its limit. */
export const CALM_MS = 7 * DAY_MS

/** Whole hours of an issue before the hour to check, at most {@link HISTORY_MS} back. */
export type HourHistory = {
  /** Start of the hour to check. */
  readonly hour: Date
  /** When the issue was first seen. */
  readonly firstSeen: Date
  /** Number of hours with events, and statistics of their event counts. */
  readonly busyHours: number
  readonly sum: number
  readonly sumOfSquares: number
  readonly largest: number
  readonly busyMedian: number
}

/**
 * Returns the maximum of events in the hour. With the default rules: after a week of history, the largest of mean + 5
 * standard deviations over all hours, 5 × the median of the busy hours, and 10; before, 10 × the largest hour so far, at
 * least 50.
 */
export function hourlyLimit(history: HourHistory, rules: EscalatingRules = DEFAULT_ESCALATING): number {
  const ageMs = history.hour.getTime() - history.firstSeen.getTime()
  if (ageMs < NEW_ISSUE_MS)
    return bounded(Math.max(rules.new_issue_min_limit, rules.new_issue_factor * history.largest))
  const hours = Math.max(1, history.busyHours, Math.ceil(Math.min(ageMs, HISTORY_MS) / HOUR_MS))
  const mean = history.sum / hours
  const deviation = Math.sqrt(Math.max(0, history.sumOfSquares / hours - mean * mean))
  return bounded(Math.max(mean + rules.deviations * deviation, rules.busy_factor * history.busyMedian, rules.min_limit))
}

/** Event counts are whole numbers, and the column has 32 bits. */
const bounded = (limit: number): number => Math.min(2_000_000_000, Math.floor(limit))

/** Returns the start of the hour that contains the time. */
export const floorToHour = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
