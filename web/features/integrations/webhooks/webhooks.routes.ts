import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { WebhooksSearch } from '../../../address/search.ts'
import { organisation } from '../../../app/base-routes.ts'

const webhooks = createRoute({
  getParentRoute: () => organisation,
  path: '/webhooks',
  validateSearch: (search) => WebhooksSearch.parse(search),
  component: lazyRouteComponent(() => import('./webhooks-page.tsx'), 'WebhooksPage'),
})

/** The address of one endpoint, for links from outside. */
const webhook = createRoute({
  getParentRoute: () => organisation,
  path: '/webhooks/$endpointId',
  beforeLoad: ({ params }) => {
    throw redirect({ ...paths.webhooks({ endpoint: params.endpointId }), replace: true })
  },
})

export const webhookRoutes = [webhooks, webhook] as const
