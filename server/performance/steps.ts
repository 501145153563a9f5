/**
 * Bucket lengths of rollups by age, beside the longest, which holds everything: those of the charts (1h in minutes, 24h in quarters of an hour, 7d in hours, 30d in
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

/** The longest buckets, in minutes. They hold every measurement, the others only those of some days. */
export const LONGEST = 360
const LONGEST_MS = LONGEST * MINUTE_MS

/** A part of a time range, and the rollups to read for it. */
export type Part = { readonly isLong: boolean; readonly from: Date; readonly to: Date }

/**
 * The fewest buckets that cover a range: the longest inside, shorter ones at its ends. A range that starts more than 14
 * days ago starts at a multiple of the longest.
 * @param intervalMs length of the intervals to tell apart; null for the whole range
 */
export function partsOf(from: Date, to: Date, intervalMs: number | null): Part[] {
  const [start, end] = [from.getTime(), to.getTime()]
  const longFrom = Math.ceil(start / LONGEST_MS) * LONGEST_MS
  const longTo = Math.floor(end / LONGEST_MS) * LONGEST_MS
  const tellsApart = intervalMs === null || (intervalMs % LONGEST_MS === 0 && longFrom === start)
  if (!tellsApart || longFrom >= longTo) return [{ isLong: false, from, to }]
  return [
    { isLong: false, from, to: new Date(longFrom) },
    { isLong: true, from: new Date(longFrom), to: new Date(longTo) },
    { isLong: false, from: new Date(longTo), to },
  ].filter((part) => part.from < part.to)
}

export const bucketOf = (at: Date, minutes: number): Date =>
  new Date(Math.floor(at.getTime() / (minutes * MINUTE_MS)) * minutes * MINUTE_MS)

/** The bucket length in minutes for a time. */
export function stepFor(at: Date, now: Date): number {
  const ageMs = now.getTime() - at.getTime()
  return STEPS.find(({ maxAgeMs }) => ageMs < maxAgeMs)?.minutes ?? LONGEST
}
