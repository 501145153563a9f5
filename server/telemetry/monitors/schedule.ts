import { Cron } from 'croner'
import type { MonitorConfig } from '../../events/protocol/check-in.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/kernel/day.ts'

/** When runs of a monitor are expected. */

export type Schedule = MonitorConfig['schedule']
export type Crontab = {
  readonly value: string
  /** IANA name. */
  readonly timezone: string
}

/** Crontabs whose times are kept: each time takes `croner` a twentieth of a millisecond, and pages and rules ask again soon. */
const MAX_KEPT = 2_000
/** Times of one crontab. */
const MAX_TIMES = 120
/** Times before the kept ones that are looked for together. */
const AT_ONCE = 6
/** Questions move by less than this: pages and rules ask for the present, and not all for the same second. */
const NEAR_MS = 60 * MINUTE_MS

/** Every expected time from the first of `times` until `until`, oldest first, and the next one. */
type Kept = { readonly times: Date[]; readonly until: Date; readonly next: Date | null; readonly isFromFirst: boolean }
const crons = new Map<string, { readonly cron: Cron; kept: Kept | null }>()

function cronOf({ value, timezone }: Crontab) {
  const key = `${timezone} ${value}`
  const one = crons.get(key) ?? { cron: new Cron(value, { timezone, paused: true, mode: '5-part' }), kept: null }
  // The least recently used one goes.
  crons.delete(key)
  crons.set(key, one)
  const [first] = crons.keys()
  if (crons.size > MAX_KEPT && first !== undefined) crons.delete(first)
  return one
}

/**
 * The newest expected starts of a crontab after `after` and not after `until`, oldest first. A time that the clock skips
 * in spring is expected when it has moved, and one that comes twice in autumn is expected the first time.
 * @param max of them
 */
export function expectedByCrontab(crontab: Crontab, after: Date, until: Date, max: number): Date[] {
  const one = cronOf(crontab)
  const { cron } = one
  const isNear = one.kept !== null && Math.abs(until.getTime() - one.kept.until.getTime()) < NEAR_MS
  const before: Kept =
    isNear && one.kept !== null ? one.kept : { times: [], until, next: cron.nextRun(until), isFromFirst: false }
  const times = [...before.times]
  let { next, isFromFirst } = before
  for (; next !== null && next <= until; next = cron.nextRun(next)) times.push(next)
  const covered = until > before.until ? until : before.until
  const isEnough = (): boolean => {
    const [first] = times
    return isFromFirst || (first !== undefined && (first <= after || times.filter((at) => at <= until).length >= max))
  }
  while (!isEnough()) {
    // One that is due at the end counts.
    const found = cron.previousRuns(AT_ONCE, times[0] ?? new Date(covered.getTime() + 1_000))
    times.unshift(...found.toReversed().filter((at) => at <= covered))
    isFromFirst = found.length < AT_ONCE
  }
  const isCut = times.length > MAX_TIMES
  one.kept = { times: times.slice(-MAX_TIMES), until: covered, next, isFromFirst: isFromFirst && !isCut }
  return times.filter((at) => at > after && at <= until).slice(-max)
}

/** The next starts that a crontab expects after a moment, oldest first. */
export const nextByCrontab = (crontab: Crontab, after: Date, max: number): Date[] =>
  cronOf(crontab).cron.nextRuns(max, after)

const UNIT_MS = { minute: MINUTE_MS, hour: 60 * MINUTE_MS, day: DAY_MS, week: 7 * DAY_MS }

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
