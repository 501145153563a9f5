import type { IssueDetail } from '../../../api/issue-queries.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { codeTexts } from './code-texts.ts'

/** The way of a fix, from the commit or pull request to the apps in use. Pure. */

const texts = codeTexts.fix

export type FixStep = {
  readonly key: 'change' | 'merged' | 'released' | 'used'
  readonly title: string
  readonly isDone: boolean
  /** The commit or pull request. */
  readonly link?: { readonly label: string; readonly url: string }
  readonly releaseId?: string
  readonly note?: string | null
  readonly at?: string | null
}

export type FixedIssue = Pick<IssueDetail, 'status' | 'status_changed_at' | 'resolution'> & {
  readonly code: Pick<IssueDetail['code'], 'fix' | 'provider'>
}

/** The steps of the fix of an issue, in their order; none while nothing is to fix it. */
export function listFixSteps(issue: FixedIssue): FixStep[] {
  const first = stepsOfChange(issue)
  return first.length === 0 ? [] : [...first, stepOfRelease(issue), stepOfUse(issue)]
}

function stepsOfChange({
  status,
  status_changed_at: since,
  resolution,
  code: { fix, provider },
}: FixedIssue): FixStep[] {
  const { change } = fix
  if (change === null) {
    if (status !== 'resolved' || resolution === null || 'now' in resolution) return []
    const title = 'in_commit' in resolution ? texts.resolvedIn(resolution.in_commit.slice(0, 7)) : texts.resolved
    return [{ key: 'change', title, isDone: true, at: since }]
  }
  const branch = fix.branch ?? texts.theBranch
  const { label, url, at, state, kind } = change
  const link = { label, url }
  if (state === 'fixes')
    return [
      {
        key: 'merged',
        title: kind === 'pull' ? texts.mergedTo(branch) : texts.committedTo(branch),
        isDone: true,
        link,
        at,
      },
    ]
  return [
    state === 'open'
      ? { key: 'change', title: texts.open[provider ?? 'github'], isDone: false, link, at }
      : {
          key: 'change',
          title: kind === 'pull' ? texts.merged : texts.committed,
          isDone: true,
          link,
          at,
          note: texts.elsewhere(branch),
        },
    {
      key: 'merged',
      title: texts.mergedTo(branch),
      isDone: false,
      note: status === 'resolved' ? null : texts.thenResolved,
    },
  ]
}

function stepOfRelease({ resolution, code: { fix } }: FixedIssue): FixStep {
  const { release } = fix
  const key = 'released'
  if (release !== null) {
    const version = shortVersion(release.version)
    return release.is_planned
      ? { key, title: texts.planned(version), isDone: false, releaseId: release.id, note: texts.isPlanned }
      : { key, title: texts.releasedIn(version), isDone: true, releaseId: release.id, at: release.released_at }
  }
  const note =
    resolution === null
      ? null
      : 'in_commit' in resolution
        ? texts.thenInRelease
        : 'in_next_release' in resolution
          ? texts.nextRelease
          : null
  return { key, title: texts.released, isDone: false, note }
}

function stepOfUse({ code: { fix } }: FixedIssue): FixStep {
  const { release, reports_deploys: hasDeploys } = fix
  const key = 'used'
  const deploy = release?.deploy ?? null
  if (deploy !== null) return { key, title: texts.deployedTo(deploy.environment), isDone: true, at: deploy.at }
  if (hasDeploys) return { key, title: texts.deployed, isDone: false }
  const seen = release?.first_seen ?? null
  return {
    key,
    title: texts.inUse,
    isDone: seen !== null,
    ...(seen === null ? {} : { note: texts.firstSeen, at: seen }),
  }
}
