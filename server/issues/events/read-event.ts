import type { Actor } from '../../context/actor.ts'
import type { App } from '../../context/app.ts'
import { readEvents } from '../../events/store.ts'
import { notFound } from '../../kernel/errors.ts'
import { eventIdFrom } from '../../kernel/ids.ts'
import type { Event } from '../../protocol/event.api.ts'
import { storedJson } from '../../protocol/read-stored.ts'
import { selectIssue } from '../issues.queries.ts'
import { eventSources } from './event-sources.ts'
import { openEvent } from './open-event.ts'

/**
 * One event of an issue, with its JSON as it is stored: scrubbed, otherwise as it came.
 * @throws AppError not_found
 */
export async function readIssueEvent(
  app: App,
  actor: Actor,
  { issueId, eventId }: { issueId: string; eventId: string },
): Promise<{ event: Event | null; payload: unknown; size_bytes: number }> {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const id = eventIdFrom(eventId)
  const [[stored], issueIds] = await Promise.all([
    id === null ? [] : readEvents(app.db, issue.project_id, [id], null),
    eventSources(app.db, issue.id),
  ])
  if (stored === undefined || !issueIds.includes(stored.issueId)) throw notFound('Event')
  const event = openEvent(app, stored)
  return {
    event,
    payload: event === null ? null : storedJson(stored),
    size_bytes: stored.bodyEnd - stored.bodyStart,
  }
}
