import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type Trace = AnswerOf<'GET /api/projects/:projectId/traces/:traceId'>
export type TraceSpan = Trace['spans'][number]

/** Spans of a kept trace change only while its parts arrive. */
export const traceQuery = (projectId: string, traceId: string) =>
  queryOptions({
    queryKey: ['trace', projectId, traceId],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/traces/:traceId', { params: { projectId, traceId }, signal }),
    staleTime: 60_000,
  })
