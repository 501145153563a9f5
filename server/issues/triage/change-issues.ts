import { actorLabel, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { FactOf } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { decideStatus, type LockedIssue, type StatusChange } from './change-status.ts'
import { computeSeverityRank, eventSeverityFrom } from '../rules/impact.ts'
import { severityName, severityRank } from '#shared/issue-values.ts'
import type { IssueStatus, Severity } from '../rules/issue.api.ts'
import { writeAssignees, writeSeverities, writeLives } from '../rows/issues.queries.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import { decideAssignee, requireMember } from './change-assignee.ts'

/** The change a member requests, with its resolution determined (`update-issue.ts`). */
export type PreparedChange = Partial<StatusChange> & {
  /** Null removes the assignee. */
  readonly assignee_id?: string | null | undefined
  /** Null unpins. */
  readonly severity?: Severity | null | undefined
}

/**
 * Changes issues that the caller has locked, any number in a few statements. A value that an issue has already is not
 * written and is no fact.
 * @returns ids of those that changed
 * @throws AppError invalid (assignee outside the organisation, ignored until a time that has passed); the transaction
 *   must be rolled back then
 */
export async function changeIssues(
  app: App,
  tx: Tx,
  actor: OrgActor,
  issues: readonly LockedIssue[],
  changeOf: (issue: LockedIssue) => PreparedChange,
  operationId: string | null = null,
): Promise<ReadonlySet<string>> {
  const name = actorLabel(actor)
  const context = factContext(app, actor, app.clock.now(), operationId)
  const now = context.at
  const changes = issues.map((issue) => ({ issue, change: changeOf(issue) }))
  const members = new Map<string, Awaited<ReturnType<typeof requireMember>>>()
  for (const id of new Set(changes.map(({ change }) => change.assignee_id)))
    if (id != null) members.set(id, await requireMember(tx, actor, id))
  const decided = changes.map(({ issue, change }) => {
    const moved =
      change.status === undefined ? null : decideStatus(issue, { ...change, status: change.status }, name, now)
    const assignee = change.assignee_id == null ? change.assignee_id : members.get(change.assignee_id)
    const assigned = decideAssignee(actor, issue, assignee, name)
    const rated = decideSeverity(issue, change.severity, name, moved?.life.status ?? issue.status, now)
    return { issue, moved, assigned, rated }
  })
  await writeLives(
    tx,
    decided.flatMap(({ moved }) => (moved === null ? [] : [moved])),
  )
  const assignments = decided.flatMap(({ issue, assigned }) =>
    assigned === null ? [] : [{ id: issue.id, ...assigned }],
  )
  await writeAssignees(tx, assignments)
  await writeSeverities(
    tx,
    decided.flatMap(({ issue, rated }) => (rated === null ? [] : [{ id: issue.id, ...rated }])),
  )
  await recordFacts(
    tx,
    context,
    decided.flatMap(({ moved, assigned, rated }) =>
      [...(moved?.facts ?? []), assigned?.fact, rated?.fact].filter((fact) => fact !== undefined),
    ),
  )
  return new Set(
    decided.flatMap(({ issue, moved, assigned, rated }) =>
      moved === null && assigned === null && rated === null ? [] : [issue.id],
    ),
  )
}

type Rated = {
  readonly rank: number
  readonly isPinned: boolean
  readonly fact: FactOf<'issue.severity_changed'>
}

function decideSeverity(
  issue: LockedIssue,
  severity: Severity | null | undefined,
  name: string,
  status: IssueStatus,
  now: Date,
): Rated | null {
  if (severity === undefined) return null
  const about = { kind: 'issue.severity_changed', ...aboutIssue(issue) } as const
  if (severity === null) {
    if (!issue.severity_pinned) return null
    const rank = computeSeverityRank(
      { eventSeverity: eventSeverityFrom(issue.event_severity), highImpactDay: issue.high_impact_day },
      status,
      now,
    )
    const data = { pinned: false, from: severityName(issue.severity), to: severityName(rank) }
    const sentence = `${name} let the severity follow the events again.`
    return { rank, isPinned: false, fact: { ...about, sentence, data } }
  }
  if (issue.severity_pinned && severityRank(severity) === issue.severity) return null
  const data = { from: severityName(issue.severity), to: severity }
  const sentence = `${name} set the severity to ${severity}.`
  return { rank: severityRank(severity), isPinned: true, fact: { ...about, sentence, data } }
}
