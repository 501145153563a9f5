import type { App } from '../context/app.ts'
import { newestPlaces, type EventPlace } from '../events/store.queries.ts'
import { oldestDay } from '../projects/general-settings.ts'
import { selectSettings } from '../projects/projects.queries.ts'
import { issuesSeenSince, mergedInto, sinceEvents } from './sources.queries.ts'

/**
 * Where the newest events a project keeps lie, by their own time, newest first. Costs a look at the minutes they
 * fill and at the issues they belong to, whatever else is stored.
 */
export async function newestEventsOfProject(app: App, projectId: string, limit: number): Promise<EventPlace[]> {
  const { db } = app
  const since = await sinceEvents(db, projectId, limit)
  if (since === null) return []
  const ids = await issuesSeenSince(db, projectId, since, limit)
  const project = await selectSettings(db, projectId)
  // Events of merged issues stay stored under their own.
  const hidden = await mergedInto(db, ids)
  return newestPlaces(db, [...new Set([...ids, ...hidden])], {
    since,
    oldestDay: oldestDay(project?.settings, app.clock.now()),
    limit,
  })
}
