import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { deleteUnusedSecrets } from './purge.queries.ts'

/** As long as deliveries are kept. */
const RETENTION_DAYS = 365

/** Deletes secrets that sign nothing any more, and old counts of attempts. */
export async function purgeWebhooks(app: App): Promise<{ secrets: number; days: number }> {
  const secrets = await deleteUnusedSecrets(app.db, app.clock.now())
  const deleted = await purgeRows(app, [
    { rows: ownRows('webhook_days'), column: 'day', kept: { days: RETENTION_DAYS } },
  ])
  return { secrets, days: deleted['webhook_days'] ?? 0 }
}

export const purgeWebhooksTask = defineTask({
  name: 'purge-webhooks',
  payload: NoPayload,
  cron: '17 4 * * *',
  async run(app) {
    app.log.info(await purgeWebhooks(app), 'webhooks.purged')
  },
})
