import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { organisation } from '../../../app/base-routes.ts'

const imports = createRoute({
  getParentRoute: () => organisation,
  path: '/import',
  component: lazyRouteComponent(() => import('./imports-page.tsx'), 'ImportsPage'),
})

const oneImport = createRoute({
  getParentRoute: () => organisation,
  path: '/import/$importId',
  component: lazyRouteComponent(() => import('./import-page.tsx'), 'ImportPage'),
})

export const importsRoutes = [imports, oneImport] as const
