import type { SessionCounts } from '../protocol/session.ts'
import { anrOf, classOf, durationOf, type Session } from './session.ts'

/** Bucket sizes of charts of an hour, a day, a week and 30 days. */
export const BUCKET_SECONDS = [60, 900, 3_600, 21_600] as const

/** The id under which all sessions of a project are counted together. */
export const ALL_ATTRIBUTES = 0

export const COUNTS = [
  'total',
  'errored',
  'unhandled',
  'abnormal',
  'crashed',
  'anr_foreground',
  'anr_background',
] as const
export type Counts = Record<(typeof COUNTS)[number], number>

export const USER_SETS = ['users', 'unhandled_users', 'crashed_users', 'anr_users', 'anr_foreground_users'] as const
export type UserSet = (typeof USER_SETS)[number]

/** The change of a batch to one rollup row. */
export type RollupChange = {
  readonly projectId: string
  readonly bucketSeconds: number
  readonly attributesId: number
  /** Start of the bucket, in milliseconds. */
  readonly bucket: number
  readonly counts: Counts
  /** Hashes to add. Sketches only grow: a user whose session moved to another bucket stays in the old one. */
  readonly users: Map<UserSet, Set<number>>
  /** Milliseconds → change of the number of sessions with that duration. */
  readonly durations: Map<number, number>
}

const MINUTE_MS = 60_000

/**
 * Sums the changes to rollups per minute; {@link rows} spreads them over all buckets. An update of a counted session adds
 * only the difference, so counts stay exact.
 */
export class RollupChanges {
  readonly #minutes = new Map<string, RollupChange>()

  /** @param before the session as it is counted; null when it is not counted yet */
  replace(before: Session | null, after: Session): void {
    if (before !== null) this.#count(before, -1)
    const change = this.#count(after, 1)
    const added = usersOf(after)
    const known = before !== null && isInSameRow(before, after) ? usersOf(before) : null
    for (const [set, hash] of added) if (known?.get(set) !== hash) addUser(change, set, hash)
  }

  /** Adds sessions that the SDK counted. */
  add(projectId: string, attributesId: number, counts: SessionCounts, userHash: number | null): void {
    const change = this.#of(projectId, attributesId, counts.startedAt)
    const { exited, errored, unhandled, abnormal, crashed } = counts
    change.counts.total += exited + errored + unhandled + abnormal + crashed
    change.counts.errored += errored
    change.counts.unhandled += unhandled
    change.counts.abnormal += abnormal
    change.counts.crashed += crashed
    if (userHash === null) return
    addUser(change, 'users', userHash)
    if (unhandled > 0) addUser(change, 'unhandled_users', userHash)
    if (crashed > 0) addUser(change, 'crashed_users', userHash)
  }

  /** One change per row, in lock order. */
  rows(): RollupChange[] {
    const rows = new Map<string, RollupChange>()
    for (const minute of this.#minutes.values()) {
      if (isNothing(minute)) continue
      for (const bucketSeconds of BUCKET_SECONDS) {
        for (const attributesId of [ALL_ATTRIBUTES, minute.attributesId]) {
          const bucket = startOf(minute.bucket, bucketSeconds * 1000)
          const key = `${minute.projectId}/${bucketSeconds}/${attributesId}/${bucket}`
          let row = rows.get(key)
          if (row === undefined) {
            row = emptyChange(minute.projectId, bucketSeconds, attributesId, bucket)
            rows.set(key, row)
          }
          addChange(row, minute)
        }
      }
    }
    return [...rows.values()].filter((row) => !isNothing(row)).sort(inLockOrder)
  }

  #count(session: Session, sign: 1 | -1): RollupChange {
    const change = this.#of(session.projectId, session.attributesId, session.startedAt)
    change.counts.total += sign
    const kind = classOf(session)
    if (kind !== 'healthy') change.counts[kind] += sign
    const anr = anrOf(session)
    if (anr !== null) change.counts[`anr_${anr}`] += sign
    const duration = durationOf(session)
    if (duration !== null) addDuration(change, duration, sign)
    return change
  }

  #of(projectId: string, attributesId: number, startedAt: number): RollupChange {
    const bucket = startOf(startedAt, MINUTE_MS)
    const key = `${projectId}/${attributesId}/${bucket}`
    const known = this.#minutes.get(key)
    if (known !== undefined) return known
    const change = emptyChange(projectId, 60, attributesId, bucket)
    this.#minutes.set(key, change)
    return change
  }
}

/** Start of the bucket a time lies in; buckets begin at whole multiples since 1970. */
export const startOf = (at: number, bucketMs: number): number => Math.floor(at / bucketMs) * bucketMs

const isInSameRow = (a: Session, b: Session): boolean =>
  a.attributesId === b.attributesId && startOf(a.startedAt, MINUTE_MS) === startOf(b.startedAt, MINUTE_MS)

/** The sets a session's user belongs to; a session never leaves one of them, for sketches cannot follow. */
function usersOf(session: Session): Map<UserSet, number> {
  const sets = new Map<UserSet, number>()
  if (session.userHash === null) return sets
  sets.set('users', session.userHash)
  if (classOf(session) === 'crashed') sets.set('crashed_users', session.userHash)
  if (session.wasUnhandled) sets.set('unhandled_users', session.userHash)
  const anr = anrOf(session)
  if (anr !== null) sets.set('anr_users', session.userHash)
  if (anr === 'foreground') sets.set('anr_foreground_users', session.userHash)
  return sets
}

function emptyChange(projectId: string, bucketSeconds: number, attributesId: number, bucket: number): RollupChange {
  const counts = { total: 0, errored: 0, unhandled: 0, abnormal: 0, crashed: 0, anr_foreground: 0, anr_background: 0 }
  return { projectId, bucketSeconds, attributesId, bucket, counts, users: new Map(), durations: new Map() }
}

function addChange(to: RollupChange, change: RollupChange): void {
  for (const name of COUNTS) to.counts[name] += change.counts[name]
  for (const [set, hashes] of change.users) for (const hash of hashes) addUser(to, set, hash)
  for (const [duration, sessions] of change.durations) addDuration(to, duration, sessions)
}

function addUser(change: RollupChange, set: UserSet, hash: number): void {
  const hashes = change.users.get(set)
  if (hashes === undefined) change.users.set(set, new Set([hash]))
  else hashes.add(hash)
}

function addDuration(change: RollupChange, duration: number, sessions: number): void {
  const sum = (change.durations.get(duration) ?? 0) + sessions
  if (sum === 0) change.durations.delete(duration)
  else change.durations.set(duration, sum)
}

const isNothing = (change: RollupChange): boolean =>
  change.users.size === 0 && change.durations.size === 0 && COUNTS.every((name) => change.counts[name] === 0)

function inLockOrder(a: RollupChange, b: RollupChange): number {
  if (a.projectId !== b.projectId) return a.projectId < b.projectId ? -1 : 1
  return a.bucketSeconds - b.bucketSeconds || a.attributesId - b.attributesId || a.bucket - b.bucket
}
