import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { packColdEvents, type ReadBacklog } from './pack-cold-events.ts'

/** Jobs share few workers, so the next run continues with a large day. */
const MAX_MS = 8 * 60_000

/** Every ten minutes, to retry a day that was in use soon. A run with nothing to do costs two queries. */
export const packEventsTask = (readBacklog: ReadBacklog) =>
  defineTask({
    name: 'pack-events',
    payload: NoPayload,
    cron: '*/10 * * * *',
    async run(app, _payload, signal) {
      await packColdEvents(app, {
        now: app.clock.now(),
        readBacklog,
        signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_MS)]),
      })
    },
  })
