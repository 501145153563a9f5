import { setImmediate } from 'node:timers/promises'
import type { App } from '../../context/app.ts'
import { newestEvents } from '../../events/store.ts'
import { readStoredEvent } from '../../protocol/read-stored.ts'
import { withClientTx } from '../../storage/pool.ts'
import { defineTask, NoPayload } from '../../jobs/task.ts'
import { growth, lexemesOf } from './document.ts'
import { factsOf } from './facts.ts'
import { INDEX_LEXEMES } from './learn-lexemes.ts'
import { membersOf } from './members.queries.ts'
import * as sql from './search.queries.ts'
import { searchedTexts } from './searched-texts.ts'

/** Rows of one transaction. */
const PIECE = 500
const STALE_PIECE = 20
/** Events a document is made anew from: the newest, and no more JSON than this. */
const SAMPLE_EVENTS = 50
const SAMPLE_BYTES = 1024 * 1024

/** Takes what digestion noted into the documents, as far as there is room in them; returns how many grew. */
export async function indexNewLexemes(app: App, signal?: AbortSignal): Promise<number> {
  let grown = 0
  while (signal?.aborted !== true) {
    const taken = await withClientTx(app.pool, async (client) => {
      const lexemes = await sql.takeNewLexemes(client, PIECE)
      if (lexemes.size === 0) return 0
      const documents = await sql.lockDocuments(client, [...lexemes.keys()])
      const rows = [...documents].flatMap(([issueId, document]) => {
        const added = growth(document, lexemes.get(issueId) ?? [])
        return added.length === 0 ? [] : [{ issueId, lexemes: added }]
      })
      await sql.addToDocuments(client, rows)
      grown += rows.length
      return lexemes.size
    })
    if (taken === 0) break
    await setImmediate()
  }
  return grown
}

/** Makes stale documents anew from what is stored: after an update, a merge, an erasure. Returns how many. */
export async function remakeDocuments(app: App, signal?: AbortSignal): Promise<number> {
  let made = 0
  for (;;) {
    const stale = await sql.staleDocuments(app.db, STALE_PIECE)
    for (const issue of stale) {
      if (signal?.aborted === true) return made
      await sql.replaceDocument(app.db, { ...issue, lexemes: await lexemesStored(app, issue) }, issue.since)
      made++
      await setImmediate()
    }
    if (stale.length < STALE_PIECE) return made
  }
}

/** What an issue, and those merged into it, say in their newest events. */
async function lexemesStored(app: App, issue: { issueId: string; searchText: string }): Promise<string[]> {
  let lexemes = growth([], lexemesOf([issue.searchText], []))
  for (const id of await membersOf(app.db, issue.issueId)) {
    for (const stored of await newestEvents(app.db, id, SAMPLE_EVENTS, SAMPLE_BYTES)) {
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
  return lexemes
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
