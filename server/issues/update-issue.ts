import type { Actor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { notFound } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { liveNotification } from '../live/publish.ts'
import type { Tx } from '../storage/pool.ts'
import { changeStatus, type LockedIssue, type StatusChange } from './change-status.ts'
import { fixOf } from './fix-of.ts'
import { rankOf } from './impact.ts'
import { severityName, severityRank } from './issue.ts'
import type { Issue, IssueStatus, Severity } from './issues.api.ts'
import { writeEntries } from './life.queries.ts'
import { lockIssue, selectIssue } from './issues.queries.ts'
import type { IgnoreUntilInput, ResolutionInput } from './life-cycle.api.ts'
import { changeAssignee, requireMember } from './people/change-assignee.ts'
import { subscribeAutomatically } from './people/inbox.queries.ts'
import { gravityFrom } from './severity.ts'
import { viewIssue } from './view-issue.ts'

export type IssueChange = {
  readonly issueId: string
  readonly status?: IssueStatus | undefined
  readonly resolution?: ResolutionInput | undefined
  readonly ignore_until?: IgnoreUntilInput | null | undefined
  /** Null clears. */
  readonly assignee_id?: string | null | undefined
  /** Null unpins. */
  readonly severity?: Severity | null | undefined
}

/** With what is fixed by now ({@link fixOf}). */
export type PreparedChange = Omit<IssueChange, 'resolution'> & Pick<StatusChange, 'resolution'>

/**
 * A person changes status, assignee or severity; what holds already stays untouched and leaves no activity.
 * @throws AppError not_found, invalid (assignee outside the organisation, ignored until a time that has passed)
 */
export async function updateIssue(app: App, actor: Actor, change: IssueChange): Promise<Issue> {
  const { resolution: asked, assignee_id: assigneeId } = change
  // What is refused leaves no planned release behind.
  if (asked !== undefined && assigneeId != null) await app.tx((tx) => requireMember(tx, actor, assigneeId))
  const resolution = asked === undefined ? undefined : await resolutionOf(app, actor, change.issueId, asked)
  await app.tx(async (tx) => {
    const { projectId, changed } = await changeIssue(app, tx, actor, { ...change, resolution })
    if (!changed) return
    await liveNotification(actor.orgId, {
      kind: 'issues',
      project_id: projectId,
      issue_ids: [change.issueId],
      new_issue_ids: [],
      event_count: 0,
    }).execute(tx)
  })
  return viewIssue(app, actor, change.issueId)
}

/**
 * The same inside a transaction of the caller, who tells others (issues/bulk/ changes many in one) and has asked
 * {@link fixOf} before anything was locked.
 * @throws AppError not_found, invalid; the transaction must be rolled back then
 */
export async function changeIssue(
  app: App,
  tx: Tx,
  actor: Actor,
  change: PreparedChange,
): Promise<{ projectId: string; changed: boolean }> {
  const issue = await lockIssue(tx, actor, change.issueId)
  if (issue === undefined) throw notFound('Issue')
  const name =
    (await tx.selectFrom('users').select('name').where('id', '=', actor.userId).executeTakeFirst())?.name ?? 'Somebody'
  const now = app.clock.now()
  const { status } = change
  const moved = status === undefined ? null : await changeStatus(app, tx, actor, issue, { ...change, status }, name)
  // Who decides about an issue wants to know when it comes back.
  if (moved !== null)
    await subscribeAutomatically(tx, now, [{ issueId: issue.id, userId: actor.userId, reason: 'changed' }])
  const entries = [
    await changeAssignee(tx, actor, issue, change.assignee_id, name, now),
    await changeSeverity(tx, issue, change.severity, name, moved ?? issue.status, now),
  ].filter((entry) => entry !== null)
  await writeEntries(
    tx,
    now,
    actor.userId,
    entries.map((entry) => ({ ...entry, id: newId(), issueId: issue.id })),
  )
  return { projectId: issue.project_id, changed: moved !== null || entries.length > 0 }
}

/** @throws AppError not_found */
async function resolutionOf(app: App, actor: Actor, issueId: string, asked: ResolutionInput) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  return { asked, fix: await fixOf(app, issue.project_id, asked) }
}

type Entry = { readonly kind: string; readonly sentence: string; readonly data: Record<string, unknown> }

async function changeSeverity(
  tx: Tx,
  issue: LockedIssue,
  severity: Severity | null | undefined,
  name: string,
  status: IssueStatus,
  now: Date,
): Promise<Entry | null> {
  if (severity === undefined) return null
  if (severity === null) {
    if (!issue.severity_pinned) return null
    const rank = rankOf({ gravity: gravityFrom(issue.gravity), wideDay: issue.wide_day }, status, now)
    await tx.updateTable('issues').set({ severity: rank, severity_pinned: false }).where('id', '=', issue.id).execute()
    return {
      kind: 'severity_changed',
      sentence: `${name} let the severity follow the events again.`,
      data: { pinned: false, from: severityName(issue.severity), to: severityName(rank) },
    }
  }
  if (issue.severity_pinned && severityRank(severity) === issue.severity) return null
  await tx
    .updateTable('issues')
    .set({ severity: severityRank(severity), severity_pinned: true })
    .where('id', '=', issue.id)
    .execute()
  return {
    kind: 'severity_changed',
    sentence: `${name} set the severity to ${severity}.`,
    data: { from: severityName(issue.severity), to: severity },
  }
}
