import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { ApiError, call, type AnswerOf } from './call.ts'

/** One options object per query. Keys begin with the kind of data, so that live messages can invalidate them. */

export type Me = AnswerOf<'GET /api/me'>
export type Project = AnswerOf<'GET /api/projects'>['items'][number]
export type ProjectSettings = AnswerOf<'GET /api/projects/:projectId/settings'>

/** Only network errors and 5xx are retried. */
export const retryReads = (failures: number, error: Error): boolean =>
  failures < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500)

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: ({ signal }) => call('GET /api/me', { signal }),
  staleTime: 5 * 60_000,
})

export const projectsQuery = queryOptions({
  queryKey: ['projects'],
  queryFn: ({ signal }) => call('GET /api/projects', { query: { limit: '100' }, signal }),
  staleTime: 60_000,
})

export const onboardingQuery = queryOptions({
  queryKey: ['onboarding'],
  queryFn: ({ signal }) => call('GET /api/onboarding/status', { signal }),
})

export const projectSettingsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'settings'],
    queryFn: ({ signal }) => call('GET /api/projects/:projectId/settings', { params: { projectId }, signal }),
  })

export const operationQuery = (operationId: string) =>
  queryOptions({
    queryKey: ['operations', operationId],
    queryFn: ({ signal }) => call('GET /api/operations/:operationId', { params: { operationId }, signal }),
  })

/** The newest issue of a project, for onboarding. */
export const firstIssueQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['issues', 'first', projectId],
    queryFn: ({ signal }) =>
      call('GET /api/issues', { query: { projectId: [projectId], limit: '1', sort: '-last_seen' }, signal }),
    placeholderData: keepPreviousData,
  })

/** The number of open issues, for the rail. */
export const openCountQuery = (projectId: string | null) =>
  queryOptions({
    queryKey: ['issues', 'open-count', projectId],
    queryFn: async ({ signal }) => {
      const page = await call('GET /api/issues', {
        query: { limit: '1', projectId: projectId === null ? null : [projectId] },
        signal,
      })
      const { unresolved, regressed, escalated } = page.status_counts
      return unresolved + regressed + escalated
    },
    staleTime: 10_000,
  })

/** Issues for the command palette. */
export const issueSearchQuery = (q: string) =>
  queryOptions({
    queryKey: ['issues', 'palette', q],
    queryFn: ({ signal }) => call('GET /api/issues/search', { query: { q, limit: '6' }, signal }),
    enabled: q.trim().length >= 2,
    staleTime: 30_000,
    placeholderData: keepPreviousData,
  })
