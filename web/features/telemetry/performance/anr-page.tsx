import type { Performance } from '../../../api/performance-queries.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { barAxis, sliceShown } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { Card } from '../../../ui/card.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { CausesTable } from './causes-table.tsx'
import { performanceTexts } from './texts.ts'
import { Tiles, type Tile } from './tiles.tsx'
import { usePerformance, usePerformanceAxis, usePerformanceView } from './use-view.ts'
import styles from './tables.module.css'

/** ANRs and app hangs over time, by what blocks the main thread, and stalls of JavaScript. */
export function AnrPage() {
  const at = usePerformanceView()
  const query = usePerformance(at.view)
  return (
    <PageQuery query={query} what={performanceTexts.title}>
      {(data) => <Anrs data={data} at={at} />}
    </PageQuery>
  )
}

function Anrs({ data, at }: { data: Performance; at: ReturnType<typeof usePerformanceView> }) {
  const { axis, window, onWhole } = usePerformanceAxis(data, at)
  const points = sliceShown(data.series, axis)
  const { count, previous } = data.anrs
  const before = performanceTexts.before[at.view.range]
  return (
    <div className={styles.stack}>
      <div>
        <WindowNote window={window} onWhole={onWhole} />
        <ChartPanel
          title={performanceTexts.anrs}
          alertOn={{ trigger: 'performance_threshold', metric: 'anr_rate' }}
          unit={figuresTexts.per[at.view.range]}
          note={performanceTexts.anrsChange(formatCount(count), formatCount(previous), before)}
          table={
            <ChartTable
              label={figuresTexts.asTable}
              head={[figuresTexts.time, performanceTexts.columns.anrs]}
              rows={points.map((point, index) => [axis.names[index] ?? '', formatCount(point.anrs)])}
            />
          }
        >
          <BarChart
            {...barAxis(axis)}
            label={performanceTexts.chartAnrs(formatCount(count), formatCount(previous), before)}
            heightPx={190}
            series={[{ label: performanceTexts.columns.anrs, tone: 'base', values: points.map((point) => point.anrs) }]}
          />
        </ChartPanel>
      </div>
      <CausesTable data={data} view={at.view} />
      <Stalls stalls={data.stalls} before={before} />
    </div>
  )
}

function Stalls({ stalls, before }: { stalls: Performance['stalls']; before: string }) {
  const tiles: Tile[] = [
    {
      label: performanceTexts.stallCount,
      value: formatCount(stalls.count),
      word: null,
      note: performanceTexts.against(formatCount(stalls.previous.count), before),
      now: stalls.count,
      before: stalls.previous.count,
    },
    {
      label: performanceTexts.stallRatio,
      value: formatRate(stalls.ratio),
      word: null,
      note: performanceTexts.against(formatRate(stalls.previous.ratio), before),
      now: stalls.ratio,
      before: stalls.previous.ratio,
    },
    {
      label: performanceTexts.stallP95,
      value: formatDuration(stalls.longest_p95_ms),
      word: null,
      note: performanceTexts.longest(formatDuration(stalls.longest_ms)),
    },
  ]
  if (stalls.count === 0 && stalls.ratio === null)
    return (
      <Card title={performanceTexts.stalls} header={<Minor>{performanceTexts.stallsUnit}</Minor>}>
        <EmptyState title={performanceTexts.noStallsTitle}>{performanceTexts.noStalls}</EmptyState>
      </Card>
    )
  return <Tiles tiles={tiles} label={performanceTexts.stalls} />
}
