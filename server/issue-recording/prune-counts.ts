import type { App } from '../context/app.ts'
import { deleteMinutesBefore } from '../projects/recording.queries.ts'
import { deleteHoursBefore } from './fold.queries.ts'

const DAY_MS = 86_400_000
/** Retention of counts. */
const RETENTION_DAYS = 400
const BATCH = 10_000

/** Deletes hours of issues and minutes of projects beyond their retention, in batches. Returns the number of deleted rows. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<number> {
  const before = new Date(app.clock.now().getTime() - RETENTION_DAYS * DAY_MS)
  let total = 0
  for (const deleteBatch of [deleteHoursBefore, deleteMinutesBefore]) {
    for (;;) {
      signal?.throwIfAborted()
      const deleted = await deleteBatch(app.db, before, BATCH)
      total += deleted
      if (deleted < BATCH) break
    }
  }
  return total
}
