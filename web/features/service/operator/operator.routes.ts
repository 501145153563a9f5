import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { shell } from '../../../app/base-routes.ts'

const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  staticData: { scope: { project: 'none', range: false } },
  component: lazyRouteComponent(() => import('./operator-page.tsx'), 'OperatorPage'),
})

export const operatorRoutes = [operator] as const
