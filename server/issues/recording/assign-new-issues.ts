import { setAssignees } from '../rows/life.queries.ts'
import { lockMembers } from './assignees.queries.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { decidingMatch } from '../ownership/deciding-match.ts'
import { ruleLabel, type LazyMatches } from '../ownership/ownership.ts'
import type { Tx } from '../../platform/storage/database.ts'

export type NewIssueToAssign = {
  readonly issueId: string
  readonly projectId: string
  readonly orgId: string
  readonly ownershipMatches: LazyMatches | null
}

/**
 * Assigns new issues by the ownership rules of their projects: two statements for each batch, none without rules. Returns
 * the facts.
 */
export async function assignNewIssues(tx: Tx, issues: readonly NewIssueToAssign[]): Promise<Fact[]> {
  const asked = issues.flatMap(({ ownershipMatches, ...issue }) => {
    const candidates = ownershipMatches?.() ?? []
    return candidates.length === 0 ? [] : [{ ...issue, candidates }]
  })
  if (asked.length === 0) return []
  const named = new Set(asked.flatMap(({ candidates }) => candidates.flatMap(({ rule }) => rule.user_id ?? [])))
  const members = await lockMembers(tx, [...named].sort())
  const owned = asked.flatMap(({ issueId, projectId, orgId, candidates }) => {
    const decided = decidingMatch(candidates, members.get(orgId) ?? new Map())
    if (decided === null) return []
    const { user_id: userId, team } = decided.rule
    const name = userId === null ? `the team ${team}` : (members.get(orgId)?.get(userId) ?? '')
    return [{ issueId, projectId, orgId, userId, team, name, decided }]
  })
  if (owned.length === 0) return []
  await setAssignees(tx, owned)
  return owned.map(({ issueId, projectId, orgId, userId, team, name, decided }): Fact => {
    const rule = `by the ownership rule ${ruleLabel(decided.rule)}.`
    return {
      kind: 'issue.assigned',
      orgId,
      projectId,
      issueId,
      userIds: userId === null ? [] : [userId],
      sentence: `Assigned to ${name} ${rule}`,
      notice: `A new issue was assigned to you ${rule}`,
      // Without the matched text, which may be personal data: it would survive an erasure.
      data: { from: null, to: userId, team, automatic: true },
    }
  })
}
