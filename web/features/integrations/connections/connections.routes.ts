import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { codeHostQuery } from '../../../api/code-host-queries.ts'
import { prefetch, projectSettings } from '../../../app/base-routes.ts'

const connections = createRoute({
  getParentRoute: () => projectSettings,
  path: '/integrations',
  loader: ({ context, params }) => prefetch(context.client.query(codeHostQuery(params.projectId))),
  component: lazyRouteComponent(() => import('./connections-page.tsx'), 'ConnectionsPage'),
})

export const connectionRoutes = [connections] as const
