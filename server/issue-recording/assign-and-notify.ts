import { lockMembers, setAssignees } from './assignees.queries.ts'
import { DIGESTION, type SystemActor } from '../context/actor.ts'
import { newId } from '../kernel/ids.ts'
import { writeEntries } from '../issue-rows/life.queries.ts'
import { notify, subscribeAutomatically, subscribersOf } from '../inbox/inbox.queries.ts'
import { decidingMatch } from '../ownership/deciding-match.ts'
import { ruleLabel, type LazyMatches } from '../ownership/ownership.ts'
import type { Tx } from '../storage/database.ts'

/** Assignees of new issues and notifications of subscribers, in the transaction of the batch. */

export type NewIssueToAssign = {
  readonly issueId: string
  readonly orgId: string
  readonly ownershipMatches: LazyMatches | null
}

/**
 * Assigns new issues by the ownership rules of their projects: a few statements for each batch, none without rules.
 */
export async function assignNewIssues(tx: Tx, now: Date, issues: readonly NewIssueToAssign[]): Promise<void> {
  const asked = issues.flatMap(({ ownershipMatches, ...issue }) => {
    const candidates = ownershipMatches?.() ?? []
    return candidates.length === 0 ? [] : [{ ...issue, candidates }]
  })
  if (asked.length === 0) return
  const named = new Set(asked.flatMap(({ candidates }) => candidates.flatMap(({ rule }) => rule.user_id ?? [])))
  const members = await lockMembers(tx, [...named].sort())
  const owned = asked.flatMap(({ issueId, orgId, candidates }) => {
    const decided = decidingMatch(candidates, members.get(orgId) ?? new Map())
    if (decided === null) return []
    const { user_id: userId, team } = decided.rule
    const name = userId === null ? `the team ${team}` : (members.get(orgId)?.get(userId) ?? '')
    return [{ issueId, orgId, userId, team, name, decided }]
  })
  if (owned.length === 0) return
  await setAssignees(tx, owned)
  await writeEntries(
    tx,
    now,
    DIGESTION,
    owned.map(({ issueId, userId, team, name, decided }) => ({
      id: newId(),
      issueId,
      kind: 'assigned',
      sentence: `Assigned to ${name} by the ownership rule ${ruleLabel(decided.rule)}.`,
      // Without the matched text, which may be personal data: it would survive an erasure.
      data: { from: null, to: userId, team, automatic: true },
    })),
  )
  const assigned = owned.flatMap(({ userId, ...one }) => (userId === null ? [] : [{ ...one, userId }]))
  await subscribeAutomatically(
    tx,
    now,
    assigned.map(({ issueId, userId }) => ({ issueId, userId, reason: 'assigned' })),
  )
  await notify(
    tx,
    now,
    assigned.map(({ issueId, orgId, userId, decided }) => ({
      orgId,
      userId,
      issueId,
      kind: 'assigned',
      actor: DIGESTION,
      commentId: null,
      sentence: `A new issue was assigned to you by the ownership rule ${ruleLabel(decided.rule)}.`,
    })),
  )
}

export type SubscribedTransition = {
  readonly issueId: string
  readonly orgId: string
  readonly kind: 'regressed' | 'escalated' | 'reopened'
  readonly sentence: string
}

/**
 * The kind of notification that subscribers get for an automatic change; null for none. An issue that resolves
 * automatically or is no longer escalated notifies no one, since it needs no action.
 */
export function notificationKind({
  kind,
  data,
}: {
  readonly kind: string
  readonly data: Readonly<Record<string, unknown>>
}): SubscribedTransition['kind'] | null {
  if (kind !== 'status_changed') return null
  const { from, to } = data
  if (to === 'regressed' || to === 'escalated') return to
  return from === 'ignored' && to === 'unresolved' ? 'reopened' : null
}

/** Notifies the subscribers of issues that regressed, escalated or are no longer ignored. */
export async function notifySubscribers(
  tx: Tx,
  now: Date,
  actor: SystemActor,
  transitions: readonly SubscribedTransition[],
): Promise<void> {
  if (transitions.length === 0) return
  const byIssue = new Map(transitions.map((transition) => [transition.issueId, transition]))
  const subscribers = await subscribersOf(tx, [...byIssue.keys()].sort())
  await notify(
    tx,
    now,
    subscribers.flatMap(({ issueId, userId }) => {
      const transition = byIssue.get(issueId)
      return transition === undefined ? [] : [{ ...transition, userId, actor, commentId: null }]
    }),
  )
}
