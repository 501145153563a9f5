import { useQuery } from '@tanstack/react-query'
import { useMatchRoute, type LinkProps } from '@tanstack/react-router'
import { carried, paths } from '../address/paths.ts'
import { recentAlertsQuery } from '../api/alert-queries.ts'
import { usePolling } from '../api/live.ts'
import { meQuery, onboardingQuery, openCountQuery, projectsQuery } from '../api/queries.ts'
import { webhookEndpointsQuery } from '../api/webhook-queries.ts'
import { can } from '../app/can.ts'
import { useScope } from '../app/use-scope.ts'
import { formatCount } from '../ui/format.ts'
import type { IconName } from '../ui/icon.tsx'
import { shellTexts } from './texts.ts'

/** A link of the rail; on phones a tab or an entry of More. */
export type Destination = {
  key:
    | 'issues'
    | 'alerts'
    | 'metrics'
    | 'performance'
    | 'releases'
    | 'symbols'
    | 'intake'
    | 'ask'
    | 'query'
    | 'setup'
    | 'settings'
    | 'organisation'
  group: 'pages' | 'settings'
  label: string
  /** The label of a tab on phones, if the label is too long. */
  tabLabel?: string
  icon: IconName
  link: Pick<LinkProps, 'to' | 'params' | 'search'>
  isHere: boolean
  /**
   * Beside the label in the rail: a count, red where it asks for an action; a ring for an unfinished set-up, or a dot
   * where something needs attention.
   */
  badge?: { count: string; isHot?: boolean } | 'ring' | 'attention'
}

/** The destinations, in the order of the rail. */
export function useDestinations(): Destination[] {
  const { projectId, pageProjectId, chosenRange: range } = useScope()
  const projects = useQuery(projectsQuery).data?.items ?? []
  const only = projects.length === 1 ? projects[0]?.id : undefined
  // Without a project, the pages of one project offer the choice.
  const project = pageProjectId ?? only
  const at = useMatchRoute()
  const openCount = useQuery({
    ...openCountQuery(projectId),
    refetchInterval: usePolling(15_000),
    meta: { quiet: true },
  })
  const setup = useQuery({ ...onboardingQuery, staleTime: 60_000, meta: { quiet: true } })

  const me = useQuery(meQuery)
  const role = me.data?.user.role ?? 'viewer'
  const recent = useQuery({ ...recentAlertsQuery, refetchInterval: usePolling(30_000) })
  const endpoints = useQuery({
    ...webhookEndpointsQuery,
    enabled: can(role, 'webhooks.read').allowed,
    staleTime: 60_000,
    meta: { quiet: true },
  })

  const issues: Destination = {
    key: 'issues',
    group: 'pages',
    label: shellTexts.issues,
    icon: 'issues',
    link: paths.issues(carried({ ...(projectId === null ? {} : { project: projectId }), range })),
    isHere: at({ to: '/issues', fuzzy: true }) !== false,
    ...(openCount.data === undefined ? {} : { badge: { count: formatCount(openCount.data) } }),
  }
  const firing = recent.data?.unread_count ?? 0
  const alerts: Destination = {
    key: 'alerts',
    group: 'pages',
    label: shellTexts.alerts,
    icon: 'bell',
    link: paths.alerts(projectId === null ? {} : { project: projectId }),
    isHere: at({ to: '/alerts', fuzzy: true }) !== false,
    ...(firing === 0 ? {} : { badge: { count: formatCount(firing), isHot: true } }),
  }
  const unfinished: Destination = {
    key: 'setup',
    group: 'settings',
    label: shellTexts.setUp,
    icon: 'bolt',
    link: paths.onboarding(),
    isHere: false,
    badge: 'ring',
  }
  const ofProject: Destination[] = [
    {
      key: 'metrics',
      group: 'pages',
      label: shellTexts.metrics,
      icon: 'metrics',
      link: paths.metrics(carried({ project, range })),
      isHere: at({ to: '/metrics' }) !== false,
    },
    {
      key: 'performance',
      group: 'pages',
      label: shellTexts.performance,
      icon: 'gauge',
      link: paths.performance(carried({ project, range })),
      isHere: at({ to: '/performance', fuzzy: true }) !== false,
    },
    {
      key: 'releases',
      group: 'pages',
      label: shellTexts.releases,
      icon: 'tag',
      link: paths.releases(carried({ project, range })),
      isHere: at({ to: '/releases', fuzzy: true }) !== false,
    },
    {
      key: 'symbols',
      group: 'pages',
      label: shellTexts.symbols,
      icon: 'symbols',
      link: paths.symbols(carried({ project, range })),
      isHere: at({ to: '/symbols' }) !== false,
    },
    {
      key: 'intake',
      group: 'pages',
      label: shellTexts.intake,
      icon: 'download',
      link: paths.intake(carried({ project, range })),
      isHere: at({ to: '/intake' }) !== false,
    },
    {
      key: 'ask',
      group: 'pages',
      label: shellTexts.ask,
      icon: 'ask',
      link: paths.ask(project === undefined ? {} : { project }),
      isHere: at({ to: '/ask' }) !== false,
    },
    {
      key: 'query',
      group: 'pages',
      label: shellTexts.query,
      icon: 'query',
      link: paths.query(project === undefined ? {} : { project }),
      isHere: at({ to: '/query' }) !== false,
    },
    {
      key: 'settings',
      group: 'settings',
      label: shellTexts.projectSettings,
      tabLabel: shellTexts.settings,
      icon: 'project',
      link: project === undefined ? paths.chooseSettings() : paths.projectGeneral(project),
      isHere: at({ to: '/projects', fuzzy: true }) !== false,
    },
  ]
  const organisation: Destination = {
    key: 'organisation',
    group: 'settings',
    label: shellTexts.organisation,
    icon: 'org',
    link: paths.members(),
    isHere: at({ to: '/org', fuzzy: true }) !== false,
    ...(endpoints.data?.items.some((endpoint) => endpoint.needs_attention) === true ? { badge: 'attention' } : {}),
  }
  const pages = project === undefined && projects.length === 0 ? [] : ofProject
  return [
    issues,
    alerts,
    ...pages.filter(({ group }) => group === 'pages'),
    ...(setup.data?.steps.first_event === false ? [unfinished] : []),
    ...pages.filter(({ group }) => group === 'settings'),
    // Its pages are for admins.
    ...(can(role, 'webhooks.read').allowed ? [organisation] : []),
  ]
}
