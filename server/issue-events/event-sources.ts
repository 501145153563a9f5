import type { App } from '../context/app.ts'
import type { EventSources } from '../events/event-places.ts'
import { oldestDay } from '../projects/general-settings.ts'
import type { Connection } from '../storage/database.ts'

/**
 * Where an issue's events are: filed under its own id and those of the issues merged into it. What is older than the
 * project keeps is hidden before it is deleted.
 */
export async function eventSources(
  app: App,
  issue: { readonly id: string; readonly project_id: string },
): Promise<EventSources> {
  const [issueIds, project] = await Promise.all([
    sourceIds(app.db, issue.id),
    app.db.selectFrom('projects').select('settings').where('id', '=', issue.project_id).executeTakeFirst(),
  ])
  return { issueIds, oldestDay: oldestDay(project?.settings, app.clock.now()) }
}

/** The ids alone. */
export async function sourceIds(db: Connection, issueId: string): Promise<string[]> {
  const merged = await db.selectFrom('issues').select('id').where('merged_into', '=', issueId).execute()
  return [issueId, ...merged.map(({ id }) => id)]
}
