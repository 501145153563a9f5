import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { usePolling } from '../../../api/live.ts'
import { transactionQuery, transactionsQuery, type TransactionDetail } from '../../../api/performance-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { paths } from '../../../address/paths.ts'
import { selectedWindow } from '../../../address/search.ts'
import { useKeys } from '../../../app/keys.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { shortRelease, shownValue } from '../../../subjects/figures/filter-model.ts'
import { buildTimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { Bar } from '../../../ui/bar.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { Delta } from '../../../ui/delta.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatChange, formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import { Time } from '../../../ui/time.tsx'
import { SpreadChart } from './charts.tsx'
import { Enough, partColumn } from './columns.tsx'
import { changeTone, enough, formatTimeShare, listSearch, relativeGrowth } from './model.ts'
import { timesText } from './operation-cards.tsx'
import { FailureChart, LatencyChart, ThroughputChart } from './request-charts.tsx'
import { requestTexts } from './request-texts.ts'
import { RequestTiles } from './server-page.tsx'
import { slowerRelease, slowerTags, type TagRow } from './slower.ts'
import { performanceTexts } from './texts.ts'
import { usePerformanceView, type PerformanceAt } from './use-view.ts'
import startStyles from './start-page.module.css'
import styles from './tables.module.css'

const route = getRouteApi('/signed-in/shell/performance/t/$name')
const REFRESH_MS = 60_000

/** One transaction: since when it is slow, where its time goes, and traces and issues in it. */
export function TransactionPage() {
  const at = usePerformanceView()
  const { name } = route.useParams()
  const polling = usePolling(REFRESH_MS)
  const query = useQuery({ ...transactionQuery(at.view, name), refetchInterval: polling, meta: { quiet: true } })
  usePageTitle(name)
  useStepKeys(at, name)
  return (
    <div className={styles.stack}>
      <div className={styles.back}>
        <Link {...buttonLook({ look: 'ghost', size: 'sm' })} {...paths.performance(listSearch(at.search))}>
          <Icon name="left" />
          <span>{requestTexts.all}</span>
        </Link>
        <h2>{name}</h2>
        {query.data === undefined ? null : <Minor>{requestTexts.op(query.data.op)}</Minor>}
      </div>
      <PageQuery
        query={query}
        what={name}
        heightPx={420}
        missing={
          <EmptyState kind="missing" title={requestTexts.gone}>
            {requestTexts.goneMore}
          </EmptyState>
        }
      >
        {(data) => <Parts data={data} at={at} />}
      </PageQuery>
    </div>
  )
}

/** `[` and `]` step through the transactions, those with most time first, as the list shows them. */
function useStepKeys({ view, search }: PerformanceAt, name: string): void {
  const navigate = useNavigate()
  const list = useInfiniteQuery({ ...transactionsQuery(view, '-total'), meta: { quiet: true } })
  const names = [...new Set(list.data?.pages.flatMap(({ items }) => items.map((one) => one.name)))]
  const step = (by: number) => () => {
    const here = names.indexOf(name)
    const next = here === -1 ? undefined : names[here + by]
    if (next !== undefined) void navigate(paths.transaction(next, listSearch(search)))
  }
  useKeys([
    { keys: '[', label: requestTexts.previous, group: 'Page', run: step(-1), sheetOnly: true },
    { keys: ']', label: requestTexts.next, group: 'Page', run: step(1), sheetOnly: true },
  ])
}

function Parts({ data, at: { view, search, change } }: { data: TransactionDetail; at: PerformanceAt }) {
  const [first, last] = [data.series[0]?.t ?? '', data.series.at(-1)?.t ?? '']
  const markers = useQuery({ ...releaseMarkersQuery([view.projectId], first, last), meta: { quiet: true } })
  const releases = markers.data?.items ?? []
  const window = selectedWindow(search)
  const onWindow = (next: { from: string; to: string } | null) => change({ from: next?.from, to: next?.to })
  const axis = buildTimeAxis({
    points: data.series,
    intervalSeconds: data.interval_seconds,
    range: view.range,
    window,
    releases,
    onWindow,
  })
  const charts = {
    points: data.series,
    axis,
    range: view.range,
    requests: data,
    intervalSeconds: data.interval_seconds,
    percentileSeconds: data.percentile_seconds,
  }
  const p95 = enough(data.p95_ms, data.count)
  const { release, os, device_class: deviceClass } = view.filters
  return (
    <>
      <Reason data={data} releases={releases} />
      <RequestTiles
        requests={data}
        users={{ now: data.users, before: data.previous_users }}
        before={performanceTexts.before[view.range]}
      />
      <WindowNote window={window} onWhole={() => onWindow(null)} />
      <section className={classNames(startStyles.charts, narrowStyles.oneColumnAt924)} aria-label={requestTexts.trend}>
        <LatencyChart {...charts} title={requestTexts.trend} releases={releases} transaction={data.name} />
        <SpreadChart
          title={requestTexts.spread}
          unit={performanceTexts.last[view.range]}
          spread={data.spread}
          whole={p95 === null ? { ...data, p50_ms: null, p75_ms: null, p95_ms: null } : data}
          counted={requestTexts.requests}
        />
      </section>
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={requestTexts.requests}>
        <ThroughputChart {...charts} />
        <FailureChart {...charts} />
      </section>
      <TimeCard data={data} isFiltered={(release ?? os ?? deviceClass) !== undefined} />
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={requestTexts.tags}>
        <PartCard
          title={requestTexts.byRelease}
          column={figuresTexts.release}
          rows={data.by_release.map((row) => ({ ...row, name: shortRelease(row.name) }))}
        />
        <TagCard data={data} />
        <SampleCard data={data} />
        <IssueCard data={data} />
      </section>
    </>
  )
}

/** Says first which release made it slower, if one did. */
function Reason({ data, releases }: { data: TransactionDetail; releases: readonly { version: string; at: string }[] }) {
  const found = slowerRelease(data.by_release, releases)
  if (found === null) return null
  const { release, previous } = found
  return (
    <Card>
      <EmptyState
        title={requestTexts.slowerSince(
          shortRelease(release.name),
          formatDuration(previous.p95_ms),
          formatDuration(release.p95_ms),
        )}
      >
        {requestTexts.slowerFacts(formatCount(release.count), formatCount(previous.count))}
      </EmptyState>
    </Card>
  )
}

/** @param isFiltered by something that spans are not counted by */
function TimeCard({ data, isFiltered }: { data: TransactionDetail; isFiltered: boolean }) {
  return (
    <Card
      title={requestTexts.time}
      header={<Minor>{isFiltered ? requestTexts.timeFiltered : requestTexts.timeUnit}</Minor>}
    >
      {data.time.length === 0 ? (
        <EmptyState title={requestTexts.noTime}>{requestTexts.noTimeMore}</EmptyState>
      ) : (
        <DataTable
          scrollLabel={figuresTexts.tableOf(requestTexts.time)}
          className={styles.table}
          rows={data.time}
          keyOf={({ name }) => name}
          columns={[
            {
              head: requestTexts.operation,
              title: ({ name }) => name,
              cell: ({ name }) => name,
            },
            {
              head: requestTexts.share,
              numeric: true,
              className: styles.share,
              cell: ({ share }) => (
                <span>
                  <Bar share={share} />
                  {formatTimeShare(share)}
                </span>
              ),
            },
            { head: requestTexts.timePerRequest, numeric: true, cell: (row) => formatDuration(row.ms_per_request) },
            { head: requestTexts.spansPerRequest, numeric: true, cell: (row) => timesText(row.spans_per_request) },
          ]}
        />
      )}
    </Card>
  )
}

type PartCardProps = { title: string; column: string; rows: TransactionDetail['by_release'] }

function PartCard({ title, column, rows }: PartCardProps) {
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
          { head: requestTexts.requests, numeric: true, cell: ({ count }) => formatCount(count) },
          { head: figuresTexts.p50, numeric: true, cell: ({ p50_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: figuresTexts.p95, numeric: true, cell: ({ p95_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: requestTexts.failedHead, numeric: true, cell: (row) => formatRate(row.failure_rate) },
        ]}
      />
    </Card>
  )
}

function TagCard({ data }: { data: TransactionDetail }) {
  const rows = slowerTags(data)
  if (rows.length === 0) return null
  return (
    <Card title={requestTexts.tags} header={<Minor>{requestTexts.tagsUnit}</Minor>}>
      <DataTable
        scrollLabel={figuresTexts.tableOf(requestTexts.tags)}
        className={styles.table}
        rows={rows}
        keyOf={({ tag, name }) => `${tag} ${name}`}
        columns={[
          {
            head: requestTexts.tag,
            cell: ({ tag, name }) => (
              <>
                {name === '' ? figuresTexts.unknown : shownValue(tag, name)} <Minor>{requestTexts.tagNames[tag]}</Minor>
              </>
            ),
          },
          { head: requestTexts.requests, numeric: true, cell: ({ count }) => formatCount(count) },
          { head: figuresTexts.p95, numeric: true, cell: ({ p95_ms: ms, count }) => <Enough ms={ms} of={count} /> },
          { head: requestTexts.slower, numeric: true, cell: (row) => <Against row={row} all={data.p95_ms} /> },
        ]}
      />
    </Card>
  )
}

function Against({ row, all }: { row: TagRow; all: number | null }) {
  const growth = relativeGrowth(enough(row.p95_ms, row.count), all)
  return growth === null ? null : <Delta change={changeTone(growth)}>{formatChange(row.p95_ms, all)}</Delta>
}

function SampleCard({ data }: { data: TransactionDetail }) {
  return (
    <Card title={requestTexts.samples}>
      {data.samples.length === 0 ? (
        <EmptyState title={requestTexts.noTraces}>{requestTexts.noTracesMore}</EmptyState>
      ) : (
        <DataTable
          scrollLabel={figuresTexts.tableOf(requestTexts.samples)}
          className={styles.table}
          rows={data.samples}
          keyOf={({ why }) => why}
          columns={[
            {
              head: requestTexts.sample,
              cell: ({ why, trace_id: id }) => (
                <>
                  <Link {...paths.trace(id)}>{requestTexts.why[why]}</Link> <Minor>{id.slice(0, 8)}</Minor>
                </>
              ),
            },
            { head: requestTexts.duration, numeric: true, cell: ({ duration_ms: ms }) => formatDuration(ms) },
            { head: requestTexts.received, numeric: true, cell: ({ at }) => <Time at={at} /> },
          ]}
        />
      )}
    </Card>
  )
}

function IssueCard({ data }: { data: TransactionDetail }) {
  return (
    <Card title={requestTexts.issues} header={<Minor>{requestTexts.issuesUnit}</Minor>}>
      {data.issues.length === 0 ? (
        <EmptyState title={requestTexts.noIssues} />
      ) : (
        <DataTable
          scrollLabel={figuresTexts.tableOf(requestTexts.issues)}
          className={styles.table}
          rows={data.issues}
          keyOf={({ issue_id: id }) => id}
          columns={[
            {
              head: requestTexts.issue,
              title: ({ title }) => title,
              cell: ({ issue_id: id, short_id: shortId, title }) => (
                <>
                  <Link {...paths.issue(id)}>{title}</Link> <Minor>{shortId}</Minor>
                </>
              ),
            },
            { head: requestTexts.traces, numeric: true, cell: ({ traces }) => formatCount(traces) },
            { head: requestTexts.last, numeric: true, cell: ({ last_at: at }) => <Time at={at} /> },
          ]}
        />
      )}
    </Card>
  )
}
