import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import {
  insertNotifications,
  subscribeAutomatically,
  selectSubscribers,
  type NewSubscription,
  type Notification,
} from './inbox.queries.ts'
import { factKind, type NewFact } from './kinds.ts'

/**
 * Subscribes members to issues and notifies members, as the kinds of the facts say. Members are not notified of what they
 * did themselves, and of a comment that mentions them only of the mention.
 * @param actorId the member who made the change, or null
 * @returns the inboxes that changed
 */
export async function writeInboxes(
  tx: Tx,
  { at }: { readonly at: Date },
  actorId: string | null,
  facts: readonly NewFact[],
): Promise<readonly { readonly org_id: string; readonly user_id: string }[]> {
  const subscriptions = facts.flatMap((fact): NewSubscription[] => {
    const { subscribes } = factKind(fact.kind)
    if (subscribes === undefined || !('issueId' in fact)) return []
    const userIds = subscribes.who === 'actor' ? [actorId].filter((id) => id !== null) : namedIn(fact)
    return userIds.map((userId) => ({ issue_id: fact.issueId, user_id: userId, reason: subscribes.as }))
  })
  if (subscriptions.length > 0) await subscribeAutomatically(tx, at, subscriptions)
  const notifying = facts.flatMap((fact) => {
    const { notifies } = factKind(fact.kind)
    return notifies !== undefined && 'issueId' in fact && 'sentence' in fact ? [{ fact, notifies }] : []
  })
  const followed = new Set(
    notifying.flatMap(({ fact, notifies }) => (notifies.who === 'subscribers' ? [fact.issueId] : [])),
  )
  const subscribers = Map.groupBy(
    followed.size === 0 ? [] : await selectSubscribers(tx, [...followed].sort()),
    (row) => row.issue_id,
  )
  const mentioned = new Set(
    notifying.flatMap(({ fact }) =>
      fact.kind === 'comment.mentioned' ? fact.userIds.map((userId) => fact.commentId + userId) : [],
    ),
  )
  const notifications = notifying.flatMap(({ fact, notifies }): Notification[] => {
    const commentId = 'commentId' in fact ? fact.commentId : null
    const userIds =
      notifies.who === 'named'
        ? namedIn(fact)
        : (subscribers.get(fact.issueId) ?? [])
            .map((row) => row.user_id)
            .filter((userId) => commentId === null || !mentioned.has(commentId + userId))
    return userIds
      .filter((userId) => userId !== actorId)
      .map((userId) => ({
        id: newId(),
        org_id: fact.orgId,
        user_id: userId,
        issue_id: fact.issueId,
        kind: notifies.as,
        comment_id: commentId,
        sentence: fact.notice ?? fact.sentence,
      }))
  })
  return notifications.length === 0 ? [] : insertNotifications(tx, at, actorId, notifications)
}

const namedIn = (fact: NewFact): readonly string[] => ('userIds' in fact ? fact.userIds : [])
