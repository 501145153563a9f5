import { queryOptions } from '@tanstack/react-query'
import { call, type AnswerOf } from './call.ts'

export type Import = AnswerOf<'GET /api/org/imports/:importId'>

const POLL_MS = 1_500

export const importsQuery = queryOptions({
  queryKey: ['imports'],
  queryFn: ({ signal }) => call('GET /api/org/imports', { query: { limit: '50' }, signal }),
  meta: { quiet: true },
})

/** Read again while it runs. */
export const importQuery = (importId: string) =>
  queryOptions({
    queryKey: ['imports', importId],
    queryFn: ({ signal }) => call('GET /api/org/imports/:importId', { params: { importId }, signal }),
    refetchInterval: ({ state }) => (state.data?.state === 'running' ? POLL_MS : false),
    meta: { quiet: true },
  })

/** Read again when the import says that there are more. */
export const importDifferencesQuery = ({ id: importId, differences }: Pick<Import, 'id' | 'differences'>) =>
  queryOptions({
    queryKey: ['imports', importId, 'differences', differences],
    queryFn: ({ signal }) => call('GET /api/org/imports/:importId/differences', { params: { importId }, signal }),
    placeholderData: (before) => before,
    meta: { quiet: true },
  })

export const importReportCsvUrl = (importId: string): string => `/api/org/imports/${importId}/differences?format=csv`
