import type { TraceMetricSeries } from '../../../api/log-queries.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { buildTimeAxis, lineAxis } from '../../../subjects/figures/time-axis-of.ts'
import { LineChart } from '../../../ui/chart/charts.tsx'
import { ChartCard, ChartNothing } from '../../../ui/chart/chart-card.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { DAY_MS, formatDuration, formatExact, NO_DATA } from '../../../ui/format.ts'
import { formatMeasure, nameGroup, type Aggregate } from './metric-model.ts'
import { traceMetricsTexts as texts } from './trace-metrics-texts.ts'

const TONES: readonly ChartTone[] = ['measure', 'warn', 'layer-3', 'high', 'newest', 'others']

type MetricChartProps = {
  series: TraceMetricSeries
  show: Aggregate
  by: string | undefined
  onWindow: (window: { from: string; to: string } | null) => void
}

/** A metric over time, a line for each group. */
export function MetricChart({ series, show, by, onWindow }: MetricChartProps) {
  const { from, to, interval_seconds: seconds, groups, total, name } = series
  const unit = show === 'count' ? null : series.unit
  const [first] = groups
  const points = first?.points ?? []
  const axis = buildTimeAxis({
    points: points.map((point, index) => ({ t: point.t, incomplete: index === points.length - 1 })),
    intervalSeconds: seconds,
    range: Date.parse(to) - Date.parse(from) > DAY_MS ? '7d' : '1h',
    window: null,
    releases: [],
    onWindow,
  })
  const format = (value: number | null) => formatMeasure(value, unit)
  const lines = groups.map((group, index) => ({
    label: by === undefined ? texts.aggregates[show] : nameGroup(group),
    tone: TONES[index] ?? ('others' as const),
    values: group.points.map((point) => (show === 'count' ? point.count : point[show])),
    end: null,
  }))
  const isPercentile = show === 'p50' || show === 'p95'
  const hasGap =
    isPercentile && groups.some((group) => group.points.some(({ count, p50 }) => count > 0 && p50 === null))
  return (
    <ChartCard
      title={name}
      unit={texts.unit(texts.aggregates[show], formatDuration(seconds * 1_000), by)}
      legend={by === undefined ? undefined : <ChartLegend series={lines} mark="line" />}
      note={
        series.searched_from !== null
          ? texts.searchedFrom(formatExact(series.searched_from))
          : hasGap
            ? texts.fewForPercentiles
            : texts.measurements(total.count)
      }
      table={
        <ChartTable
          label={texts.asTable}
          head={[figuresTexts.time, ...lines.map(({ label }) => label)]}
          rows={axis.names.map((at, index) => [at, ...lines.map(({ values }) => format(values[index] ?? null))])}
        />
      }
    >
      {lines.every(({ values }) => values.every((value) => value === null)) ? (
        <ChartNothing>
          <EmptyState kind="setup" title={NO_DATA}>
            {texts.fewForPercentiles}
          </EmptyState>
        </ChartNothing>
      ) : (
        <LineChart
          {...lineAxis(axis)}
          label={texts.chartLabel(texts.aggregates[show], name, format(total[show]), total.count)}
          heightPx={240}
          lines={lines}
          filled={by === undefined}
          thresholds={[]}
          formatTick={format}
          formatValue={format}
          readMore={(index) => [{ label: texts.aggregates.count, value: formatMeasure(sumAt(groups, index), null) }]}
        />
      )}
    </ChartCard>
  )
}

const sumAt = (groups: TraceMetricSeries['groups'], index: number): number =>
  groups.reduce((sum, { points }) => sum + (points[index]?.count ?? 0), 0)
