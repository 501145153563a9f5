import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { purgeIdentities } from '../../issues/search/write-index-terms.ts'
import { deleteOrphanedQuarantine, QUARANTINE_ROWS } from '../../ingest/spool/spool.queries.ts'
import { purgeRetained } from '../../projects/registry/project-rows.ts'

/**
 * Deletes quarantined requests that are older than the retention of their project, or whose project was deleted. They
 * hold unscrubbed data.
 * @returns number deleted
 */
export const purgeQuarantine = async (app: App, signal?: AbortSignal): Promise<number> =>
  (await deleteOrphanedQuarantine(app.db)) + (await purgeRetained(app, QUARANTINE_ROWS, 'quarantined_at', signal))

/** Runs once a day at night (UTC), also for identities of users that no issue has any more. */
export const purgeQuarantineTask = defineTask({
  name: 'purge-quarantine',
  payload: NoPayload,
  cron: '29 4 * * *',
  async run(app, _payload, signal) {
    await purgeQuarantine(app, signal)
    await purgeIdentities(app, signal)
  },
})
