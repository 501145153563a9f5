import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type TeamMember = AnswerOf<'GET /api/team'>['items'][number]
export type Invite = AnswerOf<'GET /api/invites'>['items'][number]
export type ApiKey = AnswerOf<'GET /api/api-keys'>['items'][number]
export type NewApiKey = AnswerOf<'POST /api/api-keys'>

/** Pages of the members, by name. */
export const membersQuery = infiniteQueryOptions({
  // Under the key of the team, which live messages and changes of members invalidate.
  queryKey: ['team', 'pages'],
  queryFn: ({ pageParam, signal }) =>
    call('GET /api/team', { query: { limit: '50', state: 'all', cursor: pageParam }, signal }),
  initialPageParam: null as string | null,
  getNextPageParam: (last): string | null => last.next_cursor,
  meta: { quiet: true },
})

/** Invites that were not accepted yet. */
export const invitesQuery = queryOptions({
  queryKey: ['team', 'invites'],
  queryFn: ({ signal }) => call('GET /api/invites', { query: { limit: '100' }, signal }),
  meta: { quiet: true },
})

export const apiKeysQuery = queryOptions({
  queryKey: ['api-keys'],
  queryFn: ({ signal }) => call('GET /api/api-keys', { query: { limit: '100' }, signal }),
  meta: { quiet: true },
})
