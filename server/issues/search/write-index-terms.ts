import { BoundedCache } from '../../platform/kernel/bounded-cache.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { addJob } from '../../platform/jobs/task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { isUserKey, OWN_TEXTS, TEXTS_PER_FRAME, bytesOfRepeated, type Repeated } from './facts.ts'
import { INDEX_TERMS } from './index-documents.ts'
import { factTerm, keyTerm, addRecurringWords, termsToAdd, buildIndexTerms } from './index-terms.ts'
import { insertDocuments, insertNewTerms } from './search.queries.ts'
import {
  forgetIdentities,
  writeIdentities,
  type IdentifiedEvent,
  issueIdNumber,
  KnownTerms,
} from './user-identities.ts'

/** How digestion writes index terms. */

export type IndexedEvent = IdentifiedEvent & { readonly indexedTexts: readonly (string | null)[] }

export type IndexedIssue = {
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
  await insertDocuments(
    tx,
    groups
      .filter((group) => group.isNew)
      .map(({ issueId, orgId, first }) => ({
        issueId,
        orgId,
        terms: termsToAdd([], buildIndexTerms(first.indexedTexts, first.facts)),
      })),
  )
  await insertNewTerms(tx, rows)
  await writeIdentities(
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

/** What a transaction wrote that was undone is still new. */
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
  let before = newest.get(issue)
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
