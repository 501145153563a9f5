import type { Performance } from '../../../api/performance-queries.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { WAKE_LIMITS, figureWord } from '../../../subjects/figures/limits.ts'
import { lineAxis, sliceShown } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { LineChart } from '../../../ui/chart/charts.tsx'
import { Card } from '../../../ui/card.tsx'
import { ChartNothing } from '../../../ui/chart/chart-card.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatRate } from '../../../ui/format.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { judgedText } from './model.ts'
import { partColumn } from './columns.tsx'
import { performanceTexts } from './texts.ts'
import { Tiles, type Tile } from './tiles.tsx'
import { usePerformance, usePerformanceAxis, usePerformanceView } from './use-view.ts'
import styles from './tables.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'

/** The page about the cost of the app for the device: battery, memory, heat and wake locks. */
export function BatteryPage() {
  const at = usePerformanceView()
  const query = usePerformance(at.view)
  return (
    <PageQuery query={query} what={performanceTexts.title}>
      {(data) => <Battery data={data} at={at} />}
    </PageQuery>
  )
}

/** Percent per hour, of which 2.41 is 2.41 %. */
const formatDrain = (percent: number | null): string => formatRate(percent === null ? null : percent / 100)

function Battery({ data, at }: { data: Performance; at: ReturnType<typeof usePerformanceView> }) {
  const { battery } = data
  const { screens, devices } = battery
  return (
    <div className={styles.stack}>
      <DeviceTiles data={data} before={performanceTexts.before[at.view.range]} />
      <DrainChart data={data} at={at} />
      <div className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)}>
        <DrainTable title={performanceTexts.drainBy.screens} column={performanceTexts.columns.screen} rows={screens} />
        <DrainTable title={performanceTexts.drainBy.devices} column={performanceTexts.device} rows={devices} />
        <DrainTable
          title={performanceTexts.drainBy.releases}
          column={figuresTexts.release}
          rows={battery.releases.map((row) => ({ ...row, name: shortRelease(row.name) }))}
        />
      </div>
    </div>
  )
}

function DeviceTiles({ data: { memory, thermal, wake_locks: wake }, before }: { data: Performance; before: string }) {
  const word = figureWord(wake.share, WAKE_LIMITS)
  const counted = (label: string, count: number, previous: number): Tile => ({
    label,
    value: formatCount(count),
    word: null,
    note: performanceTexts.against(formatCount(previous), before),
    now: count,
    before: previous,
  })
  const tiles: Tile[] = [
    counted(performanceTexts.memory, memory.warnings, memory.previous),
    counted(performanceTexts.thermalSerious, thermal.serious, thermal.previous.serious),
    counted(performanceTexts.thermalCritical, thermal.critical, thermal.previous.critical),
    {
      label: performanceTexts.wake,
      value: formatRate(wake.share),
      word,
      note: word === null ? performanceTexts.noWake : judgedText(word, WAKE_LIMITS, formatRate),
      now: wake.share,
      before: wake.previous_share,
    },
  ]
  return <Tiles tiles={tiles} label={performanceTexts.figures} />
}

function DrainChart({ data, at }: { data: Performance; at: ReturnType<typeof usePerformanceView> }) {
  const { axis, window, onWhole } = usePerformanceAxis(data, at)
  const { battery } = data
  const points = sliceShown(data.series, axis)
  const panel = {
    title: performanceTexts.drain,
    unit: performanceTexts.drainUnit,
    alertOn: { trigger: 'battery_drain_threshold' },
  } as const
  if (battery.count === 0)
    return (
      <ChartPanel {...panel}>
        <ChartNothing>
          <EmptyState kind="setup" title={performanceTexts.noDrain}>
            {performanceTexts.noDrainMore}
          </EmptyState>
        </ChartNothing>
      </ChartPanel>
    )
  const finding = performanceTexts.drainNow(
    formatDrain(battery.p50),
    formatDrain(battery.p95),
    formatCount(battery.count),
  )
  return (
    <div>
      <WindowNote window={window} onWhole={onWhole} />
      <ChartPanel
        {...panel}
        note={finding}
        table={
          <ChartTable
            label={figuresTexts.asTable}
            head={[figuresTexts.time, performanceTexts.columns.median]}
            rows={points.map((point, index) => [axis.names[index] ?? '', formatDrain(point.battery_drain)])}
          />
        }
      >
        <LineChart
          {...lineAxis(axis)}
          label={performanceTexts.chartDrain(finding)}
          heightPx={210}
          lines={[
            {
              label: performanceTexts.columns.median,
              tone: 'measure',
              values: points.map((point) => point.battery_drain),
            },
          ]}
          filled
          thresholds={[]}
          formatTick={(value) => String(Number(value.toFixed(2)))}
          formatValue={formatDrain}
        />
      </ChartPanel>
    </div>
  )
}

type DrainTableProps = { title: string; column: string; rows: Performance['battery']['screens'] }

function DrainTable({ title, column, rows }: DrainTableProps) {
  if (rows !== null && rows.length === 0) return null
  return (
    <Card title={title}>
      {rows === null ? (
        <EmptyState kind="filtered" title={performanceTexts.byDevice} />
      ) : (
        <DataTable
          scrollLabel={figuresTexts.tableOf(title)}
          className={styles.table}
          rows={rows}
          keyOf={({ name }) => name}
          columns={[
            partColumn(column),
            { head: performanceTexts.columns.median, numeric: true, cell: ({ p50 }) => formatDrain(p50) },
            { head: figuresTexts.p95, numeric: true, cell: ({ p95 }) => formatDrain(p95) },
            { head: performanceTexts.columns.readings, numeric: true, cell: ({ count }) => formatCount(count) },
          ]}
        />
      )}
    </Card>
  )
}
