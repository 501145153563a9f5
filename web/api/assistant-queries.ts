import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type AssistantState = AnswerOf<'GET /api/assistant'>
export type Analysis = AnswerOf<'POST /api/issues/:issueId/analysis'>

export const assistantQuery = queryOptions({
  queryKey: ['assistant', 'state'],
  queryFn: ({ signal }) => call('GET /api/assistant', { signal }),
  staleTime: 60_000,
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
