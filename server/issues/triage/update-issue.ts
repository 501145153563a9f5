import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { changeIssues } from './change-issues.ts'
import { resolveFix } from './fix-of.ts'
import type { Issue, IssueStatus, Severity } from '../rules/issue.api.ts'
import { lockIssue, selectIssue } from '../rows/issues.queries.ts'
import type { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'
import { requireMember } from './change-assignee.ts'
import { viewIssue } from '../rows/view-issue.ts'

export type IssueChange = {
  readonly issueId: string
  readonly status?: IssueStatus | undefined
  readonly resolution?: ResolutionInput | undefined
  readonly ignore_until?: IgnoreUntilInput | null | undefined
  /** Null removes the assignee. */
  readonly assignee_id?: string | null | undefined
  /** Null unpins. */
  readonly severity?: Severity | null | undefined
}

/**
 * Changes status, assignee or severity of an issue. A value that the issue has already leaves no activity.
 * @throws AppError not_found, invalid (assignee outside the organisation, ignored until a time that has passed)
 */
export async function updateIssue(app: App, actor: OrgActor, change: IssueChange): Promise<Issue> {
  const { resolution: asked, assignee_id: assigneeId } = change
  // A refused request must not create a planned release.
  if (asked !== undefined && assigneeId != null) await app.tx((tx) => requireMember(tx, actor, assigneeId))
  const resolution = asked === undefined ? undefined : await resolutionOf(app, actor, change.issueId, asked)
  await app.tx(async (tx) => {
    const issue = await lockIssue(tx, actor, change.issueId)
    if (issue === undefined) throw notFound('Issue')
    await changeIssues(app, tx, actor, [issue], () => ({ ...change, resolution }))
  })
  return viewIssue(app, actor, change.issueId)
}

/** @throws AppError not_found */
async function resolutionOf(app: App, actor: OrgActor, issueId: string, asked: ResolutionInput) {
  const issue = await selectIssue(app.db, actor, issueId)
  if (issue === undefined) throw notFound('Issue')
  return { asked, fix: await resolveFix(app, actor, issue.project_id, asked) }
}
