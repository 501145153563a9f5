import { actorLabel, memberBehind, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { changeRelation, sumGroups } from '../rows/groups.queries.ts'
import { shortId } from '#shared/issue-values.ts'
import type { Issue } from '../rules/issue.api.ts'
import { mergeDocuments, restoreOwnDocuments } from '../search/search.queries.ts'
import { recountUsers } from './count-users.ts'
import { lockForMerging, mergeInto, projectOfIssue, type LockedIssue } from './merging.queries.ts'
import { rateIssues } from './rate-issues.ts'
import { viewIssue } from '../rows/view-issue.ts'
import { listed } from '../../platform/kernel/value-text.ts'

/** Limits the size of the issue page and the cost of unmerging. */
const MAX_MERGED = 200

/**
 * Merges issues into one, which then shows their groups. They keep their rows and are no longer listed. The merge target has
 * the counts, users and hours of all of them, and keeps its own status, assignee and pinned severity.
 * @throws AppError not_found; invalid (with itself, other project, too many); conflict (merged already)
 */
export async function mergeIssues(
  app: App,
  actor: OrgActor,
  input: { issueId: string; issue_ids: readonly string[] },
): Promise<Issue> {
  const { issueId } = input
  const ids = [...new Set(input.issue_ids)]
  if (ids.includes(issueId)) throw invalid('issue_ids must not hold the issue itself.')
  const work = async (tx: Tx): Promise<void> => {
    const { target, others } = await lockRelated(tx, actor, issueId, ids)
    requireMergeable(target, others)
    const context = factContext(app, actor)
    const now = context.at
    await mergeInto(tx, { targetId: issueId, issueIds: ids, mergedBy: memberBehind(actor)?.userId ?? null, now })
    await sumGroups(tx, [issueId])
    await recountUsers(tx, [issueId])
    await rateIssues(tx, [issueId], now)
    await mergeDocuments(tx, [issueId])
    // Only their target has terms of issues merged into them: an erasure does not look elsewhere.
    await restoreOwnDocuments(tx, ids)
    await recordFacts(tx, context, factsOfRelation(actor, MERGED, target, others))
  }
  await retryOnDeadlock(() => app.tx(work))
  return viewIssue(app, actor, issueId)
}

/**
 * Locks a target and other issues, in the given order, before what is merged into what changes.
 * @throws AppError not_found (missing, or of another organisation)
 */
export async function lockRelated(
  tx: Tx,
  actor: OrgActor,
  issueId: string,
  ids: readonly string[],
): Promise<{ target: LockedIssue; others: LockedIssue[] }> {
  const projectId = await projectOfIssue(tx, actor, issueId)
  if (projectId === undefined) throw notFound('Issue')
  await changeRelation(tx, projectId)
  const rows = new Map((await lockForMerging(tx, actor, [issueId, ...ids])).map((row) => [row.id, row]))
  const target = rows.get(issueId)
  if (target === undefined) throw notFound('Issue')
  const others = ids.map((id) => {
    const row = rows.get(id)
    if (row === undefined) throw notFound('Issue')
    return row
  })
  return { target, others }
}

const isMerged = (issue: LockedIssue): boolean => issue.target_id !== issue.id

/** @throws AppError invalid; conflict */
function requireMergeable(target: LockedIssue, others: readonly LockedIssue[]): void {
  if (isMerged(target))
    throw conflict(`${issueShortId(target)} was merged into another issue. Merge into that one, or unmerge it first.`)
  for (const other of others) {
    if (other.project_id !== target.project_id) throw invalid('Only issues of one project can be merged.')
    if (other.target_id === target.id) throw conflict(`${issueShortId(other)} is merged into this issue already.`)
    if (isMerged(other))
      throw conflict(`${issueShortId(other)} was merged into another issue. Merge that one, or unmerge it first.`)
  }
  const count = others.reduce((sum, other) => sum + 1 + other.merged_count, target.merged_count)
  if (count > MAX_MERGED) throw invalid(`At most ${MAX_MERGED} issues can be merged into one.`)
}

export const issueShortId = (issue: Pick<LockedIssue, 'project_slug' | 'number'>): string =>
  shortId(issue.project_slug, issue.number)

type Relation = {
  readonly kind: 'issue.merged' | 'issue.unmerged'
  readonly verb: string
  readonly preposition: string
}

const MERGED: Relation = { kind: 'issue.merged', verb: 'merged', preposition: 'into' }

/** Facts of the target and of the issues that are merged into it or leave it. */
export function factsOfRelation(
  actor: OrgActor,
  { kind, verb, preposition }: Relation,
  target: LockedIssue,
  others: readonly LockedIssue[],
): Fact[] {
  const about = { orgId: actor.orgId, projectId: target.project_id }
  const name = actorLabel(actor)
  return [
    {
      ...about,
      kind,
      issueId: target.id,
      sentence: `${name} ${verb} ${listedNames(others.map(issueShortId))} ${preposition} this issue.`,
      data: { issue_ids: others.map(({ id }) => id) },
    },
    ...others.map(({ id }): Fact => ({
      ...about,
      kind: kind === 'issue.merged' ? 'issue.merged_into' : 'issue.unmerged_from',
      issueId: id,
      sentence: `${name} ${verb} this issue ${preposition} ${issueShortId(target)}.`,
      data: { issue_id: target.id },
    })),
  ]
}

const MAX_NAMED = 5

/** Returns `SHOP-1, SHOP-2 and 3 more`, for an activity entry. */
const listedNames = (names: readonly string[]): string =>
  listed(names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`] : names)
