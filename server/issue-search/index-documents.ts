import { setImmediate } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import { ANY_DAY } from '../events/event-places.queries.ts'
import { newestEvents } from '../events/store.queries.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { termsToAdd, indexTermsOf } from './document.ts'
import { factsOf, releaseFacts } from './facts.ts'
import { INDEX_TERMS } from './write-index-terms.ts'
import { orgTerm } from './index-terms.ts'
import { withMergedIssues } from './merged-issues.queries.ts'
import * as sql from './search.queries.ts'
import { indexedTextsOf } from './indexed-texts.ts'

/** Rows of one transaction. */
const PIECE = 500
const STALE_PIECE = 20
/** Events a document is made anew from: the newest, and no more JSON than this. */
const SAMPLE = { limit: 50, mostBytes: 1024 * 1024 }

/** Takes what digestion noted into the documents, as far as there is room in them; returns how many grew. */
export async function indexNewTerms(app: App, signal?: AbortSignal): Promise<number> {
  let grown = 0
  while (signal?.aborted !== true) {
    const taken = await app.tx(async (tx) => {
      const terms = await sql.takeNewTerms(tx, PIECE)
      if (terms.size === 0) return 0
      const documents = await sql.lockDocuments(tx, [...terms.keys()])
      const rows = [...documents].flatMap(([issueId, document]) => {
        const added = termsToAdd(document, terms.get(issueId) ?? [])
        return added.length === 0 ? [] : [{ issueId, terms: added }]
      })
      await sql.addToDocuments(tx, rows)
      grown += rows.length
      return terms.size
    })
    if (taken === 0) break
    await setImmediate()
  }
  return grown
}

/**
 * Adds to stale documents what is stored: after an update, a merge, an erasure. What must not be found any more was
 * taken out when they became stale; older events than are read here have no other place to be found by. Returns how many.
 */
export async function rebuildDocuments(app: App, signal?: AbortSignal): Promise<number> {
  let made = 0
  for (;;) {
    const stale = await sql.staleDocuments(app.db, STALE_PIECE)
    for (const issue of stale) {
      if (signal?.aborted === true) return made
      const found = await storedTerms(app, issue)
      const { issueId, since } = issue
      await app.tx(async (tx) => {
        const document = await sql.lockStaleDocument(tx, issueId, since)
        // Asked for once more meanwhile: what was read may have been erased since, or belong to an issue taken out.
        if (document === null) return
        await sql.addToDocuments(tx, [{ issueId, terms: [orgTerm(issue.orgId), ...termsToAdd(document, found)] }])
        await sql.markFresh(tx, issueId)
        made++
      })
      await setImmediate()
    }
    if (stale.length < STALE_PIECE) return made
  }
}

/** What an issue, and those merged into it, say in their newest events, and were found by. */
async function storedTerms(app: App, issue: sql.StaleDocument): Promise<string[]> {
  const releases = [issue.firstRelease, issue.lastRelease].filter((release) => release !== null)
  let terms = termsToAdd([], indexTermsOf([issue.title], releases.flatMap(releaseFacts)))
  const members = await withMergedIssues(app.db, issue.issueId)
  for (const id of members) {
    for (const stored of await newestEvents(app.db, { issueIds: [id], oldestDay: ANY_DAY }, SAMPLE)) {
      try {
        const event = readStoredEvent(stored)
        terms = [...terms, ...termsToAdd(terms, indexTermsOf(indexedTextsOf(event), factsOf(event)))]
      } catch (error) {
        app.log.warn(
          { event_id: stored.eventId, err: error instanceof Error ? error.message : String(error) },
          'a stored event cannot be read',
        )
      }
      await setImmediate()
    }
  }
  const merged = members.filter((id) => id !== issue.issueId)
  return merged.length === 0 ? terms : [...terms, ...(await sql.termsOfDocuments(app.db, merged))]
}

export const indexTermsTask = defineTask({
  name: INDEX_TERMS,
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await indexNewTerms(app, signal)
    await rebuildDocuments(app, signal)
  },
})
