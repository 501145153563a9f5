import { memberOf, type OrgActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { invalid } from '../kernel/errors.ts'
import { TOTAL_CAP, type Page } from '../kernel/page.api.ts'
import { projectsBeingDeleted } from '../projects/project-rows.queries.ts'
import { isStatementCancelled } from '../storage/pool.ts'
import { ISSUE_STATUSES } from '#shared/issue-values.ts'
import type { Issue, IssueSort, IssueStatus, Severity } from '../issue-rules/issue.api.ts'
import { encodeCursor } from './list-cursor.ts'
import { countByStatus, issueIdsOf, selectIssueIds, selectIssues, type IssueFilter } from './list.queries.ts'
import { latest } from './compile-query.queries.ts'
import { issuesMatching, type Matching } from './issues-matching.ts'
import { parseQuery } from './parse-query.ts'
import { viewIssues } from '../issue-rows/view-issue.ts'

/** Query parameters of the lists, as the contract parses them. */
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

/** Returns one page of the organisation's issues, the total, and the count per status. */
export async function listIssues(
  app: App,
  actor: OrgActor,
  input: ListInput,
): Promise<Page<Issue> & { status_counts: Record<IssueStatus, number>; read_at: string }> {
  const readAt = app.clock.now()
  const [page, counts] = await withTimeout(app, 'q', input.q, async () => {
    // The counts per status ignore the status filter, so the query must match issues of every status.
    const filter = { ...(await filterOf(app, actor, { ...input, status: undefined })), statuses: input.status }
    return Promise.all([pageOfIssues(app, actor, filter, input), countByStatus(app.db, actor, filter)])
  })
  const capped = ISSUE_STATUSES.map((status) => [status, Math.min(counts.statuses[status], TOTAL_CAP)] as const)
  return {
    ...withTotal(page, counts.total),
    status_counts: Object.fromEntries(capped) as Record<IssueStatus, number>,
    read_at: readAt.toISOString(),
  }
}

/** Returns the same page and total without counts per status. */
export async function searchIssues(app: App, actor: OrgActor, input: ListInput): Promise<Page<Issue>> {
  const [page, { total }] = await withTimeout(app, 'q', input.q, async () => {
    const filter = await filterOf(app, actor, input)
    return Promise.all([pageOfIssues(app, actor, filter, input), countByStatus(app.db, actor, filter, filter.statuses)])
  })
  return withTotal(page, total)
}

/**
 * Returns the ids of the issues that match the filters of the list, newest first.
 * @param name name of the query in error messages
 */
export async function issueIdsMatching(
  app: App,
  actor: OrgActor,
  input: Omit<ListInput, 'limit' | 'offset' | 'cursor' | 'sort'>,
  max: number,
  name = 'q',
): Promise<string[]> {
  return withTimeout(app, name, input.q, async () =>
    selectIssueIds(app.db, actor, await filterOf(app, actor, input, name), max),
  )
}

/**
 * Turns a statement timeout into an error of the query, if there is one, and logs it. HTTP requests time out earlier
 * (`http/bind.ts`).
 * @throws AppError invalid
 */
async function withTimeout<T>(app: App, name: string, query: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isStatementCancelled(error) || query === undefined || query.trim() === '') throw error
    app.log.warn({ err: error }, 'a search was cancelled because it took too long')
    throw invalid(`${name}: the search takes too long; narrow it by a project, a time or more words.`)
  }
}

type Uncounted = Omit<Page<Issue>, 'total' | 'total_capped'>

async function pageOfIssues(app: App, actor: OrgActor, filter: IssueFilter, input: ListInput): Promise<Uncounted> {
  if (input.cursor !== undefined && input.offset > 0) throw invalid('Send either cursor or offset, not both.')
  const rows = await selectIssues(app.db, actor, filter, input)
  const shown = rows.slice(0, input.limit)
  const last = shown.at(-1)
  return {
    items: await viewIssues(app, shown),
    limit: input.limit,
    offset: input.offset,
    next_cursor: rows.length > input.limit && last !== undefined ? encodeCursor(input.sort, last) : null,
  }
}

function withTotal(page: Uncounted, total: number): Page<Issue> {
  const { items, ...place } = page
  return {
    items,
    total: Math.min(total, TOTAL_CAP),
    ...(total > TOTAL_CAP ? { total_capped: true as const } : {}),
    ...place,
  }
}

/** @throws AppError invalid for an invalid query, with the position */
async function filterOf(
  app: App,
  actor: OrgActor,
  input: Omit<ListInput, 'limit' | 'offset' | 'cursor' | 'sort'>,
  name = 'q',
): Promise<IssueFilter> {
  const userIds = (ids: readonly string[]) =>
    ids.map((id) => (id === 'none' ? null : id === 'me' ? memberOf(actor).userId : id))
  const hiddenProjectIds = input.projectId === undefined ? await projectsBeingDeleted(app.db, actor.orgId) : []
  const filterBy = ({ seenSince, conditions }: Matching): IssueFilter => ({
    projectIds: input.projectId,
    hiddenProjectIds,
    statuses: input.status,
    severities: input.severity,
    platforms: input.platform,
    assignees: input.assignee_id === undefined ? undefined : userIds(input.assignee_id),
    seenSince: latest([input.seen_since === undefined ? undefined : new Date(input.seen_since), seenSince]),
    conditions,
  })
  const query = parseQuery(input.q ?? '', name)
  const idsOf = (matching: Matching) => issueIdsOf(app.db, actor, filterBy(matching))
  return filterBy(await issuesMatching(app.db, actor, query, app.clock.now(), idsOf, name))
}
