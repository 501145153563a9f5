import { useInfiniteQuery } from '@tanstack/react-query'
import { transactionsCsvUrl, transactionsQuery, type Performance } from '../../../api/performance-queries.ts'
import { MoreButton } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { CsvLink } from '../../../subjects/figures/csv-link.tsx'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatPoints, formatRate } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor } from '../../../ui/text.tsx'
import { enough } from './model.ts'
import { OperationCards } from './operation-cards.tsx'
import { FailureChart, LatencyChart, ThroughputChart } from './request-charts.tsx'
import { requestTexts } from './request-texts.ts'
import { performanceTexts } from './texts.ts'
import { Tiles, type Tile } from './tiles.tsx'
import { rateText, TransactionsTable } from './transactions-table.tsx'
import { usePerformanceAxis, type PerformanceAt } from './use-view.ts'
import startStyles from './start-page.module.css'
import styles from './tables.module.css'

/** The performance page of a server: what is slow, since when, and what it costs. */
export function ServerPage({ data, at }: { data: Performance; at: PerformanceAt }) {
  const { axis, window, onWhole, releases } = usePerformanceAxis(data, at)
  const { range } = at.view
  const points = data.series.map(({ t, incomplete, transactions }) => ({ t, incomplete, ...transactions }))
  const charts = {
    points,
    axis,
    range,
    requests: data.requests,
    limits: data.limits,
    intervalSeconds: data.interval_seconds,
    percentileSeconds: data.percentile_seconds.transactions,
  }
  return (
    <div className={styles.stack}>
      <RequestTiles requests={data.requests} limits={data.limits} before={performanceTexts.before[range]} />
      <WindowNote window={window} onWhole={onWhole} />
      <section
        className={classNames(startStyles.charts, narrowStyles.oneColumnAt924)}
        aria-label={requestTexts.latency}
      >
        <LatencyChart {...charts} releases={releases} />
        <div className={styles.stack}>
          <ThroughputChart {...charts} />
          <FailureChart {...charts} />
        </div>
      </section>
      <AllTransactions data={data} at={at} />
      <OperationCards view={at.view} search={at.search} kinds={['queries', 'outgoing', 'queues', 'caches']} />
    </div>
  )
}

type RequestTilesProps = {
  requests: Performance['requests']
  /** Absent for a single transaction: they are of all. */
  limits?: Performance['limits']
  /** Distinct users; absent where they are not counted. */
  users?: { now: number | null; before: number | null }
  before: string
}

/** Throughput, percentiles, failure rate and users against the range before. */
export function RequestTiles({ requests, limits, users, before }: RequestTilesProps) {
  const { previous, count } = requests
  const percentile = (label: string, key: 'p50_ms' | 'p75_ms' | 'p95_ms'): Tile => {
    const now = enough(requests[key], count)
    const was = enough(previous[key], previous.count)
    return {
      label,
      value: formatDuration(now),
      word: null,
      note:
        now === null
          ? performanceTexts.tooFewNote(formatCount(count))
          : performanceTexts.against(formatDuration(was), before),
      now,
      before: was,
      against: performanceTexts.against(formatDuration(was), before),
    }
  }
  const changed =
    requests.failure_rate === null || previous.failure_rate === null
      ? ''
      : `, ${formatPoints(requests.failure_rate - previous.failure_rate)}`
  const tiles: Tile[] = [
    {
      label: requestTexts.throughput,
      value: requestTexts.perMinute(rateText(requests.throughput)),
      word: null,
      note: requestTexts.requestsAgainst(formatCount(count), formatCount(previous.count), before),
    },
    percentile(figuresTexts.p50, 'p50_ms'),
    percentile(figuresTexts.p75, 'p75_ms'),
    judged(percentile(figuresTexts.p95, 'p95_ms'), limits?.p95_ms, formatDuration),
    judged(
      {
        label: requestTexts.failureRate,
        value: formatRate(requests.failure_rate),
        word: null,
        note: `${requestTexts.failed(formatCount(requests.failures))}${changed}`,
      },
      limits?.failure_rate,
      formatRate,
    ),
    ...(users === undefined
      ? []
      : [
          {
            label: requestTexts.users,
            value: formatCount(users.now),
            word: null,
            note:
              users.now === null ? requestTexts.noUsers : requestTexts.usersBefore(formatCount(users.before), before),
          },
        ]),
  ]
  return <Tiles tiles={tiles} label={performanceTexts.figures} />
}

/** A figure with its word and limit, where the project has one. */
const judged = (
  tile: Tile,
  limit: Performance['limits']['p95_ms'] | undefined,
  format: (value: number) => string,
): Tile =>
  limit == null || limit.word === null
    ? tile
    : { ...tile, word: limit.word, note: requestTexts.withLimit(tile.note, format(limit.poor)) }

/** Every transaction, those with most time first. */
export function AllTransactions({ data, at: { view, search } }: { data: Performance; at: PerformanceAt }) {
  const list = useInfiniteQuery(transactionsQuery(view, '-total'))
  const rows = list.data?.pages.flatMap((page) => page.items) ?? []
  const total = list.data?.pages[0]?.total ?? 0
  return (
    <Card
      title={requestTexts.transactions}
      header={
        <>
          <Minor>{requestTexts.byTime}</Minor>
          <span className={fitStyles.atEnd}>
            <CsvLink
              url={transactionsCsvUrl(view)}
              filename="transactions.csv"
              label={figuresTexts.csv(performanceTexts.transactions)}
            />
          </span>
        </>
      }
    >
      <PageQuery query={list} what={performanceTexts.transactions} heightPx={240} inCard>
        {() =>
          rows.length === 0 ? (
            <EmptyState title={performanceTexts.noTransactions} />
          ) : (
            <TransactionsTable
              rows={rows}
              releases={list.data?.pages[0]?.releases ?? null}
              search={search}
              totalMs={data.requests.total_ms}
            />
          )
        }
      </PageQuery>
      {list.hasNextPage ? (
        <CardFooter note={performanceTexts.shownOf(formatCount(rows.length), formatCount(total))}>
          <MoreButton list={list}>{performanceTexts.more}</MoreButton>
        </CardFooter>
      ) : null}
    </Card>
  )
}
