import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** Dates of releases, for markers on charts. @param projectIds empty for all projects */
export const releaseMarkersQuery = (projectIds: readonly string[], from: string, to: string) =>
  queryOptions({
    queryKey: ['releases', 'markers', projectIds, from, to],
    queryFn: ({ signal }) =>
      call('GET /api/releases/markers', {
        query: { from, to, ...(projectIds.length === 0 ? {} : { projectId: [...projectIds] }) },
        signal,
      }),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
  })
