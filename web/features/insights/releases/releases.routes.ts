import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { RELEASE_RANGE, ReleasesSearch } from '../../../address/search.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

// No part of the first load of other pages.
const queries = () => import('../../../api/release-queries.ts')

const releases = createRoute({
  getParentRoute: () => shell,
  path: '/releases',
  staticData: { scope: { project: 'one', range: true, defaultRange: RELEASE_RANGE } },
  validateSearch: (search) => ReleasesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    const { project } = deps
    prefetch(
      queries().then(({ toReleaseView, releasesQuery, releasesHealthQuery }) => {
        const view = toReleaseView({ ...deps, project })
        return Promise.all([client.infiniteQuery(releasesQuery(view)), client.query(releasesHealthQuery(view))])
      }),
    )
  },
  component: lazyRouteComponent(() => import('./releases-page.tsx'), 'ReleasesPage'),
})

const release = createRoute({
  getParentRoute: () => shell,
  path: '/releases/$releaseId',
  staticData: { scope: { project: 'none', range: true, defaultRange: RELEASE_RANGE } },
  validateSearch: (search) => ReleasesSearch.parse(search),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, params, deps, preload }) => {
    if (preload) return
    const { range = RELEASE_RANGE, environment = null } = deps
    prefetch(queries().then(({ releaseQuery }) => client.query(releaseQuery(params.releaseId, range, environment))))
  },
  component: lazyRouteComponent(() => import('./release-page.tsx'), 'ReleasePage'),
})

export const releaseRoutes = [releases, release] as const
