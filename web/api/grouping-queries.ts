import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export const groupingQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'grouping'],
    queryFn: ({ signal }) => call('GET /api/projects/:projectId/grouping', { params: { projectId }, signal }),
  })

export const discardsQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['projects', projectId, 'discards'],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/discards', { params: { projectId }, query: { limit: '100' }, signal }),
  })

export const similarQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['issues', 'similar', issueId],
    queryFn: ({ signal }) => call('GET /api/issues/:issueId/similar', { params: { issueId }, signal }),
    staleTime: 60_000,
    meta: { quiet: true },
  })

/** Issues of a project to merge: the newest, or those that match a search. */
export const mergeSearchQuery = (projectId: string, q: string) =>
  queryOptions({
    queryKey: ['issues', 'to-merge', projectId, q],
    queryFn: ({ signal }) =>
      q === ''
        ? call('GET /api/projects/:projectId/issues', { params: { projectId }, query: { limit: '30' }, signal })
        : call('GET /api/issues/search', { query: { projectId: [projectId], q, limit: '30' }, signal }),
    staleTime: 10_000,
    placeholderData: keepPreviousData,
    meta: { quiet: true },
  })
