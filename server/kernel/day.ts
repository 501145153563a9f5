const DAY_MS = 86_400_000

/** UTC day of a time, as day partitions have it: `2026-11-20`. */
export const dayOf = (time: Date): string => time.toISOString().slice(0, 10)

/** `days` later (or earlier, negative) than a day. */
export const dayPlus = (day: string, days: number): string =>
  dayOf(new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS))
