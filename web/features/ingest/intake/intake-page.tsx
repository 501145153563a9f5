import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { intakeQuery, type Intake } from '../../../api/intake-queries.ts'
import { usePolling } from '../../../api/live.ts'
import { axisLabels, bucketLabel } from '../../../subjects/figures/time-axis.ts'
import { ChooseProject, useProjectTitle } from '../../../frames/choose-project.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { paths } from '../../../address/paths.ts'
import { UnsavedGuard } from '../../../forms/unsaved.tsx'
import { usePrefs } from '../../../app/prefs.ts'
import { DEFAULT_RANGE, type Range } from '../../../address/search.ts'
import { buttonLook } from '../../../ui/button.tsx'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { Card } from '../../../ui/card.tsx'
import { Key } from '../../../ui/chart/legend.tsx'
import { Count } from '../../../ui/figures.tsx'
import {
  formatClock,
  formatCount,
  formatDay,
  formatDuration,
  formatMoment,
  formatRate,
  formatSize,
} from '../../../ui/format.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { Note } from '../../../ui/note.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { Minor } from '../../../ui/text.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { intakeTexts } from './texts.ts'
import { IntakeLimits } from './limits.tsx'
import { sumIntakeFigures } from '../../../api/intake-figures.ts'
import { toIntakeSeries, sumBySeries } from './model.ts'
import { KeyTable, LossTable, OutcomeTable } from './tables.tsx'
import settingsStyles from '../../../frames/settings.module.css'
import { classNames } from '../../../ui/class-names.ts'
import typeStyles from '../../../ui/type.module.css'
import styles from './intake-page.module.css'

const route = getRouteApi('/signed-in/shell/intake')
const REFRESH_MS = 15_000

/** The intake page: outcomes of the items that SDKs sent. */
export function IntakePage() {
  const { project: projectId, range = DEFAULT_RANGE } = route.useSearch()
  const name = useProjectTitle(intakeTexts.title, projectId)?.name ?? null
  return (
    <PageMain>
      <PageHead>
        <div>
          <h1>{intakeTexts.title}</h1>
          {name === null ? null : <p>{intakeTexts.lead(name)}</p>}
        </div>
      </PageHead>
      {projectId === undefined ? (
        <ChooseProject search={{ range }} pageOf={paths.intake} />
      ) : (
        <UnsavedGuard>
          <Project key={projectId} projectId={projectId} range={range} />
        </UnsavedGuard>
      )}
    </PageMain>
  )
}

function Project({ projectId, range }: { projectId: string; range: Range }) {
  const polling = usePolling(REFRESH_MS)
  const intake = useQuery({
    ...intakeQuery(projectId, range),
    ...(polling === false ? {} : { refetchInterval: polling }),
    meta: { quiet: true },
  })
  usePrefs()
  return (
    <PageQuery query={intake} what={intakeTexts.title}>
      {(data) => <Figures projectId={projectId} data={data} />}
    </PageQuery>
  )
}

function Figures({ projectId, data }: { projectId: string; data: Intake }) {
  const figures = sumIntakeFigures(data)
  return (
    <div className={styles.page}>
      <QuotaNote quota={data.quota} />
      <FloodNote hours={data.storms} />
      <LagNote waiting={data.waiting} />
      <CostlyNote projectId={projectId} rules={data.costly_rules} />
      {figures.all === 0 && figures.lost === 0 ? (
        <Card>
          <EmptyState
            kind="setup"
            heading="h2"
            title={intakeTexts.nothing}
            actions={
              <Link {...buttonLook()} {...paths.projectKeys(projectId)}>
                {intakeTexts.goToKeys}
              </Link>
            }
          >
            {intakeTexts.nothingMore}
          </EmptyState>
        </Card>
      ) : (
        <>
          <Strip data={data} />
          <OutcomeTable totals={data.totals} all={figures.all} />
          <LossTable losses={data.client_losses} />
          {data.keys.length > 1 ? <KeyTable keys={data.keys} /> : null}
        </>
      )}
      <IntakeLimits projectId={projectId} limits={data.limits} quota={data.quota} />
    </div>
  )
}

function QuotaNote({ quota }: { quota: Intake['quota'] }) {
  const { events_per_day: perDay, used_today: used, resets_at: resetsAt } = quota
  if (perDay === null) return null
  if (used >= perDay) {
    return (
      <Note tone="red" icon="warn" role="status">
        {intakeTexts.quotaMet(resetsAt.slice(11, 16))}
      </Note>
    )
  }
  if (used < perDay * 0.8) return null
  return (
    <Note tone="amber" icon="warn" role="status">
      {intakeTexts.quotaNear(formatRate(used / perDay))}
    </Note>
  )
}

/** From this age of the oldest request on, the page says that digestion is behind, s. */
const SHOWN_LAG_S = 5

/** Requests that wait for digestion. */
function LagNote({ waiting }: { waiting: Intake['waiting'] }) {
  const { requests, bytes, oldest_seconds: oldest } = waiting
  if (oldest < SHOWN_LAG_S) return null
  return (
    <Note tone="amber" icon="warn" role="status">
      {intakeTexts.lag(formatCount(requests), requests === 1, formatSize(bytes), formatDuration(oldest * 1_000))}
    </Note>
  )
}

/** The newest hour with flood sampling, and the number of earlier ones. */
function FloodNote({ hours }: { hours: Intake['storms'] }) {
  const [newest, ...earlier] = hours
  if (newest === undefined) return null
  const { first_at: from, last_at: to, let_through: events, fingerprints: kinds } = newest
  const start = formatMoment(from)
  const end = formatMoment(to)
  return (
    <Note tone="amber" icon="bolt" role="status">
      {intakeTexts.flood(
        intakeTexts.between(start, end === start || formatDay(from) !== formatDay(to) ? end : formatClock(to)),
        intakeTexts.events(formatCount(events), events === 1),
        kinds,
      )}
      {earlier.length === 0 ? null : <Minor as="p">{intakeTexts.earlierFloods(earlier.length)}</Minor>}
    </Note>
  )
}

/** Texts that scrubbing replaced because searching them costs too much. */
function CostlyNote({ projectId, rules }: { projectId: string; rules: Intake['costly_rules'] }) {
  if (rules.length === 0) return null
  const texts = rules.reduce((sum, rule) => sum + rule.texts, 0)
  // One request may be in several rules.
  const requests = Math.max(...rules.map((rule) => rule.requests))
  return (
    <Note
      tone="amber"
      icon="warn"
      role="status"
      action={
        <Link {...buttonLook()} {...paths.projectScrubbing(projectId)}>
          {intakeTexts.costlyRules}
        </Link>
      }
    >
      {intakeTexts.costly(formatCount(texts), texts === 1, requests)}
    </Note>
  )
}

function Strip({ data }: { data: Intake }) {
  const { points, interval_seconds: interval } = data
  const range = rangeOf(data.range)
  const figures = sumIntakeFigures(data)
  const series = toIntakeSeries(points)
  return (
    <Card aria-label={intakeTexts.stripLabel} className={styles.strip}>
      <dl className={classNames(settingsStyles.keyValues, typeStyles.metaTerms)}>
        <div>
          <dt>{intakeTexts.arrived}</dt>
          <dd>
            <Count value={figures.all} short />
          </dd>
        </div>
        {sumBySeries(figures).map(({ label, tone, quantity }) => (
          <div key={label}>
            <dt>
              <Key tone={tone} mark="bar" /> {label}
            </dt>
            <dd>
              <Count value={quantity} short />
            </dd>
          </div>
        ))}
        <div>
          <dt>{intakeTexts.lost}</dt>
          <dd>
            <Count value={figures.lost} short />
          </dd>
        </div>
      </dl>
      <figure>
        <BarChart
          label={intakeTexts.chartFinding(
            formatDuration(interval * 1000),
            formatCount(figures.accepted),
            formatCount(figures.all - figures.accepted),
          )}
          heightPx={120}
          series={series}
          buckets={points.map((point) => bucketLabel(point.t, interval, range))}
          xLabels={axisLabels(
            points.map((point) => point.t),
            interval,
            range,
          )}
        />
        <Minor as="p" className={styles.clock}>
          {intakeTexts.clock}
        </Minor>
      </figure>
    </Card>
  )
}

const rangeOf = (text: string): Range => (text === '1h' || text === '7d' || text === '30d' ? text : '24h')
