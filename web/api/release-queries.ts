import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query'
import { RELEASE_RANGE, type Range, type ReleasesSearch } from '../address/search.ts'
import { buildAddress, call, type AnswerOf } from './call.ts'

export type ReleaseRow = AnswerOf<'GET /api/releases'>['items'][number]
export type ReleaseDetail = AnswerOf<'GET /api/releases/:releaseId'>
export type ReleasesHealth = AnswerOf<'GET /api/releases/health'>
export type CrashFreeHours = ReleasesHealth['crash_free'][number]['hours']
export type ReleaseMarker = AnswerOf<'GET /api/releases/markers'>['items'][number]

export type ReleaseView = { project: string; range: Range; environment: string | null }

export const toReleaseView = (search: ReleasesSearch & { project: string }): ReleaseView => ({
  project: search.project,
  range: search.range ?? RELEASE_RANGE,
  environment: search.environment ?? null,
})

const viewOf = ({ range, environment }: ReleaseView) => ({ range, environment })

/** Pages of a project's releases, newest first. */
export const releasesQuery = (view: ReleaseView) =>
  infiniteQueryOptions({
    queryKey: ['releases', 'list', view],
    queryFn: ({ signal, pageParam }) =>
      call('GET /api/releases', { query: { projectId: view.project, ...viewOf(view), cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  })

/** The address of a project's releases as CSV. */
export const releasesCsvUrl = (view: ReleaseView): string =>
  buildAddress('/api/releases', {}, { projectId: view.project, ...viewOf(view), limit: '100', format: 'csv' })

export const releasesHealthQuery = (view: ReleaseView) =>
  queryOptions({
    queryKey: ['releases', 'health', view],
    queryFn: ({ signal }) =>
      call('GET /api/releases/health', { query: { projectId: view.project, ...viewOf(view) }, signal }),
    placeholderData: keepPreviousData,
  })

export const releaseQuery = (releaseId: string, range: Range, environment: string | null) =>
  queryOptions({
    queryKey: ['releases', 'one', releaseId, range, environment],
    queryFn: ({ signal }) =>
      call('GET /api/releases/:releaseId', { params: { releaseId }, query: { range, environment }, signal }),
    placeholderData: keepPreviousData,
  })

/** A release by its name, with its health of the last 24 hours; null if it does not exist. */
export const releaseByVersionQuery = (projectId: string, version: string) =>
  queryOptions({
    queryKey: ['releases', 'named', projectId, version],
    queryFn: async ({ signal }): Promise<ReleaseRow | null> => {
      const page = await call('GET /api/releases', { query: { projectId, version, range: '24h', limit: '1' }, signal })
      return page.items[0] ?? null
    },
    staleTime: 60_000,
  })
