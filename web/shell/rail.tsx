import { useQuery } from '@tanstack/react-query'
import { Link, useMatchRoute } from '@tanstack/react-router'
import { usePolling } from '../api/live.ts'
import { meQuery, onboardingQuery, openCountQuery, projectsQuery } from '../api/queries.ts'
import { carried, paths } from '../address/paths.ts'
import { formatCount } from '../ui/format.ts'
import { Icon, Mark } from '../ui/icon.tsx'
import { Kbd } from '../ui/kbd.tsx'
import { shell } from './texts.ts'
import { useScope } from '../common/use-scope.ts'

/** The left rail: only destinations that exist. */
export function Rail({ onJump }: { onJump: () => void }) {
  const me = useQuery(meQuery)
  const { projectId, chosenRange: range } = useScope()
  const settingsOf = useSettingsProject()
  const openCount = useQuery({
    ...openCountQuery(projectId),
    refetchInterval: usePolling(15_000),
    meta: { quiet: true },
  })
  const setup = useQuery({ ...onboardingQuery, staleTime: 60_000, meta: { quiet: true } })
  const at = useMatchRoute()
  const inIssues = at({ to: '/issues', fuzzy: true }) !== false
  const inReleases = at({ to: '/releases', fuzzy: true }) !== false
  const inIntake = at({ to: '/intake' }) !== false
  const inProject = at({ to: '/projects/$projectId/settings', fuzzy: true }) !== false

  return (
    <aside className="side">
      <div className="orgsw">
        <Mark />
        <span>{me.data?.org.name}</span>
      </div>
      <button className="jump" type="button" onClick={onJump}>
        <Icon name="search" />
        <span>{shell.jump}</span>
        <Kbd keys="mod+k" />
      </button>
      <nav aria-label={shell.main}>
        <ul>
          <li>
            <Link
              {...paths.issues(carried({ ...(projectId === null ? {} : { project: projectId }), range }))}
              aria-current={inIssues ? 'page' : undefined}
            >
              <Icon name="issues" />
              <span>{shell.issues}</span>
              {openCount.data === undefined ? null : <span className="count">{formatCount(openCount.data)}</span>}
            </Link>
          </li>
          {settingsOf === null ? null : (
            <li>
              <Link
                {...paths.releases(carried({ project: settingsOf, range }))}
                aria-current={inReleases ? 'page' : undefined}
              >
                <Icon name="tag" />
                <span>{shell.releases}</span>
              </Link>
            </li>
          )}
          {settingsOf === null ? null : (
            <li>
              <Link
                {...paths.intake(carried({ project: settingsOf, range }))}
                aria-current={inIntake ? 'page' : undefined}
              >
                <Icon name="download" />
                <span>{shell.intake}</span>
              </Link>
            </li>
          )}
        </ul>
      </nav>
      <nav className="side-low" aria-label={shell.settings}>
        <ul>
          {setup.data?.steps.first_event === false ? (
            <li>
              <Link {...paths.onboarding()}>
                <Icon name="bolt" />
                <span>{shell.setUp}</span>
                <span className="ring" aria-hidden="true" />
              </Link>
            </li>
          ) : null}
          {settingsOf === null ? null : (
            <li>
              <Link {...paths.projectGeneral(settingsOf)} aria-current={inProject ? 'page' : undefined}>
                <Icon name="project" />
                <span>{shell.projectSettings}</span>
              </Link>
            </li>
          )}
        </ul>
      </nav>
    </aside>
  )
}

/** Whose settings the link opens: the project in view, else the first. */
export function useSettingsProject(): string | null {
  const { projectId } = useScope()
  const projects = useQuery(projectsQuery)
  return projectId ?? projects.data?.items[0]?.id ?? null
}
