import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisation, prefetch } from '../../../app/base-routes.ts'

const assistantState = createRoute({
  getParentRoute: () => organisation,
  path: '/assistant',
  loader: ({ context: { client }, preload }) => {
    // No part of the first load of other pages.
    if (!preload)
      prefetch(import('../../../api/assistant-queries.ts').then(({ assistantQuery }) => client.query(assistantQuery)))
  },
  component: lazyRouteComponent(() => import('./state-page.tsx'), 'AssistantStatePage'),
})

export const assistantStateRoutes = [assistantState] as const
