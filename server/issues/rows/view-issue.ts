import type { App } from '../../platform/context/app.ts'
import type { OrgActor, FactContext } from '../../platform/context/actor.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Issue } from '../rules/issue.api.ts'
import { type CountWindow, knowsUsers, lastDayWindow, trendIntervalMs } from '../rules/count-window.ts'
import { severityName, shortId } from '#shared/issue-values.ts'
import { fixFrom, untilFrom } from '../rules/life-columns.ts'
import type { Fix } from '../rules/resolution.ts'
import { selectTrends, selectUsersIn } from './counts.queries.ts'
import { selectIssue, type IssueRow, selectMergeTargets } from './issues.queries.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { ItemContext } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'

/**
 * Converts rows to the issues of the API, each with its trend.
 * @param asked the time that counts are asked for; without it the trend is of the last 24 hours
 */
export async function viewIssues(
  app: App,
  rows: readonly IssueRow[],
  asked: CountWindow | null = null,
): Promise<Issue[]> {
  const now = app.clock.now()
  const window = asked ?? lastDayWindow(now)
  const bucketMs = trendIntervalMs(window)
  const ids = rows.map((row) => row.id)
  const [trendOf, users] = await Promise.all([
    selectTrends(app.db, ids, window, bucketMs),
    asked === null || !knowsUsers(asked, now) ? null : selectUsersIn(app.db, ids, asked),
  ])
  const inRange = (row: IssueRow, counts: readonly number[]) => ({
    event_count_in_range: asked === null ? null : counts.reduce((sum, count) => sum + count, 0),
    // Merged issues may share users, and erased users stay in the counts.
    user_count_in_range: users === null ? null : Math.min(users.get(row.id) ?? 0, row.user_count),
    trend: { interval_seconds: bucketMs / 1000, start: new Date(window.from).toISOString(), counts: [...counts] },
  })
  return rows.map((row) => ({
    id: row.id,
    short_id: shortId(row.project_slug, row.number),
    project_id: row.project_id,
    title: row.title,
    culprit: row.culprit,
    type: row.error_type,
    value: row.error_value,
    level: row.level as Issue['level'],
    platform: row.platform,
    status: row.status,
    status_reason: row.status_reason,
    status_changed_at: row.status_changed_at.toISOString(),
    severity: severityName(row.severity),
    severity_pinned: row.severity_pinned,
    assignee_id: row.assignee_name === null ? null : row.assignee_id,
    assignee: viewPerson(row.assignee_id, row.assignee_name, row.assignee_email),
    team: row.assignee_team,
    first_seen: row.first_seen.toISOString(),
    last_seen: row.last_seen.toISOString(),
    event_count: row.event_count,
    user_count: row.user_count,
    first_release: row.first_release,
    last_release: row.last_release,
    resolved_in_release: row.resolved_in_release,
    resolution: row.status === 'resolved' ? resolutionOf(fixFrom(row.resolution)) : null,
    ignore_until: row.status === 'ignored' ? untilFrom(row.ignore_until) : null,
    is_unhandled: row.is_unhandled,
    tracker_ticket:
      row.ticket_key === null || row.ticket_url === null ? null : { id: row.ticket_key, url: row.ticket_url },
    ai_analysis: null,
    ...inRange(row, trendOf(row.id)),
  }))
}

/** Converts a fix to the form of a request. */
function resolutionOf(fix: Fix | null): Issue['resolution'] {
  switch (fix?.kind) {
    case 'release':
      return { in_release: fix.versions.length === 1 ? (fix.versions[0] ?? '') : [...fix.versions] }
    case 'next':
      return { in_next_release: true }
    case 'commit':
      return { in_commit: fix.sha }
    case 'now':
    case undefined:
      return { now: true }
  }
}

/** @throws AppError not_found */
export async function viewIssue(app: App, actor: OrgActor, issueId: string): Promise<Issue> {
  const row = await selectIssue(app.db, actor, issueId)
  const [issue] = row === undefined ? [] : await viewIssues(app, [row])
  if (issue === undefined) throw notFound('Issue')
  return issue
}

/** Returns a member, or null if the issue is unassigned or the user was removed. */
export const viewPerson = (id: string | null, name: string | null, email: string | null) =>
  id === null || name === null || email === null ? null : { id, name, email }

/** The ids that a fact about an issue names. */
export const aboutIssue = (issue: { readonly id: string; readonly project_id: string; readonly org_id: string }) => ({
  orgId: issue.org_id,
  projectId: issue.project_id,
  issueId: issue.id,
})

/** Records that issues received items other than events. For a merged issue, its merge target received them. */
export async function recordItemsOfIssues(
  tx: Tx,
  context: FactContext,
  kind: 'issue.feedback_received' | 'issue.attachment_received',
  items: readonly { readonly context: ItemContext; readonly issueId: string }[],
): Promise<void> {
  if (items.length === 0) return
  const targets = await selectMergeTargets(tx, [...new Set(items.map(({ issueId }) => issueId))])
  await recordFacts(
    tx,
    context,
    items.map(({ context: { orgId, projectId }, issueId }) => ({
      kind,
      orgId,
      projectId,
      issueId: targets.get(issueId) ?? issueId,
      data: {},
    })),
  )
}
