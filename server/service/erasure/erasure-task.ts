import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { continueErasure } from './continue-erasure.ts'
import { deleteFinishedErasures, runningErasures } from './erasures.queries.ts'

/** Finished erasures are kept this long, with the hash of the user. */
const ERASURE_RETENTION_MS = 30 * 86_400_000

/** Continues erasures that were interrupted or wait for digestion, and deletes old finished ones. */
export const erasureTask = defineTask({
  name: 'erasures',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    for (const id of await runningErasures(app.db)) {
      if (signal.aborted) return
      await continueErasure(app, id, signal)
    }
    await deleteFinishedErasures(app.db, new Date(app.clock.now().getTime() - ERASURE_RETENTION_MS))
  },
})
