import type { App } from '../../context/app.ts'
import type { EventSources } from '../../events/event-places.ts'
import type { Database } from '../../storage/pool.ts'
import { oldestDay } from '../../team/project-settings.ts'

/**
 * Where an issue's events are: filed under its own id and those of the issues merged into it. What is older than the
 * project keeps is hidden before it is deleted (product.md §9).
 */
export async function eventSources(app: App, issueId: string): Promise<EventSources> {
  const [issueIds, project] = await Promise.all([
    sourceIds(app.db, issueId),
    app.db
      .selectFrom('issues as i')
      .innerJoin('projects as p', 'p.id', 'i.project_id')
      .select('p.settings')
      .where('i.id', '=', issueId)
      .executeTakeFirst(),
  ])
  return { issueIds, oldestDay: oldestDay(project?.settings, app.clock.now()) }
}

/** The ids alone. */
export async function sourceIds(db: Database, issueId: string): Promise<string[]> {
  const merged = await db.selectFrom('issues').select('id').where('merged_into', '=', issueId).execute()
  return [issueId, ...merged.map(({ id }) => id)]
}
