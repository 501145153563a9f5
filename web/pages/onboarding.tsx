import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { meQuery, projectsQuery } from '../api/queries.ts'
import { AccountMenu } from '../components/account-menu.tsx'
import { usePageTitle } from '../components/page-title.ts'
import { QueryError } from '../components/query-error.tsx'
import { ThemeButton } from '../components/top-bar.tsx'
import { paths } from '../paths.ts'
import { buttonClass } from '../ui/button.tsx'
import { Mark } from '../ui/icon.tsx'
import { onboarding } from '../words/onboarding.ts'
import { shared } from '../words/shared.ts'
import { shell } from '../words/shell.ts'
import { ProjectStep } from './onboarding-project.tsx'
import { SendStep } from './onboarding-send.tsx'
import '../ui/onboarding.css'

const route = getRouteApi('/signed-in/onboarding')

/** From nothing to the first event: a project, then its SDK. */
export function OnboardingPage() {
  usePageTitle(onboarding.title)
  const { project: wanted, step } = route.useSearch()
  const projects = useQuery(projectsQuery)
  const me = useQuery(meQuery)
  const items = projects.data?.items
  const project =
    items?.find(({ id }) => id === wanted) ?? items?.find(({ last_event_at }) => last_event_at === null) ?? items?.[0]
  const making = step === 'project' || (items !== undefined && project === undefined)

  return (
    <>
      <a className="skip" href="#main">
        {shell.skip}
      </a>
      <header className="ob-top">
        <Link {...paths.home()} className="brand" aria-label={shell.homeLink}>
          <Mark />
          <b>{shared.product}</b>
        </Link>
        {making || project === undefined ? null : (
          <span className="sub">
            {onboarding.settingUp} <b>{project.name}</b>
          </span>
        )}
        <span className="sp" />
        {items === undefined || items.length === 0 ? null : (
          <Link {...paths.issues()} className={buttonClass('ghost')}>
            <span>{project?.last_event_at === null ? onboarding.later : onboarding.arrived.stream}</span>
          </Link>
        )}
        <ThemeButton />
        <AccountMenu />
      </header>
      {items === undefined || me.data === undefined ? (
        <main id="main" className="lost" tabIndex={-1}>
          {projects.error === null ? null : (
            <QueryError what={onboarding.projects} error={projects.error} onRetry={() => void projects.refetch()} />
          )}
        </main>
      ) : making ? (
        <ProjectStep role={me.data.user.role} />
      ) : project === undefined ? null : (
        <SendStep key={project.id} project={project} />
      )}
    </>
  )
}
