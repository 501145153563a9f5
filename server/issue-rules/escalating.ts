import { DEFAULT_ESCALATING, type EscalatingRules } from './issue-settings.api.ts'

/** When an issue happens so much more often than before that somebody should look. Pure. */

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** No project can set a lower limit: hours with fewer events need not be looked at. */
export const MIN_LIMIT = 10

/** An issue is young until it has so much history, and no older history is looked at than the latter. */
export const YOUNG_MS = 7 * DAY_MS
export const HISTORY_MS = 14 * DAY_MS
/** At most one automatic escalation in so long. */
export const SPIKE_PAUSE_MS = DAY_MS
/** Escalated ends after so long below the limit. */
export const CALM_MS = 7 * DAY_MS

/** Whole hours of an issue before the one to be judged, {@link HISTORY_MS} back at most. */
export type HourHistory = {
  /** Beginning of the hour to be judged. */
  readonly hour: Date
  /** When the issue was first seen. */
  readonly firstSeen: Date
  /** Hours with events: how many, and their events. */
  readonly busyHours: number
  readonly sum: number
  readonly sumOfSquares: number
  readonly largest: number
  readonly busyMedian: number
}

/**
 * Most events the hour may have. With a week of history: mean + 5 standard deviations over all hours, or 5 × the median
 * of the busy hours, or 10, whichever is most. Younger: 10 × the largest hour so far, at least 50.
 */
export function hourlyLimit(history: HourHistory, rules: EscalatingRules = DEFAULT_ESCALATING): number {
  const ageMs = history.hour.getTime() - history.firstSeen.getTime()
  if (ageMs < YOUNG_MS) return bounded(Math.max(rules.young_least, rules.young_factor * history.largest))
  const hours = Math.max(1, history.busyHours, Math.ceil(Math.min(ageMs, HISTORY_MS) / HOUR_MS))
  const mean = history.sum / hours
  const deviation = Math.sqrt(Math.max(0, history.sumOfSquares / hours - mean * mean))
  return bounded(Math.max(mean + rules.deviations * deviation, rules.busy_factor * history.busyMedian, rules.least))
}

/** Events are whole, and a column has 32 bits. */
const bounded = (limit: number): number => Math.min(2_000_000_000, Math.floor(limit))

/** Beginning of the hour a time lies in. */
export const hourOf = (time: Date): Date => new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
