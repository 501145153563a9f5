import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { generalSettings } from '../projects/general-settings.ts'

const DAY_MS = 86_400_000

/**
 * Removes requests in quarantine that are older than the retention of their project, and those of projects that are
 * gone: they hold everything as it came, nothing of it was scrubbed.
 * @returns how many went
 */
export async function purgeQuarantine(app: App, signal?: AbortSignal): Promise<number> {
  const gone = await sql`
    delete from spool_quarantine q where not exists (select from projects p where p.id = q.project_id)`.execute(app.db)
  let removed = Number(gone.numAffectedRows ?? 0)
  for (const { id, settings } of await app.db.selectFrom('projects').select(['id', 'settings']).execute()) {
    signal?.throwIfAborted()
    const before = new Date(app.clock.now().getTime() - generalSettings(settings).retention_days * DAY_MS)
    const { numAffectedRows } = await sql`
      delete from spool_quarantine where project_id = ${id} and quarantined_at < ${before}`.execute(app.db)
    removed += Number(numAffectedRows ?? 0)
  }
  return removed
}

/** Once a day, while few are awake. */
export const purgeQuarantineTask = defineTask({
  name: 'purge-quarantine',
  payload: NoPayload,
  cron: '29 4 * * *',
  async run(app, _payload, signal) {
    await purgeQuarantine(app, signal)
  },
})
