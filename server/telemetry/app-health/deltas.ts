import type { SessionCounts } from '../../events/protocol/session.ts'
import { floorToBucket } from './buckets.ts'
import { COUNTS, type Counts, noCounts, type Source, type UserSet, type Attributes } from './dimensions.ts'
import { detectAnr, classifySession, detectHang, sessionDuration, type Session } from './session.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/** The changes that a batch adds to a minute and combination of values. */
export type Delta = {
  readonly projectId: string
  readonly source: Source
  /** Start of the minute, in milliseconds. */
  readonly minute: number
  readonly attributes: Attributes
  readonly counts: Counts
  /** Hashes to add. Sketches only grow: a user whose session moved to another bucket stays in the old one. */
  readonly users: Map<UserSet, Set<number>>
  /** Milliseconds → change of the number of sessions with that duration. */
  readonly durations: Map<number, number>
}

/** Sums what a batch changes: one row per project, minute and combination of values. */
export class Deltas {
  readonly #byKey = new Map<string, Delta>()

  /**
   * Counts a session, or the difference of its update, so counts stay exact.
   * @param before the session as it is counted; null when it is not counted yet
   */
  replace(before: Session | null, after: Session): void {
    if (before !== null) this.#count(before, -1)
    const delta = this.#count(after, 1)
    const known = before !== null && isInSameRow(before, after) ? usersOf(before) : null
    for (const [set, hash] of usersOf(after)) if (known?.get(set) !== hash) addUser(delta, set, hash)
  }

  /** Adds sessions that the SDK counted. */
  add(projectId: string, attributes: Attributes, sessions: SessionCounts, userHash: number | null): void {
    const delta = this.of(projectId, 'sessions', attributes, sessions.startedAt)
    const { exited, errored, unhandled, abnormal, crashed } = sessions
    delta.counts.total += exited + errored + unhandled + abnormal + crashed
    delta.counts.errored += errored
    delta.counts.unhandled += unhandled
    delta.counts.abnormal += abnormal
    delta.counts.crashed += crashed
    if (userHash === null) return
    addUser(delta, 'users', userHash)
    if (unhandled > 0) addUser(delta, 'unhandled_users', userHash)
    if (crashed > 0) addUser(delta, 'crashed_users', userHash)
  }

  /** The sum of a minute and combination of values, to be added to. */
  of(projectId: string, source: Source, attributes: Attributes, at: number): Delta {
    const minute = floorToBucket(at, MINUTE_MS)
    const { release, environment, os, device, device_class: deviceClass } = attributes
    const key = `${projectId}\n${minute}\n${source}\n${release}\n${environment}\n${os}\n${device}\n${deviceClass}`
    let delta = this.#byKey.get(key)
    if (delta === undefined) {
      delta = { projectId, source, minute, attributes, counts: noCounts(), users: new Map(), durations: new Map() }
      this.#byKey.set(key, delta)
    }
    return delta
  }

  /** Deltas that change anything. */
  list(): Delta[] {
    return [...this.#byKey.values()].filter((delta) => !isNothing(delta))
  }

  #count(session: Session, sign: 1 | -1): Delta {
    const delta = this.of(session.projectId, 'sessions', session.attributes, session.startedAt)
    delta.counts.total += sign
    const kind = classifySession(session)
    if (kind !== 'healthy') delta.counts[kind] += sign
    const anr = detectAnr(session)
    if (anr !== null) delta.counts[`anr_${anr}`] += sign
    const duration = sessionDuration(session)
    if (duration !== null) addDuration(delta, duration, sign)
    return delta
  }
}

const isInSameRow = (a: Session, b: Session): boolean =>
  floorToBucket(a.startedAt, MINUTE_MS) === floorToBucket(b.startedAt, MINUTE_MS) &&
  a.attributes.release === b.attributes.release &&
  a.attributes.environment === b.attributes.environment &&
  a.attributes.os === b.attributes.os &&
  a.attributes.device === b.attributes.device &&
  a.attributes.device_class === b.attributes.device_class

/** The sets a session's user belongs to; a session never leaves one of them, for sketches cannot follow. */
function usersOf(session: Session): Map<UserSet, number> {
  const sets = new Map<UserSet, number>()
  if (session.userHash === null) return sets
  sets.set('users', session.userHash)
  if (classifySession(session) === 'crashed') sets.set('crashed_users', session.userHash)
  if (session.wasUnhandled) sets.set('unhandled_users', session.userHash)
  const hang = detectHang(session)
  if (hang !== null) sets.set('anr_users', session.userHash)
  if (hang === 'foreground') sets.set('anr_foreground_users', session.userHash)
  return sets
}

/** Adds a user to a set. */
export function addUser(delta: Pick<Delta, 'users'>, set: UserSet, hash: number): void {
  const hashes = delta.users.get(set)
  if (hashes === undefined) delta.users.set(set, new Set([hash]))
  else hashes.add(hash)
}

function addDuration(delta: Delta, duration: number, sessions: number): void {
  const sum = (delta.durations.get(duration) ?? 0) + sessions
  if (sum === 0) delta.durations.delete(duration)
  else delta.durations.set(duration, sum)
}

const isNothing = (delta: Delta): boolean =>
  delta.users.size === 0 && delta.durations.size === 0 && COUNTS.every((name) => delta.counts[name] === 0)
