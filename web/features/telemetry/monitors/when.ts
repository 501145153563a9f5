import type { Monitor } from '../../../api/monitor-queries.ts'
import { formatAge, formatClock, formatDay, formatMoment, zoneName } from '../../../ui/format.ts'

/** `14:05` today, else `9 Nov, 14:05`. */
export const formatWhen = (at: string, now: number): string =>
  formatDay(at, now) === formatDay(now, now) ? formatClock(at) : formatMoment(at, now)

/** When a monitor runs next; a crontab has a zone of its own, so that the shown one is named. */
export const formatNext = (at: string, now: number, { schedule }: Pick<Monitor, 'schedule'>): string =>
  schedule?.type === 'crontab' ? `${formatWhen(at, now)} ${zoneName(at)}` : formatWhen(at, now)

/** The time until an instant, in one unit: `2 min`, `11 h`; null when it has come. */
export const formatUntil = (at: string, now: number): string | null =>
  Date.parse(at) <= now ? null : formatAge(now, Date.parse(at))
