import { addJob } from '../jobs/task.ts'
import type { Tx } from '../storage/database.ts'
import { addRecurringWords, termsToAdd, indexTermsOf } from './document.ts'
import type { Fact } from './facts.ts'
import { issueNumberOf, KnownTerms } from './known-terms.ts'
import { factTerm } from './index-terms.ts'
import { insertDocuments, insertNewTerms } from './search.queries.ts'

/** What issues are found by, on the digest side. */

export type IndexedEvent = { readonly indexedTexts: readonly (string | null)[]; readonly facts: readonly Fact[] }

export type IndexedIssue = {
  readonly issueId: string
  readonly orgId: string
  readonly isNew: boolean
  /** Others were merged into it. */
  readonly isMerged: boolean
  /** The one a new issue begins with; null when it is none of these. */
  readonly first: IndexedEvent
  readonly occurrences: readonly IndexedEvent[]
}

export const INDEX_TERMS = 'index-issue-terms'
/** New terms are taken into documents at most so often. */
const PAUSE_MS = 5_000
/** Texts of one issue and batch that are taken apart; what is left is found once it comes again. */
const MAX_TEXTS = 100
/** The first texts of an event are its own; names of its stack, which follow, are much the same where the culprit is. */
const OWN_TEXTS = 6
const CULPRIT = 2

const known = new KnownTerms()
let jobDueAt = 0

/**
 * Gives new issues their documents, and notes what known issues said for the first time. Two statements at most, none
 * of them where nothing is new, and none that reads.
 */
export async function writeIndexTerms(tx: Tx, now: Date, groups: readonly IndexedIssue[]): Promise<void> {
  const noted = groups.flatMap((group) => {
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
        terms: termsToAdd([], indexTermsOf(first.indexedTexts, first.facts)),
      })),
  )
  await insertNewTerms(tx, noted)
  if (noted.length === 0 || now.getTime() < jobDueAt) return
  jobDueAt = now.getTime() + PAUSE_MS
  // No key: two digesters that add the same one would wait for each other's commit.
  await addJob(tx, INDEX_TERMS, {}, { runAt: new Date(jobDueAt) })
}

/** After a transaction that was rolled back: what it noted is new still. */
export const forgetKnownTerms = (): void => known.clear()

/** Index terms nobody remembers this issue to have; for a new issue beyond those it begins with. */
function newTerms({ issueId, isNew, isMerged, first, occurrences }: IndexedIssue): string[] {
  // What it says for others as well is nothing it is known to have once they are taken out of it.
  const issue = issueNumberOf(issueId) ^ (isMerged ? 0x55555555 : 0)
  if (isNew) {
    for (const text of first.indexedTexts) if (text !== null) known.isNew(issue, '', text, true)
    for (const [key, value] of first.facts) known.isNew(issue, key, value)
  }
  const terms = new Set<string>()
  let texts = 0
  for (const [index, { indexedTexts, facts }] of occurrences.entries()) {
    for (const [key, value] of facts) {
      if (!known.isNew(issue, key, value)) continue
      terms.add(factTerm(key, value))
      addRecurringWords(terms, value)
    }
    let end = index === 0 ? indexedTexts.length : OWN_TEXTS
    for (let at = 0; at < end && texts < MAX_TEXTS; at++) {
      const text = indexedTexts[at]
      if (text == null || !known.isNew(issue, '', text, true)) continue
      texts++
      addRecurringWords(terms, text)
      if (at === CULPRIT) end = indexedTexts.length
    }
  }
  return [...terms]
}
