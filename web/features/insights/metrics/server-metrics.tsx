import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { usePolling } from '../../../api/live.ts'
import { metricQuery, type HealthView, type MetricSeries } from '../../../api/metric-queries.ts'
import { performanceQuery, transactionsQuery, type Performance } from '../../../api/performance-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { paths } from '../../../address/paths.ts'
import { selectedWindow, type MetricsSearch } from '../../../address/search.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { barAxis, buildTimeAxis, lineAxis, sliceShown, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { Card } from '../../../ui/card.tsx'
import { BarChart, LineChart } from '../../../ui/chart/charts.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatRate, formatShortCount, NO_DATA } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import { CountDelta, FigureCard } from './cards.tsx'
import { shareOfLimit } from './model.ts'
import { metricsTexts } from './texts.ts'
import { ofEnoughRequests, perThousand, requestPoints, type RequestPoint } from './server-model.ts'
import { serverTexts } from './server-texts.ts'
import styles from './metrics-page.module.css'

const REFRESH_MS = 15_000

type ServerMetricsProps = {
  view: HealthView
  search: MetricsSearch
  onChange: (change: Partial<MetricsSearch>) => void
}

/** The metrics of a server: errors and failures among its requests, instead of sessions. */
export function ServerMetrics({ view, search, onChange }: ServerMetricsProps) {
  const polling = usePolling(REFRESH_MS)
  const quiet = { refetchInterval: polling, meta: { quiet: true } }
  const performance = useQuery({ ...performanceQuery(view), ...quiet })
  const events = useQuery({ ...metricQuery(view, 'event_count'), ...quiet })
  const users = useQuery({ ...metricQuery(view, 'user_count'), ...quiet })
  return (
    <PageQuery query={performance} what={metricsTexts.title} heightPx={420}>
      {(data) => (
        <PageQuery query={events} what={metricsTexts.events} heightPx={420}>
          {(errors) => (
            <PageQuery query={users} what={serverTexts.usersHit} heightPx={420}>
              {(hit) => (
                <Body data={data} errors={errors} users={hit} view={view} search={search} onChange={onChange} />
              )}
            </PageQuery>
          )}
        </PageQuery>
      )}
    </PageQuery>
  )
}

type BodyProps = ServerMetricsProps & { data: Performance; errors: MetricSeries; users: MetricSeries }

function Body({ data, errors, users, view, search, onChange }: BodyProps) {
  const markers = useQuery({ ...releaseMarkersQuery([view.projectId], data.from, data.to), meta: { quiet: true } })
  const { requests, limits } = data
  const { previous } = requests
  const seconds = data.percentile_seconds.transactions
  const all = requestPoints(data.series, errors.points, users.points, seconds / data.interval_seconds)
  const window = selectedWindow(search)
  const onWindow = (next: { from: string; to: string } | null) => onChange({ from: next?.from, to: next?.to })
  const axis = buildTimeAxis({
    points: data.series,
    intervalSeconds: data.interval_seconds,
    range: view.range,
    window,
    releases: markers.data?.items ?? [],
    onWindow,
  })
  const points = sliceShown(all, axis)
  // Errors without a user say nothing about the number of users.
  const hit = users.total === 0 && (errors.total ?? 0) > 0 ? null : users.total
  const rate = perThousand(errors.total, requests.count)
  const before = perThousand(errors.previous_total, previous.count)
  const charts = { points, axis, unit: figuresTexts.per[view.range] }
  return (
    <>
      <section className={styles.cards} aria-label={metricsTexts.figures}>
        <FigureCard
          title={serverTexts.errorRate}
          word={null}
          value={rateText(rate)}
          delta={<CountDelta now={rate} before={before} more="worse" />}
          about={serverTexts.against(rateText(before))}
          trend={all.map((point) => point.errorRate)}
          tone="bad"
          scale={null}
          note={
            rate === null && requests.count > 0
              ? serverTexts.tooFewNote(requests.count)
              : serverTexts.errorRateNote(errors.total ?? 0, requests.count)
          }
        />
        <FigureCard
          title={serverTexts.failed}
          word={limits.failure_rate?.word ?? null}
          value={formatShortCount(requests.failures)}
          full={formatCount(requests.failures)}
          delta={<CountDelta now={requests.failures} before={previous.failures} more="worse" />}
          about={serverTexts.against(formatCount(previous.failures))}
          trend={all.map(({ failures }) => failures)}
          tone="bad"
          scale={scaleOf(requests.failure_rate, limits.failure_rate)}
          note={serverTexts.failedNote(
            formatRate(requests.failure_rate),
            limits.failure_rate === null ? null : formatRate(limits.failure_rate.poor),
          )}
        />
        {limits.p95_ms === null ? null : (
          <FigureCard
            title={serverTexts.p95Title}
            word={limits.p95_ms.word}
            value={formatDuration(ofEnoughRequests(requests.p95_ms, requests.count))}
            delta={
              <CountDelta
                now={ofEnoughRequests(requests.p95_ms, requests.count)}
                before={ofEnoughRequests(previous.p95_ms, previous.count)}
                more="worse"
              />
            }
            about={serverTexts.against(formatDuration(ofEnoughRequests(previous.p95_ms, previous.count)))}
            trend={data.series.map(({ transactions }) => transactions.p95_ms)}
            tone="base"
            scale={scaleOf(ofEnoughRequests(requests.p95_ms, requests.count), limits.p95_ms)}
            note={serverTexts.limit(formatDuration(limits.p95_ms.poor))}
          />
        )}
        <FigureCard
          title={serverTexts.usersHit}
          word={null}
          value={formatShortCount(hit)}
          full={formatCount(hit)}
          delta={<CountDelta now={hit} before={users.previous_total} more="worse" />}
          about={serverTexts.against(formatCount(users.previous_total))}
          trend={all.map((point) => (hit === null ? null : point.users))}
          tone="measure"
          scale={null}
          note={hit === null ? serverTexts.noUsers : serverTexts.usersNote}
        />
        <FigureCard
          title={serverTexts.requests}
          word={null}
          value={formatShortCount(requests.count)}
          full={formatCount(requests.count)}
          delta={<CountDelta now={requests.count} before={previous.count} more="same" />}
          about={serverTexts.against(formatCount(previous.count))}
          trend={all.map(({ requests: many }) => many)}
          tone="base"
          scale={null}
          note={serverTexts.perMinute(rateText(requests.throughput))}
        />
      </section>
      <WindowNote window={window} onWhole={() => onWindow(null)} />
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={metricsTexts.charts}>
        <ChartPanel
          title={serverTexts.errorRate}
          unit={seconds > data.interval_seconds ? '' : charts.unit}
          note={
            seconds > data.interval_seconds
              ? `${serverTexts.coarse(formatDuration(seconds * 1_000))} ${serverTexts.sampled}`
              : serverTexts.sampled
          }
          table={<PointTable {...charts} title={serverTexts.errorRate} of={errorText} />}
        >
          <LineChart
            {...lineAxis(axis)}
            label={serverTexts.chart(serverTexts.errorRate, rateText(rate))}
            heightPx={190}
            lines={[{ label: serverTexts.errorRate, tone: 'bad', values: points.map((point) => point.errorRate) }]}
            thresholds={[]}
            formatTick={(value) => String(value)}
            formatValue={rateText}
          />
        </ChartPanel>
        <CountPanel
          {...charts}
          title={serverTexts.failed}
          tone="bad"
          of={(point) => point.failures}
          total={requests.failures}
        />
        <CountPanel
          {...charts}
          title={serverTexts.usersHit}
          tone="measure"
          of={(point) => (hit === null ? null : point.users)}
          total={hit}
        />
        <CountPanel
          {...charts}
          title={serverTexts.requests}
          tone="base"
          of={(point) => point.requests}
          total={requests.count}
        />
      </section>
      <FailingTransactions view={view} />
    </>
  )
}

const errorText = ({ errorRate, requests }: RequestPoint): string =>
  errorRate === null && requests > 0 ? serverTexts.tooFew : rateText(errorRate)

/** How far a figure is on the way to its limit; null without one. */
const scaleOf = (value: number | null, limit: Performance['limits']['p95_ms']): number | null =>
  limit === null || value === null ? null : shareOfLimit({ total: value, bands: limit })

/** `3.14`, `0.02`: errors per thousand requests, and requests per minute. */
const rateText = (rate: number | null): string =>
  rate === null
    ? NO_DATA
    : rate >= 100
      ? formatCount(Math.round(rate))
      : String(Number(rate.toFixed(rate < 10 ? 2 : 1)))

type ChartProps = { points: readonly RequestPoint[]; axis: TimeAxis; unit: string; title: string }

function PointTable({ points, axis, title, of }: ChartProps & { of: (point: RequestPoint) => string }) {
  return (
    <ChartTable
      label={figuresTexts.asTable}
      head={[figuresTexts.time, title]}
      rows={points.map((point, index) => [axis.names[index] ?? '', of(point)])}
    />
  )
}

type CountPanelProps = ChartProps & {
  tone: 'bad' | 'measure' | 'base'
  of: (point: RequestPoint) => number | null
  total: number | null
}

function CountPanel({ tone, of, total, ...chart }: CountPanelProps) {
  const { title, unit, axis, points } = chart
  return (
    <ChartPanel title={title} unit={unit} table={<PointTable {...chart} of={(point) => formatCount(of(point))} />}>
      <BarChart
        {...barAxis(axis)}
        label={serverTexts.chart(title, formatCount(total))}
        heightPx={190}
        series={[{ label: title, tone, values: points.map(of) }]}
      />
    </ChartPanel>
  )
}

const MAX_ROWS = 10

function FailingTransactions({ view }: { view: HealthView }) {
  const list = useInfiniteQuery({ ...transactionsQuery(view, '-failures'), meta: { quiet: true } })
  const rows = (list.data?.pages[0]?.items ?? []).filter(({ failures }) => failures > 0).slice(0, MAX_ROWS)
  const search = { project: view.projectId, range: view.range, ...view.filters }
  return (
    <Card
      title={serverTexts.failing}
      header={
        <>
          <Minor>{serverTexts.failingUnit}</Minor>
          <Link className={fitStyles.atEnd} {...paths.performance(search)}>
            {serverTexts.allTransactions}
          </Link>
        </>
      }
    >
      <PageQuery query={list} what={serverTexts.failing} heightPx={200} inCard>
        {() =>
          rows.length === 0 ? (
            <EmptyState title={serverTexts.noFailing} />
          ) : (
            <DataTable
              scrollLabel={figuresTexts.tableOf(serverTexts.failing)}
              rows={rows}
              keyOf={({ op, name }) => `${op} ${name}`}
              columns={[
                {
                  head: serverTexts.name,
                  title: ({ name }) => name,
                  cell: ({ name, op }) => (
                    <>
                      <Link {...paths.transaction(name, search)}>{name}</Link> <Minor>{op}</Minor>
                    </>
                  ),
                },
                { head: serverTexts.failures, numeric: true, cell: ({ failures }) => formatCount(failures) },
                { head: serverTexts.rate, numeric: true, cell: (row) => formatRate(row.failure_rate) },
                { head: serverTexts.requests, numeric: true, cell: ({ count }) => formatCount(count) },
                {
                  head: serverTexts.p95,
                  numeric: true,
                  cell: ({ p95, count }) => formatDuration(ofEnoughRequests(p95, count)),
                },
              ]}
            />
          )
        }
      </PageQuery>
    </Card>
  )
}
