import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AskSearch } from '../../../address/search.ts'
import { askHintsQuery, assistantQuery } from '../../../api/assistant-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const ask = createRoute({
  getParentRoute: () => shell,
  path: '/ask',
  staticData: { scope: { project: 'any', range: false } },
  validateSearch: (search) => AskSearch.parse(search),
  loaderDeps: ({ search: { project } }) => ({ project }),
  loader: ({ context: { client }, deps, preload }) => {
    if (preload) return
    prefetch(client.query(assistantQuery))
    prefetch(client.query(askHintsQuery(deps.project ?? null)))
  },
  component: lazyRouteComponent(() => import('./ask-page.tsx'), 'AskPage'),
})

export const askRoutes = [ask] as const
