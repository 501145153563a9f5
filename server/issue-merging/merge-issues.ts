import { insertActivityRows } from '../issue-rows/issues.queries.ts'
import { actorLabel, memberBehind, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { conflict, invalid, notFound } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { publishLive } from '../live/publish.ts'
import type { Tx } from '../storage/database.ts'
import { retryOnDeadlock } from './retry-on-deadlock.ts'
import { respondEarly } from './respond-early.ts'
import { shortId } from '../issue-rules/issue.ts'
import type { Issue } from '../issue-rules/issue.api.ts'
import {
  addCounts,
  addHours,
  catchUpUsers,
  copyUsers,
  dropCounts,
  mergeInto,
  insertMergedIssue,
  selectForMerging,
  summarise,
  type LockedIssue,
} from './merging.queries.ts'
import { rateIssues } from './rate-issues.ts'
import { viewIssue } from '../issue-rows/view-issue.ts'

/** Limits the size of the issue page and the cost of unmerging. */
export const MAX_MERGED = 200

/**
 * Merges issues into one. They keep their rows and are no longer listed. The merge target has the counts, users and hours
 * of all of them, and keeps its own status, assignee and pinned severity.
 * @throws AppError not_found; invalid (with itself, other project, too many); conflict (merged already); unavailable (so
 * many users that the work continues in the background)
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
    // Copies the target's own users before it locks anything: for a large issue this takes longest, and digestion
    // continues meanwhile. The id is new, so that no one reads the copy before the commit.
    const ownId = newId()
    const isFirst = (await readAll(tx, actor, issueId, ids)).target.merged_count === 0
    if (isFirst) await copyUsers(tx, issueId, ownId)
    const { target, others } = await readAll(tx, actor, issueId, ids, 'locked')
    const now = app.clock.now()
    const facts = { targetId: target.id, mergedBy: memberBehind(actor)?.userId ?? null, now }
    if (await insertMergedIssue(tx, { ...facts, issueId: target.id, ownId, parentId: null })) {
      await catchUpUsers(tx, target.id, ownId, target.user_count)
      await addHours(tx, [target.id], ownId)
    } else if (isFirst) await dropCounts(tx, [ownId])
    for (const { id } of others) await insertMergedIssue(tx, { ...facts, issueId: id, ownId: id, parentId: target.id })
    await addCounts(
      tx,
      others.map(({ id }) => id),
      target.id,
    )
    await mergeInto(
      tx,
      others.map(({ id }) => id),
      target.id,
      now,
    )
    await summarise(tx, target.id)
    await rateIssues(tx, [target.id], now)
    await recordActivity(tx, actor, now, target, others)
  }
  await respondEarly(
    app,
    'Merging',
    retryOnDeadlock(() => app.tx(work)),
  )
  return viewIssue(app, actor, issueId)
}

/** @throws AppError not_found (missing, or of another organisation); invalid; conflict */
async function readAll(
  tx: Tx,
  actor: OrgActor,
  issueId: string,
  ids: readonly string[],
  how: 'locked' | 'as it is' = 'as it is',
): Promise<{ target: LockedIssue; others: LockedIssue[] }> {
  const found = await selectForMerging(tx, actor, [issueId, ...ids], how === 'locked')
  const rows = new Map(found.map((row) => [row.id, row]))
  const target = rows.get(issueId)
  if (target === undefined) throw notFound('Issue')
  const others = ids.map((id) => {
    const row = rows.get(id)
    if (row === undefined) throw notFound('Issue')
    return row
  })
  if (target.merged_into !== null)
    throw conflict(`${nameOf(target)} was merged into another issue. Merge into that one, or unmerge it first.`)
  for (const other of others) requireMergeable(target, other)
  const count = others.reduce((sum, other) => sum + 1 + other.merged_count, target.merged_count)
  if (count > MAX_MERGED) throw invalid(`At most ${MAX_MERGED} issues can be merged into one.`)
  return { target, others }
}

function requireMergeable(target: LockedIssue, other: LockedIssue): void {
  if (other.project_id !== target.project_id) throw invalid('Only issues of one project can be merged.')
  if (other.merged_into === target.id) throw conflict(`${nameOf(other)} is merged into this issue already.`)
  if (other.merged_into !== null)
    throw conflict(`${nameOf(other)} was merged into another issue. Merge that one, or unmerge it first.`)
}

export const nameOf = (issue: Pick<LockedIssue, 'project_slug' | 'number'>): string =>
  shortId(issue.project_slug, issue.number)

async function recordActivity(
  tx: Tx,
  actor: OrgActor,
  now: Date,
  target: LockedIssue,
  others: readonly LockedIssue[],
): Promise<void> {
  const name = actorLabel(actor)
  const entry = (issueId: string, kind: string, sentence: string, data: Record<string, unknown>) => ({
    id: newId(),
    issue_id: issueId,
    kind,
    actor_id: memberBehind(actor)?.userId ?? null,
    sentence,
    data: JSON.stringify(data),
    created_at: now,
  })
  await insertActivityRows(tx, [
    entry(target.id, 'merged', `${name} merged ${listed(others.map(nameOf))} into this issue.`, {
      issue_ids: others.map(({ id }) => id),
    }),
    ...others.map(({ id }) =>
      entry(id, 'merged_into', `${name} merged this issue into ${nameOf(target)}.`, { issue_id: target.id }),
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

const MAX_NAMED = 5

/** `SHOP-1, SHOP-2 and 3 more`, for an activity entry. */
export function listed(names: readonly string[]): string {
  const named = names.length > MAX_NAMED ? [...names.slice(0, MAX_NAMED), `${names.length - MAX_NAMED} more`] : names
  const last = named.at(-1) ?? ''
  return named.length < 2 ? last : `${named.slice(0, -1).join(', ')} and ${last}`
}
