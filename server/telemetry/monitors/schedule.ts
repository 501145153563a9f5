import { Cron } from 'croner'
import type { MonitorConfig } from '../../events/protocol/check-in.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** When runs of a monitor are expected. Pure. */

export type Schedule = MonitorConfig['schedule']

/** Schedules that are kept ready: reading a crontab takes longer than asking it. */
const MAX_READY = 2_000
/** Each takes a tenth of a millisecond, and most callers need few. */
const AT_ONCE = 6
const ready = new Map<string, Cron>()

function cronOf(crontab: string, timezone: string): Cron {
  const key = `${timezone} ${crontab}`
  const cron = ready.get(key) ?? new Cron(crontab, { timezone, paused: true, mode: '5-part' })
  // The least recently used one goes.
  ready.delete(key)
  ready.set(key, cron)
  const [first] = ready.keys()
  if (ready.size > MAX_READY && first !== undefined) ready.delete(first)
  return cron
}

/**
 * The newest expected starts of a crontab after `after` and not after `until`, oldest first. A time that the clock skips
 * in spring is expected when it has moved, and one that comes twice in autumn is expected the first time.
 * @param max of them
 */
export function expectedByCrontab(
  { value, timezone }: { readonly value: string; readonly timezone: string },
  after: Date,
  until: Date,
  max: number,
): Date[] {
  const cron = cronOf(value, timezone)
  const found: Date[] = []
  // One that is due at `until` counts.
  let before = new Date(until.getTime() + 1_000)
  while (found.length < max) {
    const some = cron.previousRuns(Math.min(AT_ONCE, max - found.length), before)
    for (const at of some) {
      if (at <= after) return found
      if (at <= until) found.unshift(at)
      before = at
    }
    if (some.length < AT_ONCE) break
  }
  return found
}

/** The next start that a crontab expects after a moment; null when there is none. */
export const nextByCrontab = (
  { value, timezone }: { readonly value: string; readonly timezone: string },
  after: Date,
): Date | null => cronOf(value, timezone).nextRun(after)

/** The next starts that a crontab expects after a moment, oldest first. */
export const nextRuns = (
  { value, timezone }: { readonly value: string; readonly timezone: string },
  after: Date,
  max: number,
): Date[] => cronOf(value, timezone).nextRuns(max, after)

const UNIT_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: 1_440 * MINUTE_MS, week: 7 * 1_440 * MINUTE_MS }

/** The moment `count` intervals after another one. Months and years are those of the calendar (UTC), at most to the end of a month. */
export function afterIntervals(
  { value, unit }: Extract<Schedule, { type: 'interval' }>,
  from: Date,
  count: number,
): Date {
  if (unit !== 'month' && unit !== 'year') return new Date(from.getTime() + count * value * UNIT_MS[unit])
  const months = count * value * (unit === 'year' ? 12 : 1)
  const moved = new Date(from)
  moved.setUTCMonth(moved.getUTCMonth() + months)
  // 31 January and a month: the last day of February, not a day of March.
  if (moved.getUTCDate() !== from.getUTCDate()) moved.setUTCDate(0)
  return moved
}
