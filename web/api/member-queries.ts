import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type Member = AnswerOf<'GET /api/team'>['items'][number]
export type InboxEntry = AnswerOf<'GET /api/inbox'>['items'][number]
export type Subscription = AnswerOf<'GET /api/issues/:issueId/subscription'>

/** Members whose name or e-mail address contains `q`, by name; at most 100. */
export const teamQuery = (q = '') =>
  queryOptions({
    queryKey: ['team', q],
    queryFn: ({ signal }) => call('GET /api/team', { query: { limit: '100', ...(q === '' ? {} : { q }) }, signal }),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })

/** Pages of the inbox, newest first, with the number of unread notifications. */
export const inboxQuery = infiniteQueryOptions({
  queryKey: ['inbox'],
  queryFn: ({ pageParam, signal }) => call('GET /api/inbox', { query: { limit: '25', cursor: pageParam }, signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (last): string | null => last.next_cursor,
  staleTime: 30_000,
  meta: { quiet: true },
})

export const subscriptionQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['subscription', issueId],
    queryFn: ({ signal }) => call('GET /api/issues/:issueId/subscription', { params: { issueId }, signal }),
    meta: { quiet: true },
  })
