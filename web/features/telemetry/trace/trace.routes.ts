import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { traceQuery } from '../../../api/trace-queries.ts'
import { prefetch, shell } from '../../../app/base-routes.ts'

const trace = createRoute({
  getParentRoute: () => shell,
  path: '/projects/$projectId/traces/$traceId',
  staticData: { scope: { project: 'none', range: false } },
  loader: ({ context: { client }, params }) => prefetch(client.query(traceQuery(params.projectId, params.traceId))),
  component: lazyRouteComponent(() => import('./trace-page.tsx'), 'TracePage'),
})

export const traceRoutes = [trace] as const
