import { listRefusedAttachments, refusalErrors } from '../../events/attachments/list-attachments.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { storedPayload } from '../../events/store/event.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { eventById } from './choose-event.ts'
import { eventSources } from './event-sources.ts'
import { openShown } from './open-event.ts'

/**
 * One event of an issue, with its stored JSON: as the SDK sent it, except for scrubbing.
 * @throws AppError not_found
 */
export async function readIssueEvent(
  app: App,
  actor: OrgActor,
  { issueId, eventId }: { issueId: string; eventId: string },
): Promise<{ event: Event | null; payload: unknown; size_bytes: number }> {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  const stored = await eventById(app, issue.project_id, await eventSources(app, issue), eventId)
  const event = await openShown(app, { orgId: actor.orgId, projectId: issue.project_id }, stored)
  if (event !== null)
    event.errors.push(...refusalErrors(await listRefusedAttachments(app.db, issue.project_id, stored.eventId)))
  return {
    event,
    payload: event === null || stored.isAway === true ? null : storedPayload(stored),
    size_bytes: stored.bodyEnd - stored.bodyStart,
  }
}
