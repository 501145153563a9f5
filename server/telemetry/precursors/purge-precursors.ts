import type { App } from '../../platform/context/app.ts'
import { inBatches } from '../../platform/jobs/in-batches.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { deleteMemoryBefore, deletePrecursorsBefore } from './precursors.queries.ts'

const DAY_MS = 86_400_000
/** A dry run looks back seven days, each moment over its window of up to a day. */
export const PRECURSOR_RETENTION_DAYS = 8
const MAX_ROWS = 10_000

/** Deletes precursors after eight days, and memory levels after one. @returns number of precursors deleted */
export async function purgePrecursors(app: App, signal?: AbortSignal): Promise<number> {
  const now = app.clock.now().getTime()
  await deleteMemoryBefore(app.db, new Date(now - DAY_MS))
  const before = new Date(now - PRECURSOR_RETENTION_DAYS * DAY_MS)
  return inBatches(MAX_ROWS, signal, () => deletePrecursorsBefore(app.db, before, MAX_ROWS))
}

export const purgePrecursorsTask = defineTask({
  name: 'purge-precursors',
  payload: NoPayload,
  cron: '37 * * * *',
  async run(app, _payload, signal) {
    await purgePrecursors(app, signal)
  },
})
