import { issuesTexts } from './texts.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { affectedQueryKeys, removeCached, restoreIssues, storeIssues } from '../../../api/issue-cache.ts'
import type { Issue } from '../../../api/issue-queries.ts'

/** The maximum of one call, and the issue that stays. */
const MAX_MERGED = 101

/** Why issues cannot be merged; undefined when they can. */
export function whyNotMerge(issues: readonly Issue[]): string | undefined {
  if (issues.length < 2) return issuesTexts.mergeNeedsTwo
  if (issues.length > MAX_MERGED) return issuesTexts.mergeTooMany(MAX_MERGED)
  const isOfOne = issues.every(({ project_id: projectId }) => projectId === issues[0]?.project_id)
  return isOfOne ? undefined : issuesTexts.mergeOtherProject
}

/** The merge target: the issue of the cursor, else the oldest. Null if the issues cannot be merged. */
export function chooseMergeTarget(issues: readonly Issue[], cursor: string | null): Issue | null {
  const [first] = issues
  if (first === undefined || whyNotMerge(issues) !== undefined) return null
  return (
    issues.find(({ id }) => id === cursor) ??
    issues.reduce((oldest, issue) => (issue.first_seen < oldest.first_seen ? issue : oldest))
  )
}

export type IssueMerge = { into: Issue; others: readonly Issue[]; cursor: string | null }

/** Merges issues into one of them; Undo unmerges them. */
export function useIssueMerge(onUndo: (merge: IssueMerge) => void) {
  const body = ({ others }: IssueMerge) => ({ issue_ids: others.map(({ id }) => id) })
  return useChange<IssueMerge, Issue>({
    send: (merge) => call('POST /api/issues/:issueId/merge', { params: { issueId: merge.into.id }, body: body(merge) }),
    touches: ({ into, others }) => affectedQueryKeys([into, ...others]),
    guess: (client, { others }) => removeCached(client, others),
    restore: (client, remembered, { into, others }) =>
      restoreIssues(client, remembered, [into, ...others], (issue) => (issue.id === into.id ? issue : null)),
    settle: (client, merged) => storeIssues(client, [merged]),
    said: (_merged, { into, others }) => issuesTexts.merged(others.length, into.short_id),
    undo: (merge) => {
      onUndo(merge)
      return call('POST /api/issues/:issueId/unmerge', { params: { issueId: merge.into.id }, body: body(merge) })
    },
    failed: issuesTexts.mergeFailed,
  })
}
