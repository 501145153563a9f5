import type { ReactNode } from 'react'
import type { Performance } from '../../../api/performance-queries.ts'
import type { Range } from '../../../address/search.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { barAxis, lineAxis, sliceShown, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { BarChart, LineChart } from '../../../ui/chart/charts.tsx'
import type { Threshold } from '../../../ui/chart/chart-frame.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { formatCount, formatDuration, formatRate, formatShare } from '../../../ui/format.ts'
import { PercentileChart, PercentileTable } from './charts.tsx'
import { durationFinding, durationSentence } from './finding.ts'
import { coarseFailures, coarseText, enough } from './model.ts'
import { requestTexts } from './request-texts.ts'
import { rateText } from './transactions-table.tsx'

type RequestPoint = {
  readonly t: string
  readonly incomplete?: boolean | undefined
  readonly p50_ms: number | null
  readonly p75_ms: number | null
  readonly p95_ms: number | null
  readonly count: number
  readonly failure_rate: number | null
}

type RequestChartProps = {
  points: readonly RequestPoint[]
  axis: TimeAxis
  range: Range
  requests: Omit<Performance['requests'], 'previous'> & {
    readonly previous: Pick<Performance['requests'], 'p95_ms' | 'count'>
  }
  intervalSeconds: number
  /** Limits of the project; absent for a single transaction. */
  limits?: Performance['limits']
  /** Absent for a small chart. */
  heightPx?: number
}

type CoarseProps = RequestChartProps & {
  /** The length of the intervals that have enough requests for a figure. */
  percentileSeconds: number
}

type LatencyChartProps = CoarseProps & {
  releases: readonly { version: string; at: string }[]
  title?: string
  /** The transaction that an alert is on; absent for all. */
  transaction?: string
}

/** The percentiles of durations over time. */
export function LatencyChart({ points: all, axis, requests, intervalSeconds, range, ...more }: LatencyChartProps) {
  const { releases, percentileSeconds, title = requestTexts.latency, transaction, limits } = more
  const few = requests.count < 20
  const points = sliceShown(
    few ? all.map((point) => ({ ...point, p50_ms: null, p75_ms: null, p95_ms: null })) : all,
    axis,
  )
  const finding = durationSentence(
    durationFinding(
      points,
      releases,
      enough(requests.p95_ms, requests.count),
      enough(requests.previous.p95_ms, requests.previous.count),
    ),
    range,
  )
  return (
    <ChartPanel
      title={title}
      unit={percentileSeconds > intervalSeconds ? '' : figuresTexts.per[range]}
      {...(transaction === undefined
        ? {}
        : {
            alertOn: {
              trigger: 'performance_threshold',
              metric: 'transaction',
              percentile: 'p95',
              transaction,
            } as const,
          })}
      note={[finding, few ? '' : coarseText(percentileSeconds, intervalSeconds)].join(' ').trim() || undefined}
      table={<PercentileTable points={points} axis={axis} counted={requestTexts.requests} />}
    >
      <PercentileChart
        label={requestTexts.chartLatency(
          formatDuration(requests.p50_ms),
          formatDuration(requests.p75_ms),
          formatDuration(requests.p95_ms),
        )}
        points={points}
        axis={axis}
        counted={requestTexts.requests}
        thresholds={thresholdOf(limits?.p95_ms, formatDuration)}
        formatTick={(ms) => (ms === 0 ? '0' : formatDuration(ms))}
      />
    </ChartPanel>
  )
}

/** A limit that is near: one far above would flatten the lines. */
const thresholdOf = (
  limit: Performance['limits']['p95_ms'] | undefined,
  format: (value: number) => string,
): readonly Threshold[] =>
  limit?.word === 'watch' || limit?.word === 'poor'
    ? [{ from: limit.poor, to: Infinity, label: requestTexts.limit(format(limit.poor)), tone: 'bad', edge: true }]
    : []

const SMALL_PX = 96

/** Requests over time. */
export function ThroughputChart({
  points: all,
  axis,
  range,
  requests,
  heightPx = SMALL_PX,
}: RequestChartProps): ReactNode {
  const points = sliceShown(all, axis)
  return (
    <ChartPanel
      title={requestTexts.requests}
      unit={figuresTexts.per[range]}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, requestTexts.requests]}
          rows={points.map(({ count }, index) => [axis.names[index] ?? '', formatCount(count)])}
        />
      }
    >
      <BarChart
        {...barAxis(axis)}
        label={requestTexts.chartThroughput(rateText(requests.throughput))}
        heightPx={heightPx}
        series={[{ label: requestTexts.requests, tone: 'base', values: points.map(({ count }) => count) }]}
      />
    </ChartPanel>
  )
}

/** The share of failed requests over time, in intervals with enough of them. */
export function FailureChart(props: CoarseProps): ReactNode {
  const { points: all, axis, requests, limits, intervalSeconds, percentileSeconds } = props
  const points = sliceShown(all, axis)
  const rates = sliceShown(coarseFailures(all, percentileSeconds / intervalSeconds), axis)
  return (
    <ChartPanel
      title={requestTexts.failureRate}
      unit={requestTexts.failureUnit}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, requestTexts.failureRate, requestTexts.requests]}
          rows={points.map((point, index) => [
            axis.names[index] ?? '',
            formatRate(point.failure_rate),
            formatCount(point.count),
          ])}
        />
      }
    >
      <LineChart
        {...lineAxis(axis)}
        label={requestTexts.chartFailures(formatRate(requests.failure_rate))}
        heightPx={SMALL_PX}
        lines={[{ label: requestTexts.failureRate, tone: 'bad', values: rates }]}
        thresholds={thresholdOf(limits?.failure_rate, formatRate)}
        fromZero
        max={1}
        formatTick={(rate) => formatShare(rate)}
        formatValue={formatRate}
      />
    </ChartPanel>
  )
}
