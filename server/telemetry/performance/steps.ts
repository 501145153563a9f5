import { MINUTE_MS, HOUR_MS, DAY_MS } from '../../platform/kernel/day.ts'

/**
 * Bucket lengths of rollups by age, beside the long ones, which hold everything: those of the charts (1h in minutes, 24h in
 * quarters of an hour, 7d in hours, 30d in six hours, each with the previous range).
 */

/** `minutes` is the bucket length, `maxAgeMs` the age up to which rollups have it. */
export const STEPS = [
  { minutes: 1, maxAgeMs: 2 * HOUR_MS + 10 * MINUTE_MS },
  { minutes: 15, maxAgeMs: 49 * HOUR_MS },
  { minutes: 60, maxAgeMs: 15 * DAY_MS },
  { minutes: 360, maxAgeMs: Number.POSITIVE_INFINITY },
] as const

/**
 * Buckets that hold every measurement of their age, in minutes; the others hold those of an age only. Those of an hour are
 * for the ends of a range, those of two days for totals: without them 30 days are 120 buckets instead of about 20.
 */
export const WHOLE = [60, 360, 2_880] as const
/** Steps that hold everything up to the end of retention. */
export const LONG = [360, 2_880] as const

/** A part of a time range, and the rollups to read for it: those of a whole step, or null for all shorter ones. */
export type Part = { readonly step: (typeof WHOLE)[number] | null; readonly from: Date; readonly to: Date }

/**
 * The fewest buckets that cover a range: the longest inside, shorter ones at its ends. A range that starts more than 14
 * days ago must start at a multiple of the shortest long ones, because those of an hour are gone.
 * @param intervalMs length of the intervals to tell apart; null for the whole range
 */
export function coverRange(from: Date, to: Date, intervalMs: number | null): Part[] {
  const steps = WHOLE.filter((step) => {
    const ms = step * MINUTE_MS
    return intervalMs === null || (intervalMs % ms === 0 && from.getTime() % ms === 0)
  })
  return cover(from.getTime(), to.getTime(), steps)
}

function cover(from: number, to: number, steps: readonly (typeof WHOLE)[number][]): Part[] {
  if (from >= to) return []
  const step = steps.at(-1)
  if (step === undefined) return [{ step: null, from: new Date(from), to: new Date(to) }]
  const [ms, shorter] = [step * MINUTE_MS, steps.slice(0, -1)]
  const inner = Math.ceil(from / ms) * ms
  const end = Math.floor(to / ms) * ms
  if (inner >= end) return cover(from, to, shorter)
  return [
    ...cover(from, inner, shorter),
    { step, from: new Date(inner), to: new Date(end) },
    ...cover(end, to, shorter),
  ]
}

export const floorToStep = (at: Date, minutes: number): Date =>
  new Date(Math.floor(at.getTime() / (minutes * MINUTE_MS)) * minutes * MINUTE_MS)

/** The shortest bucket length in minutes for a time. */
export function stepFor(at: Date, now: Date): number {
  const ageMs = now.getTime() - at.getTime()
  return STEPS.find(({ maxAgeMs }) => ageMs < maxAgeMs)?.minutes ?? LONG[0]
}

/** All bucket lengths in which a measurement of a time counts. */
export function stepsFor(at: Date, now: Date): number[] {
  const shortest = stepFor(at, now)
  return [...new Set([shortest, ...WHOLE.filter((minutes) => minutes >= shortest)])]
}
