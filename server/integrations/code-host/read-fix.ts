import type { IssueFix } from '../../issues/triage/issue-code.api.ts'
import type { App } from '../../platform/context/app.ts'
import type { CodeHostRow } from './code-hosts.queries.ts'
import { type MentionRow, reportsDeploys, selectFixedIn, type selectIssueState } from './commits.queries.ts'

type IssueState = NonNullable<Awaited<ReturnType<typeof selectIssueState>>>
type Change = Pick<MentionRow, 'state' | 'says_fix' | 'mentioned_at'>

/** The further a change has come, the higher. */
const PROGRESS: Readonly<Record<MentionRow['state'], number>> = {
  closed: 0,
  mentioned: 1,
  open: 2,
  merged: 3,
  fixes: 4,
}

/**
 * The change that fixes an issue, or is to: the one that came furthest, a pull request before its commits, then the newest.
 * Changes from before the issue returned fixed nothing, unless they are still open. Pure.
 */
export function chooseFix<T extends Change & Pick<MentionRow, 'kind'>>(
  mentions: readonly T[],
  { status, status_changed_at: since }: Pick<IssueState, 'status' | 'status_changed_at'>,
): T | null {
  const isCurrent = ({ state, mentioned_at: at }: Change): boolean => {
    if (status === 'resolved' || state === 'open') return true
    // A change that had come to the default branch did not hold.
    return state !== 'fixes' && (status !== 'regressed' || at >= since)
  }
  const [best] = mentions
    .filter((one) => (one.says_fix || one.state === 'fixes') && one.state !== 'closed' && isCurrent(one))
    .toSorted(
      (a, b) =>
        PROGRESS[b.state] - PROGRESS[a.state] ||
        Number(b.kind === 'pull') - Number(a.kind === 'pull') ||
        b.mentioned_at.getTime() - a.mentioned_at.getTime(),
    )
  return best ?? null
}

/** How far the fix of an issue has come. */
export async function readFix<T extends MentionRow>(
  app: App,
  { projectId, host }: { readonly projectId: string; readonly host: CodeHostRow | undefined },
  issue: IssueState | undefined,
  mentions: readonly T[],
  view: (mention: T) => IssueFix['change'],
): Promise<IssueFix> {
  const change = issue === undefined ? null : chooseFix(mentions, issue)
  const version = issue?.status === 'resolved' ? issue.resolved_in_release : null
  const [release, hasDeploys] = await Promise.all([
    version === null ? undefined : selectFixedIn(app.db, projectId, version),
    reportsDeploys(app.db, projectId),
  ])
  return {
    change: change === null ? null : view(change),
    branch: host?.default_branch ?? null,
    release:
      release === undefined
        ? null
        : {
            id: release.id,
            version: release.version,
            is_planned: release.state === 'planned',
            released_at: (release.released_at ?? release.created_at).toISOString(),
            first_seen: release.first_seen_at?.toISOString() ?? null,
            deploy:
              release.environment === null || release.finished_at === null
                ? null
                : { environment: release.environment, at: release.finished_at.toISOString() },
          },
    reports_deploys: hasDeploys,
  }
}
