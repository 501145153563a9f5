import { infiniteQueryOptions, queryOptions, type InfiniteData } from '@tanstack/react-query'
import { windowOf, type IssuesSearch, type Range } from '../address/search.ts'
import { eventOnly } from './event-only.ts'
import { call, type AnswerOf } from './call.ts'

export type Issue = AnswerOf<'GET /api/issues'>['items'][number]
export type IssueDetail = AnswerOf<'GET /api/issues/:issueId'>
export type Comment = AnswerOf<'GET /api/issues/:issueId/comments'>['items'][number]
export type Volume = AnswerOf<'GET /api/issues/volume'>
export type SessionSummary = AnswerOf<'GET /api/sessions/summary'>
export type Status = Issue['status']
export type Severity = Issue['severity']

/** What "open" means: somebody still has to do something. */
export const OPEN: readonly Status[] = ['unresolved', 'regressed', 'escalated']

/** The filters of the stream, whole: two streams with equal filters are one list. */
export type StreamFilters = {
  project: string | null
  range: Range
  /** Null leaves it to the `is:` terms of the search. */
  status: readonly Status[] | null
  severity: readonly Severity[]
  platform: readonly string[]
  assignee: string | null
  q: string
  /** A part of the range, as the address says it. */
  window: { from: string; to: string } | null
  sort: NonNullable<IssuesSearch['sort']>
}

export const DEFAULT_SORT = '-last_seen'

/** Whether the search decides the status itself. */
export const searchesStatus = (q: string): boolean => /(?:^|[\s(])[-!]?(?:is|status):/iu.test(q)

export function filtersOf(search: IssuesSearch): StreamFilters {
  const q = search.q?.trim() ?? ''
  return {
    project: search.project ?? null,
    range: search.range ?? '24h',
    status: search.status ?? (searchesStatus(q) ? null : OPEN),
    severity: search.severity ?? [],
    platform: search.platform ?? [],
    assignee: search.assignee ?? null,
    q,
    window: windowOf(search),
    sort: search.sort ?? DEFAULT_SORT,
  }
}

/** The query as the service is asked: what was typed, and the end of the part of the range. Null for none. */
export function queryOf({ q, window }: Pick<StreamFilters, 'q' | 'window'>): string | null {
  if (window === null) return q === '' ? null : q
  const before = `first_seen:<${window.to}`
  // OR binds less than standing side by side.
  return q === '' ? before : `${/\bOR\b/u.test(q) ? `(${q})` : q} ${before}`
}

const RANGE_MS: Readonly<Record<Range, number>> = {
  '1h': 3_600_000,
  '24h': 24 * 3_600_000,
  '7d': 7 * 24 * 3_600_000,
  '30d': 30 * 24 * 3_600_000,
}

/** A page of the stream. */
export type StreamPage = {
  items: Issue[]
  total: number
  totalCapped: boolean
  nextCursor: string | null
  statusCounts: Partial<Record<Status, number>> | null
  /** Start of the time looked at; further pages keep it. */
  since: string
  readAt: number
  /** The same by the clock of the service, which says when a status moved. */
  asOf: number
}

type PageParam = { cursor: string; since: string } | null
export type StreamData = InfiniteData<StreamPage, PageParam>

const PAGE_ROWS = '100'

const sinceOf = ({ window, range }: StreamFilters): Date =>
  new Date(window === null ? Date.now() - RANGE_MS[range] : window.from)

async function readPage(filters: StreamFilters, param: PageParam, signal: AbortSignal): Promise<StreamPage> {
  const since = param?.since ?? sinceOf(filters).toISOString()
  const query = {
    limit: PAGE_ROWS,
    sort: filters.sort,
    seen_since: since,
    projectId: filters.project === null ? undefined : [filters.project],
    status: filters.status === null ? undefined : [...filters.status],
    severity: filters.severity.length === 0 ? undefined : [...filters.severity],
    platform: filters.platform.length === 0 ? undefined : [...filters.platform],
    assignee_id: filters.assignee === null ? undefined : [filters.assignee],
    cursor: param?.cursor,
  }
  const q = queryOf(filters)
  const page = await call('GET /api/issues', { query: { ...query, ...(q === null ? {} : { q }) }, signal })
  return { ...pageOf(page), statusCounts: page.status_counts, since }
}

const pageOf = (page: AnswerOf<'GET /api/issues'>) => ({
  items: page.items,
  total: page.total,
  totalCapped: page.total_capped === true,
  nextCursor: page.next_cursor,
  readAt: Date.now(),
  asOf: Date.parse(page.read_at),
})

const HOUR_MS = 3_600_000

/**
 * The list as it stands on the page. Static: nothing re-reads it behind a person's back, because rows would move under
 * the cursor; `freshQuery` brings changes and the page decides where they go.
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

/** The 100 issues seen last under the same filters: what changed since the list was read is among them. */
export const freshQuery = (filters: StreamFilters) =>
  queryOptions({
    queryKey: ['issues', 'fresh', filters],
    queryFn: ({ signal }) => readPage({ ...filters, sort: DEFAULT_SORT }, null, signal),
    staleTime: 10_000,
    meta: { quiet: true },
  })

export const volumeQuery = (project: string | null, range: Range) =>
  queryOptions({
    queryKey: ['volume', project, range],
    queryFn: ({ signal }) =>
      call('GET /api/issues/volume', {
        query: { range, projectId: project === null ? undefined : [project] },
        signal,
      }),
    staleTime: 15_000,
    // Time passes even when nothing arrives.
    refetchInterval: 60_000,
    meta: { quiet: true },
  })

/** Crash-free sessions and users met by a crash. */
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

/** The issue with the event asked for, as it was on arrival: a newer event never replaces the one being read. */
export const issueEventQuery = (issueId: string, event: EventChoice, only = '') =>
  queryOptions({
    queryKey: ['issue-event', issueId, event, only],
    queryFn: ({ signal }) => readIssue(issueId, event, only, signal),
    staleTime: 'static',
    gcTime: 15_000,
  })

/** The same issue kept up to date around one event: counts, status, activity, neighbours. */
/** @param only which events are stepped through, as people write it */
export const issueQuery = (issueId: string, event: EventChoice, only = '') =>
  queryOptions({
    queryKey: ['issues', 'detail', issueId, event, only],
    queryFn: ({ signal }) => readIssue(issueId, event, only, signal),
    meta: { quiet: true },
  })
