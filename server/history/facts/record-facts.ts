import { memberBehind, type FactContext } from '../../platform/context/actor.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { factKind, type Fact, type NewFact } from './kinds.ts'
import { inboxMessages, publishLive, type OrgMessage } from '../../platform/live/publish.ts'
import {
  insertNotifications,
  subscribeAutomatically,
  selectSubscribers,
  type NewSubscription,
  type Notification,
  writeActivity,
} from './inbox.queries.ts'

/**
 * Records what a change did, in the transaction of the change: writes the activity, notifies and subscribes members,
 * publishes live messages, and calls the subscribers. Any number of facts costs one statement per way.
 * @param context `factContext` makes it
 */
export async function recordFacts(tx: Tx, context: FactContext, facts: readonly Fact[]): Promise<void> {
  if (facts.length === 0) return
  const recorded = facts.map((fact): NewFact => ({ ...fact, id: newId(), at: fact.at ?? context.at }))
  const entries = recorded.flatMap((fact) => {
    const { activity } = factKind(fact.kind)
    if (activity === undefined || !('issueId' in fact) || !('sentence' in fact)) return []
    const { id, entryId = id, issueId, sentence, data, at } = fact
    return [{ id: entryId, issueId, kind: activity, sentence, data, at }]
  })
  if (entries.length > 0) writeActivity(tx, context.actor, entries)
  const inboxes = context.isQuiet
    ? []
    : await writeInboxes(tx, context, memberBehind(context.actor)?.userId ?? null, recorded)
  await publishFacts(tx, recorded, inboxes)
  for (const subscriber of context.subscribers) await subscriber(tx, context, recorded)
}

/** Publishes one live message per project and kind, the inboxes and the webhook endpoints that changed, when the transaction commits. */
async function publishFacts(
  tx: Tx,
  facts: readonly NewFact[],
  inboxes: readonly { readonly org_id: string; readonly user_id: string }[],
): Promise<void> {
  const messages: OrgMessage[] = []
  for (const [orgId, ofOrg] of Map.groupBy(facts, (fact) => fact.orgId)) {
    const endpointIds = ofOrg.flatMap((fact) =>
      factKind(fact.kind).live === 'webhooks' && 'endpointId' in fact ? [fact.endpointId] : [],
    )
    if (endpointIds.length > 0)
      messages.push({ orgId, message: { kind: 'webhooks', endpoint_ids: [...new Set(endpointIds)] } })
    for (const [projectId, ofProject] of Map.groupBy(ofOrg, (fact) =>
      'projectId' in fact ? (fact.projectId ?? null) : null,
    ))
      if (projectId !== null) for (const message of messagesOf(projectId, ofProject)) messages.push({ orgId, message })
  }
  for (const [orgId, ofOrg] of Map.groupBy(inboxes, (row) => row.org_id))
    messages.push(
      ...inboxMessages(
        orgId,
        ofOrg.map((row) => row.user_id),
      ),
    )
  if (messages.length > 0) await publishLive(tx, messages)
}

function messagesOf(projectId: string, facts: readonly NewFact[]): OrgMessage['message'][] {
  const issueIds = new Set<string>()
  const newIssueIds = new Set<string>()
  const releaseIds = new Set<string>()
  const alertIds = new Set<string>()
  let eventCount = 0
  let isProjectChanged = false
  let isFeedbackChanged = false
  for (const fact of facts) {
    const { live } = factKind(fact.kind)
    if (live === 'project') isProjectChanged = true
    if (live === 'feedback') isFeedbackChanged = true
    if (live === 'releases' && 'releaseId' in fact) releaseIds.add(fact.releaseId)
    if (live === 'alerts' && 'targetId' in fact) alertIds.add(fact.targetId)
    if ((live === 'issues' || live === 'new_issues') && 'issueId' in fact) {
      issueIds.add(fact.issueId)
      if (live === 'new_issues') newIssueIds.add(fact.issueId)
      if (fact.kind === 'issue.events_received') eventCount += fact.data.events
    }
  }
  const messages: OrgMessage['message'][] = []
  if (issueIds.size > 0)
    messages.push({
      kind: 'issues',
      project_id: projectId,
      issue_ids: [...issueIds],
      new_issue_ids: [...newIssueIds],
      event_count: eventCount,
    })
  if (releaseIds.size > 0) messages.push({ kind: 'releases', project_id: projectId, release_ids: [...releaseIds] })
  if (alertIds.size > 0) messages.push({ kind: 'alerts', project_id: projectId, ids: [...alertIds] })
  if (isFeedbackChanged) messages.push({ kind: 'feedback', project_id: projectId })
  if (isProjectChanged) messages.push({ kind: 'project', project_id: projectId })
  return messages
}

/**
 * Subscribes members to issues and notifies members, as the kinds of the facts say. Members are not notified of what they
 * did themselves, and of a comment that mentions them only of the mention.
 * @param actorId the member who made the change, or null
 * @returns the inboxes that changed
 */
async function writeInboxes(
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
