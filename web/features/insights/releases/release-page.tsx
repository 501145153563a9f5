import { serviceNow } from '../../../ui/clock.ts'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { call } from '../../../api/call.ts'
import { useChange } from '../../../api/change.ts'
import { missingSymbolsQuery } from '../../../api/symbol-queries.ts'
import { releaseQuery, type ReleaseDetail } from '../../../api/release-queries.ts'
import { useCan } from '../../../app/can.ts'
import { axisLabels, bucketLabel } from '../../../subjects/figures/time-axis.ts'
import { usePageProject } from '../../../app/page-project.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { paths } from '../../../address/paths.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { gradeOfVerdict } from '../../../subjects/figures/verdict-badge.tsx'
import { usePrefs } from '../../../app/prefs.ts'
import { RELEASE_RANGE, type Range } from '../../../address/search.ts'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { Card } from '../../../ui/card.tsx'
import { ChartCard } from '../../../ui/chart/chart-card.tsx'
import { Button, buttonLook } from '../../../ui/button.tsx'
import { Crumbs } from '../../../ui/crumbs.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDuration, formatRate, formatShare, NO_DATA } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { Stack } from '../../../ui/stack.tsx'
import { Time } from '../../../ui/time.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { assistantTexts } from '../../../subjects/assistant/texts.ts'
import { Icon } from '../../../ui/icon.tsx'
import { releasesTexts } from './texts.ts'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { CrashFreeChart } from './charts.tsx'
import { splitVersion, refreshMs } from './model.ts'
import { Commits, Deploys, ReleaseIssues } from './release-parts.tsx'
import { Traits } from './release-traits.tsx'
import { Change, CrashFree } from './table.tsx'
import styles from './release-page.module.css'
import typeStyles from '../../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/releases/$releaseId')

/** The page of one release: health, issues, commits and deploys. */
export function ReleasePage() {
  const { releaseId } = route.useParams()
  const { range = RELEASE_RANGE, environment = null, project } = route.useSearch()
  const [now] = useState(() => serviceNow())
  const release = useQuery({
    ...releaseQuery(releaseId, range, environment),
    refetchInterval: (query) => refreshMs(query.state.data === undefined ? [] : [query.state.data], now),
    meta: { quiet: true },
  })
  usePrefs()
  const { data } = release
  usePageProject(data?.project_id ?? null)
  usePageTitle(data === undefined ? releasesTexts.one : splitVersion(data.version).version)
  return (
    <PageMain>
      {/* While another release loads, the old data is not of this release. */}
      <PageQuery
        query={data?.id === releaseId ? release : { ...release, data: undefined }}
        what={releasesTexts.one}
        pageTitle={releasesTexts.one}
        missing={
          <EmptyState
            kind="missing"
            heading="h1"
            title={releasesTexts.missing}
            actions={
              <Link {...paths.releases(project === undefined ? {} : { project })} {...buttonLook({ look: 'primary' })}>
                <span>{releasesTexts.back}</span>
              </Link>
            }
          >
            {releasesTexts.missingText}
          </EmptyState>
        }
      >
        {(found) => <Body release={found} range={range} />}
      </PageQuery>
    </PageMain>
  )
}

function Body({ release, range }: { release: ReleaseDetail; range: Range }) {
  const search = route.useSearch()
  const { version, build } = splitVersion(release.version)
  return (
    <>
      <Crumbs
        label={releasesTexts.title}
        list={<Link {...paths.releases({ ...search, project: release.project_id })}>{releasesTexts.title}</Link>}
      >
        <span className={classNames(typeStyles.mono, fitStyles.shrinks, fitStyles.ellipsis)}>{release.version}</span>
      </Crumbs>
      <PageHead actions={<Actions release={release} />}>
        <div>
          <h1 className={`${typeStyles.mono} ${typeStyles.longTitle}`}>{version}</h1>
          {build === null && search.environment === undefined ? null : (
            <p>
              {[
                build === null ? null : releasesTexts.build(build),
                search.environment === undefined ? null : releasesTexts.onlyOf(search.environment),
              ]
                .filter((part) => part !== null)
                .join(', ')}
            </p>
          )}
        </div>
      </PageHead>
      <Stack>
        <Verdict release={release} />
        <UnreadableEvents release={release} />
      </Stack>
      <Facts release={release} />
      {release.series === null ? null : (
        <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={releasesTexts.figures}>
          <Sessions release={release} series={release.series} range={range} />
          <CrashFreeChart lines={[{ version: release.version, hours: release.crash_free_hours ?? [] }]} />
        </section>
      )}
      <ReleaseIssues release={release} search={search} />
      <Traits release={release} />
      <div className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)}>
        <Commits release={release} />
        <Deploys release={release} />
      </div>
    </>
  )
}

const TONES = { hold: 'red', watch: 'amber', healthy: 'green' } as const

function Verdict({ release }: { release: ReleaseDetail }) {
  const { verdict } = release
  const tone = verdict === 'hold' || verdict === 'watch' || verdict === 'healthy' ? TONES[verdict] : 'plain'
  return (
    <Note tone={tone} icon={tone === 'green' ? 'check' : tone === 'plain' ? 'info' : 'warn'}>
      <b>{figuresTexts.verdicts[verdict]}.</b> {release.verdict_reason}
    </Note>
  )
}

/** Says that stack traces of the release cannot be read, where that is so for half of its newest events or more. */
function UnreadableEvents({ release }: { release: ReleaseDetail }) {
  const { data } = useQuery({
    ...missingSymbolsQuery(release.project_id, release.version),
    enabled: release.last_seen !== null,
    meta: { quiet: true },
  })
  if (data === undefined || data.unreadable === 0 || data.unreadable * 2 < data.looked_at) return null
  return (
    <Note
      tone="amber"
      icon="warn"
      action={
        <Link {...paths.symbols({ project: release.project_id })} {...buttonLook({ size: 'sm' })}>
          <span>{releasesTexts.unreadable.upload}</span>
        </Link>
      }
    >
      {releasesTexts.unreadable.text(data.unreadable, data.looked_at)}
    </Note>
  )
}

function Facts({ release }: { release: ReleaseDetail }) {
  const time = (at: string | null, none: string = NO_DATA): ReactNode =>
    at === null ? <span className={typeStyles.quiet}>{none}</span> : <Time at={at} as="moment" />
  const facts: [string, ReactNode][] = [
    [releasesTexts.adoption, release.adoption === null ? none() : formatShare(release.adoption)],
    [releasesTexts.sessions, release.sessions === null ? none() : formatCount(release.sessions)],
    [
      releasesTexts.users(releasesTexts.ranges[release.users_range]),
      release.users === null ? none() : formatCount(release.users),
    ],
    [
      releasesTexts.crashFree,
      release.crash_free_sessions === null ? (
        none()
      ) : (
        <>
          <CrashFree value={release.crash_free_sessions} grade={gradeOfVerdict(release)} />{' '}
          {release.previous === null ? null : <Change row={release} />}
        </>
      ),
    ],
    [
      releasesTexts.crashFreeUsers(releasesTexts.ranges[release.users_range]),
      release.crash_free_users === null ? none() : formatRate(release.crash_free_users),
    ],
    [releasesTexts.released, time(release.released_at)],
    [releasesTexts.firstSeen, time(release.first_seen, releasesTexts.never)],
    [releasesTexts.lastSeen, time(release.last_seen, releasesTexts.never)],
  ]
  return (
    <Card as="dl" className={classNames(styles.facts, typeStyles.accentLinks, typeStyles.metaTerms)}>
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {release.ref === null ? null : (
        <div>
          <dt>{releasesTexts.ref}</dt>
          <dd className={`${typeStyles.mono} ${styles.ref}`}>{release.ref}</dd>
        </div>
      )}
      {release.url === null ? null : (
        <div>
          <dt>{releasesTexts.form.url}</dt>
          <dd>
            <a href={release.url} rel="noreferrer" target="_blank">
              {release.url.replace(/^https?:\/\//, '')}
            </a>
          </dd>
        </div>
      )}
    </Card>
  )
}

const none = () => <span className={typeStyles.quiet}>{NO_DATA}</span>

type SeriesProps = { release: ReleaseDetail; series: NonNullable<ReleaseDetail['series']>; range: Range }

function Sessions({ release, series, range }: SeriesProps) {
  const times = series.points.map((point) => point.t)
  return (
    <ChartCard
      title={releasesTexts.seriesTitle}
      unit={releasesTexts.per(formatDuration(series.interval_seconds * 1000))}
    >
      <BarChart
        label={releasesTexts.seriesFinding(release.version, formatCount(release.sessions))}
        heightPx={200}
        series={[
          { label: releasesTexts.seriesTitle, tone: 'base', values: series.points.map((point) => point.sessions) },
        ]}
        buckets={times.map((time) => bucketLabel(time, series.interval_seconds, range))}
        xLabels={axisLabels(times, series.interval_seconds, range)}
        openEnd
      />
    </ChartCard>
  )
}

function Actions({ release }: { release: ReleaseDetail }) {
  const may = useCan('releases.write')
  const archived = release.state === 'archived'
  const change = useChange({
    send: (body: { state?: 'open' | 'archived'; released_at?: string | null }) =>
      call('PATCH /api/releases/:releaseId', { params: { releaseId: release.id }, body }),
    touches: () => [['releases']],
    said: (_answer, body) =>
      body.state === 'archived'
        ? releasesTexts.archived(release.version)
        : body.state === 'open'
          ? releasesTexts.restored(release.version)
          : releasesTexts.releasedNow(release.version),
    undo: (body) =>
      call('PATCH /api/releases/:releaseId', {
        params: { releaseId: release.id },
        body:
          body.state === undefined ? { released_at: release.released_at } : { state: archived ? 'archived' : 'open' },
      }),
    failed: releasesTexts.notChanged,
  })
  return (
    <>
      <Link {...paths.ask({ project: release.project_id, release: release.id })} {...buttonLook()}>
        <Icon name="ask" />
        <span>{assistantTexts.askAboutThis}</span>
      </Link>
      {release.released_at === null && !archived ? (
        <Button
          icon="clock"
          why={may.why}
          busy={change.isPending}
          onClick={() => change.mutate({ released_at: new Date(serviceNow()).toISOString() })}
        >
          {releasesTexts.setReleased}
        </Button>
      ) : null}
      <Button
        why={may.why}
        busy={change.isPending}
        onClick={() => change.mutate({ state: archived ? 'open' : 'archived' })}
      >
        {archived ? releasesTexts.restore : releasesTexts.archive}
      </Button>
    </>
  )
}
