import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { ShellSearch } from '../../../address/search.ts'
import { shell } from '../../../app/base-routes.ts'

const overview = createRoute({
  getParentRoute: () => shell,
  path: '/overview',
  staticData: { scope: { project: 'one', range: true } },
  validateSearch: (search) => ShellSearch.parse(search),
  component: lazyRouteComponent(() => import('./overview-page.tsx'), 'OverviewPage'),
})

export const overviewRoutes = [overview] as const
