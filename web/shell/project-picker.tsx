import { useQuery } from '@tanstack/react-query'
import { useMatchRoute, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { meQuery, projectsQuery } from '../api/queries.ts'
import { can } from '../app/can.ts'
import { useKeys } from '../app/keys.ts'
import { carried, paths } from '../address/paths.ts'
import { Icon } from '../ui/icon.tsx'
import { Menu, type MenuEntry } from '../ui/menu.tsx'
import { PlatformTile } from '../ui/platform-tile.tsx'
import { appTexts } from '../app/texts.ts'
import { shellTexts } from './texts.ts'
import { useScope } from '../app/use-scope.ts'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import styles from './project-picker.module.css'

/** Pages with the project in their search parameters. */
const OF_ONE_PROJECT = [
  { to: '/symbols', of: paths.symbols },
  { to: '/intake', of: paths.intake },
  { to: '/releases', of: paths.releases },
  { to: '/overview', of: paths.overview },
  { to: '/logs', of: paths.logs },
  { to: '/trace-metrics', of: paths.traceMetrics },
  { to: '/metrics', of: paths.metrics },
  { to: '/performance', of: paths.performance },
  { to: '/performance/screens', of: paths.screens },
  { to: '/performance/anr', of: paths.anr },
  { to: '/performance/battery', of: paths.battery },
  { to: '/performance/t/$name', of: paths.performance },
] as const

/** Pages of alerts, which show one project or all; a rule leads to the list of rules. */
const OF_ALERTS = [
  { to: '/alerts', of: paths.alerts },
  { to: '/alerts/history', of: paths.alertHistory },
] as const

/** The settings pages, except the first. */
const SETTINGS = [
  { to: '/projects/$projectId/settings/keys', of: paths.projectKeys },
  { to: '/projects/$projectId/settings/install', of: paths.projectInstall },
  { to: '/projects/$projectId/settings/retention', of: paths.projectRetention },
  { to: '/projects/$projectId/settings/filters', of: paths.projectFilters },
  { to: '/projects/$projectId/settings/scrubbing', of: paths.projectScrubbing },
  { to: '/projects/$projectId/settings/grouping', of: paths.projectGrouping },
  { to: '/projects/$projectId/settings/ownership', of: paths.projectOwnership },
] as const

/** Selects the project (`P`). On settings pages it opens the same page of the other project. */
export function ProjectPicker() {
  const [open, setOpen] = useState(false)
  const { pageProjectId: projectId, project, chosenRange: range, offers } = useScope()
  const projects = useQuery(projectsQuery)
  const me = useQuery(meQuery)
  const navigate = useNavigate()
  const at = useMatchRoute()
  useKeys([{ keys: 'p', label: shellTexts.switchProject, group: 'General', run: () => setOpen(true) }])

  const choose = (id: string | null) => {
    const own = OF_ONE_PROJECT.find(({ to }) => at({ to }) !== false)
    if (id !== null && own !== undefined) return navigate(own.of(carried({ project: id, range })))
    if (id !== null && offers.project === 'one') {
      const page = SETTINGS.find(({ to }) => at({ to }) !== false)
      return navigate((page?.of ?? paths.projectGeneral)(id))
    }
    if (at({ to: '/alerts', fuzzy: true }) !== false) {
      const page = OF_ALERTS.find(({ to }) => at({ to }) !== false)
      return navigate((page?.of ?? paths.alertRules)(id === null ? {} : { project: id }))
    }
    if (at({ to: '/monitors', fuzzy: true }) !== false)
      return navigate(paths.monitors(id === null ? {} : { project: id }))
    if (at({ to: '/feedback' }) !== false) return navigate(paths.feedback(id === null ? {} : { project: id }))
    const scope = carried({ ...(id === null ? {} : { project: id }), range })
    if (at({ to: '/traces' }) !== false) return navigate(paths.traces(scope))
    // The list keeps the rest of its address; an issue page goes to the list.
    if (at({ to: '/issues' }) === false) return navigate(paths.issues(scope))
    return navigate({ to: '/issues', search: (before) => ({ ...before, project: scope.project, cursor: undefined }) })
  }

  const role = me.data?.user.role
  const entries: MenuEntry[] = [
    { kind: 'heading', label: shellTexts.project },
    ...(offers.project === 'any'
      ? [
          {
            label: appTexts.allProjects,
            icon: { element: <PlatformTile platform="all" /> },
            letter: '0',
            checked: projectId === null,
            onSelect: () => void choose(null),
          },
        ]
      : []),
    ...(projects.data?.items ?? []).map((one) => ({
      label: one.name,
      icon: { element: <PlatformTile platform={one.platform} /> },
      checked: one.id === projectId,
      onSelect: () => void choose(one.id),
    })),
    ...(role !== undefined && can(role, 'projects.write').allowed
      ? [
          { kind: 'separator' as const },
          {
            label: shellTexts.newProject,
            icon: 'plus' as const,
            onSelect: () => void navigate(paths.onboarding({ step: 'project' })),
          },
        ]
      : []),
  ]

  // The address may name a project that does not exist or was deleted.
  const unknown = projects.data === undefined ? '' : shellTexts.unknownProject
  const name = projectId === null ? appTexts.allProjects : (project?.name ?? unknown)
  return (
    <Menu
      label={shellTexts.project}
      open={open}
      onOpenChange={setOpen}
      entries={entries}
      trigger={
        <button
          className={classNames(styles.picker, choiceStyles.hovers)}
          type="button"
          title={`${shellTexts.switchProject} (P)`}
        >
          <PlatformTile platform={projectId === null ? 'all' : (project?.platform ?? 'other')} />
          <span>{name}</span>
          <Icon name="updown" />
        </button>
      }
    />
  )
}
