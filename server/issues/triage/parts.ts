import { listAttachments, listRefusedAttachments } from '../../events/attachments/list-attachments.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { findKeptTrace } from '../../telemetry/traces/kept-trace-of.ts'
import { feedbackOfIssue } from '../feedback/list-feedback.ts'
import type { IssueDetail } from './issues.api.ts'

/** An issue and the event that its page shows. The reader of a part need not check access again. */
export type IssueOnPage = {
  readonly id: string
  readonly projectId: string
  readonly eventId: string | null
  /** Null without an event, and when its body was removed or is damaged. */
  readonly event: Event | null
}

type PartReader<T> = (app: App, actor: OrgActor, issue: IssueOnPage) => Promise<T>

/**
 * Parts of an issue's page that other domains offer, by their field of the response. A new part is a field of
 * `IssueDetail` and a reader: here for a domain below issues, in `service/api/handlers.ts` for one above.
 */
export type IssueParts = {
  readonly [
    K in 'attachments' | 'refused_attachments' | 'feedback' | 'kept_trace_id' | 'ai_analysis' | 'code' | 'ticket'
  ]: PartReader<IssueDetail[K]>
}

const FEEDBACK_ITEMS = 25

/** The parts of domains below issues. */
export const issueParts: Omit<IssueParts, 'ai_analysis' | 'code' | 'ticket'> = {
  attachments: (app, _actor, { projectId, eventId }) =>
    listAttachments(app.db, projectId, eventId === null ? [] : [eventId]),
  refused_attachments: (app, _actor, { projectId, eventId }) => listRefusedAttachments(app.db, projectId, eventId),
  feedback: (app, _actor, { projectId, id }) => feedbackOfIssue(app, projectId, id, FEEDBACK_ITEMS),
  kept_trace_id: async (app, _actor, { projectId, event }) =>
    event === null ? null : findKeptTrace(app, projectId, event),
}

type ReadParts = { readonly [K in keyof IssueParts]: IssueDetail[K] }

/** Reads all parts at the same time. */
export async function readParts(parts: IssueParts, app: App, actor: OrgActor, issue: IssueOnPage): Promise<ReadParts> {
  const [attachments, refused_attachments, feedback, kept_trace_id, ai_analysis, code, ticket] = await Promise.all([
    parts.attachments(app, actor, issue),
    parts.refused_attachments(app, actor, issue),
    parts.feedback(app, actor, issue),
    parts.kept_trace_id(app, actor, issue),
    parts.ai_analysis(app, actor, issue),
    parts.code(app, actor, issue),
    parts.ticket(app, actor, issue),
  ])
  return { attachments, refused_attachments, feedback, kept_trace_id, ai_analysis, code, ticket }
}
