import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { TraceSearch, TracesSearch } from '../../../address/search.ts'
import { traceQuery, tracesOverviewQuery, tracesQuery } from '../../../api/trace-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const traces = createRoute({
  getParentRoute: () => shell,
  path: '/traces',
  staticData: { scope: { project: 'any', range: true } },
  validateSearch: (search) => TracesSearch.parse(search),
  loaderDeps: ({ search }) => ({ search }),
  loader: ({ context: { client }, deps: { search }, preload }) => {
    if (preload) return
    prefetch(client.infiniteQuery(tracesQuery(search)))
    prefetch(client.query(tracesOverviewQuery(search)))
  },
  component: lazyRouteComponent(() => import('./traces-page.tsx'), 'TracesPage'),
})

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/traces/$traceId',
  staticData: { scope: { project: 'none', range: false } },
  validateSearch: (search) => TraceSearch.parse(search),
  loader: ({ context: { client }, params }) => prefetch(client.query(traceQuery(params.traceId))),
  component: lazyRouteComponent(() => import('./trace-page.tsx'), 'TracePage'),
})

/** Addresses from before traces were one across projects. */
const ofProject = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/traces/$traceId',
  beforeLoad: ({ params }) => {
    throw redirect(paths.trace(params.traceId))
  },
})

export const traceRoutes = [traces, trace, ofProject] as const
