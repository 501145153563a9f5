import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { organisation } from '../../../app/base-routes.ts'

const organisationIndex = createRoute({
  getParentRoute: () => organisation,
  path: '/',
  beforeLoad: () => {
    throw redirect({ ...paths.members(), replace: true })
  },
})

const organisationGeneral = createRoute({
  getParentRoute: () => organisation,
  path: '/general',
  component: lazyRouteComponent(() => import('./general-page.tsx'), 'OrganisationGeneralPage'),
})

/** The frame of the pages below `/org`, which belong to several features. */
export const organisationFrame = {
  component: lazyRouteComponent(() => import('./organisation-frame.tsx'), 'OrganisationFrame'),
}

export const organisationRoutes = [organisationIndex, organisationGeneral] as const
