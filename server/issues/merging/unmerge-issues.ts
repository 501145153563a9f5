import { DIGESTION, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid } from '../../platform/kernel/errors.ts'
import { sumGroups } from '../rows/groups.queries.ts'
import { mergeDocuments, restoreOwnDocuments } from '../search/search.queries.ts'
import { recountUsers } from './count-users.ts'
import { rateIssues } from './rate-issues.ts'
import { replayMissedEvents } from './replay-missed-events.ts'
import type { Issue } from '../rules/issue.api.ts'
import { factsOfRelation, issueShortId, lockRelated } from './merge-issues.ts'
import { selectTargetIssues, unmerge, type MergedIssue } from './merging.queries.ts'
import { viewIssue } from '../rows/view-issue.ts'

const UNMERGED = { kind: 'issue.unmerged', verb: 'unmerged', preposition: 'from' } as const

/**
 * Unmerges issues from their merge target. Each gets back its own counts, with its events since the merge, and the issues
 * that had been merged into it before.
 * @throws AppError not_found; invalid (itself); conflict (not merged into this one)
 */
export async function unmergeIssues(
  app: App,
  actor: OrgActor,
  input: { issueId: string; issue_ids: readonly string[] },
): Promise<Issue> {
  const { issueId } = input
  const ids = [...new Set(input.issue_ids)]
  if (ids.includes(issueId)) throw invalid('issue_ids must name issues merged into this one, not the issue itself.')
  const work = async (tx: Tx): Promise<void> => {
    const { target, others } = await lockRelated(tx, actor, issueId, ids)
    for (const other of others)
      if (other.target_id !== issueId) throw conflict(`${issueShortId(other)} is not merged into this issue.`)
    const context = factContext(app, actor)
    const now = context.at
    const merged = await selectTargetIssues(tx, issueId)
    const mergedAt = new Map(merged.map((one) => [one.issueId, one.mergedAt]))
    const groups = groupsToUnmerge(merged, ids)
    await unmerge(tx, issueId, groups)
    const changed = [issueId, ...ids]
    await sumGroups(tx, changed)
    await recountUsers(tx, changed)
    await restoreOwnDocuments(tx, changed)
    await mergeDocuments(tx, changed)
    for (const other of others)
      await replayMissedEvents(tx, factContext(app, DIGESTION, now), actor.orgId, other, {
        groupIds: groups.get(other.id) ?? [],
        since: mergedAt.get(other.id) ?? now,
      })
    await rateIssues(tx, changed, now)
    await recordFacts(tx, context, factsOfRelation(actor, UNMERGED, target, others))
  }
  await retryOnDeadlock(() => app.tx(work))
  return viewIssue(app, actor, issueId)
}

/** For each issue to unmerge, the groups that leave with it: each belongs to its nearest parent that is unmerged. */
function groupsToUnmerge(
  merged: readonly Pick<MergedIssue, 'issueId' | 'parentId'>[],
  ids: readonly string[],
): Map<string, string[]> {
  const parents = new Map(merged.map((one) => [one.issueId, one.parentId]))
  const groups = new Map<string, string[]>(ids.map((id) => [id, []]))
  for (const { issueId } of merged) {
    let at: string | null | undefined = issueId
    // Merging never creates a cycle; the number of steps is bounded all the same.
    for (let step = 0; at != null && !groups.has(at) && step <= merged.length; step++) at = parents.get(at)
    if (at != null) groups.get(at)?.push(issueId)
  }
  return groups
}
