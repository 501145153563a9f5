/**
 * Lengths of the buckets rollups are kept in, by age: what charts of that age can show (1h in minutes,
 * 24h in quarters of an hour, 7d in hours, 30d in six hours, each with the range before).
 */

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** Minutes; `youngMs` is the age up to which buckets of that length are kept. */
export const STEPS = [
  { minutes: 1, youngMs: 2 * HOUR_MS + 10 * MINUTE_MS },
  { minutes: 15, youngMs: 49 * HOUR_MS },
  { minutes: 60, youngMs: 15 * DAY_MS },
  { minutes: 360, youngMs: Number.POSITIVE_INFINITY },
] as const

export const bucketOf = (at: Date, minutes: number): Date =>
  new Date(Math.floor(at.getTime() / (minutes * MINUTE_MS)) * minutes * MINUTE_MS)

/** The length something of that age belongs in. */
export function stepFor(at: Date, now: Date): number {
  const ageMs = now.getTime() - at.getTime()
  return STEPS.find(({ youngMs }) => ageMs < youngMs)?.minutes ?? 360
}
