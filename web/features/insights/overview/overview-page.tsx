import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { openAlertsQuery } from '../../../api/alert-queries.ts'
import { metricQuery } from '../../../api/metric-queries.ts'
import { monitorsQuery } from '../../../api/monitor-queries.ts'
import { changedIssuesQuery, overviewQuery, type Overview } from '../../../api/overview-queries.ts'
import { performanceQuery } from '../../../api/performance-queries.ts'
import type { Project } from '../../../api/queries.ts'
import { releasesQuery } from '../../../api/release-queries.ts'
import { carried, paths } from '../../../address/paths.ts'
import { DEFAULT_RANGE, type Range, type ShellSearch } from '../../../address/search.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { ProjectPage } from '../../../frames/choose-project.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { PageHead } from '../../../ui/page-head.tsx'
import { Minor } from '../../../ui/text.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { platformName } from '#shared/platforms.ts'
import { Cards } from './cards.tsx'
import { EventsChart, NewAndBack, Slowest } from './left.tsx'
import { AlertsCard, ChangesCard, MonitorsCard, ReleasesCard } from './right.tsx'
import { isSilent, judge, listChanges, listNewAndBack, type Facts } from './model.ts'
import { overviewTexts as texts } from './texts.ts'
import { VerdictNote } from './verdict-note.tsx'
import styles from './overview-page.module.css'

const route = getRouteApi('/signed-in/shell/overview')
const REFRESH_MS = 15_000

/** The overview of a project: thirty seconds in the morning. */
export function OverviewPage() {
  const search = route.useSearch()
  usePrefs()
  return (
    <ProjectPage title={texts.title} search={search} pageOf={paths.overview}>
      {(id, project) => <OfProject key={id} projectId={id} project={project} search={search} />}
    </ProjectPage>
  )
}

type OfProjectProps = { projectId: string; project: Project | undefined; search: ShellSearch }

function OfProject({ projectId, project, search }: OfProjectProps) {
  const range = search.range ?? DEFAULT_RANGE
  const overview = useQuery({ ...overviewQuery(projectId, range), refetchInterval: REFRESH_MS })
  return (
    <>
      <PageHead
        actions={
          <span className={narrowStyles.hiddenAt600}>
            <CopyButton look="ghost" text={location.href} said={figuresTexts.linkCopied}>
              {figuresTexts.copyLink}
            </CopyButton>
          </span>
        }
      >
        <h1 className={fitStyles.breaks}>{project?.name ?? texts.title}</h1>
        {project === undefined ? null : <Minor>{texts.about(platformName(project.platform), range)}</Minor>}
      </PageHead>
      <PageQuery query={overview} what={texts.what} heightPx={640}>
        {(data) => (
          <Loaded projectId={projectId} platform={project?.platform ?? ''} range={range} search={search} data={data} />
        )}
      </PageQuery>
    </>
  )
}

type LoadedProps = {
  projectId: string
  platform: string
  range: Range
  search: ShellSearch
  data: Overview
}

function Loaded({ projectId, platform, range, search, data }: LoadedProps) {
  const quiet = { meta: { quiet: true }, refetchInterval: REFRESH_MS }
  const events = useQuery({ ...metricQuery({ projectId, range, filters: {} }, 'event_count'), ...quiet })
  const issues = useQuery({ ...changedIssuesQuery(projectId), ...quiet })
  const alerts = useInfiniteQuery({ ...openAlertsQuery(projectId), ...quiet })
  const releases = useInfiniteQuery({ ...releasesQuery({ project: projectId, range, environment: null }), ...quiet })
  const monitors = useInfiniteQuery({ ...monitorsQuery(projectId), ...quiet })
  // Apps have the figures of their sessions.
  const isWeb = platform === 'web'
  const performance = useQuery({ ...performanceQuery({ projectId, range, filters: {} }), ...quiet, enabled: isWeb })
  const requests = isWeb ? (performance.data?.requests ?? null) : null
  const limits = isWeb ? (performance.data?.limits ?? null) : null
  const since = events.data?.points[0]?.t
  // Before the start of the range is known, nothing is called new.
  const isInRange = (at: string) => since !== undefined && at >= since
  const facts: Facts = {
    overview: data,
    requests: requests === null || requests.count === 0 ? null : requests,
    limits,
    fresh: (issues.data?.fresh ?? []).filter(({ first_seen: at }) => isInRange(at)),
    back: (issues.data?.back ?? []).filter(({ status_changed_at: at }) => isInRange(at)),
    alerts: alerts.data?.pages.flatMap(({ items }) => items) ?? [],
    releases: releases.data?.pages[0]?.items ?? [],
    monitors: (monitors.data?.pages ?? []).flatMap(({ items }) =>
      items.flatMap((monitor) => monitor.environments.map((environment) => ({ monitor, environment }))),
    ),
  }
  // A verdict over half of the facts would be a wrong one.
  const isKnown =
    !(isWeb && performance.data === undefined) &&
    [events, issues, alerts, releases, monitors].every((query) => query.data !== undefined)
  const inProject = carried(search)
  if (isKnown && isSilent(facts)) return <VerdictNote verdict={judge(facts)} projectId={projectId} search={inProject} />
  return (
    <div className={fitStyles.column}>
      {isKnown ? (
        <VerdictNote verdict={judge(facts)} projectId={projectId} search={inProject} />
      ) : (
        <div className={styles.waiting} />
      )}
      <Cards overview={data} requests={facts.requests} limits={limits} platform={platform} search={inProject} />
      <div className={classNames(fitStyles.columns, styles.columns)}>
        <div className={fitStyles.column}>
          <PageQuery query={events} what={texts.events} heightPx={250}>
            {(series) => <EventsChart projectId={projectId} series={series} />}
          </PageQuery>
          <PageQuery query={issues} what={texts.newAndBack} title={texts.newAndBack} heightPx={160}>
            {() => <NewAndBack issues={listNewAndBack(facts)} overview={data} search={inProject} />}
          </PageQuery>
          <Slowest projectId={projectId} range={range} search={inProject} />
        </div>
        <div className={fitStyles.column}>
          {isKnown ? <ChangesCard changes={listChanges(facts, since ?? '')} range={range} search={inProject} /> : null}
          <PageQuery query={alerts} what={texts.alerts} title={texts.alerts} heightPx={90}>
            {() => <AlertsCard alerts={facts.alerts} search={inProject} />}
          </PageQuery>
          <PageQuery query={releases} what={texts.releases} title={texts.releases} heightPx={90}>
            {() => <ReleasesCard releases={facts.releases} search={inProject} />}
          </PageQuery>
          <PageQuery query={monitors} what={texts.monitors} title={texts.monitors} heightPx={90}>
            {() => <MonitorsCard parts={facts.monitors} search={inProject} />}
          </PageQuery>
        </div>
      </div>
    </div>
  )
}
