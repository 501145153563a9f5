const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Cached texts of days: digestion needs several per event. */
const cache = new Map<number, string>()
const MAX_CACHED = 400

/**
 * UTC day of a time, in the form of day partitions: `2026-11-20`.
 * @throws RangeError for an invalid date
 */
export function utcDay(time: Date): string {
  const number = Math.floor(time.getTime() / DAY_MS)
  const known = cache.get(number)
  if (known !== undefined) return known
  const day = time.toISOString().slice(0, 10)
  if (cache.size >= MAX_CACHED) cache.clear()
  cache.set(number, day)
  return day
}

/** `days` later (or earlier, negative) than a day. */
export const dayPlus = (day: string, days: number): string =>
  utcDay(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS))
