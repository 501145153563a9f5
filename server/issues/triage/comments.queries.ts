import type { Insertable } from 'kysely'
import { withMergedIssues } from '../rows/issues.queries.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

const commentsWithAuthors = (on: Connection) =>
  on
    .selectFrom('comments as c')
    .leftJoin('users as u', 'u.id', 'c.author_id')
    .select([
      'c.id',
      'c.issue_id',
      'c.author_id',
      'c.body',
      'c.created_at',
      'c.edited_at',
      'u.name as author_name',
      'u.email as author_email',
    ])

export type CommentRow = Awaited<ReturnType<typeof selectComments>>[number]

/** A page of the comments of an issue and of those merged into it, sorted by id, which is by time. */
export function selectComments(
  on: Connection,
  issueId: string,
  page: {
    readonly descending: boolean
    readonly after: string | null
    readonly limit: number
    readonly offset: number
  },
) {
  let query = commentsWithAuthors(on).where('c.issue_id', '=', withMergedIssues(issueId))
  if (page.after !== null) query = query.where('c.id', page.descending ? '<' : '>', page.after)
  return query
    .orderBy('c.id', page.descending ? 'desc' : 'asc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
}

/** One comment, or none. */
export const selectComment = (on: Connection, commentId: string) =>
  commentsWithAuthors(on).where('c.id', '=', commentId).execute()

export async function countComments(on: Connection, issueId: string): Promise<number> {
  const { n } = await on
    .selectFrom('comments')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('issue_id', '=', withMergedIssues(issueId))
    .executeTakeFirstOrThrow()
  return n
}

export const lockComment = (tx: Tx, issueId: string, commentId: string) =>
  tx
    .selectFrom('comments')
    .select(['id', 'author_id', 'body'])
    .where('id', '=', commentId)
    .where('issue_id', '=', withMergedIssues(issueId))
    .forUpdate()
    .executeTakeFirst()

export async function insertComment(tx: Tx, comment: Insertable<Tables['comments']>): Promise<void> {
  await tx.insertInto('comments').values(comment).execute()
}

export async function changeComment(tx: Tx, commentId: string, body: string, now: Date): Promise<void> {
  await tx.updateTable('comments').set({ body, edited_at: now }).where('id', '=', commentId).execute()
}

export async function removeComment(tx: Tx, commentId: string): Promise<void> {
  await tx.deleteFrom('comments').where('id', '=', commentId).execute()
}
