import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { HEALTH_RANGE, MetricsSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const metrics = createRoute({
  getParentRoute: () => shell,
  path: '/metrics',
  staticData: { scope: { project: 'one', range: true, defaultRange: HEALTH_RANGE } },
  validateSearch: (search) => MetricsSearch.parse(search),
  component: lazyRouteComponent(() => import('./metrics-page.tsx'), 'MetricsPage'),
})

export const metricRoutes = [metrics] as const
