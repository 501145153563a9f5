import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisation } from '../../../app/base-routes.ts'

const apiKeys = createRoute({
  getParentRoute: () => organisation,
  path: '/api-keys',
  component: lazyRouteComponent(() => import('./api-keys-page.tsx'), 'ApiKeysPage'),
})

export const apiKeyRoutes = [apiKeys] as const
