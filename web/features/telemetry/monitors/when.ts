import { formatAge, formatClock, formatDay, formatMoment } from '../../../ui/format.ts'

/** `14:05` today, else `9 Nov, 14:05`. */
export const formatWhen = (at: string, now: number): string =>
  formatDay(at, now) === formatDay(now, now) ? formatClock(at) : formatMoment(at, now)

/** The time until an instant, in one unit: `2 min`, `11 h`; null when it has come. */
export const formatUntil = (at: string, now: number): string | null =>
  Date.parse(at) <= now ? null : formatAge(now, Date.parse(at))
