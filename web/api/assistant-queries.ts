import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type AssistantState = AnswerOf<'GET /api/assistant'>
export type QueryResult = AnswerOf<'POST /api/issues/nlq'>
export type SavedQuery = AnswerOf<'GET /api/projects/:projectId/queries'>['items'][number]
export type Analysis = AnswerOf<'POST /api/issues/:issueId/analysis'>

export const assistantQuery = queryOptions({
  queryKey: ['assistant', 'state'],
  queryFn: ({ signal }) => call('GET /api/assistant', { signal }),
  staleTime: 60_000,
})

/** A question or a typed statement. */
export type Asked = { readonly query: string } | { readonly sql: string }

/** Runs when it is fetched, never by itself: a statement costs the database something. */
export const resultQuery = (projectId: string, asked: Asked) =>
  queryOptions({
    queryKey: ['assistant', 'result', projectId, asked],
    queryFn: ({ signal }) => call('POST /api/issues/nlq', { body: { ...asked, project_id: projectId }, signal }),
    retry: false,
    staleTime: 0,
  })

export const savedQueriesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['assistant', 'saved', projectId],
    queryFn: ({ signal }) => call('GET /api/projects/:projectId/queries', { params: { projectId }, signal }),
  })

/** Names for example questions: the worst open issues and the newest releases. */
export const askHintsQuery = (projectId: string | null) =>
  queryOptions({
    queryKey: ['assistant', 'hints', projectId],
    queryFn: async ({ signal }) => {
      const only = projectId === null ? {} : { projectId: [projectId] }
      const [issues, releases] = await Promise.all([
        call('GET /api/issues', { query: { ...only, limit: '1', sort: '-user_count' }, signal }),
        projectId === null ? null : call('GET /api/releases', { query: { projectId, limit: '2' }, signal }),
      ])
      return {
        regressed: issues.status_counts.regressed,
        issues: issues.items.map(({ short_id }) => short_id),
        releases: releases?.items.map(({ version }) => version) ?? [],
      }
    },
    staleTime: 60_000,
    retry: false,
    meta: { quiet: true },
  })
