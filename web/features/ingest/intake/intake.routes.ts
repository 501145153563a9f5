import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { DEFAULT_RANGE } from '../../../address/search.ts'
import { intakeQuery } from '../../../api/intake-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const intake = createRoute({
  getParentRoute: () => shell,
  path: '/intake',
  staticData: { scope: { project: 'one', range: true } },
  loaderDeps: ({ search }) => search,
  loader: ({ context: { client }, deps, preload }) => {
    if (deps.project === undefined || preload) return
    prefetch(client.query(intakeQuery(deps.project, deps.range ?? DEFAULT_RANGE)))
  },
  component: lazyRouteComponent(() => import('./intake-page.tsx'), 'IntakePage'),
})

export const intakeRoutes = [intake] as const
