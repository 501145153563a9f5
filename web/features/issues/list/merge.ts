import { issuesTexts } from './texts.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { affectedQueryKeys, removeCached, restoreIssues, storeIssues } from '../../../api/issue-cache.ts'
import type { Issue } from '../../../api/issue-queries.ts'

/** The merge target: the issue of the cursor, else the oldest. Null if the issues cannot be merged. */
export function chooseMergeTarget(issues: readonly Issue[], cursor: string | null): Issue | null {
  const [first] = issues
  if (first === undefined || issues.length < 2 || issues.length > 101) return null
  if (issues.some(({ project_id: projectId }) => projectId !== first.project_id)) return null
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
