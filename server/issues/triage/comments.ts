import {
  changeComment,
  type CommentRow,
  countComments,
  insertComment,
  lockComment,
  removeComment,
  selectComment,
  selectComments,
} from './comments.queries.ts'
import { isGranted, requireActingMember, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { forbidden, notFound } from '../../platform/kernel/errors.ts'
import { wrongCursor } from '../../platform/kernel/cursor.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Comment, COMMENT_SORTS } from './issues.api.ts'
import { holdIssue, selectIssue } from '../rows/issues.queries.ts'
import { factsOfComment, factsOfEdit } from '../inbox/facts-of-comment.ts'
import { selectMentions } from '../inbox/mentions.queries.ts'
import { publishInbox, notifiedOfComment } from '../inbox/inbox.queries.ts'
import { viewPerson } from '../rows/view-issue.ts'

/** @throws AppError not_found */
async function requireIssue(tx: Tx, actor: OrgActor, issueId: string): Promise<{ id: string; projectId: string }> {
  const issue = await holdIssue(tx, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  return { id: issue.id, projectId: issue.project_id }
}

async function viewComments(db: Connection, orgId: string, rows: readonly CommentRow[]): Promise<Comment[]> {
  const mentions = await selectMentions(
    db,
    orgId,
    rows.map((row) => row.id),
  )
  return rows.map((row) => ({
    id: row.id,
    issue_id: row.issue_id,
    author: viewPerson(row.author_id, row.author_name, row.author_email),
    body: row.body,
    created_at: row.created_at.toISOString(),
    edited_at: row.edited_at?.toISOString() ?? null,
    mentions: (mentions.get(row.id) ?? []).map(({ written, id, name, email }) => ({
      text: written,
      user: { id, name, email },
    })),
  }))
}

async function viewComment(tx: Tx, orgId: string, commentId: string): Promise<Comment> {
  const [comment] = await viewComments(tx, orgId, await selectComment(tx, commentId))
  if (comment === undefined) throw notFound('Comment')
  return comment
}

/**
 * Comments, oldest first or newest first. A cursor is the sort order and the id of the last comment of the page; ids sort
 * by time of creation.
 * @throws AppError not_found
 */
export async function listComments(
  app: App,
  actor: OrgActor,
  input: {
    issueId: string
    limit: number
    offset: number
    cursor?: string | undefined
    sort: (typeof COMMENT_SORTS)[number]
  },
): Promise<Page<Comment>> {
  const issue = await selectIssue(app.db, actor, input.issueId)
  if (issue === undefined) throw notFound('Issue')
  const { id } = issue
  const total = await countComments(app.db, id)
  const descending = input.sort === '-created_at'
  const rows = await selectComments(app.db, id, {
    descending,
    after: input.cursor === undefined ? null : cursorId(input.cursor, descending),
    limit: input.limit + 1,
    offset: input.cursor === undefined ? input.offset : 0,
  })
  const shown = rows.slice(0, input.limit)
  const last = rows.length > input.limit ? shown.at(-1) : undefined
  return {
    items: await viewComments(app.db, actor.orgId, shown),
    total,
    limit: input.limit,
    offset: input.offset,
    next_cursor: last === undefined ? null : (descending ? '-' : '') + last.id,
  }
}

function cursorId(cursor: string, descending: boolean): string {
  const id = /^(-?)([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(cursor)
  if (id?.[2] === undefined || (id[1] === '-') !== descending) throw wrongCursor()
  return id[2]
}

/** @throws AppError not_found */
export async function createComment(
  app: App,
  actor: OrgActor,
  input: { issueId: string; body: string },
): Promise<Comment> {
  return app.tx(async (tx) => {
    const { id, projectId } = await requireIssue(tx, actor, input.issueId)
    const context = factContext(app, actor)
    const row = {
      id: newId(),
      issue_id: id,
      author_id: requireActingMember(actor).userId,
      body: input.body,
      created_at: context.at,
    }
    await insertComment(tx, row)
    const comment = { id: row.id, issueId: id, projectId, body: input.body }
    await recordFacts(tx, context, await factsOfComment(tx, actor, comment))
    return viewComment(tx, actor.orgId, row.id)
  })
}

/**
 * Only the author may edit a comment. The same text changes nothing; members whom the new text mentions for the first
 * time are notified.
 * @throws AppError not_found, forbidden
 */
export async function updateComment(
  app: App,
  actor: OrgActor,
  input: { issueId: string; commentId: string; body: string },
): Promise<Comment> {
  return app.tx(async (tx) => {
    const { id, projectId } = await requireIssue(tx, actor, input.issueId)
    const comment = await lockComment(tx, id, input.commentId)
    if (comment === undefined) throw notFound('Comment')
    if (comment.author_id !== requireActingMember(actor).userId) throw forbidden('Only its author can edit a comment.')
    if (comment.body !== input.body) {
      const context = factContext(app, actor)
      await changeComment(tx, comment.id, input.body, context.at)
      const edited = { id: comment.id, issueId: id, projectId, body: input.body }
      await recordFacts(tx, context, await factsOfEdit(tx, actor, edited))
    }
    return viewComment(tx, actor.orgId, comment.id)
  })
}

/**
 * Its author, admins and owners may delete a comment.
 * @throws AppError not_found, forbidden
 */
export async function deleteComment(
  app: App,
  actor: OrgActor,
  input: { issueId: string; commentId: string },
): Promise<void> {
  await app.tx(async (tx) => {
    const { id, projectId } = await requireIssue(tx, actor, input.issueId)
    const comment = await lockComment(tx, id, input.commentId)
    if (comment === undefined) throw notFound('Comment')
    const member = requireActingMember(actor)
    if (comment.author_id !== member.userId && !isGranted('issues.admin', actor))
      throw forbidden('Only its author, an admin or an owner can delete a comment.')
    // Notifications of the comment are deleted with it.
    await publishInbox(tx, actor.orgId, await notifiedOfComment(tx, comment.id))
    await removeComment(tx, comment.id)
    await recordFacts(tx, factContext(app, actor), [
      {
        kind: 'comment.deleted',
        orgId: actor.orgId,
        projectId,
        issueId: id,
        commentId: comment.id,
        sentence: 'A comment was deleted.',
        data: {},
      },
    ])
  })
}
