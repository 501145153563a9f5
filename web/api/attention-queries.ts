import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

/** The queries of the bell and the rail, which every page asks. */

/** The newest alerts and the number of those that are firing, for the bell and the rail. */
export const recentAlertsQuery = queryOptions({
  queryKey: ['alerts', 'recent'],
  queryFn: ({ signal }) => call('GET /api/alerts/recent', { query: { limit: '20' }, signal }),
  staleTime: 10_000,
  meta: { quiet: true },
})

/** All endpoints: an application has at most 20. */
export const webhookEndpointsQuery = queryOptions({
  queryKey: ['webhooks', 'endpoints'],
  queryFn: ({ signal }) => call('GET /api/webhooks', { query: { limit: '100' }, signal }),
})
