import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { assistantQuery } from '../../../api/assistant-queries.ts'
import { organisation, prefetch } from '../../../app/base-routes.ts'

const assistantState = createRoute({
  getParentRoute: () => organisation,
  path: '/assistant',
  loader: ({ context: { client }, preload }) => {
    if (!preload) prefetch(client.query(assistantQuery))
  },
  component: lazyRouteComponent(() => import('./state-page.tsx'), 'AssistantStatePage'),
})

export const assistantStateRoutes = [assistantState] as const
