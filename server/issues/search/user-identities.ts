import type { App } from '../../platform/context/app.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { isUserKey, type Fact } from './facts.ts'
import { deleteOrphanedIdentities, insertIdentities, type UserIdentity } from './user-identities.queries.ts'

/**
 * A cache of the terms that this process wrote per issue: a hash table of fixed size in which newer entries replace older
 * ones. A replaced term is written again, without effect. Two different entries collide once in 2^52 cases.
 */
export class KnownTerms {
  readonly #slots: number
  readonly #marks: Uint32Array
  #values: ValueCounts | null = null

  /** @param slots a power of two; each takes 4 bytes */
  constructor(slots: number) {
    this.#slots = slots
    this.#marks = new Uint32Array(slots)
  }

  /**
   * Adds an entry and returns whether it was missing. Of a `text`, digits are ignored. Of a `bounded` key,
   * returns false once it had many more values than a document holds, and adds nothing.
   */
  isNew(issue: number, key: string, value: string, kind: 'exact' | 'text' | 'bounded' = 'exact'): boolean {
    const asText = kind === 'text'
    let a = (issue ^ 0x9e3779b9) >>> 0
    let b = (issue + 0x7f4a7c15) >>> 0
    for (let i = 0; i < key.length; i++) {
      const code = key.charCodeAt(i)
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 15)
    }
    const keyA = a
    const keyB = b
    a = Math.imul(a ^ 0x1f, 0x01000193)
    const length = Math.min(value.length, MAX_HASHED_CHARACTERS)
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i)
      if (asText && code >= 48 && code <= 57) continue
      a = Math.imul(a ^ code, 0x01000193)
      b = Math.imul(b + code, 0x85ebca6b) ^ (b >>> 15)
    }
    a ^= a >>> 16
    // Two slots per hash, the newer entry first: with one slot, two entries could replace each other forever.
    const slot = ((Math.imul(a, 0xc2b2ae35) >>> 0) % this.#slots) & ~1
    // 0 is an empty slot.
    const mark = (b ^ (b >>> 13)) >>> 0 || 1
    const newer = this.#marks[slot] ?? 0
    if (newer === mark || this.#marks[slot + 1] === mark) return false
    if (kind === 'bounded') {
      this.#values ??= new ValueCounts()
      if (!this.#values.add(keyA, keyB, mark)) return false
    }
    this.#marks[slot + 1] = newer
    this.#marks[slot] = mark
    return true
  }

  clear(): void {
    this.#marks.fill(0)
    this.clearCounts()
  }

  /** Forgets how many values keys had. */
  clearCounts(): void {
    this.#values = null
  }
}

/**
 * Counts distinct values per key in a table of fixed size: of each key, which of 256 hashes its values had. Never counts
 * too many, because an equal value has an equal hash; a replaced key starts again at 0.
 */
class ValueCounts {
  readonly #tags = new Uint32Array(KEYS)
  readonly #counts = new Uint16Array(KEYS)
  readonly #hashes = new Uint32Array(KEYS * HASH_WORDS)

  /** Returns false, and does not count, if the key has {@link MAX_VALUES} values. */
  add(keyA: number, keyB: number, mark: number): boolean {
    const at = (Math.imul(keyA ^ (keyA >>> 15), 0x9e3779b1) >>> 0) % KEYS
    const tag = keyB >>> 0
    if (this.#tags[at] !== tag) {
      this.#tags[at] = tag
      this.#counts[at] = 0
      this.#hashes.fill(0, at * HASH_WORDS, (at + 1) * HASH_WORDS)
    }
    const count = this.#counts[at] ?? 0
    if (count >= MAX_VALUES) return false
    const hash = Math.imul(mark, 0x85ebca6b) >>> 24
    const word = at * HASH_WORDS + (hash >>> 5)
    const hashes = this.#hashes[word] ?? 0
    const bit = 1 << (hash & 31)
    if ((hashes & bit) !== 0) return true
    this.#hashes[word] = hashes | bit
    this.#counts[at] = count + 1
    return true
  }
}

const MAX_HASHED_CHARACTERS = 300
/** 1.2 MiB of memory. */
const KEYS = 1 << 15
const HASH_WORDS = 8
/** More than a document holds of any bounded key. About 180 values have so many different hashes. */
const MAX_VALUES = 128

/** Returns an issue's number for {@link KnownTerms}: the random end of its UUIDv7. */
export const issueIdNumber = (issueId: string): number => Number.parseInt(issueId.slice(-8), 16) >>> 0

/** Identities of apps' users from events, once per user and value: searches find users, and through them issues. */

export type IdentifiedEvent = {
  readonly facts: readonly Fact[]
  /** The user's hash is null if the user has none of these values, and no id. */
  readonly event: { readonly projectId: string; readonly userHash: number | null }
}

/** Identities that this process wrote today (UTC). 1 MiB. */
const knownIdentities = new KnownTerms(1 << 18)
let knownDay = ''

/** Writes what events say about their users. One statement, or none if nothing is new. */
export async function writeIdentities(tx: Tx, now: Date, events: Iterable<IdentifiedEvent>): Promise<void> {
  const day = utcDay(now)
  // Remembered identities were written within a week, so that the purge spares them.
  if (day !== knownDay) knownIdentities.clear()
  knownDay = day
  const rows: UserIdentity[] = []
  for (const { facts, event } of events) {
    const { projectId, userHash } = event
    if (userHash === null) continue
    for (const [key, value] of facts)
      if (isUserKey(key) && knownIdentities.isNew(userHash >>> 0, key + Math.floor(userHash / 2 ** 32), value))
        rows.push({ projectId, userHash, key, value })
  }
  await insertIdentities(tx, day, rows)
}

/** To be called after a user was erased. */
export const forgetIdentities = (): void => knownIdentities.clear()

const BATCH = 10_000

/** Deletes the identities of users that no issue has any more, in batches. Returns the number. */
export async function purgeIdentities(app: App, signal?: AbortSignal): Promise<number> {
  const today = utcDay(app.clock.now())
  for (let total = 0; ;) {
    signal?.throwIfAborted()
    const deleted = await deleteOrphanedIdentities(app.db, today, BATCH)
    total += deleted
    if (deleted < BATCH) return total
  }
}
