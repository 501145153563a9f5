import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { LogsSearch, TraceMetricsSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const logs = createRoute({
  getParentRoute: () => shell,
  path: '/logs',
  staticData: { scope: { project: 'one', range: true, dates: true, defaultRange: '1h' } },
  validateSearch: (search) => LogsSearch.parse(search),
  component: lazyRouteComponent(() => import('./logs-page.tsx'), 'LogsPage'),
})

const traceMetrics = createRoute({
  getParentRoute: () => shell,
  path: '/trace-metrics',
  staticData: { scope: { project: 'one', range: true, dates: true } },
  validateSearch: (search) => TraceMetricsSearch.parse(search),
  component: lazyRouteComponent(() => import('./trace-metrics-page.tsx'), 'TraceMetricsPage'),
})

export const logRoutes = [logs, traceMetrics] as const
