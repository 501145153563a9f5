import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisation } from '../../../app/base-routes.ts'

const sso = createRoute({
  getParentRoute: () => organisation,
  path: '/sso',
  component: lazyRouteComponent(() => import('./sso-page.tsx'), 'SsoPage'),
})

export const ssoRoutes = [sso] as const
