import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { deleteClosedLanes, deleteMessages } from './outbox.queries.ts'

const RETENTION_DAYS = 365
/** Messages deleted by one statement, with all their deliveries and attempts. */
const BATCH = 500

/** Deletes messages older than 365 days with their deliveries and attempts, then lanes that were closed as long ago. */
export async function purgeOutbox(app: App, signal?: AbortSignal): Promise<void> {
  do signal?.throwIfAborted()
  while ((await deleteMessages(app.db, RETENTION_DAYS, BATCH)) === BATCH)
  await deleteClosedLanes(app.db, RETENTION_DAYS)
}

export const purgeOutboxTask = defineTask({
  name: 'purge-outbox',
  payload: NoPayload,
  cron: '52 3 * * *',
  run: (app, _payload, signal) => purgeOutbox(app, signal),
})
