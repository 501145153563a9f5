import type { App } from '../context/app.ts'
import { inBatches } from '../jobs/purge.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { removeGarbage } from './blobs.queries.ts'

/** Blobs per transaction. Each may have a hundred pieces. */
const MAX_BLOBS = 100
/** An upload that began so long ago ended without a result. */
const DRAFT_MS = 86_400_000

/** Deletes blobs that no row needs, and uploads that never ended. @returns their number */
export const sweepBlobs = (app: App, signal?: AbortSignal): Promise<number> => {
  const draftsBefore = new Date(app.clock.now().getTime() - DRAFT_MS)
  return inBatches(MAX_BLOBS, signal, () => app.tx((tx) => removeGarbage(tx, draftsBefore, MAX_BLOBS)))
}

/** Every hour. Most blobs are deleted with their last use; this finds those that were locked then. */
export const sweepBlobsTask = defineTask({
  name: 'sweep-blobs',
  payload: NoPayload,
  cron: '17 * * * *',
  async run(app, _payload, signal) {
    await sweepBlobs(app, signal)
  },
})
