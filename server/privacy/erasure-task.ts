import { defineTask, NoPayload } from '../jobs/task.ts'
import { continueErasure } from './continue-erasure.ts'
import { forgetErasures, runningErasures } from './erasures.queries.ts'

/** That somebody was erased is remembered so long, as a hash. */
const REMEMBERED_MS = 30 * 86_400_000

/** Goes on with erasures that were cut off or waited for digestion, and forgets those long done. */
export const erasureTask = defineTask({
  name: 'erasures',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    for (const id of await runningErasures(app.db)) {
      if (signal.aborted) return
      await continueErasure(app, id, signal)
    }
    await forgetErasures(app.db, new Date(app.clock.now().getTime() - REMEMBERED_MS))
  },
})
