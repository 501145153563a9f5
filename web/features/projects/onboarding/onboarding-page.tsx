import { useQuery } from '@tanstack/react-query'
import { CentredMain } from '../../../frames/centred-main.tsx'
import { getRouteApi, Link } from '@tanstack/react-router'
import { meQuery, projectsQuery } from '../../../api/queries.ts'
import { AccountMenu } from '../../../frames/account-menu.tsx'
import { usePageTitle } from '../../../app/page-title.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { ThemeButton } from '../../../frames/theme-button.tsx'
import { paths } from '../../../address/paths.ts'
import { Brand } from '../../../ui/mark.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Minor } from '../../../ui/text.tsx'
import { onboardingTexts } from './texts.ts'
import { appTexts } from '../../../app/texts.ts'
import { ProjectStep } from './project-step.tsx'
import { SendStep } from './send-step.tsx'
import styles from './onboarding-page.module.css'
import { Spacer } from '../../../ui/stack.tsx'
import { SkipLink } from '../../../ui/page-main.tsx'
import typeStyles from '../../../ui/type.module.css'

const route = getRouteApi('/signed-in/onboarding')

/** The set-up: create a project, install its SDK, receive the first event. */
export function OnboardingPage() {
  usePageTitle(onboardingTexts.title)
  const { project: wanted, step, sdk } = route.useSearch()
  const projects = useQuery(projectsQuery)
  const me = useQuery(meQuery)
  const items = projects.data?.items
  const project =
    items?.find(({ id }) => id === wanted) ?? items?.find(({ last_event_at }) => last_event_at === null) ?? items?.[0]
  const making = step === 'project' || (items !== undefined && project === undefined)

  return (
    <>
      <SkipLink>{appTexts.skip}</SkipLink>
      <header className={styles.top}>
        <div className={styles.bar}>
          <Link {...paths.home()} aria-label={appTexts.homeLink}>
            <Brand name={appTexts.product} />
          </Link>
          {making || project === undefined ? null : (
            <Minor>
              {onboardingTexts.settingUp} <b className={typeStyles.strong}>{project.name}</b>
            </Minor>
          )}
          <Spacer />
          {items === undefined || items.length === 0 ? null : (
            <Link {...paths.issues()} {...buttonLook({ look: 'ghost' })}>
              <span>{project?.last_event_at === null ? onboardingTexts.later : onboardingTexts.arrived.stream}</span>
            </Link>
          )}
          <ThemeButton />
          <AccountMenu />
        </div>
      </header>
      {items === undefined || me.data === undefined ? (
        <CentredMain>
          {projects.error === null ? null : (
            <QueryError
              what={onboardingTexts.projects}
              error={projects.error}
              onRetry={() => void projects.refetch()}
            />
          )}
        </CentredMain>
      ) : making ? (
        <ProjectStep role={me.data.user.role} />
      ) : project === undefined ? null : (
        <SendStep key={project.id} project={project} sdk={sdk} />
      )}
    </>
  )
}
