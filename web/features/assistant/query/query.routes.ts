import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { QuerySearch } from '../../../address/search.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const query = createRoute({
  getParentRoute: () => shell,
  path: '/query',
  staticData: { scope: { project: 'one', range: false } },
  validateSearch: (search) => QuerySearch.parse(search),
  loaderDeps: ({ search: { project } }) => ({ project }),
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    const { project } = deps
    // No part of the first load of other pages.
    prefetch(
      import('../../../api/assistant-queries.ts').then(({ assistantQuery, savedQueriesQuery }) =>
        Promise.all([client.query(assistantQuery), client.query(savedQueriesQuery(project))]),
      ),
    )
  },
  component: lazyRouteComponent(() => import('./query-page.tsx'), 'QueryPage'),
})

export const queryRoutes = [query] as const
