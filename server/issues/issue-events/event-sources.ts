import type { App } from '../../platform/context/app.ts'
import type { EventSources } from '../../events/store/event-places.queries.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import { selectGroupIds } from '../rows/groups.queries.ts'

/**
 * Where an issue's events are stored: under the ids of its groups. Events beyond the
 * project's retention are hidden before they are deleted.
 */
export async function eventSources(
  app: App,
  issue: { readonly id: string; readonly project_id: string },
): Promise<EventSources> {
  const [issueIds, project] = await Promise.all([
    selectGroupIds(app.db, [issue.id]),
    selectSettings(app.db, issue.project_id),
  ])
  return { issueIds, oldestDay: oldestDay(project?.settings, app.clock.now()) }
}
