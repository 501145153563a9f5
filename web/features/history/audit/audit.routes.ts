import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { AuditSearch } from '../../../address/search.ts'
import { organisation } from '../../../app/base-routes.ts'

const audit = createRoute({
  getParentRoute: () => organisation,
  path: '/audit',
  validateSearch: (search) => AuditSearch.parse(search),
  component: lazyRouteComponent(() => import('./audit-page.tsx'), 'AuditPage'),
})

export const auditRoutes = [audit] as const
