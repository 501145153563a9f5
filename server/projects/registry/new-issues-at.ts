import { utcDay, HOUR_MS } from '../../platform/kernel/day.ts'
import type { IssueNumbers } from './recording.queries.ts'

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
