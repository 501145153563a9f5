import { serviceNow } from '../ui/clock.ts'
import { HOUR_MS } from '../ui/format.ts'
import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query'
import { isBalanced } from '#shared/query-terms.ts'
import { countsStart } from '#shared/time-ranges.ts'
import { selectedWindow, type IssuesSearch, type Range } from '../address/search.ts'
import { eventOnly } from './event-only.ts'
import { movedBy, type QueryHint } from './query-hints.ts'
import { call, type AnswerOf } from './call.ts'

export type Issue = AnswerOf<'GET /api/issues'>['items'][number]
export type IssueDetail = AnswerOf<'GET /api/issues/:issueId'>
export type Comment = AnswerOf<'GET /api/issues/:issueId/comments'>['items'][number]
export type Volume = AnswerOf<'GET /api/issues/volume'>
export type SessionSummary = AnswerOf<'GET /api/sessions/summary'>
export type Status = Issue['status']
export type Severity = Issue['severity']

/** The statuses of open issues. */
export const OPEN: readonly Status[] = ['unresolved', 'regressed', 'escalated']

/** All filters of the stream: equal filters are the same list. */
export type StreamFilters = {
  project: string | null
  range: Range
  /** Null leaves it to the `is:` terms of the search. */
  status: readonly Status[] | null
  severity: readonly Severity[]
  platform: readonly string[]
  assignee: string | null
  q: string
  /** A part of the range. */
  window: { from: string; to: string } | null
  sort: NonNullable<IssuesSearch['sort']>
}

export const DEFAULT_SORT = '-last_seen'

/** Whether the query filters by status. */
export const searchesStatus = (q: string): boolean => /(?:^|[\s(])[-!]?(?:is|status):/iu.test(q)

export function toStreamFilters(search: IssuesSearch): StreamFilters {
  const q = search.q?.trim() ?? ''
  return {
    project: search.project ?? null,
    range: search.range ?? '24h',
    status: search.status ?? (searchesStatus(q) ? null : OPEN),
    severity: search.severity ?? [],
    platform: search.platform ?? [],
    assignee: search.assignee ?? null,
    q,
    window: selectedWindow(search),
    sort: search.sort ?? DEFAULT_SORT,
  }
}

type Asked = Pick<StreamFilters, 'q' | 'window'>

/** The query for the API: the typed query and the end of the window. Null if there is neither. */
export function toApiQuery(asked: Asked): string | null {
  const { q, window } = asked
  // More would move the mistake of a query that cannot be read, or mend it.
  if (window === null || !isBalanced(q)) return q === '' ? null : q
  const before = `first_seen:<${window.to}`
  return q === '' ? before : `${isWrapped(asked) ? `(${q})` : q} ${before}`
}

/** A keyword would join the query with the end of the window. */
const isWrapped = ({ q, window }: Asked): boolean => window !== null && /\b(?:AND|OR|NOT)\b/u.test(q) && isBalanced(q)

/** Where the typed query begins in that for the API: places in answers are moved by it. */
export const typedQueryStart = (asked: Asked): number => (isWrapped(asked) ? 1 : 0)

/** A page of the stream. */
export type StreamPage = {
  items: Issue[]
  total: number
  totalCapped: boolean
  nextCursor: string | null
  statusCounts: Partial<Record<Status, number>> | null
  hints: readonly QueryHint[]
  /** Start of the time; the same for all pages. */
  since: string
  readAt: number
  /** The same by the server's clock, comparable with the times of status changes. */
  asOf: number
}

type PageParam = { cursor: string; since: string } | null
export type StreamData = InfiniteData<StreamPage, PageParam>

const PAGE_ROWS = '100'

const sinceOf = ({ window, range }: StreamFilters): Date =>
  new Date(window === null ? countsStart(serviceNow(), range) : window.from)

/** The time whose events and users the rows count. */
const countsOf = ({ window, range }: Pick<StreamFilters, 'window' | 'range'>) =>
  window === null ? { range } : { from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString() }

const filterOf = ({ project, status, severity, platform, assignee }: VolumeFilters) => ({
  projectId: project === null ? undefined : [project],
  status: status === null ? undefined : [...status],
  severity: severity.length === 0 ? undefined : [...severity],
  platform: platform.length === 0 ? undefined : [...platform],
  assignee_id: assignee === null ? undefined : [assignee],
})

async function readPage(filters: StreamFilters, param: PageParam, signal: AbortSignal): Promise<StreamPage> {
  const since = param?.since ?? sinceOf(filters).toISOString()
  const query = {
    limit: PAGE_ROWS,
    sort: filters.sort,
    seen_since: since,
    ...countsOf(filters),
    ...filterOf(filters),
    cursor: param?.cursor,
  }
  const q = toApiQuery(filters)
  const page = await call('GET /api/issues', { query: { ...query, q }, signal })
  const hints = page.hints.map((hint) => movedBy(hint, -typedQueryStart(filters)))
  return { ...pageOf(page), hints, statusCounts: page.status_counts, since }
}

const pageOf = (page: AnswerOf<'GET /api/issues'>) => ({
  items: page.items,
  total: page.total,
  totalCapped: page.total_capped === true,
  nextCursor: page.next_cursor,
  readAt: Date.now(),
  asOf: Date.parse(page.read_at),
})

/**
 * The list on the page. Static: it is never refetched automatically, because rows would move under the cursor.
 * `freshQuery` fetches changes, and the page decides how to show them.
 */
export const streamQuery = (filters: StreamFilters) =>
  infiniteQueryOptions({
    queryKey: ['issues', 'list', filters],
    queryFn: ({ pageParam, signal }) => readPage(filters, pageParam, signal),
    initialPageParam: null as PageParam,
    getNextPageParam: (last): PageParam | undefined =>
      last.nextCursor === null ? undefined : { cursor: last.nextCursor, since: last.since },
    staleTime: 'static',
    gcTime: HOUR_MS,
  })

/** The 100 issues seen last with the same filters: recent changes are among them. */
export const freshQuery = (filters: StreamFilters) =>
  queryOptions({
    queryKey: ['issues', 'fresh', filters],
    queryFn: ({ signal }) => readPage({ ...filters, sort: DEFAULT_SORT }, null, signal),
    staleTime: 10_000,
    meta: { quiet: true },
  })

/** Filters of the strip: those of the list, without its order. */
export type VolumeFilters = Omit<StreamFilters, 'sort' | 'window'>

/** @param window reads that time instead of the range */
export const volumeQuery = (filters: VolumeFilters, window: StreamFilters['window'] = null) => {
  const { project, range, status, severity, platform, assignee, q } = filters
  const asked = { project, range, status, severity, platform, assignee, q }
  return queryOptions({
    queryKey: ['volume', asked, window],
    queryFn: ({ signal }) => {
      const query = toApiQuery({ q, window })
      return call('GET /api/issues/volume', {
        query: { ...countsOf({ window, range }), ...filterOf(asked), q: query },
        signal,
      })
    },
    staleTime: 15_000,
    // Time passes even when nothing arrives.
    refetchInterval: 60_000,
    meta: { quiet: true },
  })
}

/** Crash-free sessions. */
export const sessionSummaryQuery = (project: string | null, range: Range) =>
  queryOptions({
    queryKey: ['session-summary', project, range],
    queryFn: ({ signal }) =>
      call('GET /api/sessions/summary', {
        query: { range, projectId: project === null ? undefined : [project] },
        signal,
      }),
    staleTime: 15_000,
    refetchInterval: 60_000,
    meta: { quiet: true },
  })

/** `latest`, `oldest`, `most_complete`, or an event's id. */
export type EventChoice = string

const readIssue = (issueId: string, event: EventChoice, only: string, signal: AbortSignal) =>
  call('GET /api/issues/:issueId', { params: { issueId }, query: { event, ...eventOnly(only) }, signal })

/** The issue with the requested event. Static: a newer event does not replace the one that is being read. */
export const issueEventQuery = (issueId: string, event: EventChoice, only = '') =>
  queryOptions({
    queryKey: ['issue-event', issueId, event, only],
    queryFn: ({ signal }) => readIssue(issueId, event, only, signal),
    staleTime: 'static',
    gcTime: 15_000,
  })

/**
 * The same issue, kept up to date: counts, status, activity, ids of the neighbouring events.
 * @param only filter of the neighbouring events
 */
export const issueQuery = (issueId: string, event: EventChoice, only = '') =>
  queryOptions({
    queryKey: ['issues', 'detail', issueId, event, only],
    queryFn: ({ signal }) => readIssue(issueId, event, only, signal),
    meta: { quiet: true },
  })
