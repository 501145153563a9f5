import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { HEALTH_RANGE, PerformanceSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const performance = createRoute({
  getParentRoute: () => shell,
  path: '/performance',
  staticData: { scope: { project: 'one', range: true, defaultRange: HEALTH_RANGE } },
  validateSearch: (search) => PerformanceSearch.parse(search),
  component: lazyRouteComponent(() => import('./performance-frame.tsx'), 'PerformanceFrame'),
})

const startUp = createRoute({
  getParentRoute: () => performance,
  path: '/',
  component: lazyRouteComponent(() => import('./home-page.tsx'), 'HomePage'),
})

const screens = createRoute({
  getParentRoute: () => performance,
  path: '/screens',
  component: lazyRouteComponent(() => import('./screens-page.tsx'), 'ScreensPage'),
})

const anr = createRoute({
  getParentRoute: () => performance,
  path: '/anr',
  component: lazyRouteComponent(() => import('./anr-page.tsx'), 'AnrPage'),
})

const battery = createRoute({
  getParentRoute: () => performance,
  path: '/battery',
  component: lazyRouteComponent(() => import('./battery-page.tsx'), 'BatteryPage'),
})

const transaction = createRoute({
  getParentRoute: () => performance,
  path: '/t/$name',
  component: lazyRouteComponent(() => import('./transaction-page.tsx'), 'TransactionPage'),
})

export const performanceRoutes = [performance.addChildren([startUp, screens, anr, battery, transaction])] as const
