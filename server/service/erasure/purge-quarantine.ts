import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { purgeIdentities } from '../../issues/search/user-identities.ts'
import { deleteOrphanedQuarantine, deleteQuarantinedBefore } from '../../ingest/spool/spool.queries.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'

const DAY_MS = 86_400_000

/**
 * Deletes quarantined requests that are older than the retention of their project, or whose project was deleted. They
 * hold unscrubbed data.
 * @returns number deleted
 */
export async function purgeQuarantine(app: App, signal?: AbortSignal): Promise<number> {
  let removed = await deleteOrphanedQuarantine(app.db)
  for (const { id, settings } of await selectAllSettings(app.db)) {
    signal?.throwIfAborted()
    const before = new Date(app.clock.now().getTime() - generalSettings(settings).retention_days * DAY_MS)
    removed += await deleteQuarantinedBefore(app.db, id, before)
  }
  return removed
}

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
