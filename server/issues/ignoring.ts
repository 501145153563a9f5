/** How long an issue is ignored, and whether what came since ends it. Pure. */

export type IgnoreUntil = {
  /** RFC 3339. */
  readonly time?: string | undefined
  /** So many more events. */
  readonly count?: number | undefined
  /** So many more users, never seen on the issue before. */
  readonly users?: number | undefined
  /** Minutes: count and users must come within so long. */
  readonly window?: number | undefined
  /** Until the escalating rule is true. */
  readonly escalating?: true | undefined
}

/** What came in a stretch of time. */
export type WindowPart = readonly [startMs: number, events: number, users: number]

export type IgnoreProgress = {
  readonly at: Date
  /** Events since, and users new to the issue; late ones do not count. */
  readonly events: number
  readonly users: number
  /** The newest parts of the window, oldest first; empty without a window. */
  readonly window: readonly WindowPart[]
}

export const noProgress = (at: Date): IgnoreProgress => ({ at, events: 0, users: 0, window: [] })

/** A window is counted in so many parts: it is at most one part shorter than asked for, never longer. */
const WINDOW_PARTS = 12

/** Counts a batch towards the condition. Returns the same object where nothing needs to be counted. */
export function countTowards(
  progress: IgnoreProgress,
  until: IgnoreUntil | null,
  events: number,
  users: number,
  now: Date,
): IgnoreProgress {
  if (until === null || events === 0 || (until.count === undefined && until.users === undefined)) return progress
  const added = { ...progress, events: progress.events + events, users: progress.users + users }
  if (until.window === undefined) return added
  const partMs = partOf(until.window)
  const start = Math.floor(now.getTime() / partMs) * partMs
  const kept = inWindow(progress.window, until.window, now)
  const last = kept.at(-1)
  const window: WindowPart[] =
    last !== undefined && last[0] === start
      ? [...kept.slice(0, -1), [start, last[1] + events, last[2] + users]]
      : [...kept, [start, events, users]]
  return { ...added, window }
}

const partOf = (windowMinutes: number): number => (windowMinutes * 60_000) / WINDOW_PARTS

const inWindow = (parts: readonly WindowPart[], windowMinutes: number, now: Date): readonly WindowPart[] =>
  parts.filter(([start]) => start > now.getTime() - windowMinutes * 60_000)

/** Which condition the events met, if any. */
export function conditionMet(until: IgnoreUntil | null, progress: IgnoreProgress): 'count' | 'users' | null {
  if (until === null) return null
  const { events, users } =
    until.window === undefined
      ? progress
      : {
          events: progress.window.reduce((sum, part) => sum + part[1], 0),
          users: progress.window.reduce((sum, part) => sum + part[2], 0),
        }
  if (until.count !== undefined && events >= until.count) return 'count'
  return until.users !== undefined && users >= until.users ? 'users' : null
}

/** `until 100 more events within 60 minutes, or until it escalates`; empty for good. */
export function untilWords(until: IgnoreUntil | null, minuteOf: (time: Date) => string): string {
  if (until === null) return ''
  const within = until.window === undefined ? '' : ` within ${plural(until.window, 'minute')}`
  const words = [
    ...(until.time === undefined ? [] : [`until ${minuteOf(new Date(until.time))}`]),
    ...(until.count === undefined ? [] : [`until ${plural(until.count, 'more event')}${within}`]),
    ...(until.users === undefined ? [] : [`until ${plural(until.users, 'more user')}${within}`]),
    ...(until.escalating === undefined ? [] : ['until it escalates']),
  ]
  return words.length === 0 ? '' : ` ${words.join(', or ')}`
}

const whole = new Intl.NumberFormat('en-GB')
export const plural = (count: number, word: string): string => `${whole.format(count)} ${word}${count === 1 ? '' : 's'}`
