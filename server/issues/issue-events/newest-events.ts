import type { App } from '../../platform/context/app.ts'
import { newestPlaces, type EventPlace } from '../../events/store/store.queries.ts'
import { oldestDay } from '../../projects/registry/general-settings.ts'
import { selectSettings } from '../../projects/registry/projects.queries.ts'
import { selectGroupIds } from '../rows/groups.queries.ts'
import { issuesSeenSince, type NewestEvent, newestOfGroups, sinceEvents } from './sources.queries.ts'

/**
 * Places of the newest events within a project's retention, by the time of occurrence, newest first. The cost depends on
 * their minutes and issues, not on the number of stored events.
 */
export async function newestEventsOfProject(app: App, projectId: string, limit: number): Promise<EventPlace[]> {
  const { db } = app
  const since = await sinceEvents(db, projectId, limit)
  if (since === null) return []
  const groups = await selectGroupIds(db, await issuesSeenSince(db, projectId, since, limit))
  const project = await selectSettings(db, projectId)
  return newestPlaces(db, groups, {
    since,
    oldestDay: oldestDay(project?.settings, app.clock.now()),
    limit,
  })
}

/**
 * The newest event of each group that was seen in this release last, newest first. Groups that were seen in another release
 * since then are left out.
 */
export const newestEventsOfRelease = (
  app: App,
  projectId: string,
  release: string,
  limits: { readonly since: Date; readonly max: number },
): Promise<NewestEvent[]> => newestOfGroups(app.db, projectId, release, limits)
