import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { readBaseline } from './baseline.ts'
import { eventDimensions } from './dimensions.ts'
import { eventFilter } from './event-filter.ts'
import { eventSources } from './event-sources.ts'
import { findEvents } from './find-events.ts'
import { sharedValues, type Share } from './shared-values.ts'

/** The shared values are of this number of newest events. */
const MAX_EVENTS = 100

/**
 * The values that the newest events of an issue share, compared with the project's other events.
 * @throws AppError not_found
 */
export async function readSharedValues(
  app: App,
  actor: OrgActor,
  issueId: string,
): Promise<{ events: number; baseline_events: number; items: Share[] }> {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const sources = await eventSources(app, issue)
  const [found, baseline] = await Promise.all([
    findEvents(app, {
      projectId: issue.project_id,
      sources,
      filter: eventFilter(issue.project_id, {}),
      direction: 'older',
      from: null,
      limit: MAX_EVENTS,
    }),
    readBaseline(app, issue.project_id),
  ])
  const own = found.events.flatMap(({ event }) => (event === null ? [] : [eventDimensions(event)]))
  const others = baseline.filter((event) => !sources.issueIds.includes(event.issueId)).map(({ tags }) => tags)
  return { events: own.length, baseline_events: others.length, items: sharedValues(own, others) }
}
