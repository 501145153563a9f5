import type { App } from '../../platform/context/app.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { deleteFeedbackBefore } from './feedback.queries.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'

const DAY_MS = 86_400_000

/** Deletes feedback older than the retention of its project. @returns number deleted */
export async function purgeFeedback(app: App, signal?: AbortSignal): Promise<number> {
  let removed = 0
  for (const { id, settings } of await selectAllSettings(app.db)) {
    signal?.throwIfAborted()
    const before = new Date(app.clock.now().getTime() - generalSettings(settings).retention_days * DAY_MS)
    removed += await deleteFeedbackBefore(app.db, id, before)
  }
  return removed
}
