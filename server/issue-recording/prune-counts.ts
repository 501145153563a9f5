import type { App } from '../context/app.ts'
import { deleteMinutesBefore } from '../projects/recording.queries.ts'
import { deleteHoursBefore } from './record.queries.ts'

const DAY_MS = 86_400_000
/** Counts are kept so long. */
const KEPT_DAYS = 400
const BATCH = 10_000

/** Deletes hours of issues and minutes of projects that are too old, in pieces. Returns how many rows went. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<number> {
  const before = new Date(app.clock.now().getTime() - KEPT_DAYS * DAY_MS)
  let total = 0
  for (const deletePiece of [deleteHoursBefore, deleteMinutesBefore]) {
    for (;;) {
      signal?.throwIfAborted()
      const deleted = await deletePiece(app.db, before, BATCH)
      total += deleted
      if (deleted < BATCH) break
    }
  }
  return total
}
