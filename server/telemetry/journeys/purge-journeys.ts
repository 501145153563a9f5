import type { App } from '../../platform/context/app.ts'
import { inBatches } from '../../platform/jobs/in-batches.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { deleteErrorsBefore } from './journeys.queries.ts'

const DAY_MS = 86_400_000
/** A dry run looks back seven days, each moment over its window of up to a day. */
const RETENTION_DAYS = 8
const MAX_ROWS = 10_000

/** Deletes errors of journeys after eight days. @returns number of rows deleted */
export function purgeJourneys(app: App, signal?: AbortSignal): Promise<number> {
  const before = new Date(app.clock.now().getTime() - RETENTION_DAYS * DAY_MS)
  return inBatches(MAX_ROWS, signal, () => deleteErrorsBefore(app.db, before, MAX_ROWS))
}

export const purgeJourneysTask = defineTask({
  name: 'purge-journeys',
  payload: NoPayload,
  cron: '34 * * * *',
  async run(app, _payload, signal) {
    await purgeJourneys(app, signal)
  },
})
