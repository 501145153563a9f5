import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { HealthView } from '../../../api/metric-queries.ts'
import {
  screenQuery,
  screensCsvUrl,
  screensQuery,
  transactionsCsvUrl,
  transactionsQuery,
  type ScreenDetail,
} from '../../../api/performance-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { paths } from '../../../address/paths.ts'
import { selectedWindow, type PerformanceSearch } from '../../../address/search.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { shortRelease, shownValue } from '../../../subjects/figures/filter-model.ts'
import { COLD_LIMITS, FROZEN_LIMITS, SLOW_LIMITS } from '../../../subjects/figures/limits.ts'
import { buildTimeAxis, sliceShown } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { MoreButton, type MoreButtonProps } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { RangeLegend } from '../../../ui/chart/range-plot.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDuration } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { DataTable } from '../../../ui/data-table.tsx'
import { Minor } from '../../../ui/text.tsx'
import { coarseText } from './model.ts'
import { PercentileChart, PercentileTable, SpreadChart } from './charts.tsx'
import { durationFinding, durationSentence } from './finding.ts'
import { Duration, partColumn, Ratio } from './columns.tsx'
import { ScreensTable } from './screens-table.tsx'
import { performanceTexts } from './texts.ts'
import { TransactionsTable } from './transactions-table.tsx'
import { usePerformanceView } from './use-view.ts'
import styles from './tables.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'

const DEFAULT_SORT = '-p95'

/** The metric of a rule about a screen; none for the first contentful paint. */
const ALERT_METRICS: Readonly<Partial<Record<string, 'ttid' | 'lcp' | 'transaction'>>> = {
  ttid: 'ttid',
  lcp: 'lcp',
  duration: 'transaction',
}

/** All screens and transactions; or one screen with its spread by device class and release. */
export function ScreensPage() {
  const at = usePerformanceView()
  const { screen } = at.search
  return screen === undefined ? <Screens at={at} /> : <Screen key={screen} name={screen} at={at} />
}

type At = ReturnType<typeof usePerformanceView>

function Screens({ at: { view, search, change } }: { at: At }) {
  const sort = search.order ?? DEFAULT_SORT
  const list = useInfiniteQuery(screensQuery(view, sort))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const first = list.data?.pages[0]
  return (
    <div className={styles.stack}>
      <Card
        title={performanceTexts.screens}
        header={
          rows.length === 0 ? null : (
            <>
              <Minor>
                {performanceTexts.screensUnit(
                  performanceTexts.screenCount(first?.total ?? 0, formatCount(first?.total ?? 0)),
                  performanceTexts.orders[sort],
                )}
              </Minor>
              <RangeLegend />
              <CsvLink
                url={screensCsvUrl(view, sort)}
                filename="screens.csv"
                label={figuresTexts.csv(performanceTexts.screens)}
              />
            </>
          )
        }
      >
        <PageQuery query={list} what={performanceTexts.screens} heightPx={240} inCard>
          {() =>
            rows.length === 0 ? (
              <EmptyState kind="setup" title={performanceTexts.noScreens}>
                {performanceTexts.noScreensMore}
              </EmptyState>
            ) : (
              <ScreensTable
                rows={rows}
                releases={first?.releases ?? null}
                search={search}
                sort={sort}
                onSort={(next) => change({ order: next === DEFAULT_SORT ? undefined : next })}
              />
            )
          }
        </PageQuery>
        <More list={list} shown={rows.length} total={first?.total ?? 0} />
      </Card>
      <Transactions view={view} search={search} />
    </div>
  )
}

function Transactions({ view, search }: { view: HealthView; search: PerformanceSearch }) {
  const list = useInfiniteQuery(transactionsQuery(view))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Card
      title={performanceTexts.transactions}
      header={
        rows.length === 0 ? null : (
          <>
            <Minor>{performanceTexts.transactionsUnit}</Minor>
            <span className={fitStyles.atEnd}>
              <CsvLink
                url={transactionsCsvUrl(view)}
                filename="transactions.csv"
                label={figuresTexts.csv(performanceTexts.transactions)}
              />
            </span>
          </>
        )
      }
    >
      <PageQuery query={list} what={performanceTexts.transactions} heightPx={240} inCard>
        {() =>
          rows.length === 0 ? (
            <EmptyState title={performanceTexts.noTransactions} />
          ) : (
            <TransactionsTable rows={rows} search={search} />
          )
        }
      </PageQuery>
      <More list={list} shown={rows.length} total={list.data?.pages[0]?.total ?? 0} />
    </Card>
  )
}

type MoreProps = {
  list: MoreButtonProps['list']
  shown: number
  total: number
}

function More({ list, shown, total }: MoreProps) {
  return list.hasNextPage ? (
    <CardFooter note={performanceTexts.shownOf(formatCount(shown), formatCount(total))}>
      <MoreButton list={list}>{performanceTexts.more}</MoreButton>
    </CardFooter>
  ) : null
}

function Screen({ name, at }: { name: string; at: At }) {
  const { view, search } = at
  const screen = useQuery(screenQuery(view, name))
  const { screen: _, from: __, to: ___, ...list } = search
  return (
    <div className={styles.stack}>
      <div className={styles.back}>
        <Link {...buttonLook({ look: 'ghost', size: 'sm' })} {...paths.screens(list)}>
          <Icon name="left" />
          <span>{performanceTexts.closeScreen}</span>
        </Link>
        <h2>{name}</h2>
        {screen.data === undefined ? null : (
          <Minor>
            {performanceTexts.screenUnit[screen.data.basis]}, {formatCount(screen.data.count)}{' '}
            {performanceTexts.loads.toLowerCase()}
          </Minor>
        )}
      </div>
      <PageQuery
        query={screen}
        what={name}
        heightPx={240}
        missing={<EmptyState kind="missing" title={performanceTexts.screenGone} />}
      >
        {(data) => <ScreenParts data={data} at={at} />}
      </PageQuery>
    </div>
  )
}

function ScreenParts({ data, at: { view, search, change } }: { data: ScreenDetail; at: At }) {
  const [first, last] = [data.series[0]?.t ?? '', data.series.at(-1)?.t ?? '']
  const markers = useQuery({ ...releaseMarkersQuery([view.projectId], first, last), meta: { quiet: true } })
  const releases = markers.data?.items ?? []
  const window = selectedWindow(search)
  const axis = buildTimeAxis({
    points: data.series,
    intervalSeconds: data.interval_seconds,
    range: view.range,
    window,
    releases,
    onWindow: (next) => change({ from: next?.from, to: next?.to }),
  })
  const metric = ALERT_METRICS[data.basis]
  const points = sliceShown(data.series, axis)
  const finding = durationSentence(durationFinding(points, releases, data.render.p95_ms, null), view.range)
  return (
    <>
      <WindowNote window={window} onWhole={() => change({ from: undefined, to: undefined })} />
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={data.name}>
        <ChartPanel
          title={performanceTexts.overTime}
          {...(metric === undefined
            ? {}
            : { alertOn: { trigger: 'performance_threshold', metric, percentile: 'p95', transaction: data.name } })}
          unit={performanceTexts.screenUnit[data.basis]}
          note={[finding, coarseText(data.percentile_seconds, data.interval_seconds)].join(' ').trim()}
          table={<PercentileTable points={points} axis={axis} counted={performanceTexts.loads} />}
        >
          <PercentileChart
            label={performanceTexts.chartScreen(data.name, finding)}
            points={points}
            axis={axis}
            counted={performanceTexts.loads}
            thresholds={[]}
            formatTick={(ms) => (ms === 0 ? '0' : formatDuration(ms))}
          />
        </ChartPanel>
        <SpreadChart
          title={performanceTexts.spreadOf(data.name)}
          unit={performanceTexts.last[view.range]}
          spread={data.spread}
          whole={data.render}
          poorFrom={COLD_LIMITS.poor}
          counted={performanceTexts.loads}
        />
        <PartTable
          title={performanceTexts.byClass}
          column={performanceTexts.columns.class}
          rows={data.by_device_class.map((row) => ({ ...row, name: shownValue('device_class', row.name) }))}
        />
        <PartTable
          title={performanceTexts.byRelease}
          column={figuresTexts.release}
          rows={data.by_release.map((row) => ({ ...row, name: shortRelease(row.name) }))}
        />
      </section>
    </>
  )
}

type PartTableProps = { title: string; column: string; rows: ScreenDetail['by_release'] }

/** The times of a screen by device class or release. */
function PartTable({ title, column, rows }: PartTableProps) {
  const { columns } = performanceTexts
  return (
    <Card title={title}>
      <DataTable
        scrollLabel={figuresTexts.tableOf(title)}
        className={styles.table}
        rows={rows}
        // Two releases may have the same short name.
        keyOf={({ name }, index) => `${index} ${name}`}
        columns={[
          partColumn(column),
          { head: columns.loads, numeric: true, cell: ({ render }) => formatCount(render.count) },
          { head: figuresTexts.p50, numeric: true, cell: ({ render }) => <Duration ms={render.p50_ms} /> },
          { head: figuresTexts.p75, numeric: true, cell: ({ render }) => <Duration ms={render.p75_ms} /> },
          { head: figuresTexts.p95, numeric: true, cell: ({ render }) => <Duration ms={render.p95_ms} /> },
          {
            head: columns.slow,
            numeric: true,
            cell: (row) => <Ratio of={row.slow_frame_ratio} limits={SLOW_LIMITS} />,
          },
          {
            head: columns.frozen,
            numeric: true,
            cell: (row) => <Ratio of={row.frozen_frame_ratio} limits={FROZEN_LIMITS} />,
          },
        ]}
      />
    </Card>
  )
}
