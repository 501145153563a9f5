import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { deleteDays, deleteUnusedSecrets } from './purge.queries.ts'

/** As long as deliveries are kept. */
const RETENTION_DAYS = 365

/** Deletes secrets that sign nothing any more, and old counts of attempts. */
export async function purgeWebhooks(app: App): Promise<{ secrets: number; days: number }> {
  const now = app.clock.now()
  return {
    secrets: await deleteUnusedSecrets(app.db, now),
    days: await deleteDays(app.db, dayPlus(dayOf(now), -RETENTION_DAYS)),
  }
}

export const purgeWebhooksTask = defineTask({
  name: 'purge-webhooks',
  payload: NoPayload,
  cron: '17 4 * * *',
  async run(app) {
    app.log.info(await purgeWebhooks(app), 'webhooks.purged')
  },
})
