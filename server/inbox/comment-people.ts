import { sql } from 'kysely'
import { actorLabel, memberOf, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { activeMembers, nameMembers } from '../team/members.queries.ts'
import type { Connection, Tx } from '../storage/database.ts'
import { notify, subscribeAutomatically, subscribersOf, type Notification } from './inbox.queries.ts'
import { mentionsIn, type Mention } from './mentions.ts'

/** Only the oldest members of an organisation, up to this number, can be mentioned. */
const MAX_MEMBERS = 5_000

export type WrittenComment = { readonly id: string; readonly issueId: string; readonly body: string }

/**
 * Notifies the members that a new comment mentions and the subscribers of the issue. Subscribes the author and the
 * mentioned members. Runs in the transaction that writes the comment.
 */
export async function notifyOfComment(app: App, tx: Tx, actor: OrgActor, comment: WrittenComment): Promise<void> {
  const mentions = await resolveMentions(tx, actor, comment.body)
  await insertMentions(tx, comment.id, mentions)
  const now = app.clock.now()
  const followers = await subscribersOf(tx, [comment.issueId])
  await subscribeAutomatically(tx, now, [
    { issueId: comment.issueId, userId: memberOf(actor).userId, reason: 'commented' },
    ...mentioned(comment, mentions),
  ])
  const named = new Set(mentions.map(({ userId }) => userId))
  const name = actorLabel(actor)
  await notify(tx, now, [
    ...notificationsOf(actor, comment, [...named], 'mentioned', `${name} mentioned you in a comment.`),
    ...notificationsOf(
      actor,
      comment,
      followers.map(({ userId }) => userId).filter((userId) => !named.has(userId)),
      'commented',
      `${name} commented.`,
    ),
  ])
}

/** Notifies only the members that an edit mentions for the first time. */
export async function notifyOfEdit(app: App, tx: Tx, actor: OrgActor, comment: WrittenComment): Promise<void> {
  const before = await tx
    .selectFrom('comment_mentions')
    .select('user_id')
    .where('comment_id', '=', comment.id)
    .execute()
  const known = new Set(before.map((row) => row.user_id))
  const mentions = await resolveMentions(tx, actor, comment.body)
  await tx.deleteFrom('comment_mentions').where('comment_id', '=', comment.id).execute()
  await insertMentions(tx, comment.id, mentions)
  const added = mentions.filter(({ userId }) => !known.has(userId))
  const now = app.clock.now()
  await subscribeAutomatically(tx, now, mentioned(comment, added))
  const people = [...new Set(added.map(({ userId }) => userId))]
  if (people.length === 0) return
  const name = actorLabel(actor)
  await notify(tx, now, notificationsOf(actor, comment, people, 'mentioned', `${name} mentioned you in a comment.`))
}

async function resolveMentions(tx: Tx, actor: OrgActor, body: string): Promise<Mention[]> {
  return body.includes('@') ? mentionsIn(body, await nameMembers(tx, actor.orgId, MAX_MEMBERS)) : []
}

async function insertMentions(tx: Tx, commentId: string, mentions: readonly Mention[]): Promise<void> {
  if (mentions.length === 0) return
  await tx
    .insertInto('comment_mentions')
    .values(mentions.map(({ written, userId }) => ({ comment_id: commentId, written, user_id: userId })))
    .execute()
}

const mentioned = (comment: WrittenComment, mentions: readonly Mention[]) =>
  mentions.map(({ userId }) => ({ issueId: comment.issueId, userId, reason: 'mentioned' as const }))

const notificationsOf = (
  actor: OrgActor,
  comment: WrittenComment,
  userIds: readonly string[],
  kind: 'mentioned' | 'commented',
  sentence: string,
): Notification[] =>
  userIds.map((userId) => ({
    orgId: actor.orgId,
    userId,
    issueId: comment.issueId,
    kind,
    actor,
    commentId: comment.id,
    sentence,
  }))

/** The active members of the organisation that comments mention, by comment. */
export async function mentionsOf(db: Connection, orgId: string, commentIds: readonly string[]) {
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
