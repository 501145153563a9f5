/**
 * Bucket lengths of rollups by age: those of the charts (1h in minutes, 24h in quarters of an hour, 7d in hours, 30d in
 * six hours, each with the previous range).
 */

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

/** `minutes` is the bucket length, `maxAgeMs` the age up to which rollups have it. */
export const STEPS = [
  { minutes: 1, maxAgeMs: 2 * HOUR_MS + 10 * MINUTE_MS },
  { minutes: 15, maxAgeMs: 49 * HOUR_MS },
  { minutes: 60, maxAgeMs: 15 * DAY_MS },
  { minutes: 360, maxAgeMs: Number.POSITIVE_INFINITY },
] as const

export const bucketOf = (at: Date, minutes: number): Date =>
  new Date(Math.floor(at.getTime() / (minutes * MINUTE_MS)) * minutes * MINUTE_MS)

/** The bucket length in minutes for a time. */
export function stepFor(at: Date, now: Date): number {
  const ageMs = now.getTime() - at.getTime()
  return STEPS.find(({ maxAgeMs }) => ageMs < maxAgeMs)?.minutes ?? 360
}
