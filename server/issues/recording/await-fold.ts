import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { hasJournalRowsUpTo, newestJournalRow } from './journal.queries.ts'

const POLL_MS = 100
/** Several times the intervals of the journal. */
const WAIT_MS = 5_000

/** Waits until everything that is appended to the journal now is folded. @returns false if that takes too long */
export async function awaitFold(app: App, signal?: AbortSignal): Promise<boolean> {
  const newest = await newestJournalRow(app.db)
  if (newest === null) return true
  for (let waited = 0; waited < WAIT_MS && signal?.aborted !== true; waited += POLL_MS) {
    await delay(POLL_MS)
    if (!(await hasJournalRowsUpTo(app.db, newest))) return true
  }
  return false
}
