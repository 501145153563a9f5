import type { App } from '../context/app.ts'
import { generalSettings } from '../projects/general-settings.ts'

const DAY_MS = 86_400_000

/** Removes feedback older than the retention of its project. @returns how much went */
export async function purgeFeedback(app: App, signal?: AbortSignal): Promise<number> {
  let removed = 0
  for (const { id, settings } of await app.db.selectFrom('projects').select(['id', 'settings']).execute()) {
    signal?.throwIfAborted()
    const before = new Date(app.clock.now().getTime() - generalSettings(settings).retention_days * DAY_MS)
    const { numDeletedRows } = await app.db
      .deleteFrom('feedback')
      .where('project_id', '=', id)
      .where('received_at', '<', before)
      .executeTakeFirst()
    removed += Number(numDeletedRows)
  }
  return removed
}
