import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { prefetch, shell } from '../../../app/base-routes.ts'

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/traces/$traceId',
  staticData: { scope: { project: 'none', range: false } },
  // No part of the first load of other pages.
  loader: ({ context: { client }, params }) =>
    prefetch(
      import('../../../api/trace-queries.ts').then(({ traceQuery }) =>
        client.query(traceQuery(params.projectId, params.traceId)),
      ),
    ),
  component: lazyRouteComponent(() => import('./trace-page.tsx'), 'TracePage'),
})

export const traceRoutes = [trace] as const
