import { insertActivityRows } from '../issue-rows/issues.queries.ts'
import { actorLabel, memberBehind, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { conflict, invalid, notFound } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'
import { retryOnDeadlock } from './retry-on-deadlock.ts'
import { replayMissedEvents } from './replay-missed-events.ts'
import { respondEarly } from './respond-early.ts'
import type { Issue } from '../issue-rules/issue.api.ts'
import { listed, nameOf } from './merge-issues.ts'
import {
  lockForMerging,
  mergedIssuesOf,
  rebuildTarget,
  unmerge,
  type LockedIssue,
  type MergedIssue,
} from './merging.queries.ts'
import { rateIssues } from './rate-issues.ts'
import { viewIssue } from '../issue-rows/view-issue.ts'

/**
 * Unmerges issues from their merge target. Each gets back its own counts, with its events since the merge, and the issues
 * that had been merged into it before.
 * @throws AppError not_found; invalid (itself); conflict (not merged into this one); unavailable (so many users that the
 * work continues in the background)
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
    const rows = new Map((await lockForMerging(tx, actor, [issueId, ...ids])).map((row) => [row.id, row]))
    const target = rows.get(issueId)
    if (target === undefined) throw notFound('Issue')
    const others = ids.map((id) => {
      const row = rows.get(id)
      if (row === undefined) throw notFound('Issue')
      if (row.merged_into !== issueId) throw conflict(`${nameOf(row)} is not merged into this issue.`)
      return row
    })
    const now = app.clock.now()
    const merged = await mergedIssuesOf(tx, issueId)
    const mergedAt = new Map(merged.map((one) => [one.issueId, one.mergedAt]))
    const groups = groupsToUnmerge(merged, ids)
    for (const id of ids) await unmerge(tx, issueId, id, groups.get(id) ?? [id])
    for (const id of [issueId, ...ids]) await rebuildTarget(tx, id, id === issueId)
    for (const other of others)
      await replayMissedEvents(tx, other, {
        sourceIds: groups.get(other.id) ?? [other.id],
        since: mergedAt.get(other.id),
        now,
      })
    await rateIssues(tx, [issueId, ...ids], now)
    await recordActivity(tx, actor, now, target, others)
  }
  await respondEarly(
    app,
    'Unmerging',
    retryOnDeadlock(() => app.tx(work)),
  )
  return viewIssue(app, actor, issueId)
}

/** For each issue to unmerge, the merged issues that stay with it: each belongs to its nearest parent that is unmerged. */
export function groupsToUnmerge(
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

async function recordActivity(
  tx: Tx,
  actor: OrgActor,
  now: Date,
  target: LockedIssue,
  others: readonly LockedIssue[],
): Promise<void> {
  const name = actorLabel(actor)
  const entry = (issueId: string, sentence: string, data: Record<string, unknown>) => ({
    id: newId(),
    issue_id: issueId,
    kind: 'unmerged',
    actor_id: memberBehind(actor)?.userId ?? null,
    sentence,
    data: JSON.stringify(data),
    created_at: now,
  })
  await insertActivityRows(tx, [
    entry(target.id, `${name} unmerged ${listed(others.map(nameOf))} from this issue.`, {
      issue_ids: others.map(({ id }) => id),
    }),
    ...others.map(({ id }) =>
      entry(id, `${name} unmerged this issue from ${nameOf(target)}.`, { issue_id: target.id }),
    ),
  ])
  await publishLive(tx, actor.orgId, {
    kind: 'issues',
    project_id: target.project_id,
    issue_ids: [target.id, ...others.map(({ id }) => id)],
    new_issue_ids: [],
    event_count: 0,
  })
}
