import { deleteMentions, insertMentions, mentionedIn } from './mentions.queries.ts'
import { actorLabel, memberOf, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { nameMembers } from '../team/members.queries.ts'
import type { Tx } from '../storage/database.ts'
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
  const known = new Set(await mentionedIn(tx, comment.id))
  const mentions = await resolveMentions(tx, actor, comment.body)
  await deleteMentions(tx, comment.id)
  await insertMentions(tx, comment.id, mentions)
  const added = mentions.filter(({ userId }) => !known.has(userId))
  const now = app.clock.now()
  await subscribeAutomatically(tx, now, mentioned(comment, added))
  const userIds = [...new Set(added.map(({ userId }) => userId))]
  if (userIds.length === 0) return
  const name = actorLabel(actor)
  await notify(tx, now, notificationsOf(actor, comment, userIds, 'mentioned', `${name} mentioned you in a comment.`))
}

async function resolveMentions(tx: Tx, actor: OrgActor, body: string): Promise<Mention[]> {
  return body.includes('@') ? mentionsIn(body, await nameMembers(tx, actor.orgId, MAX_MEMBERS)) : []
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
