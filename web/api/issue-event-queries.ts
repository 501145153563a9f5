import { MINUTE_MS } from '../ui/format.ts'
import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { eventOnly } from './event-only.ts'
import { call, type AnswerOf } from './call.ts'
import { exactJson } from '#shared/exact-json.ts'

/** Queries about the events of an issue. */

export type EventRow = AnswerOf<'GET /api/issues/:issueId/events'>['items'][number]
export type Share = AnswerOf<'GET /api/issues/:issueId/tags'>['items'][number]
export type TrendRange = '24h' | '14d' | '90d'

export const eventsQuery = (issueId: string, only: string) =>
  infiniteQueryOptions({
    queryKey: ['issue-events', issueId, only],
    queryFn: ({ pageParam, signal }) =>
      call('GET /api/issues/:issueId/events', {
        params: { issueId },
        query: { ...eventOnly(only), limit: '50', cursor: pageParam },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })

/** The stored event as JSON text. */
export const payloadQuery = (issueId: string, eventId: string) =>
  queryOptions({
    queryKey: ['issue-event-json', issueId, eventId],
    queryFn: async ({ signal }) => {
      const params = { issueId, eventId }
      const stored = await call('GET /api/issues/:issueId/events/:eventId', {
        params,
        signal,
        parse: (text) => exactJson(text),
      })
      // `exactJson` keeps such a number as it is: a double holds it exactly.
      return { text: JSON.stringify(stored.payload, null, 2), size_bytes: stored.size_bytes }
    },
    staleTime: 'static',
    gcTime: MINUTE_MS,
  })

export const trendQuery = (issueId: string, range: TrendRange) =>
  queryOptions({
    queryKey: ['issue-trend', issueId, range],
    queryFn: ({ signal }) => call('GET /api/issues/:issueId/trend', { params: { issueId }, query: { range }, signal }),
    staleTime: 30_000,
    refetchInterval: MINUTE_MS,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

export const sharesQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['issue-shares', issueId],
    queryFn: ({ signal }) => call('GET /api/issues/:issueId/tags', { params: { issueId }, signal }),
    staleTime: MINUTE_MS,
    meta: { quiet: true },
  })

export const issueReleasesQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['issue-releases', issueId],
    queryFn: ({ signal }) => call('GET /api/issues/:issueId/releases', { params: { issueId }, signal }),
    staleTime: MINUTE_MS,
    meta: { quiet: true },
  })

export const issueUsersQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['issue-users', issueId],
    queryFn: ({ signal }) =>
      call('GET /api/issues/:issueId/users', { params: { issueId }, query: { limit: '8' }, signal }),
    staleTime: MINUTE_MS,
    meta: { quiet: true },
  })
