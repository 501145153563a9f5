import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { QuerySearch } from '../../../address/search.ts'
import { assistantQuery, savedQueriesQuery } from '../../../api/assistant-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const query = createRoute({
  getParentRoute: () => shell,
  path: '/query',
  staticData: { scope: { project: 'one', range: false } },
  validateSearch: (search) => QuerySearch.parse(search),
  loaderDeps: ({ search: { project } }) => ({ project }),
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    prefetch(client.query(assistantQuery))
    prefetch(client.query(savedQueriesQuery(deps.project)))
  },
  component: lazyRouteComponent(() => import('./query-page.tsx'), 'QueryPage'),
})

export const queryRoutes = [query] as const
