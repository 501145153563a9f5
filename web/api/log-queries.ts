import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { selectedWindow, type LogsSearch, type Range } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'

export type LogLine = AnswerOf<'GET /api/projects/:projectId/logs'>['items'][number]
export type LogPage = AnswerOf<'GET /api/projects/:projectId/logs'>
export type LogVolume = AnswerOf<'GET /api/projects/:projectId/logs/volume'>
export type LogAttributes = AnswerOf<'GET /api/projects/:projectId/logs/attributes'>
export type LogLevel = LogLine['level']

/** The filters of the page, as the API takes them. */
export type LogFilters = Pick<LogsSearch, 'q' | 'level' | 'with' | 'without'> & {
  readonly trace_id?: string | undefined
  readonly range?: Range | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const LINES_PER_PAGE = 100

/** The time of an address: the selected part, else the range. */
export function toPeriod(search: Pick<LogsSearch, 'from' | 'to' | 'range'>, range: Range): Period {
  const window = selectedWindow(search)
  if (window === null) return { range: search.range ?? range }
  return { from: new Date(window.from).toISOString(), to: new Date(window.to).toISOString() }
}
type Period = { readonly range: Range } | { readonly from: string; readonly to: string }

export const toLogFilters = (search: LogsSearch): LogFilters => ({
  ...toPeriod(search, '1h'),
  q: search.q,
  level: search.level,
  with: search.with,
  without: search.without,
  trace_id: search.trace,
})

/** Levels are chosen from the same answer. */
const volumeFilters = ({ q, with: wanted, without, trace_id, range, from, to }: LogFilters) => ({
  q,
  with: wanted,
  without,
  trace_id,
  range,
  from,
  to,
})

/** Pages of lines, newest first. They change only when one asks for it. */
export const logsQuery = (projectId: string, filters: LogFilters) =>
  infiniteQueryOptions({
    queryKey: ['logs', 'list', projectId, filters],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/projects/:projectId/logs', {
        params: { projectId },
        query: { ...filters, limit: String(LINES_PER_PAGE), cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (last): string | null => last.next_cursor,
    placeholderData: keepPreviousData,
    staleTime: Infinity,
    meta: { quiet: true },
  })

/** The newest lines since a time. */
export const readNewLines = (projectId: string, filters: LogFilters, from: string, signal: AbortSignal) =>
  call('GET /api/projects/:projectId/logs', {
    params: { projectId },
    query: { ...filters, range: undefined, to: undefined, from, limit: String(LINES_PER_PAGE) },
    signal,
  })

export const logVolumeQuery = (projectId: string, filters: LogFilters) =>
  queryOptions({
    queryKey: ['logs', 'volume', projectId, volumeFilters(filters)],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/logs/volume', {
        params: { projectId },
        query: volumeFilters(filters),
        signal,
      }),
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

export const logAttributesQuery = (projectId: string, filters: LogFilters) =>
  queryOptions({
    queryKey: ['logs', 'attributes', projectId, filters],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/logs/attributes', { params: { projectId }, query: filters, signal }),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
    meta: { quiet: true },
  })

/** Fifty lines before a moment, and fifty from it on. */
export const linesAroundQuery = (projectId: string, at: string) =>
  queryOptions({
    queryKey: ['logs', 'around', projectId, at],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/logs/around', { params: { projectId }, query: { at }, signal }),
    staleTime: 60_000,
    meta: { quiet: true },
  })

export type MetricName = AnswerOf<'GET /api/projects/:projectId/trace-metrics/names'>['items'][number]
export type TraceMetricSeries = AnswerOf<'GET /api/projects/:projectId/trace-metrics/series'>
export type MetricGroup = TraceMetricSeries['groups'][number]

export const metricNamesQuery = (projectId: string, period: Period) =>
  queryOptions({
    queryKey: ['logs', 'metric-names', projectId, period],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/trace-metrics/names', { params: { projectId }, query: period, signal }),
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

export const metricSeriesQuery = (projectId: string, period: Period, name: string, by: string | undefined) =>
  queryOptions({
    queryKey: ['logs', 'metric', projectId, period, name, by],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/trace-metrics/series', {
        params: { projectId },
        query: { ...period, name, by },
        signal,
      }),
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

/** The newest measurements of a name. */
export const measurementsQuery = (projectId: string, period: Period, name: string) =>
  queryOptions({
    queryKey: ['logs', 'measurements', projectId, period, name],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/trace-metrics', {
        params: { projectId },
        query: { ...period, name, limit: '25' },
        signal,
      }),
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })
