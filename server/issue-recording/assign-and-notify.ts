import { lockMembers, setAssignees } from './assignees.queries.ts'
import { DIGESTION, type SystemActor } from '../context/actor.ts'
import { newId } from '../kernel/ids.ts'
import { writeEntries } from '../issue-rows/life.queries.ts'
import { notify, subscribeAutomatically, subscribersOf } from '../inbox/inbox.queries.ts'
import { ownerAmong } from '../ownership/owner-among.ts'
import { ruleWords, type OwnerQuestion } from '../ownership/ownership.ts'
import type { Tx } from '../storage/database.ts'

/** The digest side of people: owners of new issues, news for who follows one. On the batch's transaction. */

export type NewIssueToAssign = {
  readonly issueId: string
  readonly orgId: string
  readonly owner: OwnerQuestion | null
}

/**
 * Gives new issues the owner their project's rules name. Costs nothing where there are no rules; else a few statements
 * a batch, whatever is stored.
 */
export async function assignNewIssues(tx: Tx, now: Date, issues: readonly NewIssueToAssign[]): Promise<void> {
  const asked = issues.flatMap(({ owner, ...issue }) => {
    const candidates = owner === null ? [] : owner()
    return candidates.length === 0 ? [] : [{ ...issue, candidates }]
  })
  if (asked.length === 0) return
  const named = new Set(asked.flatMap(({ candidates }) => candidates.flatMap(({ rule }) => rule.user_id ?? [])))
  const members = await lockMembers(tx, [...named].sort())
  const owned = asked.flatMap(({ issueId, orgId, candidates }) => {
    const decided = ownerAmong(candidates, members.get(orgId) ?? new Map())
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
      sentence: `Went to ${name} by the ownership rule ${ruleWords(decided.rule)}.`,
      // Not the text it matched: an address or a tag may name a person, whose events can be erased.
      data: { from: null, to: userId, team, automatic: true },
    })),
  )
  const people = owned.flatMap(({ userId, ...one }) => (userId === null ? [] : [{ ...one, userId }]))
  await subscribeAutomatically(
    tx,
    now,
    people.map(({ issueId, userId }) => ({ issueId, userId, reason: 'assigned' })),
  )
  await notify(
    tx,
    now,
    people.map(({ issueId, orgId, userId, decided }) => ({
      orgId,
      userId,
      issueId,
      kind: 'assigned',
      actor: DIGESTION,
      commentId: null,
      sentence: `A new issue is yours by the ownership rule ${ruleWords(decided.rule)}.`,
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
 * What an entry of the activity, written for a move nobody made by hand, is to those who follow the issue. Resolving by
 * itself and calming down are no news: they ask nobody for anything.
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

/** Tells those who follow issues that came back, escalated or are no longer ignored. */
export async function notifySubscribers(
  tx: Tx,
  now: Date,
  actor: SystemActor,
  transitions: readonly SubscribedTransition[],
): Promise<void> {
  if (transitions.length === 0) return
  const byIssue = new Map(transitions.map((move) => [move.issueId, move]))
  const followers = await subscribersOf(tx, [...byIssue.keys()].sort())
  await notify(
    tx,
    now,
    followers.flatMap(({ issueId, userId }) => {
      const move = byIssue.get(issueId)
      return move === undefined ? [] : [{ ...move, userId, actor, commentId: null }]
    }),
  )
}
