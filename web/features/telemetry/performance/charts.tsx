import type { Performance, Spread } from '../../../api/performance-queries.ts'
import type { Range } from '../../../address/search.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { COLD_LIMITS } from '../../../subjects/figures/limits.ts'
import { lineAxis, sliceShown, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { Histogram, LineChart } from '../../../ui/chart/charts.tsx'
import { ChartNothing } from '../../../ui/chart/chart-card.tsx'
import type { Threshold } from '../../../ui/chart/chart-frame.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import type { ChartLine } from '../../../ui/chart/line-chart.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import { durationFinding, durationSentence } from './finding.ts'
import { coarseText, histogramBins, isOpenBin, leftOutText } from './model.ts'
import { performanceTexts } from './texts.ts'

const ON_COLD_START = { trigger: 'performance_threshold', metric: 'cold_start', percentile: 'p95' } as const

const HEIGHT_PX = 250
/** Room for `P95 12.4 s` after the plot. */
const END_PX = 88

/** Whole seconds without a unit: the title says it. */
const formatSeconds = (ms: number): string => String(Number((ms / 1000).toFixed(2)))
const limitText = (ms: number): string => formatDuration(ms)

const BANDS: readonly Threshold[] = [
  { from: 0, to: COLD_LIMITS.watch, label: performanceTexts.bandGood(limitText(COLD_LIMITS.watch)), tone: 'good' },
  { from: COLD_LIMITS.watch, to: COLD_LIMITS.poor, label: performanceTexts.bandWatch, tone: 'warn' },
  { from: COLD_LIMITS.poor, to: Infinity, label: performanceTexts.bandPoor(limitText(COLD_LIMITS.poor)), tone: 'bad' },
]

type Percentiles = {
  readonly p50_ms: number | null
  readonly p75_ms: number | null
  readonly p95_ms: number | null
  readonly count: number
}

/** The percentiles over time as lines, the slowest first. They end with their names: the newest value is not the range's. */
function percentileLines(points: readonly Percentiles[]): ChartLine[] {
  const line = (name: string, tone: 'p50' | 'p75' | 'p95', key: 'p50_ms' | 'p75_ms' | 'p95_ms'): ChartLine => ({
    label: name,
    tone,
    values: points.map((point) => point[key]),
    end: name,
  })
  return [
    line(figuresTexts.p95, 'p95', 'p95_ms'),
    line(figuresTexts.p75, 'p75', 'p75_ms'),
    line(figuresTexts.p50, 'p50', 'p50_ms'),
  ]
}

type ColdChartProps = {
  data: Performance
  range: Range
  axis: TimeAxis
  releases: readonly { version: string; at: string }[]
}

export function ColdChart({ data, range, axis, releases }: ColdChartProps) {
  const { cold_start: cold } = data
  const panel = { title: performanceTexts.cold, unit: performanceTexts.coldUnit, alertOn: ON_COLD_START }
  if (cold.count === 0)
    return (
      <ChartPanel {...panel} note={leftOutText(cold)}>
        <ChartNothing>
          <EmptyState kind="setup" title={performanceTexts.noStartTitle}>
            {performanceTexts.noStartText}
          </EmptyState>
        </ChartNothing>
      </ChartPanel>
    )
  const points = sliceShown(
    data.series.map(({ t, incomplete, cold_start: start }) => ({ t, incomplete, ...start })),
    axis,
  )
  const finding = durationSentence(durationFinding(points, releases, cold.p95_ms, cold.previous.p95_ms), range)
  return (
    <ChartPanel
      {...panel}
      note={[finding, coarseText(data.percentile_seconds.cold_start, data.interval_seconds), leftOutText(cold)]
        .filter((text) => text !== '')
        .join(' ')}
      table={<PercentileTable points={points} axis={axis} counted={performanceTexts.starts} />}
    >
      <PercentileChart
        label={performanceTexts.chartCold(
          formatDuration(cold.p50_ms),
          formatDuration(cold.p75_ms),
          formatDuration(cold.p95_ms),
          finding,
        )}
        points={points}
        axis={axis}
        counted={performanceTexts.starts}
        thresholds={BANDS}
        formatTick={formatSeconds}
      />
    </ChartPanel>
  )
}

type PercentileTableProps = { points: readonly Percentiles[]; axis: TimeAxis; counted: string }

/** The figures of a chart of percentiles. */
export const PercentileTable = ({ points, axis, counted }: PercentileTableProps) => (
  <ChartTable
    label={figuresTexts.asTable}
    head={[figuresTexts.time, figuresTexts.p50, figuresTexts.p75, figuresTexts.p95, counted]}
    rows={points.map((point, index) => [
      axis.names[index] ?? '',
      formatDuration(point.p50_ms),
      formatDuration(point.p75_ms),
      formatDuration(point.p95_ms),
      formatCount(point.count),
    ])}
  />
)

type PercentileChartProps = PercentileTableProps & {
  label: string
  thresholds: readonly Threshold[]
  /** @param ms a duration in milliseconds */
  formatTick: (ms: number) => string
}

/** The percentiles of a duration over time. */
export const PercentileChart = ({ label, points, axis, counted, thresholds, formatTick }: PercentileChartProps) => (
  <LineChart
    {...lineAxis(axis)}
    label={label}
    heightPx={HEIGHT_PX}
    lines={percentileLines(points)}
    endPx={END_PX}
    thresholds={thresholds}
    formatTick={formatTick}
    formatValue={formatDuration}
    readMore={(index) => [{ label: counted, value: formatCount(points[index]?.count ?? 0) }]}
  />
)

type SpreadChartProps = {
  title: string
  unit: string
  spread: Spread
  whole: Percentiles
  /** From this duration on values are poor; absent without such a limit. */
  poorFrom?: number
  counted: string
}

/** How often each duration occurred, with the percentiles. */
export function SpreadChart({ title, unit, spread, whole, poorFrom = Infinity, counted }: SpreadChartProps) {
  const bins = histogramBins(spread, poorFrom)
  const poor = spread.filter(({ from_ms }) => from_ms >= poorFrom).reduce((sum, { count }) => sum + count, 0)
  if (whole.count === 0)
    return (
      <ChartPanel title={title} unit={unit}>
        <ChartNothing>
          <EmptyState kind="setup" title={performanceTexts.noStartTitle} />
        </ChartNothing>
      </ChartPanel>
    )
  const finding =
    poorFrom === Infinity
      ? ''
      : poor === 0
        ? performanceTexts.nonePoor(limitText(poorFrom))
        : performanceTexts.poorShare(formatRate(poor / whole.count), limitText(poorFrom))
  const nameOf = (bin: (typeof bins)[number]): string =>
    isOpenBin(spread, bin)
      ? performanceTexts.openBin(formatDuration(bin.from))
      : performanceTexts.bin(formatDuration(bin.from), formatDuration(bin.to))
  return (
    <ChartPanel
      title={title}
      unit={unit}
      note={finding === '' ? undefined : finding}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[performanceTexts.duration, counted]}
          rows={bins.map((bin) => [nameOf(bin), formatCount(bin.count)])}
        />
      }
    >
      <Histogram
        label={performanceTexts.chartSpread(finding, formatDuration(whole.p50_ms), formatDuration(whole.p95_ms))}
        heightPx={HEIGHT_PX}
        bins={bins}
        marks={[
          { value: whole.p50_ms, label: figuresTexts.p50 },
          { value: whole.p75_ms, label: figuresTexts.p75 },
          { value: whole.p95_ms, label: figuresTexts.p95 },
        ].flatMap(({ value, label }) => (value === null ? [] : [{ value, label }]))}
        unit={counted}
        formatEdge={formatDuration}
        binName={nameOf}
      />
    </ChartPanel>
  )
}
