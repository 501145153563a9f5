import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { TraceSearch, TracesSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const pages = () => import('./trace-pages.ts')

const traces = createRoute({
  getParentRoute: () => shell,
  path: '/traces',
  staticData: { scope: { project: 'any', range: true } },
  validateSearch: (search) => TracesSearch.parse(search),
  loaderDeps: ({ search }) => ({ search }),
  loader: ({ context: { client }, deps: { search }, preload }) => {
    if (!preload) void pages().then(({ prefetchTraces }) => prefetchTraces(client, search))
  },
  component: lazyRouteComponent(pages, 'TracesPage'),
})

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/traces/$traceId',
  staticData: { scope: { project: 'none', range: false } },
  validateSearch: (search) => TraceSearch.parse(search),
  loader: ({ context: { client }, params: { traceId } }) =>
    void pages().then(({ prefetchTrace }) => prefetchTrace(client, traceId)),
  component: lazyRouteComponent(pages, 'TracePage'),
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
