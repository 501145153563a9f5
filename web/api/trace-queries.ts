import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { TracesSearch } from '../address/search.ts'
import { call, type AnswerOf } from './call.ts'

export type Trace = AnswerOf<'GET /api/traces/:traceId'>
export type TraceSpan = Trace['spans'][number]
export type TraceItem = AnswerOf<'GET /api/traces'>['items'][number]
export type TraceOverview = AnswerOf<'GET /api/traces/overview'>

/** Spans of a kept trace change only while its parts arrive. */
export const traceQuery = (traceId: string) =>
  queryOptions({
    queryKey: ['trace', traceId],
    queryFn: ({ signal }) => call('GET /api/traces/:traceId', { params: { traceId }, signal }),
    staleTime: 60_000,
  })

/** The filters of an address as the API takes them. */
const filtersOf = ({ project, range, result, min, max, from, to, ...filters }: TracesSearch) => ({
  ...filters,
  projectId: project,
  range,
  status: result,
  min_ms: min,
  max_ms: max,
  ...(from === undefined || to === undefined ? {} : { from, to }),
})

/** Traces that the filters match, newest first. */
export const tracesQuery = (search: TracesSearch) =>
  infiniteQueryOptions({
    queryKey: ['traces', 'list', search],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/traces', {
        query: { ...filtersOf(search), limit: '50', ...(pageParam === '' ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: next }): string | null => next,
    placeholderData: keepPreviousData,
  })

/** Counts, durations and points of the same traces. */
export const tracesOverviewQuery = (search: TracesSearch) =>
  queryOptions({
    queryKey: ['traces', 'overview', search],
    queryFn: ({ signal }) => call('GET /api/traces/overview', { query: filtersOf(search), signal }),
    placeholderData: keepPreviousData,
  })
