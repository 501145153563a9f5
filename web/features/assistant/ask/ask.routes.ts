import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AskSearch } from '../../../address/search.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const ask = createRoute({
  getParentRoute: () => shell,
  path: '/ask',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => AskSearch.parse(search),
  loaderDeps: ({ search: { project } }) => ({ project }),
  loader: ({ context: { client }, deps, preload }) => {
    if (preload) return
    // No part of the first load of other pages.
    prefetch(
      import('../../../api/assistant-queries.ts').then(({ assistantQuery, askHintsQuery }) =>
        Promise.all([client.query(assistantQuery), client.query(askHintsQuery(deps.project ?? null))]),
      ),
    )
  },
  component: lazyRouteComponent(() => import('./ask-page.tsx'), 'AskPage'),
})

export const askRoutes = [ask] as const
