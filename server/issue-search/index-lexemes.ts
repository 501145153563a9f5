import { setImmediate } from 'node:timers/promises'
import type { App } from '../context/app.ts'
import { ANY_DAY } from '../events/event-places.queries.ts'
import { newestEvents } from '../events/store.queries.ts'
import { readStoredEvent } from '../protocol/read-stored.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { growth, lexemesOf } from './document.ts'
import { factsOf, releaseFacts } from './facts.ts'
import { INDEX_LEXEMES } from './learn-lexemes.ts'
import { orgLexeme } from './lexemes.ts'
import { membersOf } from './members.queries.ts'
import * as sql from './search.queries.ts'
import { searchedTexts } from './searched-texts.ts'

/** Rows of one transaction. */
const PIECE = 500
const STALE_PIECE = 20
/** Events a document is made anew from: the newest, and no more JSON than this. */
const SAMPLE = { limit: 50, mostBytes: 1024 * 1024 }

/** Takes what digestion noted into the documents, as far as there is room in them; returns how many grew. */
export async function indexNewLexemes(app: App, signal?: AbortSignal): Promise<number> {
  let grown = 0
  while (signal?.aborted !== true) {
    const taken = await app.tx(async (tx) => {
      const lexemes = await sql.takeNewLexemes(tx, PIECE)
      if (lexemes.size === 0) return 0
      const documents = await sql.lockDocuments(tx, [...lexemes.keys()])
      const rows = [...documents].flatMap(([issueId, document]) => {
        const added = growth(document, lexemes.get(issueId) ?? [])
        return added.length === 0 ? [] : [{ issueId, lexemes: added }]
      })
      await sql.addToDocuments(tx, rows)
      grown += rows.length
      return lexemes.size
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
export async function remakeDocuments(app: App, signal?: AbortSignal): Promise<number> {
  let made = 0
  for (;;) {
    const stale = await sql.staleDocuments(app.db, STALE_PIECE)
    for (const issue of stale) {
      if (signal?.aborted === true) return made
      const found = await lexemesStored(app, issue)
      const { issueId, since } = issue
      await app.tx(async (tx) => {
        const document = await sql.lockStaleDocument(tx, issueId, since)
        // Asked for once more meanwhile: what was read may have been erased since, or belong to an issue taken out.
        if (document === null) return
        await sql.addToDocuments(tx, [{ issueId, lexemes: [orgLexeme(issue.orgId), ...growth(document, found)] }])
        await sql.markFresh(tx, issueId)
        made++
      })
      await setImmediate()
    }
    if (stale.length < STALE_PIECE) return made
  }
}

/** What an issue, and those merged into it, say in their newest events, and were found by. */
async function lexemesStored(app: App, issue: sql.StaleDocument): Promise<string[]> {
  const releases = [issue.firstRelease, issue.lastRelease].filter((release) => release !== null)
  let lexemes = growth([], lexemesOf([issue.title], releases.flatMap(releaseFacts)))
  const members = await membersOf(app.db, issue.issueId)
  for (const id of members) {
    for (const stored of await newestEvents(app.db, { issueIds: [id], oldestDay: ANY_DAY }, SAMPLE)) {
      try {
        const event = readStoredEvent(stored)
        lexemes = [...lexemes, ...growth(lexemes, lexemesOf(searchedTexts(event), factsOf(event)))]
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
  return merged.length === 0 ? lexemes : [...lexemes, ...(await sql.lexemesOfDocuments(app.db, merged))]
}

export const indexLexemesTask = defineTask({
  name: INDEX_LEXEMES,
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await indexNewLexemes(app, signal)
    await remakeDocuments(app, signal)
  },
})
