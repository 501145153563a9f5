import { type OrgActor, type Actor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import { changeIssues } from './change-issues.ts'
import type { Issue, IssueStatus, Severity } from '../rules/issue.api.ts'
import { lockIssue, selectIssue, releasesOfCommit, knownReleases } from '../rows/issues.queries.ts'
import type { IgnoreUntilInput, ResolutionInput } from '../rules/life-cycle.api.ts'
import { requireMember } from './change-assignee.ts'
import { viewIssue } from '../rows/view-issue.ts'
import { ensureRelease } from '../../projects/releases/ensure-release.ts'
import { nextAfter, type Fix } from '../rules/resolution.ts'

type IssueChange = {
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

/**
 * The fix that a requested resolution means now. Creates releases that do not exist yet, as planned. Its own transaction
 * ends before an issue is locked, because digestion locks releases and issues, too.
 */
export async function resolveFix(app: App, actor: Actor, projectId: string, asked: ResolutionInput): Promise<Fix> {
  if (asked.in_release !== undefined) {
    const versions = [...new Set([asked.in_release].flat())]
    for (const version of versions) await app.tx((tx) => ensureRelease(tx, factContext(app, actor), projectId, version))
    return { kind: 'release', versions }
  }
  if (asked.in_commit !== undefined) {
    const versions = await releasesOfCommit(app.db, projectId, asked.in_commit)
    return versions.length === 0 ? { kind: 'commit', sha: asked.in_commit } : { kind: 'release', versions }
  }
  if (asked.in_next_release === undefined) return { kind: 'now' }
  return nextAfter(await knownReleases(app.db, projectId))
}
