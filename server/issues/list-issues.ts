import type { Actor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid } from '../kernel/errors.ts'
import { TOTAL_CAP, type Page } from '../kernel/page.api.ts'
import type { Issue, IssueSort, IssueStatus, Severity } from './issues.api.ts'
import {
  countByStatus,
  countIssues,
  encodeCursor,
  selectIssueIds,
  selectIssues,
  type IssueFilter,
} from './issues.queries.ts'
import { parseQuestion } from './question.ts'
import { viewIssues } from './view-issue.ts'

/** Query of the lists as the contract parses it. */
export type ListInput = {
  readonly limit: number
  readonly offset: number
  readonly cursor?: string | undefined
  readonly sort: IssueSort
  readonly status?: readonly IssueStatus[] | undefined
  readonly severity?: readonly Severity[] | undefined
  readonly projectId?: readonly string[] | undefined
  readonly assignee_id?: readonly string[] | undefined
  readonly platform?: readonly string[] | undefined
  readonly seen_since?: string | undefined
  readonly q?: string | undefined
}

/** Issues of the organisation: one page, the total, and how many there are per status. */
export async function listIssues(
  app: App,
  actor: Actor,
  input: ListInput,
): Promise<Page<Issue> & { status_counts: Record<IssueStatus, number> }> {
  const filter = filterOf(actor, input)
  const [page, status_counts] = await Promise.all([
    pageOfIssues(app, actor, filter, input),
    countByStatus(app.db, actor, filter),
  ])
  return { ...page, status_counts }
}

/** Full-text search: free words and terms of {@link parseQuestion} beside the filters of the list. */
export async function searchIssues(app: App, actor: Actor, input: ListInput): Promise<Page<Issue>> {
  return pageOfIssues(app, actor, filterOf(actor, input), input)
}

/** Ids of the issues under the filters of the list, newest first, at most so many. */
export async function issueIdsMatching(
  app: App,
  actor: Actor,
  input: Omit<ListInput, 'limit' | 'offset' | 'cursor' | 'sort'>,
  most: number,
): Promise<string[]> {
  return selectIssueIds(app.db, actor, filterOf(actor, input), most)
}

async function pageOfIssues(app: App, actor: Actor, filter: IssueFilter, input: ListInput): Promise<Page<Issue>> {
  if (input.cursor !== undefined && input.offset > 0) throw invalid('Send either cursor or offset, not both.')
  const [rows, total] = await Promise.all([
    selectIssues(app.db, actor, filter, input),
    countIssues(app.db, actor, filter),
  ])
  const shown = rows.slice(0, input.limit)
  const last = shown.at(-1)
  return {
    items: await viewIssues(app, shown),
    total: Math.min(total, TOTAL_CAP),
    ...(total > TOTAL_CAP ? { total_capped: true as const } : {}),
    limit: input.limit,
    offset: input.offset,
    next_cursor: rows.length > input.limit && last !== undefined ? encodeCursor(input.sort, last) : null,
  }
}

function filterOf(actor: Actor, input: Omit<ListInput, 'limit' | 'offset' | 'cursor' | 'sort'>): IssueFilter {
  const people = (ids: readonly string[]) => ids.map((id) => (id === 'none' ? null : id === 'me' ? actor.userId : id))
  const asked = parseQuestion(input.q ?? '')
  return {
    projectIds: input.projectId,
    statuses: both(input.status, asked.statuses),
    severities: both(input.severity, asked.severities),
    levels: asked.levels,
    platforms: input.platform,
    assignees: both(
      input.assignee_id === undefined ? undefined : people(input.assignee_id),
      asked.assignees === undefined ? undefined : people(asked.assignees),
    ),
    seenSince: input.seen_since === undefined ? undefined : new Date(input.seen_since),
    words: asked.words,
    withoutWords: asked.withoutWords,
  }
}

/** Parameter and term both narrow: what is in both lists. */
function both<T>(a: readonly T[] | undefined, b: readonly T[] | undefined): readonly T[] | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return a.filter((value) => b.includes(value))
}
