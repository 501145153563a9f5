import { recentAlertsQuery, webhookEndpointsQuery } from '../api/attention-queries.ts'
import { skipToken, useQuery } from '@tanstack/react-query'
import { useMatchRoute, type LinkProps } from '@tanstack/react-router'
import { carried, paths } from '../address/paths.ts'
import { usePolling } from '../api/live.ts'
import { meQuery, onboardingQuery, openCountQuery, projectsQuery } from '../api/queries.ts'
import { can } from '../app/can.ts'
import { useScope } from '../app/use-scope.ts'
import { formatCount } from '../ui/format.ts'
import type { IconName } from '../ui/icon.tsx'
import { railCountsKey, type RailCounts } from './rail-counts.ts'
import { shellTexts } from './texts.ts'

type PageKey =
  | 'issues'
  | 'feedback'
  | 'alerts'
  | 'overview'
  | 'metrics'
  | 'performance'
  | 'traces'
  | 'logs'
  | 'monitors'
  | 'releases'
  | 'symbols'
  | 'intake'
  | 'ask'
  | 'query'

/** A link of the rail; on phones a tab or an entry of More. */
export type Destination = {
  key: PageKey | 'setup' | 'settings' | 'organisation' | 'installation'
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

const badgeOf = (count: number | undefined, isHot: boolean): Pick<Destination, 'badge'> =>
  (count ?? 0) === 0 ? {} : { badge: { count: formatCount(count ?? 0), isHot } }

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

  const counts = useQuery<RailCounts>({ queryKey: railCountsKey(projectId), queryFn: skipToken }).data
  const inProject = projectId === null ? {} : { project: projectId }
  const ofOne = project === undefined ? {} : { project }
  const inRange = carried({ project, range })
  const page = (key: PageKey, icon: IconName, link: Destination['link'], here: unknown): Destination => ({
    key,
    group: 'pages',
    label: shellTexts[key],
    icon,
    link,
    isHere: here !== false,
  })
  const ofProject: Destination[] = [
    page('overview', 'overview', paths.overview(inRange), at({ to: '/overview' })),
    page('metrics', 'metrics', paths.metrics(inRange), at({ to: '/metrics' })),
    page('performance', 'gauge', paths.performance(inRange), at({ to: '/performance', fuzzy: true })),
    page('traces', 'trace', paths.traces(carried({ ...inProject, range })), at({ to: '/traces', fuzzy: true })),
    page('logs', 'logs', paths.logs(inRange), at({ to: '/logs' }) || at({ to: '/trace-metrics' })),
    {
      ...page('monitors', 'pulse', paths.monitors(inProject), at({ to: '/monitors', fuzzy: true })),
      ...badgeOf(counts?.monitors, true),
    },
    page('releases', 'tag', paths.releases(inRange), at({ to: '/releases', fuzzy: true })),
    page('symbols', 'symbols', paths.symbols(inRange), at({ to: '/symbols' })),
    page('intake', 'download', paths.intake(inRange), at({ to: '/intake' })),
    page('ask', 'ask', paths.ask(ofOne), at({ to: '/ask' })),
    page('query', 'query', paths.query(ofOne), at({ to: '/query' })),
    {
      key: 'settings',
      group: 'settings',
      label: shellTexts.projectSettings,
      tabLabel: shellTexts.settings,
      icon: 'project',
      link: project === undefined ? paths.chooseSettings() : paths.projectGeneral(project),
      isHere: [at({ to: '/projects' }), at({ to: '/projects/$projectId/settings', fuzzy: true })].some(
        (here) => here !== false,
      ),
    },
  ]
  const unfinished: Destination = {
    key: 'setup',
    group: 'settings',
    label: shellTexts.setUp,
    icon: 'bolt',
    link: paths.onboarding(),
    isHere: false,
    badge: 'ring',
  }
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
    {
      ...page('issues', 'issues', paths.issues(carried({ ...inProject, range })), at({ to: '/issues', fuzzy: true })),
      ...(openCount.data === undefined ? {} : { badge: { count: formatCount(openCount.data) } }),
    },
    {
      ...page('feedback', 'chat', paths.feedback(inProject), at({ to: '/feedback' })),
      ...badgeOf(counts?.feedback, false),
    },
    {
      ...page('alerts', 'bell', paths.alerts(inProject), at({ to: '/alerts', fuzzy: true })),
      ...badgeOf(recent.data?.unread_count, true),
    },
    ...pages.filter(({ group }) => group === 'pages'),
    ...(setup.data?.steps.first_event === false ? [unfinished] : []),
    ...pages.filter(({ group }) => group === 'settings'),
    organisation,
    ...(me.data?.operates === true
      ? [
          {
            key: 'installation' as const,
            group: 'settings' as const,
            label: shellTexts.installation,
            icon: 'cpu' as const,
            link: paths.operator(),
            isHere: at({ to: '/operator' }) !== false,
          },
        ]
      : []),
  ]
}
