import { recordFacts } from '../../history/facts/record-facts.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { factContext, type IntegrationActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { lockIssue } from '../../issues/rows/issues.queries.ts'
import { changeIssues } from '../../issues/triage/change-issues.ts'
import type { ResolutionInput } from '../../issues/rules/life-cycle.api.ts'
import type { Fix } from '../../issues/rules/resolution.ts'
import { type MentionRow, putMention, selectIssuesByNumber, trimMentions } from './commits.queries.ts'

/** A commit or pull request that names an issue by its number in the project. */
export type Mention = Pick<MentionRow, 'kind' | 'ref' | 'title' | 'url' | 'author' | 'state' | 'says_fix'> & {
  readonly number: number
  readonly at: Date
  /** With the state `fixes`: how the issue is resolved. */
  readonly resolution?: { readonly asked: ResolutionInput; readonly fix: Fix }
  readonly actor: IntegrationActor
}

/** Mentions of one issue that are kept. */
const MAX_PER_ISSUE = 50
/** Issues that one delivery may change. */
const MAX_ISSUES = 200

/**
 * Links the mentions with their issues, and resolves those that a change of the default branch fixes. A change that an
 * issue knew, or that is older than its regression, resolves nothing.
 */
export async function settleMentions(
  app: App,
  tx: Tx,
  projectId: string,
  mentions: readonly Mention[],
): Promise<{ linked: number; resolved: number }> {
  if (mentions.length === 0) return { linked: 0, resolved: 0 }
  const numbers = [...new Set(mentions.map(({ number }) => number))].slice(0, MAX_ISSUES)
  const issues = new Map(
    (await selectIssuesByNumber(tx, projectId, numbers)).map((issue) => [Number(issue.number), issue]),
  )
  let resolved = 0
  const linked = new Map<string, Mention>()
  const fixes = new Map<string, Mention>()
  for (const mention of mentions) {
    const issue = issues.get(mention.number)
    if (issue === undefined) continue
    const { kind, ref, title, url, author, state, says_fix, at } = mention
    const row = { project_id: projectId, issue_id: issue.id, kind, ref, title, url, author, state, says_fix }
    if (!(await putMention(tx, { ...row, mentioned_at: at }))) continue
    linked.set(issue.id, mention)
    if (state === 'fixes') fixes.set(issue.id, mention)
  }
  for (const issueId of new Set([...issues.values()].map(({ id }) => id)))
    await trimMentions(tx, issueId, MAX_PER_ISSUE)
  // In the order in which others lock issues.
  for (const [issueId, { actor, at, resolution }] of [...fixes].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const issue = await lockIssue(tx, actor, issueId)
    if (issue === undefined || issue.status === 'resolved') continue
    // A commit that was rebased has a new hash: the regression came after it.
    const isOld = issue.status === 'regressed' && at < issue.status_changed_at
    if (isOld) continue
    const changed = await changeIssues(app, tx, actor, [issue], () => ({ status: 'resolved', resolution }))
    resolved += changed.size
  }
  const [named] = linked.values()
  if (named !== undefined)
    await recordFacts(
      tx,
      factContext(app, named.actor),
      [...linked.keys()].map((id) => ({
        kind: 'issue.code_mentioned',
        ...aboutIssue({ id, project_id: projectId, org_id: named.actor.orgId }),
        data: {},
      })),
    )
  return { linked: linked.size, resolved }
}
