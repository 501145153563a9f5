import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { MonitorSearch, MonitorsSearch } from '../../../address/search.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

// No part of the first load of other pages.
const queries = () => import('../../../api/monitor-queries.ts')

const monitors = createRoute({
  getParentRoute: () => shell,
  path: '/monitors',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => MonitorsSearch.parse(search),
  loaderDeps: ({ search }) => ({ project: search.project ?? null }),
  loader: ({ context: { client }, deps, preload }) => {
    if (!preload) prefetch(queries().then(({ monitorsQuery }) => client.infiniteQuery(monitorsQuery(deps.project))))
  },
  component: lazyRouteComponent(() => import('./monitors-page.tsx'), 'MonitorsPage'),
})

const monitor = createRoute({
  getParentRoute: () => shell,
  path: '/monitors/$monitorId',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => MonitorSearch.parse(search),
  loader: ({ context: { client }, params, preload }) => {
    if (!preload) prefetch(queries().then(({ monitorQuery }) => client.query(monitorQuery(params.monitorId))))
  },
  component: lazyRouteComponent(() => import('./monitor-page.tsx'), 'MonitorPage'),
})

export const monitorRoutes = [monitors, monitor] as const
