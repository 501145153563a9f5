import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf, type BodyOf } from './call.ts'

export type Monitor = AnswerOf<'GET /api/monitors/:monitorId'>
export type MonitorEnvironment = Monitor['environments'][number]
export type MonitorRun = MonitorEnvironment['runs'][number]
export type MonitorChange = BodyOf<'PATCH /api/monitors/:monitorId'>

/** Each monitor brings thirty runs of each environment. */
const MONITORS_PER_PAGE = 50

/** Monitors of a project, or of all of them, by name. */
export const monitorsQuery = (projectId: string | null) =>
  infiniteQueryOptions({
    queryKey: ['monitors', 'list', projectId],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/monitors', {
        query: { limit: String(MONITORS_PER_PAGE), offset: String(pageParam), projectId },
        signal,
      }),
    initialPageParam: 0,
    getNextPageParam: ({ offset, items, total }): number | null =>
      items.length === 0 || offset + items.length >= total ? null : offset + items.length,
    placeholderData: keepPreviousData,
  })

export const monitorQuery = (monitorId: string) =>
  queryOptions({
    queryKey: ['monitors', 'one', monitorId],
    queryFn: ({ signal }) => call('GET /api/monitors/:monitorId', { params: { monitorId }, signal }),
  })

/** Changes a monitor; the fields that are absent stay. */
export const changeMonitor = (monitorId: string, body: MonitorChange) =>
  call('PATCH /api/monitors/:monitorId', { params: { monitorId }, body })
