import { mergeTexts } from './merge-texts.ts'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { affectedQueryKeys, removeCached } from '../../../api/issue-cache.ts'
import type { Issue, IssueDetail } from '../../../api/issue-queries.ts'

type Named = Pick<Issue, 'id' | 'short_id'>

const merge = (issue: Named, others: readonly Named[]) =>
  call('POST /api/issues/:issueId/merge', {
    params: { issueId: issue.id },
    body: { issue_ids: others.map(({ id }) => id) },
  })
const unmerge = (issue: Named, others: readonly Named[]) =>
  call('POST /api/issues/:issueId/unmerge', {
    params: { issueId: issue.id },
    body: { issue_ids: others.map(({ id }) => id) },
  })

/** Merges issues into one; Undo unmerges them. */
export function useMerge(issue: IssueDetail, onDone: () => void) {
  return useChange({
    send: (others: readonly Named[]) => merge(issue, others),
    touches: (others) => [...affectedQueryKeys([issue, ...others]), ['issues', 'to-merge'], ['comments', issue.id]],
    settle: (client, _answer, others) => {
      // Lists are never refetched automatically, so the rows are removed here.
      removeCached(client, others)
      onDone()
    },
    said: (_answer, others) => mergeTexts.merged(others.length, issue.short_id),
    undo: (others) => unmerge(issue, others),
    failed: mergeTexts.mergeFailed,
  })
}

/** Unmerges an issue; Undo merges it again. */
export function useUnmerge(issue: Pick<IssueDetail, 'id' | 'short_id'>) {
  return useChange({
    send: (other: Named) => unmerge(issue, [other]),
    touches: (other) => [...affectedQueryKeys([issue, other]), ['issues', 'to-merge'], ['comments', issue.id]],
    said: (_answer, other) => mergeTexts.unmerged(other.short_id),
    undo: (other) => merge(issue, [other]),
    failed: mergeTexts.unmergeFailed,
  })
}

/** Discards an issue. */
export function useDiscard(issue: IssueDetail, onGone: () => void) {
  return useChange({
    send: (one: Named) => call('POST /api/issues/:issueId/discard', { params: { issueId: one.id } }),
    touches: (one) => [
      ...affectedQueryKeys([one]).filter((key) => key[1] !== 'detail'),
      ['projects', issue.project_id, 'discards'],
    ],
    settle: (client, _answer, one) => {
      removeCached(client, [one])
      client.removeQueries({ queryKey: ['issues', 'detail', one.id], type: 'inactive' })
      onGone()
    },
    said: (_answer, one) => mergeTexts.discarded(one.short_id),
    failed: mergeTexts.discardFailed,
  })
}
