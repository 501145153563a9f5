import { issues as words } from '../words/issues.ts'
import { call } from './call.ts'
import { reasonOf, useChange } from './change.ts'
import { editCached, keysOf, removeCached, returnIssues, storeIssues } from './issue-cache.ts'
import type { Issue, IssueDetail, Severity, Status } from './issue-queries.ts'

export type Person = NonNullable<Issue['assignee']>

/** How it is resolved, and what ends ignoring: as the API takes them. */
export type Resolution = NonNullable<Issue['resolution']>
export type IgnoreUntil = NonNullable<Issue['ignore_until']>

/** What can be done to issues, one at a time or to a selection. */
export type Edit =
  | { kind: 'status'; status: Status; resolution?: Resolution | undefined; ignore_until?: IgnoreUntil | undefined }
  | { kind: 'assignee'; person: Person | null }
  /** Null leaves it to the rules again. */
  | { kind: 'severity'; severity: Severity | null }

export type IssueEdit = { issues: readonly Issue[]; edit: Edit }

type Results = { done: Issue[]; failed: { issue: Issue; error: unknown }[] }

/** So many calls at once: a large selection must not crowd out the rest of the page. */
const AT_ONCE = 4

/** Runs the work for each, a few at a time, in order of the list. @throws the first refusal when all were refused */
async function forEach<Answer>(issues: readonly Issue[], work: (issue: Issue) => Promise<Answer>) {
  const waiting = [...issues]
  const done: Answer[] = []
  const failed: { issue: Issue; error: unknown }[] = []
  const runner = async () => {
    for (let issue = waiting.shift(); issue !== undefined; issue = waiting.shift()) {
      try {
        done.push(await work(issue))
      } catch (error) {
        failed.push({ issue, error })
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, issues.length) }, runner))
  const [first] = failed
  if (first !== undefined && done.length === 0) throw first.error
  return { done, failed }
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
    // Ignoring without a condition is for good, whatever held before.
    return { status, resolution, ignore_until: status === 'ignored' ? (ignore_until ?? null) : undefined }
  }
  return edit.kind === 'assignee' ? { assignee_id: edit.person?.id ?? null } : { severity: edit.severity }
}

/** The patch that brings back what was there. */
const backOf = (issue: Issue, edit: Edit): Patch => {
  if (edit.kind === 'status') {
    const { status, resolution, ignore_until } = issue
    if (status === 'resolved') return { status, resolution: resolution ?? undefined }
    return status === 'ignored' ? { status, ignore_until } : { status }
  }
  if (edit.kind === 'assignee') return { assignee_id: issue.assignee_id }
  return { severity: issue.severity_pinned ? issue.severity : null }
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
    if (edit.kind === 'assignee') return { ...issue, assignee: edit.person, assignee_id: edit.person?.id ?? null }
    if (edit.severity === null) return { ...issue, severity_pinned: false }
    return { ...issue, severity: edit.severity, severity_pinned: true }
  }

const send = (issueId: string, body: Patch) => call('PATCH /api/issues/:issueId', { params: { issueId }, body })

/** A row of the list, without what only the detail carries. */
export const rowOf = (issue: Issue | IssueDetail): Issue => {
  if (!('activity' in issue)) return issue
  const { activity: _a, event: _e, event_ids: _i, grouping: _g, project: _p, tag_distribution: _t, ...row } = issue
  return row
}

const nameOf = (issues: readonly Pick<Issue, 'short_id'>[]): string =>
  issues.length === 1 ? (issues[0]?.short_id ?? '') : words.countOf(issues.length)

const refusedOf = ({ failed }: { failed: Results['failed'] }): string =>
  failed.length === 0 ? '' : ` ${words.notChanged(failed.length, reasonOf(failed[0]?.error))}`

const saidOf = (edit: Edit, who: string): string => {
  if (edit.kind === 'status') return words.movedTo[edit.status](who)
  if (edit.kind === 'assignee')
    return edit.person === null ? words.unassigned(who) : words.assigned(who, edit.person.name)
  return edit.severity === null ? words.severityByRules(who) : words.severitySet(who, edit.severity)
}

/** Applies an edit to the issues at once, offers Undo, and says what was refused. */
export function useIssueEdit() {
  return useChange<IssueEdit, Results>({
    send: ({ issues, edit }) => forEach(issues, (issue) => send(issue.id, patchOf(edit))),
    touches: ({ issues }) => keysOf(issues),
    guess: (client, { issues, edit }) => editCached(client, issues, guessOf(edit)),
    settle: (client, { done, failed }) => {
      storeIssues(client, done)
      if (failed.length > 0)
        returnIssues(
          client,
          failed.map(({ issue }) => issue),
        )
    },
    said: (results, { edit }) => saidOf(edit, nameOf(results.done)) + refusedOf(results),
    undo: ({ issues, edit }, { done }) => {
      const changed = new Set(done.map((issue) => issue.id))
      return forEach(
        issues.filter((issue) => changed.has(issue.id)),
        (issue) => send(issue.id, backOf(issue, edit)),
      )
    },
    failed: words.failed,
  })
}

/** Deletes issues with their events; nothing brings them back. */
export function useIssueDelete(onGone?: () => void) {
  return useChange<readonly Issue[], { done: string[]; failed: Results['failed'] }>({
    send: (issues) =>
      forEach(issues, async ({ id }) => {
        await call('DELETE /api/issues/:issueId', { params: { issueId: id } })
        return id
      }),
    touches: (issues) => keysOf(issues).filter((key) => key[1] !== 'detail'),
    guess: (client, issues) => removeCached(client, issues),
    settle: (client, { failed, done }) => {
      if (failed.length > 0)
        returnIssues(
          client,
          failed.map(({ issue }) => issue),
        )
      for (const id of done) client.removeQueries({ queryKey: ['issues', 'detail', id], type: 'inactive' })
      onGone?.()
    },
    said: (results, issues) =>
      words.deleted(nameOf(issues.filter(({ id }) => results.done.includes(id)))) + refusedOf(results),
    failed: words.deleteFailed,
  })
}
