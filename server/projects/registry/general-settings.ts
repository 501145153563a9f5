import { utcDay, dayPlus, HOUR_MS } from '../../platform/kernel/day.ts'
import { generalFields } from './general-settings.api.ts'
import { storedSettings } from './stored-settings.ts'
import type { IssueNumbers } from './projects.queries.ts'

export const generalSettings = storedSettings({
  default_environment: generalFields.default_environment.catch('production'),
  retention_days: generalFields.retention_days.catch(90),
})

/**
 * Returns the first day of a project's retention. Older data is hidden before it is deleted.
 * @param stored `projects.settings`
 */
export const oldestDay = (stored: unknown, now: Date): string =>
  dayPlus(utcDay(now), -generalSettings(stored).retention_days)

/** The counters at this time: those of an earlier hour or UTC day begin again. */
export function newIssuesAt<Counters extends Pick<IssueNumbers, 'hour' | 'inHour' | 'inDay'>>(
  counters: Counters,
  now: Date,
): Counters {
  const hour = new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS)
  // The clock of another process may be slightly ahead.
  if (counters.hour !== null && counters.hour >= hour) return counters
  const isSameDay = counters.hour !== null && utcDay(counters.hour) === utcDay(now)
  return { ...counters, hour, inHour: 0, inDay: isSameDay ? counters.inDay : 0 }
}
