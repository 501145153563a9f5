const DAY_MS = 86_400_000

/** Days asked for lately: digestion asks several times per event. */
const lately = new Map<number, string>()
const MAX_LATELY = 400

/**
 * UTC day of a time, as day partitions have it: `2026-11-20`.
 * @throws RangeError for an invalid date
 */
export function dayOf(time: Date): string {
  const number = Math.floor(time.getTime() / DAY_MS)
  const known = lately.get(number)
  if (known !== undefined) return known
  const day = time.toISOString().slice(0, 10)
  if (lately.size >= MAX_LATELY) lately.clear()
  lately.set(number, day)
  return day
}

/** `days` later (or earlier, negative) than a day. */
export const dayPlus = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS))
