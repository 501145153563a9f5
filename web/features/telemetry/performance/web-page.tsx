import { MIN_VALUES } from '#shared/rate-words.ts'
import type { Performance } from '../../../api/performance-queries.ts'
import { ChartPanel } from '../../../subjects/figures/chart-panel.tsx'
import { lineAxis, sliceShown, type TimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { WindowNote } from '../../../subjects/figures/window-note.tsx'
import { Card } from '../../../ui/card.tsx'
import { LineChart } from '../../../ui/chart/charts.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatShare } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Minor, NoData } from '../../../ui/text.tsx'
import { coarseText, enough, formatVital, VITAL_LIMITS, VITAL_NAMES, type VitalName } from './model.ts'
import { OperationCards } from './operation-cards.tsx'
import { ThroughputChart } from './request-charts.tsx'
import { requestTexts } from './request-texts.ts'
import { AllTransactions } from './server-page.tsx'
import { SlowestScreens, VitalTiles } from './start-page.tsx'
import { performanceTexts } from './texts.ts'
import { usePerformanceAxis, type PerformanceAt } from './use-view.ts'
import styles from './tables.module.css'
import shareStyles from './vital-shares.module.css'

/** The performance page of a web app: whether it is fast for visitors, and which page is not. */
export function WebPage({ data, at }: { data: Performance; at: PerformanceAt }) {
  const { axis, window, onWhole } = usePerformanceAxis(data, at)
  const { view, search } = at
  const worst = worstVital(data.web_vitals)
  const points = data.series.map(({ t, incomplete, transactions }) => ({ t, incomplete, ...transactions }))
  return (
    <div className={styles.stack}>
      {worst === null ? null : (
        <>
          <VitalTiles data={data} view={view} />
          <VitalShares vitals={data.web_vitals} />
        </>
      )}
      <WindowNote window={window} onWhole={onWhole} />
      <section className={classNames(fitStyles.pair, narrowStyles.oneColumnAt924)} aria-label={requestTexts.requests}>
        {worst === null ? null : <WorstChart name={worst} data={data} axis={axis} />}
        <ThroughputChart
          points={points}
          axis={axis}
          range={view.range}
          requests={data.requests}
          intervalSeconds={data.interval_seconds}
          heightPx={190}
        />
      </section>
      {data.screens?.length === 0 ? null : <SlowestScreens data={data} search={search} />}
      <AllTransactions data={data} at={at} />
      <OperationCards
        view={view}
        search={search}
        kinds={['outgoing', 'resources', 'queries', 'queues', 'caches']}
        titles={{ outgoing: requestTexts.slowRequests }}
      />
    </div>
  )
}

type Vitals = Performance['web_vitals']

/** The vital with the largest share of poor values, then of those that need work; null without values. */
export function worstVital(vitals: Vitals): VitalName | null {
  const measured = VITAL_NAMES.filter((name) => vitals[name].count >= MIN_VALUES)
  const any = measured.length > 0 ? measured : VITAL_NAMES.filter((name) => vitals[name].count > 0)
  const badness = (name: VitalName): number => {
    const { poor, needs_work: work, count } = vitals[name]
    return (poor + work / 1_000) / count
  }
  return any.reduce<VitalName | null>(
    (worst, name) => (worst === null || badness(name) > badness(worst) ? name : worst),
    null,
  )
}

/** How many page views were good, need work and were poor, with figures beside the bar. */
function VitalShares({ vitals }: { vitals: Vitals }) {
  const rows = VITAL_NAMES.filter((name) => vitals[name].count > 0)
  const shareOf = (name: VitalName, word: 'good' | 'needs_work' | 'poor'): number =>
    vitals[name][word] / vitals[name].count
  const few = (name: VitalName): boolean => vitals[name].count < MIN_VALUES
  const column = (head: string, word: 'good' | 'needs_work' | 'poor') => ({
    head,
    numeric: true,
    cell: (name: VitalName) => (few(name) ? <NoData /> : formatShare(shareOf(name, word))),
  })
  return (
    <Card title={requestTexts.vitalShare}>
      <DataTable
        scrollLabel={figuresTexts.tableOf(requestTexts.vitalShare)}
        className={styles.table}
        rows={rows}
        keyOf={(name) => name}
        columns={[
          {
            head: requestTexts.vital,
            cell: (name) => (
              <>
                {performanceTexts.vitals[name]} <Minor>{name.toUpperCase()}</Minor>
              </>
            ),
          },
          {
            head: requestTexts.p75,
            numeric: true,
            cell: (name) => formatVital(name, enough(vitals[name].p75, vitals[name].count)),
          },
          {
            head: requestTexts.vitalShare,
            isHeadHidden: true,
            hiddenAtPx: 600,
            className: shareStyles.cell,
            cell: (name) =>
              few(name) ? null : (
                <span className={shareStyles.bar} aria-hidden="true">
                  {(['good', 'needs_work', 'poor'] as const).map((word) => (
                    <span key={word} data-word={word} style={{ flexGrow: shareOf(name, word) }} />
                  ))}
                </span>
              ),
          },
          column(requestTexts.good, 'good'),
          column(requestTexts.needsWork, 'needs_work'),
          column(requestTexts.poor, 'poor'),
          { head: requestTexts.measured, numeric: true, cell: (name) => formatCount(vitals[name].count) },
        ]}
      />
    </Card>
  )
}

function WorstChart({ name, data, axis }: { name: VitalName; data: Performance; axis: TimeAxis }) {
  const points = sliceShown(data.series, axis)
  const { p75, count } = data.web_vitals[name]
  const limits = VITAL_LIMITS[name]
  const format = (value: number | null) => formatVital(name, value)
  const values = points.map((point) => (count < MIN_VALUES ? null : point[name]))
  return (
    <ChartPanel
      title={requestTexts.worst(performanceTexts.vitals[name])}
      unit={requestTexts.p75}
      note={coarseText(data.percentile_seconds[name], data.interval_seconds) || undefined}
      table={
        <ChartTable
          label={figuresTexts.asTable}
          head={[figuresTexts.time, requestTexts.p75]}
          rows={values.map((value, index) => [axis.names[index] ?? '', format(value)])}
        />
      }
    >
      <LineChart
        {...lineAxis(axis)}
        label={requestTexts.chartVital(performanceTexts.vitals[name], format(enough(p75, count)))}
        heightPx={190}
        lines={[{ label: requestTexts.p75, tone: 'p75', values }]}
        thresholds={[
          { from: 0, to: limits.watch, label: performanceTexts.bandGood(format(limits.watch)), tone: 'good' },
          { from: limits.watch, to: limits.poor, label: requestTexts.needsWork, tone: 'warn' },
          { from: limits.poor, to: Infinity, label: performanceTexts.bandPoor(format(limits.poor)), tone: 'bad' },
        ]}
        formatTick={(value) => (value === 0 ? '0' : format(value))}
        formatValue={format}
      />
    </ChartPanel>
  )
}
