import type { QueryClient } from '@tanstack/react-query'
import type { TracesSearch } from '../../../address/search.ts'
import { traceQuery, tracesOverviewQuery, tracesQuery } from '../../../api/trace-queries.ts'
import { prefetch } from '../../../app/base-routes.ts'

/**
 * Everything that the routes of traces load, in one file: each further file that a route loads is named in the first load
 * of every page, which has no room left.
 */

export { TracePage } from './trace-page.tsx'
export { TracesPage } from './traces-page.tsx'

export function prefetchTraces(client: QueryClient, search: TracesSearch): void {
  prefetch(client.infiniteQuery(tracesQuery(search)))
  prefetch(client.query(tracesOverviewQuery(search)))
}

export const prefetchTrace = (client: QueryClient, traceId: string): void => prefetch(client.query(traceQuery(traceId)))
