import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** The result of the end-to-end test of alerts. A live message says when its state changes. */
export const canaryQuery = queryOptions({
  queryKey: ['canary'],
  queryFn: ({ signal }) => call('GET /api/alerts/canary', { signal }),
  staleTime: 60_000,
  meta: { quiet: true },
})
