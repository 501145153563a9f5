import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisation } from '../../../app/base-routes.ts'

const members = createRoute({
  getParentRoute: () => organisation,
  path: '/members',
  component: lazyRouteComponent(() => import('./members-page.tsx'), 'MembersPage'),
})

export const memberRoutes = [members] as const
