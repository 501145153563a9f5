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

/** The newest file of a project; null before the first upload. */
export const newestSymbolFileQuery = (projectId: string) =>
  queryOptions({
    queryKey: [...symbolsKey(projectId), 'newest'],
    queryFn: async ({ signal }) => {
      const asked = { params: { projectId }, query: { limit: '1' }, signal }
      const [maps, native] = await Promise.all([
        call('GET /api/projects/:projectId/source-maps', asked),
        call('GET /api/projects/:projectId/dsyms', asked),
      ])
      const files = [...maps.items, ...native.items].map(({ name, created_at: at }) => ({ name, at }))
      return files.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null
    },
  })

/** @param release only of this release; all by default */
export const missingSymbolsQuery = (projectId: string, release?: string) =>
  queryOptions({
    queryKey: [...symbolsKey(projectId), 'missing', release ?? ''],
    queryFn: ({ signal }) =>
      call('GET /api/projects/:projectId/missing-symbols', { params: { projectId }, query: { release }, signal }),
  })
