import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, shell } from '../../../app/base-routes.ts'

const symbols = createRoute({
  getParentRoute: () => shell,
  path: '/symbols',
  staticData: { scope: { project: 'one', range: false } },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    const { project } = deps
    // No part of the first load of other pages.
    prefetch(
      import('../../../api/symbol-queries.ts').then(({ sourceMapsQuery, missingSymbolsQuery }) =>
        Promise.all([client.query(sourceMapsQuery(project)), client.query(missingSymbolsQuery(project))]),
      ),
    )
  },
  component: lazyRouteComponent(() => import('./symbols-page.tsx'), 'SymbolsPage'),
})

export const symbolRoutes = [symbols] as const
