import { serviceNow } from '../../../ui/clock.ts'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { usePolling } from '../../../api/live.ts'
import type { Project } from '../../../api/queries.ts'
import {
  releasesCsvUrl,
  releasesHealthQuery,
  releasesQuery,
  toReleaseView,
  type ReleasesHealth,
} from '../../../api/release-queries.ts'
import { useCan } from '../../../app/can.ts'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { GuideLink } from '../../../frames/guide-link.tsx'
import { ProjectPage } from '../../../frames/choose-project.tsx'
import { MoreButton } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { useKeys } from '../../../app/keys.ts'
import { paths } from '../../../address/paths.ts'
import { usePrefs } from '../../../app/prefs.ts'
import type { ReleasesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { formatCount, formatDay } from '../../../ui/format.ts'
import { Menu } from '../../../ui/menu.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Minor } from '../../../ui/text.tsx'
import { releasesTexts } from './texts.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { AdoptionChart, CrashFreeChart } from './charts.tsx'
import { refreshMs, releaseLine } from './model.ts'
import { ReleaseTable } from './table.tsx'
import { CommandBox } from '../../../ui/command-box.tsx'
import { createCommand } from './commands.ts'
import { CreateReleaseDialog } from './create-release.tsx'
import styles from './releases-page.module.css'
import typeStyles from '../../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/releases')

/** The releases page: adoption, crash-free rates and a verdict per release. */
export function ReleasesPage() {
  const search = route.useSearch()
  return (
    <ProjectPage title={releasesTexts.title} search={search} pageOf={paths.releases}>
      {(id, project) => <Releases key={id} projectId={id} project={project} search={search} />}
    </ProjectPage>
  )
}

type ReleasesProps = { projectId: string; project: Project | undefined; search: ReleasesSearch }

function Releases({ projectId, project, search }: ReleasesProps) {
  const view = toReleaseView({ ...search, project: projectId })
  const [creating, setCreating] = useState(false)
  const [now] = useState(() => serviceNow())
  const list = useInfiniteQuery({
    ...releasesQuery(view),
    refetchInterval: (query) => refreshMs(query.state.data?.pages.flatMap((page) => page.items) ?? [], now),
    meta: { quiet: true },
  })
  const polling = usePolling(60_000)
  const health = useQuery({ ...releasesHealthQuery(view), refetchInterval: polling, meta: { quiet: true } })
  const may = useCan('releases.write')
  usePrefs()
  useKeys(
    may.allowed
      ? [{ keys: 'n', label: releasesTexts.create, group: 'Page' as const, run: () => setCreating(true) }]
      : [],
  )
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const total = list.data?.pages[0]?.total ?? 0
  return (
    <>
      <PageHead
        actions={
          <>
            {rows.length === 0 ? null : (
              <CsvLink
                url={releasesCsvUrl(view)}
                filename="releases.csv"
                label={figuresTexts.csv(releasesTexts.title)}
              />
            )}
            <EnvironmentMenu health={health.data} chosen={view.environment} />
            <Button
              look="primary"
              icon="plus"
              keys={may.allowed ? 'n' : undefined}
              why={may.why}
              onClick={() => setCreating(true)}
            >
              {releasesTexts.create}
            </Button>
          </>
        }
      >
        <h1>{releasesTexts.title}</h1>
        {health.data?.adoption == null ? null : <Minor>{spanOf(health.data.adoption.times)}</Minor>}
      </PageHead>
      <PageQuery query={list} what={releasesTexts.what}>
        {() =>
          rows.length === 0 ? (
            <NoRelease project={project} />
          ) : (
            <>
              <section
                className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)}
                aria-label={releasesTexts.figures}
              >
                <PageQuery
                  query={health}
                  what={releasesTexts.figures}
                  waiting={
                    <>
                      <Skeleton heightPx={298} label={releasesTexts.adoption} />
                      <Skeleton heightPx={298} label={releasesTexts.crashFree} />
                    </>
                  }
                >
                  {(figures) => (
                    <>
                      <AdoptionChart health={figures} range={view.range} rows={rows} />
                      <CrashFreeChart lines={figures.crash_free} rows={rows} />
                    </>
                  )}
                </PageQuery>
              </section>
              <Card>
                <ReleaseTable rows={rows} search={search} />
                {list.hasNextPage ? (
                  <CardFooter note={releasesTexts.count(rows.length, formatCount(total))}>
                    <MoreButton list={list}>{releasesTexts.loadMore}</MoreButton>
                  </CardFooter>
                ) : null}
              </Card>
            </>
          )
        }
      </PageQuery>
      {creating ? <CreateReleaseDialog projectId={projectId} onClose={() => setCreating(false)} /> : null}
    </>
  )
}

const spanOf = (times: readonly string[]): string =>
  releasesTexts.span(formatDay(times[0] ?? ''), formatDay(times.at(-1) ?? ''))

/** Selects the environment; adoption is only comparable within one. */
function EnvironmentMenu({ health, chosen }: { health: ReleasesHealth | undefined; chosen: string | null }) {
  const navigate = route.useNavigate()
  const names = [...new Set([...(health?.environments ?? []), ...(chosen === null ? [] : [chosen])])]
  if (names.length < 2 && chosen === null) return null
  const choose = (environment: string | undefined) =>
    void navigate({ search: (before) => ({ ...before, environment }) })
  return (
    <Menu
      label={releasesTexts.environment}
      align="end"
      trigger={
        <Button icon="tag" caret>
          {chosen ?? releasesTexts.allEnvironments}
        </Button>
      }
      entries={[
        { label: releasesTexts.allEnvironments, checked: chosen === null, onSelect: () => choose(undefined) },
        { kind: 'separator' },
        ...names.map((name) => ({ label: name, checked: name === chosen, onSelect: () => choose(name) })),
      ]}
    />
  )
}

function NoRelease({ project }: { project: Project | undefined }) {
  const line = releaseLine(project?.platform ?? 'web', project?.slug ?? 'shop')
  return (
    <Card aria-labelledby="h-first">
      <h2 className={typeStyles.hidden} id="h-first">
        {releasesTexts.first}
      </h2>
      <EmptyState kind="setup" title={releasesTexts.emptyTitle}>
        {releasesTexts.emptyText} <GuideLink page="releases" />
      </EmptyState>
      <div className={styles.lines}>
        <CommandBox title={releasesTexts.lineTitle} code={line} said={releasesTexts.lineCopied} />
        {project === undefined ? null : (
          <CommandBox
            title={releasesTexts.createTitle}
            code={createCommand(location.origin, project.id, `${project.slug}@1.0.0`)}
            said={releasesTexts.commandCopied}
          />
        )}
      </div>
      <Minor as="p" className={styles.more}>
        {releasesTexts.emptyMore}
      </Minor>
    </Card>
  )
}
