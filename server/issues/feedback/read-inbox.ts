import { z } from 'zod'
import { readStoredEvent } from '../../events/store/event.ts'
import { readEvent } from '../../events/store/store.queries.ts'
import { memberBehind, type OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { cutPage, readCursor, writeCursor } from '../../platform/kernel/cursor.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'
import { invalid, notFound } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { findKeptTrace } from '../../telemetry/traces/kept-trace-of.ts'
import { shortId } from '#shared/issue-values.ts'
import type { FEEDBACK_VIEWS } from '#shared/feedback.ts'
import { selectIssue } from '../rows/issues.queries.ts'
import { viewIssues, viewPerson } from '../rows/view-issue.ts'
import {
  type FeedbackActivity,
  type FeedbackDetail,
  type FeedbackStatus,
  type InboxMessage,
  MessageContext,
} from './feedback.api.ts'
import { readContext, readReplyAddress } from './feedback.ts'
import {
  countInbox,
  countOthers,
  countViews,
  type EntryRow,
  type InboxCounts,
  type InboxFilter,
  MAX_SEARCHED,
  type MessageRow,
  newestReplyId,
  selectEntries,
  selectInbox,
  selectMessage,
} from './inbox.queries.ts'
import { viewFeedback } from './list-feedback.ts'

type View = (typeof FEEDBACK_VIEWS)[number]

type InboxInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly projectId?: string | undefined
  readonly issueId?: string | undefined
  readonly view: View
  readonly query: string
}

type InboxPage = Page<InboxMessage> & { readonly search_is_partial: boolean; readonly counts: InboxCounts }

const STATUSES: Readonly<Record<View, readonly FeedbackStatus[]>> = {
  inbox: ['open'],
  mine: ['open'],
  resolved: ['resolved'],
  spam: ['spam'],
  all: ['open', 'resolved'],
}

/** Further words of a search are left out. */
const MAX_WORDS = 8
const MAX_ENTRIES = 200
const OTHERS_MS = 7 * DAY_MS

/**
 * A page of the inbox of feedback.
 * @throws AppError not_found (project, issue), invalid (cursor)
 */
export async function listInboxMessages(app: App, actor: OrgActor, input: InboxInput): Promise<InboxPage> {
  const { orgId } = actor
  const { limit, offset, cursor, projectId = null, issueId = null, view, query } = input
  if (projectId !== null) await requireProject(app, actor, projectId)
  if (issueId !== null && (await selectIssue(app.db, actor, issueId)) === undefined) throw notFound('Issue')
  const userId = memberBehind(actor)?.userId ?? null
  const filter: InboxFilter = {
    orgId,
    projectId,
    issueId,
    statuses: STATUSES[view],
    assigneeId: view === 'mine' ? userId : null,
    words: query
      .split(/\s+/u)
      .filter((word) => word !== '')
      .slice(0, MAX_WORDS),
  }
  const after = cursor === undefined ? null : decodeCursor(cursor, view)
  const [rows, total, counts, all] = await Promise.all([
    selectInbox(app.db, filter, { limit: limit + 1, offset: after === null ? offset : 0, after }),
    countInbox(app.db, filter),
    countViews(app.db, filter, userId),
    filter.words.length === 0 ? 0 : countInbox(app.db, { ...filter, words: [] }),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    writeCursor(view, last.received_at, last.id),
  )
  return {
    items: await viewMessages(app, shown),
    ...figures,
    search_is_partial: all > MAX_SEARCHED,
    counts,
  }
}

const Cursor = z.tuple([z.string(), z.iso.datetime(), z.uuid()])

function decodeCursor(text: string, view: View): { receivedAt: Date; id: string } {
  const [cursorView, receivedAt, id] = readCursor(text, Cursor)
  if (cursorView !== view) throw invalid('cursor belongs to another view. Start again without it.')
  return { receivedAt: new Date(receivedAt), id }
}

/** Adds files, issue and assignee to messages of any projects. */
async function viewMessages(app: App, rows: readonly MessageRow[]): Promise<InboxMessage[]> {
  const byProject = Map.groupBy(rows, (row) => row.project_id)
  const viewed = await Promise.all([...byProject].map(([projectId, some]) => viewFeedback(app, projectId, some)))
  const views = new Map(viewed.flat().map((view) => [view.id, view]))
  return rows.flatMap((row) => {
    const view = views.get(row.id)
    if (view === undefined) return []
    return {
      ...view,
      is_read: row.read_at !== null,
      assignee: viewPerson(row.assignee_id, row.assignee_name, row.assignee_email),
      issue:
        row.shown_as === null || row.issue_number === null
          ? null
          : { id: row.shown_as, short_id: shortId(row.issue_slug, row.issue_number), title: row.issue_title ?? '' },
      reply_count: row.reply_count,
    }
  })
}

/**
 * A message with all that its page shows.
 * @throws AppError not_found
 */
export async function readFeedback(app: App, actor: OrgActor, id: string): Promise<FeedbackDetail> {
  const row = await selectMessage(app.db, actor.orgId, id)
  const [message] = row === undefined ? [] : await viewMessages(app, [row])
  if (row === undefined || message === undefined) throw notFound('Feedback')
  const [event, entries, linkedRow, lastReplyId] = await Promise.all([
    eventOf(app, row),
    selectEntries(app.db, id, MAX_ENTRIES),
    row.shown_as === null ? undefined : selectIssue(app.db, actor, row.shown_as),
    newestReplyId(app.db, id),
  ])
  const own = MessageContext.nullable().parse(row.context)
  const context = joined(own, event === null ? null : readContext(event))
  const since = new Date(app.clock.now().getTime() - OTHERS_MS)
  const [keptTraceId, [issue], others] = await Promise.all([
    findKeptTrace(app, row.project_id, { contexts: { trace: { trace_id: context.trace_id } } }),
    linkedRow === undefined ? [] : viewIssues(app, [linkedRow]),
    row.shown_as === null ? 0 : countOthers(app.db, { id, issueId: row.shown_as, since }),
  ])
  const replyTo = readReplyAddress(row.email)
  return {
    ...message,
    release: row.release ?? event?.release ?? null,
    environment: row.environment ?? event?.environment ?? null,
    context,
    kept_trace_id: keptTraceId,
    linked: issue === undefined ? null : { issue, reason: 'event', event_at: event?.occurred_at ?? null, others },
    reply_to: replyTo,
    reply_problem: replyTo !== null ? null : row.email === null ? 'no_address' : 'bad_address',
    last_reply_id: lastReplyId,
    notify_on_resolved: row.notify_on_resolved,
    notified_at: row.notified_at?.toISOString() ?? null,
    activity: entries.map(viewEntry),
  }
}

/** The event that the message refers to; null when it is not stored, or damaged. */
async function eventOf(app: App, { project_id: projectId, event_id: eventId, issue_id: issueId }: MessageRow) {
  if (eventId === null || issueId === null) return null
  const stored = await readEvent(app.db, issueId, { projectId, eventId: unhyphenate(eventId) })
  if (stored === null) return null
  try {
    return readStoredEvent(stored)
  } catch {
    return null
  }
}

const EMPTY: MessageContext = {
  browser: null,
  os: null,
  device: null,
  language: null,
  view: null,
  user: null,
  trace_id: null,
}

/** The context of the message, completed from its event. */
const joined = (own: MessageContext | null, ofEvent: MessageContext | null): MessageContext => {
  const [first, second] = [own ?? EMPTY, ofEvent ?? EMPTY]
  return {
    browser: first.browser ?? second.browser,
    os: first.os ?? second.os,
    device: first.device ?? second.device,
    language: first.language ?? second.language,
    view: first.view ?? second.view,
    user: first.user ?? second.user,
    trace_id: first.trace_id ?? second.trace_id,
  }
}

const EntryData = z.object({
  from: z.string().nullable().default(null),
  to: z.string().nullable().default(null),
  reason: z.string().nullable().default(null),
})

const viewEntry = (row: EntryRow): FeedbackActivity => ({
  id: row.id,
  kind: row.kind,
  actor: viewPerson(row.actor_id, row.actor_name, row.actor_email),
  body: row.body,
  ...EntryData.parse(row.data),
  created_at: row.created_at.toISOString(),
})
