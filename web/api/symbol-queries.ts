import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type SourceMapRow = AnswerOf<'GET /api/projects/:projectId/source-maps'>['items'][number]
export type DsymRow = AnswerOf<'GET /api/projects/:projectId/dsyms'>['items'][number]
export type MissingSymbols = AnswerOf<'GET /api/projects/:projectId/missing-symbols'>

/** All queries of the symbols of a project. */
export const symbolsKey = (projectId: string) => ['symbols', projectId] as const

export const sourceMapsQuery = (projectId: string) =>
  queryOptions({
    queryKey: [...symbolsKey(projectId), 'source-maps'],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/source-maps', { params: { projectId }, query: { limit: '100' }, signal }),
  })

export const dsymsQuery = (projectId: string) =>
  queryOptions({
    queryKey: [...symbolsKey(projectId), 'dsyms'],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/dsyms', { params: { projectId }, query: { limit: '100' }, signal }),
  })

/** @param release only of this release; all by default */
export const missingSymbolsQuery = (projectId: string, release?: string) =>
  queryOptions({
    queryKey: [...symbolsKey(projectId), 'missing', release ?? ''],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/missing-symbols', {
        params: { projectId },
        query: release === undefined ? {} : { release },
        signal,
      }),
  })
