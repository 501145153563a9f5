import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, type LinkProps } from '@tanstack/react-router'
import { useEffect, useEffectEvent, type ReactNode } from 'react'
import { projectsQuery, type Project } from '../api/queries.ts'
import { paths } from '../address/paths.ts'
import type { ShellSearch } from '../address/search.ts'
import { buttonLook } from '../ui/button.tsx'
import { Card } from '../ui/card.tsx'
import { EmptyState } from '../ui/empty-state.tsx'
import { Icon } from '../ui/icon.tsx'
import { PageHead } from '../ui/page-head.tsx'
import { PageMain } from '../ui/page-main.tsx'
import { PlatformTile } from '../ui/platform-tile.tsx'
import { Skeleton } from '../ui/skeleton.tsx'
import { usePageTitle } from '../app/page-title.ts'
import { appTexts } from '../app/texts.ts'
import { frameTexts } from './frame-texts.ts'
import choiceStyles from '../ui/choice.module.css'
import { classNames } from '../ui/class-names.ts'
import fitStyles from '../ui/fit.module.css'
import typeStyles from '../ui/type.module.css'
import { PageQuery } from './page-query.tsx'
import styles from './choose-project.module.css'

type ChooseProjectProps = {
  search: ShellSearch
  /** The same page of a project. */
  pageOf: (search: ShellSearch) => Pick<LinkProps, 'to' | 'params' | 'search'>
}

/** Names the page and its project in the title. @returns the project, when it is known */
export function useProjectTitle(title: string, projectId: string | undefined): Project | undefined {
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === projectId)
  usePageTitle(project === undefined ? title : `${title}, ${project.name}`)
  return project
}

type ProjectPageProps = ChooseProjectProps & {
  title: string
  /** The page of the project, with its own head. */
  children: (projectId: string, project: Project | undefined) => ReactNode
}

/** A page of one project, or the choice of one. */
export function ProjectPage({ title, children, ...choice }: ProjectPageProps) {
  const projectId = choice.search.project
  const project = useProjectTitle(title, projectId)
  return (
    <PageMain>
      {projectId === undefined ? (
        <>
          <PageHead>
            <h1>{title}</h1>
          </PageHead>
          <ChooseProject {...choice} />
        </>
      ) : (
        children(projectId, project)
      )}
    </PageMain>
  )
}

/** Stands on a page of one project when its address names none. The only project is opened by itself. */
export function ChooseProject({ search, pageOf }: ChooseProjectProps) {
  const projects = useQuery(projectsQuery)
  const navigate = useNavigate()
  const found = projects.data?.items ?? []
  const only = found.length === 1 ? found[0]?.id : undefined
  const open = useEffectEvent((project: string) => void navigate({ ...pageOf({ ...search, project }), replace: true }))
  useEffect(() => {
    if (only !== undefined) open(only)
  }, [only])
  return (
    <PageQuery query={projects} what={appTexts.projects} heightPx={240}>
      {({ items }) =>
        items.length === 0 ? (
          <Card>
            <EmptyState
              kind="setup"
              title={frameTexts.noProject}
              heading="h2"
              actions={
                <Link {...buttonLook({ look: 'primary' })} {...paths.onboarding({ step: 'project' })}>
                  {frameTexts.createProject}
                </Link>
              }
            >
              {frameTexts.noProjectMore}
            </EmptyState>
          </Card>
        ) : items.length === 1 ? (
          <Skeleton heightPx={240} label={appTexts.loading} />
        ) : (
          <Card title={frameTexts.chooseProject} className={styles.card}>
            <ul className={classNames(styles.list, fitStyles.ruled, fitStyles.cutSpans, choiceStyles.hoverItems)}>
              {items.map((project) => (
                <li key={project.id}>
                  <Link {...pageOf({ ...search, project: project.id })}>
                    <PlatformTile platform={project.platform} />
                    <span>{project.name}</span>
                    <Icon name="right" className={typeStyles.quiet} />
                  </Link>
                </li>
              ))}
            </ul>
          </Card>
        )
      }
    </PageQuery>
  )
}
