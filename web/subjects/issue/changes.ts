import { changeTexts } from './change-texts.ts'
import { addToast } from '../../ui/toasts.tsx'
import { ApiError, call } from '../../api/call.ts'
import { useChange } from '../../api/change.ts'
import { editCached, affectedQueryKeys, removeCached, restoreIssues, returnIssues } from '../../api/issue-cache.ts'
import {
  toApiQuery,
  type Issue,
  type IssueDetail,
  type Severity,
  type Status,
  type StreamFilters,
} from '../../api/issue-queries.ts'
import { finished, readRefusals, undo, type Operation } from '../../api/operations.ts'
import { showRefused } from './refused.ts'

export type Assignee = NonNullable<Issue['assignee']>

/** The API's forms of a resolution and of the condition that ends ignoring. */
export type Resolution = NonNullable<Issue['resolution']>
export type IgnoreUntil = NonNullable<Issue['ignore_until']>

/** A change of one or more issues. */
export type Edit =
  | { kind: 'status'; status: Status; resolution?: Resolution | undefined; ignore_until?: IgnoreUntil | undefined }
  | { kind: 'assignee'; assignee: Assignee | null }
  /** Null sets the severity automatically again. */
  | { kind: 'severity'; severity: Severity | null }

/** All issues that match the stream's filters, loaded or not. */
export type AllMatching = { filters: StreamFilters; since: string; total: number }

export type IssueEdit = {
  issues: readonly Issue[]
  edit: Edit
  /** If given, all matching issues are changed; `issues` then holds only the loaded ones. */
  all?: AllMatching | undefined
  /** The row of the keyboard cursor, to which Undo returns. */
  cursor?: string | null
}

type Results = { operation: Operation; refused: { issueId: string; reason: string }[] }

/** The target of a bulk operation: ids, or the query of the stream. */
const targetOf = (issues: readonly Issue[], all: AllMatching | undefined) => {
  if (all === undefined) return { ids: issues.map(({ id }) => id) }
  const { filters, since } = all
  return {
    query: {
      q: toApiQuery(filters) ?? undefined,
      projectId: filters.project ?? undefined,
      status: filters.status === null ? undefined : [...filters.status],
      severity: filters.severity.length === 0 ? undefined : [...filters.severity],
      platform: filters.platform.length === 0 ? undefined : [...filters.platform],
      assignee_id: filters.assignee ?? undefined,
      seen_since: since,
    },
  }
}

/** @throws ApiError with the first reason if no issue could be changed */
async function resultsOf(start: Promise<Operation>): Promise<Results> {
  const operation = await finished(start)
  const refused = await readRefusals(operation)
  const [first] = refused
  if (first !== undefined && operation.failed === operation.total) throw new ApiError(400, first.reason)
  return { operation, refused }
}

type Patch = {
  status?: Status
  resolution?: Resolution | undefined
  ignore_until?: IgnoreUntil | null | undefined
  assignee_id?: string | null
  severity?: Severity | null
}

const patchOf = (edit: Edit): Patch => {
  if (edit.kind === 'status') {
    const { status, resolution, ignore_until } = edit
    // Without a condition, null removes a former one: the issue is ignored forever.
    return { status, resolution, ignore_until: status === 'ignored' ? (ignore_until ?? null) : undefined }
  }
  return edit.kind === 'assignee' ? { assignee_id: edit.assignee?.id ?? null } : { severity: edit.severity }
}

const guessOf =
  (edit: Edit) =>
  (issue: Issue): Issue => {
    if (edit.kind === 'status')
      return {
        ...issue,
        status: edit.status,
        status_reason: null,
        resolution: edit.resolution ?? null,
        ignore_until: edit.ignore_until ?? null,
      }
    if (edit.kind === 'assignee') return { ...issue, assignee: edit.assignee, assignee_id: edit.assignee?.id ?? null }
    if (edit.severity === null) return { ...issue, severity_pinned: false }
    return { ...issue, severity: edit.severity, severity_pinned: true }
  }

/** The fields that a list shows, without those of the detail. */
export const toIssueRow = (issue: Issue | IssueDetail): Issue => {
  if (!('activity' in issue)) return issue
  const { activity: _a, event: _e, event_ids: _i, grouping: _g, project: _p, tag_distribution: _t, ...row } = issue
  return row
}

const nameOf = (issues: readonly Pick<Issue, 'id' | 'short_id'>[], { operation, refused }: Results): string => {
  const count = operation.total - operation.failed
  if (count !== 1) return changeTexts.countOf(count)
  const gone = new Set(refused.map(({ issueId }) => issueId))
  return issues.find(({ id }) => !gone.has(id))?.short_id ?? changeTexts.countOf(1)
}

/** Shows a toast for issues that could not be changed: one with its reason, several with a list of reasons. */
function showRefusals(issues: readonly Issue[], { operation, refused }: Results): void {
  if (operation.failed === 0) return
  const names = new Map(issues.map(({ id, short_id }) => [id, short_id]))
  const rows = refused.map(({ issueId, reason }) => ({ issueId, reason, name: names.get(issueId) ?? null }))
  const [first] = rows
  const text =
    operation.failed === 1
      ? changeTexts.notChangedOne(first?.name ?? changeTexts.countOf(1), first?.reason ?? '')
      : changeTexts.notChanged(operation.failed)
  addToast({
    text,
    tone: 'bad',
    ...(operation.failed === 1
      ? {}
      : { action: { label: changeTexts.showRefused, run: () => showRefused({ total: operation.failed, rows }) } }),
  })
}

const unchanged = (issues: readonly Issue[], { refused }: Results): readonly Issue[] => {
  const ids = new Set(refused.map(({ issueId }) => issueId))
  return issues.filter(({ id }) => ids.has(id))
}

const saidOf = (edit: Edit, who: string): string => {
  if (edit.kind === 'status') return changeTexts.movedTo[edit.status](who)
  if (edit.kind === 'assignee')
    return edit.assignee === null ? changeTexts.nowUnassigned(who) : changeTexts.assigned(who, edit.assignee.name)
  return edit.severity === null ? changeTexts.severityAutomatic(who) : changeTexts.severitySet(who, edit.severity)
}

/**
 * Changes issues optimistically, with an exact Undo and a report of issues that could not be changed.
 * @param onUndo called when Undo is pressed, after the issues are back in their lists
 */
export function useIssueEdit({ onUndo }: { onUndo?: (change: IssueEdit) => void } = {}) {
  return useChange<IssueEdit, Results>({
    send: ({ issues, edit, all }) =>
      resultsOf(call('PATCH /api/issues', { body: { ...targetOf(issues, all), ...patchOf(edit) } })),
    same: ({ issues, edit, all }) => JSON.stringify([issues.map(({ id }) => id), edit, all?.since]),
    touches: ({ issues }) => affectedQueryKeys(issues),
    guess: (client, { issues, edit }) => editCached(client, issues, guessOf(edit)),
    restore: (client, remembered, { issues, edit }) => restoreIssues(client, remembered, issues, guessOf(edit)),
    settle: (client, results, { issues }) => {
      returnIssues(client, unchanged(issues, results))
      showRefusals(issues, results)
    },
    said: (results, { edit, issues }) => saidOf(edit, nameOf(issues, results)),
    undo: async (change, { operation }, client) => {
      const { issues, edit } = change
      onUndo?.(change)
      const undone = await undo(operation.id)
      const refused = await readRefusals(undone)
      const [first] = refused
      if (first === undefined) return
      addToast({ text: changeTexts.notUndone(undone.failed, first.reason), tone: 'bad' })
      // Issues that could not be undone show the change again.
      editCached(client, unchanged(issues, { operation: undone, refused }), guessOf(edit))
    },
    failed: changeTexts.failed,
  })
}

export type IssueDeletion = Omit<IssueEdit, 'edit'>

/** Deletes issues with their events. This cannot be undone. */
export function useIssueDelete(onGone?: () => void) {
  return useChange<IssueDeletion, Results>({
    send: ({ issues, all }) => resultsOf(call('DELETE /api/issues', { body: targetOf(issues, all) })),
    touches: ({ issues }) => affectedQueryKeys(issues).filter((key) => key[1] !== 'detail'),
    guess: (client, { issues }) => removeCached(client, issues),
    restore: (client, remembered, { issues }) => restoreIssues(client, remembered, issues, () => null),
    settle: (client, results, { issues }) => {
      const left = unchanged(issues, results)
      returnIssues(client, left)
      const stays = new Set(left.map(({ id }) => id))
      for (const { id } of issues)
        if (!stays.has(id)) client.removeQueries({ queryKey: ['issues', 'detail', id], type: 'inactive' })
      showRefusals(issues, results)
      onGone?.()
    },
    said: (results, { issues }) => changeTexts.deleted(nameOf(issues, results)),
    failed: changeTexts.deleteFailed,
  })
}
