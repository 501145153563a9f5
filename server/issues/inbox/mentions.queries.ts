import { sql } from 'kysely'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { activeMembers } from '../../identity/team/members.queries.ts'
import type { Mention } from './mentions.ts'

export async function insertMentions(tx: Tx, commentId: string, mentions: readonly Mention[]): Promise<void> {
  if (mentions.length === 0) return
  await tx
    .insertInto('comment_mentions')
    .values(mentions.map(({ written, userId }) => ({ comment_id: commentId, written, user_id: userId })))
    .execute()
}

export async function deleteMentions(tx: Tx, commentId: string): Promise<void> {
  await tx.deleteFrom('comment_mentions').where('comment_id', '=', commentId).execute()
}

/** Users a comment mentions. */
export async function mentionedIn(tx: Tx, commentId: string): Promise<string[]> {
  const rows = await tx.selectFrom('comment_mentions').select('user_id').where('comment_id', '=', commentId).execute()
  return rows.map((row) => row.user_id)
}

/** The active members of the organisation that comments mention, by comment. */
export async function selectMentions(db: Connection, orgId: string, commentIds: readonly string[]) {
  const rows =
    commentIds.length === 0
      ? []
      : await db
          .selectFrom('comment_mentions as m')
          .innerJoin(activeMembers(db).as('u'), 'u.id', 'm.user_id')
          .select(['m.comment_id', 'm.written', 'u.id', 'u.name', 'u.email'])
          .where('m.comment_id', 'in', [...commentIds])
          .where('u.org_id', '=', orgId)
          // Independent of the collation of the database.
          .orderBy(sql`m.written collate "C"`)
          .execute()
  return Map.groupBy(rows, (row) => row.comment_id)
}
