import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { usePolling } from '../../../api/live.ts'
import {
  metricQuery,
  storeGuardQuery,
  type HealthView,
  type Metric,
  type MetricSeries,
} from '../../../api/metric-queries.ts'
import { performanceQuery } from '../../../api/performance-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { releasesQuery } from '../../../api/release-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { paths } from '../../../address/paths.ts'
import { HEALTH_RANGE, selectedWindow, type MetricsSearch } from '../../../address/search.ts'
import { ProjectPage } from '../../../frames/choose-project.tsx'
import { pickHealthFilters } from '../../../subjects/figures/filter-model.ts'
import { FilterChips, HealthFilters } from '../../../subjects/figures/filters.tsx'
import { buildTimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { useKeys } from '../../../app/keys.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { formatDay } from '../../../ui/format.ts'
import { PageHead } from '../../../ui/page-head.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Minor } from '../../../ui/text.tsx'
import { AnrCard, CrashCard, EventsCard, UsersCard } from './cards.tsx'
import { AnrChart, CrashChart, EventsChart, UsersChart, type ChartProps } from './charts.tsx'
import { DeviceTable, ReleaseTable } from './tables.tsx'
import { metricsTexts } from './texts.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import styles from './metrics-page.module.css'

/** Most projects are apps: their page does not load it. */
const ServerMetrics = lazy(() => import('./server-metrics.tsx').then((module) => ({ default: module.ServerMetrics })))

const route = getRouteApi('/signed-in/shell/metrics')
const REFRESH_MS = 15_000

/** The metrics page: whether the app is healthy, whether it is getting worse, and since which release. */
export function MetricsPage() {
  const search = route.useSearch()
  return (
    <ProjectPage title={metricsTexts.title} search={search} pageOf={paths.metrics}>
      {(id) => <Metrics key={id} projectId={id} search={search} />}
    </ProjectPage>
  )
}

type Change = Partial<MetricsSearch>

function Metrics({ projectId, search }: { projectId: string; search: MetricsSearch }) {
  const navigate = route.useNavigate()
  const change = (next: Change) => void navigate({ search: (before) => ({ ...before, ...next }) })
  const range = search.range ?? HEALTH_RANGE
  const filters = pickHealthFilters(search)
  const view: HealthView = { projectId, range, filters }
  const comparing = search.compare !== 'off'
  const compare = () => change({ compare: comparing ? 'off' : undefined })
  usePrefs()
  useKeys([{ keys: 'l', label: metricsTexts.compareHint, group: 'Page', run: compare }])
  const crash = useMetric(view, 'crash_rate')
  const projects = useQuery(projectsQuery)
  const isApp = projects.data?.items.find(({ id }) => id === projectId)?.platform !== 'web'
  const requests = useQuery({ ...performanceQuery(view), enabled: !isApp, meta: { quiet: true } }).data?.requests
  /** Servers have requests and no sessions. */
  const hasRequests = ({ totals, previous_totals: before }: MetricSeries): boolean =>
    !isApp &&
    (totals.sessions ?? 0) + (before.sessions ?? 0) === 0 &&
    (requests?.count ?? 0) + (requests?.previous.count ?? 0) > 0
  const span = crash.data === undefined ? null : spanOf(crash.data)
  return (
    <>
      <PageHead
        actions={
          <>
            <HealthFilters projectId={projectId} range={range} filters={filters} onChange={change} />
            <Button icon="clock" keys="l" aria-pressed={comparing} title={metricsTexts.compareHint} onClick={compare}>
              {metricsTexts.compare}
            </Button>
            <span className={styles.copy}>
              <CopyButton look="ghost" text={location.href} said={figuresTexts.linkCopied}>
                {figuresTexts.copyLink}
              </CopyButton>
            </span>
          </>
        }
      >
        <h1>{metricsTexts.title}</h1>
        {span === null ? null : (
          <Minor>
            {comparing
              ? metricsTexts.spanCompared(span, metricsTexts.intervals[range], metricsTexts.before[range])
              : metricsTexts.span(span, metricsTexts.intervals[range])}
          </Minor>
        )}
      </PageHead>
      <FilterChips filters={filters} onChange={change} />
      <PageQuery query={crash} what={metricsTexts.title} heightPx={420}>
        {(data) =>
          hasRequests(data) ? (
            <Suspense fallback={<Skeleton heightPx={420} label={metricsTexts.title} />}>
              <ServerMetrics view={view} search={search} onChange={change} />
            </Suspense>
          ) : (
            <Loaded view={view} search={search} crash={data} onChange={change} />
          )
        }
      </PageQuery>
    </>
  )
}

type LoadedProps = { view: HealthView; search: MetricsSearch; crash: MetricSeries; onChange: (change: Change) => void }

function Loaded({ view, search, crash, onChange }: LoadedProps) {
  const anr = useMetric(view, 'anr_rate')
  const events = useMetric(view, 'event_count')
  const users = useMetric(view, 'user_count')
  const polling = usePolling(60_000)
  const guard = useQuery({ ...storeGuardQuery(view.projectId), refetchInterval: polling, meta: { quiet: true } })
  const [first, last] = [crash.points[0]?.t ?? '', crash.points.at(-1)?.t ?? '']
  const markers = useQuery({ ...releaseMarkersQuery([view.projectId], first, last), meta: { quiet: true } })
  const releases = useInfiniteQuery({
    ...releasesQuery({ project: view.projectId, range: view.range, environment: null }),
    meta: { quiet: true },
  })
  const newest = releases.data?.pages[0]?.items.find(({ sessions }) => (sessions ?? 0) > 0)
  const window = selectedWindow(search)
  const onWindow = (next: { from: string; to: string } | null) => onChange({ from: next?.from, to: next?.to })
  const chartOf = (metric: Metric, series: MetricSeries): ChartProps => ({
    series,
    range: view.range,
    axis: buildTimeAxis({
      points: series.points,
      intervalSeconds: series.interval_seconds,
      range: view.range,
      window,
      releases: markers.data?.items ?? [],
      onWindow,
    }),
    comparing: search.compare !== 'off',
    large: search.chart === metric,
    onLarge: (large) => onChange({ chart: large ? metric : undefined }),
  })
  // The store judges the whole app: its rate has no filters.
  const whole = Object.keys(view.filters).length === 0 ? (guard.data ?? null) : null
  return (
    <>
      <section className={styles.cards} aria-label={metricsTexts.figures}>
        <CrashCard series={crash} />
        <PageQuery query={anr} heightPx={116} what={metricsTexts.anrRate}>
          {(series) => <AnrCard series={series} guard={whole} />}
        </PageQuery>
        <PageQuery query={events} heightPx={116} what={metricsTexts.events}>
          {(series) => <EventsCard series={series} />}
        </PageQuery>
        <PageQuery query={users} heightPx={116} what={metricsTexts.users}>
          {(series) => <UsersCard series={series} crash={crash} />}
        </PageQuery>
      </section>
      <WindowNote window={window} onWhole={() => onWindow(null)} />
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={metricsTexts.charts}>
        <CrashChart {...chartOf('crash_rate', crash)} held={newest?.verdict === 'hold' ? newest.version : null} />
        <PageQuery query={anr} heightPx={298} what={metricsTexts.anrRate}>
          {(series) => <AnrChart {...chartOf('anr_rate', series)} guard={whole} />}
        </PageQuery>
        <PageQuery query={events} heightPx={268} what={metricsTexts.events}>
          {(series) => <EventsChart {...chartOf('event_count', series)} />}
        </PageQuery>
        <PageQuery query={users} heightPx={268} what={metricsTexts.users}>
          {(series) => <UsersChart {...chartOf('user_count', series)} />}
        </PageQuery>
      </section>
      <section className={classNames(styles.tables, fitStyles.columns)} aria-label={metricsTexts.tables}>
        <ReleaseTable view={view} />
        <DeviceTable view={view} onDevice={(device) => onChange({ device: [device] })} />
      </section>
    </>
  )
}

function useMetric(view: HealthView, metric: Metric) {
  const polling = usePolling(REFRESH_MS)
  return useQuery({ ...metricQuery(view, metric), refetchInterval: polling, meta: { quiet: true } })
}
const spanOf = ({ points }: MetricSeries): string =>
  metricsTexts.days(formatDay(points[0]?.t ?? ''), formatDay(points.at(-1)?.t ?? ''))
