import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { countColumn, COUNTS, type Counts, noCounts, USER_SETS, type UserSet } from './counts.ts'
import type { Changed, Sketches, TakenDelta } from './fold.queries.ts'

/** The changes that a fold makes to one rollup: counts, users, and durations to add and to remove. */
export class HealthSum {
  readonly counts: Counts = noCounts()
  readonly #users = new Map<UserSet, HyperLogLog>()
  #durations: DDSketch | null = null
  #removed: DDSketch | null = null

  addDelta(delta: TakenDelta): void {
    for (const name of COUNTS) this.counts[name] += delta[name]
    for (const set of USER_SETS) {
      const bytes = delta[set]
      if (bytes !== null) this.#set(set).mergeBytes(bytes)
    }
    if (delta.durations !== null) (this.#durations ??= new DDSketch()).mergeBytes(delta.durations)
    if (delta.durations_removed !== null) (this.#removed ??= new DDSketch()).mergeBytes(delta.durations_removed)
  }

  add(other: HealthSum): void {
    for (const name of COUNTS) this.counts[name] += other.counts[name]
    for (const [set, users] of other.#users) this.#set(set).merge(users)
    if (other.#durations !== null) (this.#durations ??= new DDSketch()).merge(other.#durations)
    if (other.#removed !== null) (this.#removed ??= new DDSketch()).merge(other.#removed)
  }

  get hasSketches(): boolean {
    return this.#users.size > 0 || this.#durations !== null || this.#removed !== null
  }

  get isNothing(): boolean {
    return !this.hasSketches && COUNTS.every((name) => this.counts[name] === 0)
  }

  /** Stored sketches with this sum, and what those of users count; null for those that stay as they are. */
  over(stored: Sketches): Changed {
    const changed: Changed = { ...UNCHANGED }
    for (const [set, users] of this.#users) {
      const before = stored[set]
      if (before !== null) users.mergeBytes(before)
      const after = users.toBytes()
      if (before !== null && after.equals(before)) continue
      changed[set] = after
      changed[countColumn(set)] = users.count()
    }
    if (this.#durations !== null || this.#removed !== null) {
      const sketch = stored.durations === null ? new DDSketch() : DDSketch.fromBytes(stored.durations)
      if (this.#durations !== null) sketch.merge(this.#durations)
      if (this.#removed !== null) sketch.subtract(this.#removed)
      changed.durations = sketch.toBytes()
    }
    return changed
  }

  #set(set: UserSet): HyperLogLog {
    let users = this.#users.get(set)
    if (users === undefined) {
      users = new HyperLogLog()
      this.#users.set(set, users)
    }
    return users
  }
}

export const NO_SKETCHES: Sketches = {
  users: null,
  unhandled_users: null,
  crashed_users: null,
  anr_users: null,
  anr_foreground_users: null,
  durations: null,
}

export const UNCHANGED: Changed = {
  ...NO_SKETCHES,
  users_count: null,
  unhandled_users_count: null,
  crashed_users_count: null,
  anr_users_count: null,
  anr_foreground_users_count: null,
}
