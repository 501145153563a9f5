import { setImmediate } from 'node:timers/promises'
import { errorText } from '../../platform/kernel/errors.ts'
import type { App } from '../../platform/context/app.ts'
import { ANY_DAY } from '../../events/store/event-places.queries.ts'
import { newestEvents } from '../../events/store/store.queries.ts'
import { readStoredEvent } from '../../events/store/event.ts'
import { makeReadable } from '../../symbols/symbolication/symbolicator.ts'
import { defineTask, NoPayload, addJob } from '../../platform/jobs/task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { listEventFacts, releaseFacts, listIndexedTexts, type Fact } from './facts.ts'
import { orgTerm, termsToAdd, buildIndexTerms } from './index-terms.ts'
import { selectGroupIds } from '../rows/groups.queries.ts'
import * as sql from './search.queries.ts'
import { deleteNewTerms, resetTerms } from './search.queries.ts'

/** Name of {@link indexTermsTask}. */
export const INDEX_TERMS = 'index-issue-terms'

/** Rows per transaction: many, so that a document is written once for the terms of many events. */
const BATCH_SIZE = 4_000
/** Documents that are read and written together. */
const DOCUMENTS_AT_ONCE = 100
const STALE_BATCH_SIZE = 20
/** A document is rebuilt from the newest events, within these limits. */
const SAMPLE = { limit: 50, maxBytes: 1024 * 1024 }

/** Adds the new terms that digestion wrote to the documents. Returns the number of documents that changed. */
export async function indexNewTerms(app: App, signal?: AbortSignal): Promise<number> {
  let changed = 0
  while (signal?.aborted !== true) {
    const taken = await app.tx(async (tx) => {
      const terms = await sql.takeNewTerms(tx, BATCH_SIZE)
      // In the order in which documents are locked.
      const issueIds = [...terms.keys()].toSorted()
      for (let at = 0; at < issueIds.length; at += DOCUMENTS_AT_ONCE) {
        changed += await addTerms(tx, terms, issueIds.slice(at, at + DOCUMENTS_AT_ONCE))
        await setImmediate()
      }
      return terms.size
    })
    if (taken === 0) break
  }
  return changed
}

/**
 * Adds terms to documents. Returns the number of documents that changed.
 * @param issueIds the issues of the terms, in the order of their ids
 */
export async function addTerms(
  tx: Tx,
  terms: ReadonlyMap<string, readonly string[]>,
  issueIds: readonly string[],
): Promise<number> {
  const documents = await sql.lockDocuments(tx, issueIds)
  const rows = [...documents].flatMap(([issueId, document]) => {
    const added = termsToAdd(document, terms.get(issueId) ?? [])
    return added.length === 0 ? [] : [{ issueId, terms: added }]
  })
  await sql.addToDocuments(tx, rows)
  return rows.length
}

/**
 * Adds terms of stored events to stale documents, after an update, a merge or an erasure. It removes nothing: terms that
 * must not be found were removed when the document became stale, and terms of events older than the sample would be
 * lost. A document with events whose bodies cannot be read now stays stale, and the next run tries it again. Returns the
 * number of documents.
 */
export async function rebuildDocuments(app: App, signal?: AbortSignal): Promise<number> {
  let rebuilt = 0
  let away = 0
  for (let last: sql.StaleDocument | null = null; ;) {
    const stale: sql.StaleDocument[] = await sql.staleDocuments(app.db, STALE_BATCH_SIZE, last)
    for (const issue of stale) {
      last = issue
      if (signal?.aborted === true) return rebuilt
      const { terms: found, areAll } = await storedTerms(app, issue)
      if (!areAll) away++
      const { issueId, since } = issue
      await app.tx(async (tx) => {
        const document = await sql.lockStaleDocument(tx, issueId, since)
        // It became stale again meanwhile: events read above may be erased or belong to an unmerged issue.
        if (document === null) return
        const added = termsToAdd(document, found)
        if (!areAll && added.length === 0) return
        await sql.refreshDocument(tx, issueId, [orgTerm(issue.orgId), ...added], areAll)
        if (areAll) rebuilt++
      })
      await setImmediate()
    }
    if (stale.length < STALE_BATCH_SIZE) break
  }
  if (away > 0)
    app.log.warn(
      { issues: away },
      'bodies of events in object storage cannot be read now; search finds these issues by fewer terms until they can',
    )
  return rebuilt
}

/**
 * Returns the terms of the newest events of an issue and its merged issues, and the terms of the merged documents, and
 * whether no event is away.
 */
async function storedTerms(app: App, issue: sql.StaleDocument): Promise<{ terms: string[]; areAll: boolean }> {
  let areAll = true
  const releases = [issue.firstRelease, issue.lastRelease].filter((release) => release !== null)
  let terms = termsToAdd([], buildIndexTerms([issue.title], releases.flatMap(releaseFacts)))
  const merged = (await selectGroupIds(app.db, [issue.issueId])).filter((id) => id !== issue.issueId)
  // Its own first, because documents are limited; also of a merged issue, which shows no group.
  for (const id of [issue.issueId, ...merged]) {
    for (const stored of await newestEvents(app.db, { issueIds: [id], oldestDay: ANY_DAY }, SAMPLE)) {
      if (stored.isAway === true) {
        areAll = false
        continue
      }
      try {
        const project = { orgId: issue.orgId, projectId: stored.projectId }
        const event = await makeReadable(app, project, readStoredEvent(stored))
        terms = [...terms, ...termsToAdd(terms, buildIndexTerms(listIndexedTexts(event), listEventFacts(event)))]
      } catch (error) {
        app.log.warn({ event_id: stored.eventId, err: errorText(error) }, 'a stored event cannot be read')
      }
      await setImmediate()
    }
  }
  if (merged.length > 0) terms = [...terms, ...(await sql.termsOfDocuments(app.db, merged))]
  return { terms, areAll }
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

/**
 * Replaces an issue's document by the terms of one event. A job then adds the terms of other stored events, because
 * digestion does not write terms again that it wrote before.
 */
export async function resetDocument(
  tx: Tx,
  issueId: string,
  from: { readonly texts: readonly (string | null)[]; readonly facts: readonly Fact[] },
): Promise<void> {
  await deleteNewTerms(tx, issueId)
  await resetTerms(tx, issueId, termsToAdd([], buildIndexTerms(from.texts, from.facts)))
  await addJob(tx, INDEX_TERMS)
}
