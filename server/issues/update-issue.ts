import type { Actor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid, notFound } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { liveNotification } from '../live/publish.ts'
import { EventLevel } from '../protocol/event.api.ts'
import type { Tx } from '../storage/pool.ts'
import { minuteOf, severityName, severityRank, statusSentence } from './issue.ts'
import type { Issue, IssueStatus, Severity } from './issues.api.ts'
import { lockIssue } from './issues.queries.ts'
import { initialSeverity } from './severity.ts'
import { viewIssue } from './view-issue.ts'

export type IssueChange = {
  readonly issueId: string
  readonly status?: IssueStatus | undefined
  /** Null clears. */
  readonly assignee_id?: string | null | undefined
  /** Null unpins. */
  readonly severity?: Severity | null | undefined
}

type Locked = NonNullable<Awaited<ReturnType<typeof lockIssue>>>

/**
 * A person changes status, assignee or severity; what holds already stays untouched and leaves no activity.
 * @throws AppError not_found, invalid (assignee outside the organisation)
 */
export async function updateIssue(app: App, actor: Actor, change: IssueChange): Promise<Issue> {
  await app.tx(async (tx) => {
    const issue = await lockIssue(tx, actor, change.issueId)
    if (issue === undefined) throw notFound('Issue')
    const name =
      (await tx.selectFrom('users').select('name').where('id', '=', actor.userId).executeTakeFirst())?.name ??
      'Somebody'
    const now = app.clock.now()
    const entries = [
      await changeStatus(tx, issue, change.status, name, now),
      await changeAssignee(tx, actor, issue, change.assignee_id, name),
      await changeSeverity(tx, issue, change.severity, name),
    ].filter((entry) => entry !== null)
    if (entries.length === 0) return
    await tx
      .insertInto('issue_activity')
      .values(
        entries.map((entry) => ({
          id: newId(),
          issue_id: issue.id,
          kind: entry.kind,
          actor_id: actor.userId,
          sentence: entry.sentence,
          data: JSON.stringify(entry.data),
          created_at: now,
        })),
      )
      .execute()
    await liveNotification(actor.orgId, {
      kind: 'issues',
      project_id: issue.project_id,
      issue_ids: [issue.id],
      new_issue_ids: [],
      event_count: 0,
    }).execute(tx)
  })
  return viewIssue(app, actor, change.issueId)
}

type Entry = { readonly kind: string; readonly sentence: string; readonly data: Record<string, unknown> }

async function changeStatus(
  tx: Tx,
  issue: Locked,
  status: IssueStatus | undefined,
  name: string,
  now: Date,
): Promise<Entry | null> {
  if (status === undefined || status === issue.status) return null
  const resolved = status === 'resolved'
  await tx
    .updateTable('issues')
    .set({
      status,
      status_reason: `${statusSentence(name, status).slice(0, -1)} on ${minuteOf(now)}.`,
      status_changed_at: now,
      resolved_at: resolved ? now : null,
      resolved_in_release: null,
      ignore_until: null,
    })
    .where('id', '=', issue.id)
    .execute()
  return { kind: 'status_changed', sentence: statusSentence(name, status), data: { from: issue.status, to: status } }
}

async function changeAssignee(
  tx: Tx,
  actor: Actor,
  issue: Locked,
  assigneeId: string | null | undefined,
  name: string,
): Promise<Entry | null> {
  if (assigneeId === undefined || assigneeId === issue.assignee_id) return null
  if (assigneeId === null) {
    await tx.updateTable('issues').set({ assignee_id: null }).where('id', '=', issue.id).execute()
    return { kind: 'assigned', sentence: `${name} removed the owner.`, data: { from: issue.assignee_id, to: null } }
  }
  const member = await tx
    .selectFrom('users')
    .select(['id', 'name'])
    .where('id', '=', assigneeId)
    .where('org_id', '=', actor.orgId)
    .where('disabled_at', 'is', null)
    .executeTakeFirst()
  if (member === undefined) throw invalid('assignee_id is not a member of this organisation.')
  await tx.updateTable('issues').set({ assignee_id: member.id }).where('id', '=', issue.id).execute()
  const whom = member.id === actor.userId ? 'themselves' : member.name
  return {
    kind: 'assigned',
    sentence: `${name} assigned this issue to ${whom}.`,
    data: { from: issue.assignee_id, to: member.id },
  }
}

/** What the events say, as far as the row remembers them; the next event raises it where it knows more (an ANR). */
const severityOfCounts = (issue: Locked): Severity =>
  initialSeverity(
    { level: EventLevel.parse(issue.level), isUnhandled: issue.is_unhandled, isAnr: false, isNativeCrash: false },
    { affectedUsers: issue.user_count, activeUsers: null },
  )

async function changeSeverity(
  tx: Tx,
  issue: Locked,
  severity: Severity | null | undefined,
  name: string,
): Promise<Entry | null> {
  if (severity === undefined) return null
  if (severity === null) {
    if (!issue.severity_pinned) return null
    const follows = severityOfCounts(issue)
    await tx
      .updateTable('issues')
      .set({ severity: severityRank(follows), severity_pinned: false })
      .where('id', '=', issue.id)
      .execute()
    return {
      kind: 'severity_changed',
      sentence: `${name} let the severity follow the events again.`,
      data: { pinned: false, from: severityName(issue.severity), to: follows },
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
