import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { MetricSeries, StoreGuard } from '../../../api/metric-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { Range } from '../../../address/search.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { timeTicks } from '../../../subjects/figures/time-ticks.ts'
import { barAxis, lineAxis, sliceShown, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { BarChart, LineChart } from '../../../ui/chart/charts.tsx'
import { ChartNothing } from '../../../ui/chart/chart-card.tsx'
import type { Threshold } from '../../../ui/chart/chart-frame.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import type { ChartLine } from '../../../ui/chart/line-chart.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDay, formatRate, formatShare, formatShortCount, NO_DATA } from '../../../ui/format.ts'
import { findingSentence, type FindingSentence } from './finding-text.ts'
import { MIN_USER_DAYS, buildMonthLine } from './model.ts'
import { metricsTexts } from './texts.ts'

export type ChartProps = {
  series: MetricSeries
  range: Range
  axis: TimeAxis
  /** Shows the period before. */
  comparing: boolean
  large: boolean
  onLarge: (large: boolean) => void
}

const ON_ANR = { trigger: 'performance_threshold', metric: 'anr_rate' } as const
const ON_EVENTS = { trigger: 'issue_spike' } as const

const HEIGHT_PX = 208
const LOWER_PX = 178
const LARGE_PX = 380
const heightOf = (large: boolean, px: number): number => (large ? LARGE_PX : px)

/** `0`, `0.5`, `1.25`: percent without trailing zeros. */
const formatPercent = (share: number): string => String(Number((share * 100).toFixed(3)))

const bandsOf = (bands: MetricSeries['bands']): readonly Threshold[] =>
  bands === null
    ? []
    : [
        { from: bands.watch, to: bands.poor, label: metricsTexts.bandWatch(formatRate(bands.watch)), tone: 'warn' },
        { from: bands.poor, to: Infinity, label: metricsTexts.bandPoor(formatRate(bands.poor)), tone: 'bad' },
      ]

/** The sentence under a chart, with the issue that it names. */
function Finding({ sentence }: { sentence: FindingSentence }): ReactNode {
  if (sentence.issue === undefined) return sentence.text
  const { id, shortId } = sentence.issue
  return (
    <>
      {sentence.text} <Link {...paths.issue(id)}>{shortId}</Link>
    </>
  )
}

const spokenOf = (sentence: FindingSentence): string =>
  sentence.issue === undefined ? sentence.text : `${sentence.text} ${sentence.issue.shortId}.`

type Point = MetricSeries['points'][number]

/** The value now and, if wanted, in the period before. */
function linesOf(
  { series, range, axis, comparing }: ChartProps,
  valueOf: (point: Pick<Point, 'value' | 'active'>) => number | null = ({ value }) => value,
): ChartLine[] {
  const main: ChartLine = {
    label: metricsTexts.lineNow[range],
    tone: 'measure',
    values: sliceShown(series.points, axis).map(valueOf),
  }
  const before: ChartLine = {
    label: metricsTexts.lineBefore[range],
    tone: 'base',
    look: 'thin',
    end: null,
    values: sliceShown(series.previous_points, axis).map(valueOf),
  }
  return comparing && before.values.some((value) => value !== null) ? [main, before] : [main]
}

function NoData({
  title,
  children,
  estimate,
}: {
  title: string
  children: string
  estimate: MetricSeries['estimate']
}) {
  return (
    <ChartNothing>
      <EmptyState kind="setup" title={title}>
        {estimate === null ? children : `${children} ${metricsTexts.estimate(formatShare(estimate.value))}`}
      </EmptyState>
    </ChartNothing>
  )
}

/** @param held the version of the newest release, if it is on hold */
export function CrashChart({ held, ...props }: ChartProps & { held: string | null }) {
  const { series, range } = props
  const unit = series.by === 'users' ? 'users' : 'sessions'
  return (
    <RateChart
      {...props}
      title={metricsTexts.crashRate}
      unit={metricsTexts.crashUnit[unit]}
      nothing={
        <NoData title={metricsTexts.noCrashTitle} estimate={series.estimate}>
          {metricsTexts.noCrashText}
        </NoData>
      }
      sentence={findingSentence(series.finding, range, series, held)}
      label={metricsTexts.chartCrash}
      reads={
        unit === 'users'
          ? [
              [metricsTexts.usersRead, ({ users }) => countOf(users)],
              [metricsTexts.crashedRead, ({ crashed_users: crashed }) => countOf(crashed)],
            ]
          : [
              [metricsTexts.sessionsRead, ({ sessions }) => countOf(sessions)],
              [metricsTexts.crashedRead, ({ crashed }) => countOf(crashed)],
            ]
      }
    />
  )
}

type RateChartProps = ChartProps & {
  title: string
  unit: string
  alertOn?: typeof ON_ANR
  /** Shown while the rate is unknown. */
  nothing: ReactNode
  sentence: FindingSentence
  label: (total: string, sentence: string) => string
  /** Texts beside each value. */
  reads: readonly (readonly [label: string, read: (point: Partial<Point>) => string])[]
}

/** A rate over the range, with its bands and the period before. */
function RateChart({ title, unit, alertOn, nothing, sentence, label, reads, ...props }: RateChartProps) {
  const { series, range, axis, large, onLarge } = props
  // The newest interval is not complete, and its rate differs from the rate of the range: the line ends without a label.
  const lines = linesOf(props).map((line) => ({ ...line, end: null }))
  const points = sliceShown(series.points, axis)
  const panel = { title, unit, alertOn, large, onLarge }
  if (series.total === null) return <ChartPanel {...panel}>{nothing}</ChartPanel>
  return (
    <ChartPanel
      {...panel}
      legend={lines.length < 2 ? null : <ChartLegend series={lines} mark="line" />}
      note={<Finding sentence={sentence} />}
      noteIcon={sentence.icon}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[
            figuresTexts.time,
            title,
            ...(lines.length < 2 ? [] : [metricsTexts.lineBefore[range]]),
            ...reads.map(([name]) => name),
          ]}
          rows={axis.names.map((name, index) => [
            name,
            ...lines.map((line) => formatRate(line.values[index] ?? null)),
            ...reads.map(([, read]) => read(points[index] ?? {})),
          ])}
        />
      }
    >
      <LineChart
        {...lineAxis(axis)}
        label={label(formatRate(series.total), spokenOf(sentence))}
        heightPx={heightOf(large, HEIGHT_PX)}
        lines={lines}
        filled
        thresholds={bandsOf(series.bands)}
        max={1}
        formatTick={formatPercent}
        formatValue={formatRate}
        readMore={(index) => reads.map(([name, read]) => ({ label: name, value: read(points[index] ?? {}) }))}
      />
    </ChartPanel>
  )
}

const countOf = (count: number | null | undefined): string => (count == null ? NO_DATA : formatCount(count))

/** @param guard null if the figures are filtered: the store judges the whole app */
export function AnrChart({ guard, ...props }: ChartProps & { guard: StoreGuard | null }) {
  const { series } = props
  const limit = series.bands?.poor ?? null
  const month = guard === null || limit === null ? null : buildMonthLine(guard.anr, limit)
  if (month !== null && guard !== null) return <AnrMonth {...props} guard={guard} month={month} />
  return <AnrRange {...props} guard={guard} />
}

type AnrMonthProps = ChartProps & { guard: StoreGuard; month: NonNullable<ReturnType<typeof buildMonthLine>> }

/** The rate by which the store judges, and where its slope leads. */
function AnrMonth({ series, large, onLarge, guard, month }: AnrMonthProps) {
  const { anr } = guard
  const { days, values, projection } = month
  const limit = series.bands?.poor ?? 0
  const sentence: FindingSentence =
    anr.rate !== null && anr.rate >= limit
      ? { icon: 'warn', text: metricsTexts.overLimit }
      : anr.forecast === null
        ? { icon: 'check', text: metricsTexts.noForecast(metricsTexts.daysLong(guard.window_days)) }
        : { icon: 'warn', text: metricsTexts.passesLimit(metricsTexts.daysLong(anr.forecast.days)) }
  const lines: ChartLine[] = [
    { label: metricsTexts.monthRate, tone: 'measure', values, end: metricsTexts.nowAt(formatRate(anr.rate)) },
    ...(projection === null
      ? []
      : [
          {
            label: metricsTexts.projection,
            tone: 'measure' as const,
            look: 'dashed' as const,
            end: '',
            values: projection,
          },
        ]),
  ]
  const names = days.map((day) => formatDay(day))
  const start = Date.parse(days[0] ?? '')
  return (
    <ChartPanel
      title={metricsTexts.anrRate}
      unit={metricsTexts.anrMonthUnit}
      alertOn={ON_ANR}
      large={large}
      onLarge={onLarge}
      legend={projection === null ? null : <ChartLegend series={lines} mark="line" />}
      note={<Finding sentence={sentence} />}
      noteIcon={sentence.icon}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, metricsTexts.monthRate, metricsTexts.affectedRead, metricsTexts.usersRead]}
          rows={anr.days.map((day) => [
            formatDay(day.day),
            formatRate(day.rate_of_window),
            countOf(day.affected),
            countOf(day.users),
          ])}
        />
      }
    >
      <LineChart
        label={metricsTexts.chartMonth(formatRate(anr.rate), spokenOf(sentence))}
        heightPx={heightOf(large, HEIGHT_PX)}
        lines={lines}
        places={names}
        buckets
        fromZero
        xLabels={timeTicks(start, start + days.length * 86_400_000, false)}
        thresholds={bandsOf(series.bands)}
        max={1}
        markers={[]}
        formatTick={formatPercent}
        formatValue={formatRate}
        readMore={(index) => {
          const day = anr.days[index]
          return day === undefined
            ? []
            : [
                { label: metricsTexts.usersRead, value: countOf(day.users) },
                { label: metricsTexts.affectedRead, value: countOf(day.affected) },
              ]
        }}
      />
    </ChartPanel>
  )
}

function AnrRange({ guard, ...props }: ChartProps & { guard: StoreGuard | null }) {
  const { series, range } = props
  return (
    <RateChart
      {...props}
      title={metricsTexts.anrRate}
      unit={metricsTexts.anrUnit}
      alertOn={ON_ANR}
      nothing={
        <NoData title={metricsTexts.noAnrTitle} estimate={null}>
          {metricsTexts.noAnrText}
        </NoData>
      }
      sentence={
        guard !== null && guard.anr.rate === null
          ? {
              icon: 'info',
              text: metricsTexts.tooFewDays(formatCount(guard.anr.user_days), formatCount(MIN_USER_DAYS)),
            }
          : findingSentence(series.finding, range, series)
      }
      label={metricsTexts.chartAnr}
      reads={[
        [metricsTexts.background, ({ background }) => formatRate(background ?? null)],
        [metricsTexts.usersRead, ({ users }) => countOf(users)],
        [metricsTexts.affectedRead, ({ anr_users: affected }) => countOf(affected)],
      ]}
    />
  )
}

export function EventsChart({ series, range, axis, large, onLarge }: ChartProps) {
  const points = sliceShown(series.points, axis)
  const sentence = findingSentence(series.finding, range)
  const bars = [
    {
      label: metricsTexts.other,
      tone: 'quiet' as const,
      values: points.map((point) => (point.value === null ? null : point.value - (point.critical ?? 0))),
    },
    { label: metricsTexts.critical, tone: 'crit' as const, values: points.map((point) => point.critical ?? 0) },
  ]
  return (
    <ChartPanel
      title={metricsTexts.events}
      unit={figuresTexts.per[range]}
      large={large}
      onLarge={onLarge}
      alertOn={ON_EVENTS}
      legend={<ChartLegend series={bars.toReversed()} />}
      note={<Finding sentence={sentence} />}
      noteIcon={sentence.icon}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, metricsTexts.events, metricsTexts.critical]}
          rows={axis.names.map((name, index) => [
            name,
            countOf(points[index]?.value),
            countOf(points[index]?.critical),
          ])}
        />
      }
    >
      <BarChart
        {...barAxis(axis)}
        label={metricsTexts.chartEvents(
          formatCount(series.total),
          formatCount(series.totals.critical ?? 0),
          spokenOf(sentence),
        )}
        heightPx={heightOf(large, LOWER_PX)}
        series={bars}
      />
    </ChartPanel>
  )
}

export function UsersChart(props: ChartProps) {
  const { series, range, axis, large, onLarge } = props
  const points = sliceShown(series.points, axis)
  const isActive = series.totals.active != null
  const interval = figuresTexts.per[range]
  const lines = linesOf(props, ({ active, value }) => (isActive ? (active ?? null) : value))
  const [, before] = lines
  const panel = {
    title: metricsTexts.users,
    unit: isActive ? metricsTexts.usersUnit(interval) : metricsTexts.usersByEvents(interval),
    large,
    onLarge,
  }
  const total = isActive ? (series.totals.active ?? null) : series.total
  if (total === null || total === 0)
    return (
      <ChartPanel {...panel}>
        <NoData title={metricsTexts.noUsersTitle} estimate={null}>
          {metricsTexts.noUsersText}
        </NoData>
      </ChartPanel>
    )
  const sentence = findingSentence(series.finding, range)
  return (
    <ChartPanel
      {...panel}
      legend={lines.length < 2 ? null : <ChartLegend series={lines} mark="line" />}
      note={<Finding sentence={sentence} />}
      noteIcon={sentence.icon}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[
            figuresTexts.time,
            ...(isActive ? [metricsTexts.active] : []),
            metricsTexts.withError,
            ...(before === undefined ? [] : [metricsTexts.lineBefore[range]]),
          ]}
          rows={axis.names.map((name, index) => [
            name,
            ...(isActive ? [countOf(points[index]?.active)] : []),
            countOf(points[index]?.value),
            ...(before === undefined ? [] : [countOf(before.values[index])]),
          ])}
        />
      }
    >
      <LineChart
        {...lineAxis(axis)}
        label={metricsTexts.chartUsers(formatCount(total), spokenOf(sentence))}
        heightPx={heightOf(large, LOWER_PX)}
        lines={lines}
        counts
        filled
        thresholds={[]}
        formatTick={formatShortCount}
        formatValue={formatCount}
        readMore={(index) =>
          isActive ? [{ label: metricsTexts.withError, value: countOf(points[index]?.value) }] : []
        }
      />
    </ChartPanel>
  )
}
