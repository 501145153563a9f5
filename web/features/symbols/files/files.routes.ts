import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { missingSymbolsQuery, sourceMapsQuery } from '../../../api/symbol-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const symbols = createRoute({
  getParentRoute: () => shell,
  path: '/symbols',
  staticData: { scope: { project: 'one', range: false } },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    prefetch(client.query(sourceMapsQuery(deps.project)))
    prefetch(client.query(missingSymbolsQuery(deps.project)))
  },
  component: lazyRouteComponent(() => import('./symbols-page.tsx'), 'SymbolsPage'),
})

export const symbolRoutes = [symbols] as const
