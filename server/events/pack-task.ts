import { defineTask, NoPayload } from '../jobs/task.ts'
import { packColdEvents } from './pack-cold-events.ts'

/** Jobs share few places: the rest of a large day is for the next run. */
const MAX_MS = 8 * 60_000

/** Every ten minutes, so that a day that was in use is tried again soon; nothing to do costs one question. */
export const packEventsTask = defineTask({
  name: 'pack-events',
  payload: NoPayload,
  cron: '*/10 * * * *',
  async run(app, _payload, signal) {
    await packColdEvents(app, {
      now: app.clock.now(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]),
    })
  },
})
