import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import { projectSettings, shell } from '../../../app/base-routes.ts'

const chooseSettings = createRoute({
  getParentRoute: () => shell,
  path: '/projects',
  staticData: { scope: { project: 'one', range: false } },
  component: lazyRouteComponent(() => import('./choose-page.tsx'), 'ChooseSettingsPage'),
})

/** The frame of the settings of a project, whose pages belong to several features. */
export const projectSettingsFrame = {
  component: lazyRouteComponent(() => import('./project-frame.tsx'), 'ProjectSettingsFrame'),
}

const projectSettingsIndex = createRoute({
  getParentRoute: () => projectSettings,
  path: '/',
  beforeLoad: ({ params }) => {
    throw redirect({ ...paths.projectGeneral(params.projectId), replace: true })
  },
})

const projectGeneral = createRoute({
  getParentRoute: () => projectSettings,
  path: '/general',
  component: lazyRouteComponent(() => import('./general-page.tsx'), 'ProjectGeneralPage'),
})

const projectKeys = createRoute({
  getParentRoute: () => projectSettings,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys-page.tsx'), 'ProjectKeysPage'),
})

const projectInstall = createRoute({
  getParentRoute: () => projectSettings,
  path: '/install',
  component: lazyRouteComponent(() => import('./install-page.tsx'), 'ProjectInstallPage'),
})

const projectRetention = createRoute({
  getParentRoute: () => projectSettings,
  path: '/retention',
  component: lazyRouteComponent(() => import('./retention-page.tsx'), 'ProjectRetentionPage'),
})

const projectFilters = createRoute({
  getParentRoute: () => projectSettings,
  path: '/filters',
  component: lazyRouteComponent(() => import('./filters-page.tsx'), 'ProjectFiltersPage'),
})

const projectGrouping = createRoute({
  getParentRoute: () => projectSettings,
  path: '/grouping',
  component: lazyRouteComponent(() => import('./grouping/grouping-page.tsx'), 'ProjectGroupingPage'),
})

const projectScrubbing = createRoute({
  getParentRoute: () => projectSettings,
  path: '/scrubbing',
  component: lazyRouteComponent(() => import('./scrubbing/scrubbing-page.tsx'), 'ProjectScrubbingPage'),
})

const projectOwnership = createRoute({
  getParentRoute: () => projectSettings,
  path: '/ownership',
  component: lazyRouteComponent(() => import('./ownership-page.tsx'), 'ProjectOwnershipPage'),
})

export const chooseSettingsRoutes = [chooseSettings] as const

export const projectSettingsRoutes = [
  projectSettingsIndex,
  projectGeneral,
  projectKeys,
  projectInstall,
  projectFilters,
  projectScrubbing,
  projectOwnership,
  projectGrouping,
  projectRetention,
] as const
