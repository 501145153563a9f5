import { z } from 'zod'
import { listAttachments } from '../../events/attachments/list-attachments.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { cutPage, readCursor, writeCursor } from '../../platform/kernel/cursor.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import type { Feedback } from './feedback.api.ts'
import { countFeedback, selectFeedback, type FeedbackRow } from './feedback.queries.ts'

type ListFeedbackInput = {
  readonly projectId: string
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: 'received_at' | '-received_at'
  readonly issue_id?: string | undefined
  readonly linked?: 'true' | 'false' | undefined
  readonly release?: string | undefined
  readonly environment?: string | undefined
}

/**
 * A page of feedback of a project.
 * @throws AppError not_found (project), invalid (cursor)
 */
export async function listFeedback(app: App, actor: OrgActor, input: ListFeedbackInput): Promise<Page<Feedback>> {
  const { projectId, limit, offset, cursor, sort, issue_id: issueId, linked, release, environment } = input
  await requireProject(app, actor, projectId)
  const after = cursor === undefined ? null : decodeCursor(cursor, sort)
  const filter = {
    projectId,
    issueId,
    linked: linked === undefined ? undefined : linked === 'true',
    release,
    environment,
  }
  const [rows, total] = await Promise.all([
    selectFeedback(app.db, filter, { descending: sort === '-received_at', limit: limit + 1, offset, after }),
    countFeedback(app.db, filter),
  ])
  const { shown, figures } = cutPage(rows, { limit, offset, total }, (last) =>
    writeCursor(sort, last.received_at, last.id),
  )
  return {
    items: await viewFeedback(app, projectId, shown),
    ...figures,
  }
}

/** The newest feedback of an issue, at most `limit`. The caller has checked access to the issue. */
export async function feedbackOfIssue(
  app: App,
  projectId: string,
  issueId: string,
  limit: number,
): Promise<Feedback[]> {
  const page = { descending: true, limit, offset: 0, after: null }
  return viewFeedback(app, projectId, await selectFeedback(app.db, { projectId, issueId }, page))
}

/** Adds files to rows of one project. The caller has checked access to the project. */
export async function viewFeedback(app: App, projectId: string, rows: readonly FeedbackRow[]): Promise<Feedback[]> {
  const hex = (id: string | null): string | null => (id === null ? null : unhyphenate(id))
  const files = await listAttachments(
    app.db,
    projectId,
    rows.map((row) => unhyphenate(row.feedback_id)),
  )
  return rows.map((row) => ({
    id: row.id,
    project_id: row.project_id,
    message: row.message,
    name: row.name,
    email: row.email,
    url: row.url,
    source: row.source,
    replay_id: hex(row.replay_id),
    release: row.release,
    environment: row.environment,
    event_id: hex(row.event_id),
    issue_id: row.shown_as,
    status: row.status,
    attachments: files.filter((file) => file.event_id === unhyphenate(row.feedback_id)),
    received_at: row.received_at.toISOString(),
  }))
}

const Cursor = z.tuple([z.string(), z.iso.datetime(), z.uuid()])

function decodeCursor(text: string, sort: string): { receivedAt: Date; id: string } {
  const [cursorSort, receivedAt, id] = readCursor(text, Cursor)
  if (cursorSort !== sort) throw invalid('cursor belongs to another sort. Start again without it.')
  return { receivedAt: new Date(receivedAt), id }
}
