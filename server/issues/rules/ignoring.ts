import { countedWord } from '../../platform/kernel/value-text.ts'

/** Conditions that end the ignoring of an issue, and the progress towards them. Pure. */

export type IgnoreUntil = {
  /** RFC 3339. */
  readonly time?: string | undefined
  /** Number of further events. */
  readonly count?: number | undefined
  /** Number of further users who were not affected before. */
  readonly users?: number | undefined
  /** Minutes within which `count` or `users` must be reached. */
  readonly window?: number | undefined
  /** Until the escalating rule is true. */
  readonly escalating?: true | undefined
}

/** Events and new users of one part of the window, by the time of the events. */
type WindowPart = readonly [startMs: number, events: number, users: number]

export type IgnoreProgress = {
  readonly at: Date
  /** Events since `at`, and users new to the issue; late events do not count. */
  readonly events: number
  readonly users: number
  /** The newest parts of the window, oldest first; empty without a window. */
  readonly window: readonly WindowPart[]
}

export const noProgress = (at: Date): IgnoreProgress => ({ at, events: 0, users: 0, window: [] })

/**
 * Parts of a window. Up to this count, each event or user has its own part and the window is exact; above, the window may
 * be one part shorter.
 */
const MAX_PARTS = 120

export type Counted = {
  /** The same object if nothing was counted. */
  readonly progress: IgnoreProgress
  /** The condition that is now fulfilled, if any. */
  readonly met: 'count' | 'users' | null
}

/**
 * Counts new events and users towards the condition.
 * @param events their times
 * @param users for each user new to the issue, the time of the user's first event
 */
export function countTowards(
  progress: IgnoreProgress,
  until: IgnoreUntil | null,
  events: readonly Date[],
  users: readonly Date[],
): Counted {
  if (until === null || events.length === 0 || (until.count === undefined && until.users === undefined))
    return { progress, met: null }
  const added = { ...progress, events: progress.events + events.length, users: progress.users + users.length }
  if (until.window === undefined) return { progress: added, met: conditionMet(until, added.events, added.users) }
  return countWindow(added, until, until.window * 60_000, events, users)
}

function conditionMet(until: IgnoreUntil, events: number, users: number): Counted['met'] {
  if (until.count !== undefined && events >= until.count) return 'count'
  return until.users !== undefined && users >= until.users ? 'users' : null
}

/** Checks the windows that end with each part, not only the last one, because a batch may span hours. */
function countWindow(
  progress: IgnoreProgress,
  until: IgnoreUntil,
  windowMs: number,
  events: readonly Date[],
  users: readonly Date[],
): Counted {
  const parts = partsOf(progress.window, until, windowMs, events, users)
  let [first, eventsIn, usersIn] = [0, 0, 0]
  let met: Counted['met'] = null
  for (const [start, addedEvents, addedUsers] of parts) {
    eventsIn += addedEvents
    usersIn += addedUsers
    for (let left = parts[first]; left !== undefined && left[0] <= start - windowMs; left = parts[++first]) {
      eventsIn -= left[1]
      usersIn -= left[2]
    }
    met ??= conditionMet(until, eventsIn, usersIn)
  }
  return { progress: { ...progress, window: parts.slice(first) }, met }
}

function partsOf(
  known: readonly WindowPart[],
  until: IgnoreUntil,
  windowMs: number,
  events: readonly Date[],
  users: readonly Date[],
): WindowPart[] {
  // Until a small target is reached, each event or user can have its own part.
  const partMs = Math.max(until.count ?? 0, until.users ?? 0) <= MAX_PARTS ? 1 : windowMs / MAX_PARTS
  const parts = new Map(known.map(([start, ...counts]): [number, [number, number]] => [start, counts]))
  const add = (times: readonly Date[], place: 0 | 1): void => {
    for (const time of times) {
      const start = Math.floor(time.getTime() / partMs) * partMs
      const counts = parts.get(start) ?? [0, 0]
      counts[place]++
      parts.set(start, counts)
    }
  }
  if (until.count !== undefined) add(events, 0)
  if (until.users !== undefined) add(users, 1)
  return [...parts].map(([start, [e, u]]): WindowPart => [start, e, u]).toSorted((a, b) => a[0] - b[0])
}

/** Returns ` until 100 more events within 60 minutes, or until it escalates`; empty if nothing ends the ignoring. */
export function untilPhrase(until: IgnoreUntil | null, minuteOf: (time: Date) => string): string {
  if (until === null) return ''
  const within = until.window === undefined ? '' : ` within ${countedWord(until.window, 'minute')}`
  const words = [
    ...(until.time === undefined ? [] : [`until ${minuteOf(new Date(until.time))}`]),
    ...(until.count === undefined ? [] : [`until ${countedWord(until.count, 'more event')}${within}`]),
    ...(until.users === undefined ? [] : [`until ${countedWord(until.users, 'more user')}${within}`]),
    ...(until.escalating === undefined ? [] : ['until it escalates']),
  ]
  return words.length === 0 ? '' : ` ${words.join(', or ')}`
}
