import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { isUserKey, OWN_TEXTS, TEXTS_PER_FRAME, bytesOfRepeated, type Repeated, type Fact } from './facts.ts'
import { INDEX_TERMS } from './index-documents.ts'
import { factTerm, keyTerm, addRecurringWords, termsToAdd, buildIndexTerms } from './index-terms.ts'
import { insertDocuments, insertNewTerms } from './search.queries.ts'
import type { App } from '../../platform/context/app.ts'
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

type IdentifiedEvent = {
  readonly facts: readonly Fact[]
  /** The user's hash is null if the user has none of these values, and no id. */
  readonly event: { readonly projectId: string; readonly userHash: number | null }
}

/** Identities that this process wrote today (UTC). 1 MiB. */
const knownIdentities = new KnownTerms(1 << 18)
let knownDay = ''

/** Writes what events say about their users. One statement, or none if nothing is new. */
export function writeIdentities(tx: Tx, now: Date, events: Iterable<IdentifiedEvent>): void {
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
  insertIdentities(tx, day, rows)
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

/** How digestion writes index terms. */

type IndexedEvent = IdentifiedEvent & { readonly indexedTexts: readonly (string | null)[] }

type IndexedIssue = {
  readonly issueId: string
  readonly orgId: string
  readonly isNew: boolean
  /** Other issues were merged into it. */
  readonly isMerged: boolean
  /** The event that a new issue's document is created from. */
  readonly first: IndexedEvent
  readonly occurrences: readonly IndexedEvent[]
}

/** Minimum time between two jobs that add new terms to documents. */
const JOB_INTERVAL_MS = 5_000
/** The same while many terms are new: adding to a document writes and indexes all of it again. */
const BUSY_JOB_INTERVAL_MS = 30_000
/** Rows of new terms per job above which many terms are new. */
const MANY_ROWS = 500
/** Texts indexed per issue and batch. Texts beyond are indexed when they occur again. */
const MAX_TEXTS = 100
/** The place of the culprit among the texts of an event. */
const CULPRIT_INDEX = 2

/** 4 MiB. */
const known = new KnownTerms(1 << 20)
/**
 * Facts and texts of the newest events of issues, by the issue's number in `known`. Most of them repeat from event to
 * event, and comparing is faster than looking up.
 */
const newest = new BoundedCache<number, Repeated>({
  maxEntries: 2_048,
  maxBytes: 8 * 1_048_576,
  bytesOf: bytesOfRepeated,
})
let jobDueAt = 0
let rowsSinceJob = 0
let countedDay = ''

/**
 * Inserts documents of new issues, and writes terms that are new to known issues and what is new of users. At most three
 * statements, none of which reads a document; no statement if nothing is new.
 */
export async function writeIndexTerms(tx: Tx, now: Date, groups: readonly IndexedIssue[]): Promise<void> {
  tx.onUndone(forgetKnownTerms)
  const day = utcDay(now)
  // A document may have room again, because a user was erased.
  if (day !== countedDay) clearCounts()
  countedDay = day
  const rows = groups.flatMap((group) => {
    const terms = newTerms(group)
    return terms.length === 0 ? [] : [{ issueId: group.issueId, terms }]
  })
  insertDocuments(
    tx,
    groups
      .filter((group) => group.isNew)
      .map(({ issueId, orgId, first }) => ({
        issueId,
        orgId,
        terms: termsToAdd([], buildIndexTerms(first.indexedTexts, first.facts)),
      })),
  )
  insertNewTerms(tx, rows)
  writeIdentities(
    tx,
    now,
    groups.flatMap(({ occurrences }) => occurrences),
  )
  rowsSinceJob += rows.length
  if (rows.length === 0 || now.getTime() < jobDueAt) return
  jobDueAt = now.getTime() + (rowsSinceJob > MANY_ROWS ? BUSY_JOB_INTERVAL_MS : JOB_INTERVAL_MS)
  rowsSinceJob = 0
  // Without a job key: two digesters that add the same key would wait for each other's commit.
  await addJob(tx, INDEX_TERMS, {}, { runAt: new Date(jobDueAt) })
}

/** To be called when digestion begins: no job is known to be due. */
export function forgetJob(): void {
  jobDueAt = 0
  rowsSinceJob = 0
}

/** Terms that an undone transaction wrote are still new. */
export function forgetKnownTerms(): void {
  known.clear()
  newest.clear()
  forgetIdentities()
}

/** To be called after a user was erased. */
export function forgetErased(): void {
  clearCounts()
  forgetIdentities()
}

/** Values beyond a limit, which were not written, are looked at again. */
function clearCounts(): void {
  known.clearCounts()
  newest.clear()
}

/** Returns terms that are not known of this issue; of a new issue, those that its first event lacks. */
function newTerms({ issueId, isNew, isMerged, first, occurrences }: IndexedIssue): string[] {
  // A merge target has its own set: its terms include those of merged issues, which an unmerge removes.
  const issue = issueIdNumber(issueId) ^ (isMerged ? 0x55555555 : 0)
  if (isNew) {
    newTexts(issue, first.indexedTexts, true, Infinity)
    for (const [key, value] of first.facts) known.isNew(issue, key, isUserKey(key) ? '' : value)
  }
  const terms = new Set<string>()
  let texts = 0
  // The document of a new issue has all of its first event, which most often is its only one.
  let before = isNew ? { ...first, texts: first.indexedTexts, stack: first.indexedTexts } : newest.get(issue)
  for (const [index, { indexedTexts, facts }] of occurrences.entries()) {
    for (const [at, [key, value]] of facts.entries()) {
      const same = before?.facts[at]
      if (same !== undefined && same[1] === value && same[0] === key) continue
      if (isUserKey(key)) {
        if (known.isNew(issue, key, '')) terms.add(keyTerm(key))
        continue
      }
      // Values beyond the limit of the document are not written for ever. Documents hold more releases than are counted.
      if (!known.isNew(issue, key, value, key === 'release' ? 'exact' : 'bounded')) continue
      terms.add(factTerm(key, value))
      addRecurringWords(terms, value)
    }
    for (const text of newTexts(issue, indexedTexts, index === 0, MAX_TEXTS - texts, before)) {
      texts++
      addRecurringWords(terms, text)
    }
    const stack = index === 0 ? indexedTexts : (before?.stack ?? NO_TEXTS)
    // Texts beyond the limit were not looked at.
    before = texts < MAX_TEXTS ? { facts, texts: indexedTexts, stack } : undefined
  }
  if (before !== undefined) newest.set(issue, before)
  return [...terms]
}

const NO_TEXTS: IndexedEvent['indexedTexts'] = []

/**
 * Returns texts of an event that are not known of the issue, at most about `max`. Reads the stack if the caller asks
 * for it or the culprit is new; a frame is known by its function and its module, or else its file.
 * @param before what is known
 */
function newTexts(
  issue: number,
  texts: readonly (string | null)[],
  withStack: boolean,
  max: number,
  before?: Repeated,
): string[] {
  const found: string[] = []
  let end = withStack ? texts.length : OWN_TEXTS
  for (let at = 0; at < OWN_TEXTS && found.length < max; at++) {
    const text = texts[at]
    if (text == null || text === before?.texts[at] || !known.isNew(issue, '', text, 'text')) continue
    found.push(text)
    if (at === CULPRIT_INDEX) end = texts.length
  }
  for (let at = OWN_TEXTS; at < end && found.length < max; at += TEXTS_PER_FRAME) {
    if (before !== undefined && isSameFrame(texts, before.stack, at)) continue
    const [name, module, file] = [texts[at] ?? '', texts[at + 1] ?? '', texts[at + 2] ?? '']
    // Another number, because the name of a function may be the key of a fact.
    if (known.isNew(issue ^ 0x33333333, name, module === '' ? file : module, 'text')) found.push(name, module, file)
  }
  return found
}

const isSameFrame = (a: Repeated['stack'], b: Repeated['stack'], at: number): boolean =>
  a[at] === b[at] && a[at + 1] === b[at + 1] && a[at + 2] === b[at + 2]
