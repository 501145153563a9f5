import type { Monitor, MonitorRun } from '../../../api/monitor-queries.ts'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatCount, formatDuration } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import typeStyles from '../../../ui/type.module.css'
import { countKinds, durationAt, limitMs, releaseChanges, RUN_KINDS, type RunKind } from './model.ts'
import { monitorsTexts as texts } from './texts.ts'
import { formatWhen } from './when.ts'
import styles from './run-chart.module.css'

const TONES: Readonly<Record<RunKind, ChartTone>> = {
  ok: 'base',
  late: 'warn',
  long: 'warn',
  failed: 'crit',
  missed: 'crit',
  running: 'quiet',
}
const LABELS = 5

/** The runs in numbers that add up, and how long each took, with the limit, releases and missed runs. */
export function RunChart({ monitor, runs }: { monitor: Monitor; runs: readonly MonitorRun[] }) {
  const now = useNow('half-minute')
  const counts = countKinds(runs)
  const timeOf = (run: MonitorRun): string => formatWhen(run.expected_at ?? run.began_at ?? '', now)
  const limit = limitMs(monitor)
  const median = durationAt(runs, 0.5)
  return (
    <Card as="figure" aria-label={texts.chart} className={styles.card}>
      <figcaption>
        <dl className={classNames(styles.figures, typeStyles.metaTerms)} aria-label={texts.figures}>
          <Figure label={texts.expected(runs.length)} value={formatCount(runs.length)} />
          {RUN_KINDS.filter((kind) => kind !== 'running' || counts.running > 0).map((kind) => (
            <Figure
              key={kind}
              label={texts.kinds[kind]}
              value={formatCount(counts[kind])}
              isBad={counts[kind] > 0 && (kind === 'missed' || kind === 'failed')}
            />
          ))}
          <Figure label={texts.median} value={formatDuration(median)} />
          <Figure label={texts.p95} value={formatDuration(durationAt(runs, 0.95))} />
        </dl>
      </figcaption>
      <BarChart
        label={texts.chartFinding(runs.length, runs.length - counts.ok - counts.running, formatDuration(median))}
        heightPx={180}
        durations
        series={RUN_KINDS.filter((kind) => kind !== 'missed').map((kind) => ({
          label: texts.kinds[kind],
          tone: TONES[kind],
          values: runs.map((run) => (run.kind === kind ? run.duration_ms : null)),
        }))}
        buckets={runs.map((run) => `${timeOf(run)}, ${texts.kinds[run.kind]}`)}
        tinted={runs.map(({ kind }) => kind === 'missed')}
        limit={{ value: limit, label: texts.limitLine(formatDuration(limit)) }}
        markers={releaseChanges(runs)
          .slice(0, 3)
          .map(({ index, release }) => ({ at: index / runs.length, label: release }))}
        xLabels={labelsOf(runs, timeOf)}
      />
      <ChartTable
        className={typeStyles.small}
        label={texts.viewAsTable}
        head={texts.chartHead}
        rows={runs.map((run) => [timeOf(run), texts.kinds[run.kind], formatDuration(run.duration_ms)])}
      />
    </Card>
  )
}

const Figure = ({ label, value, isBad = false }: { label: string; value: string; isBad?: boolean }) => (
  <div>
    <dt>{label}</dt>
    <dd className={isBad ? typeStyles.red : undefined}>{value}</dd>
  </div>
)

/** The times of some runs, evenly spread. */
function labelsOf(runs: readonly MonitorRun[], timeOf: (run: MonitorRun) => string): string[] {
  const count = Math.min(LABELS, runs.length)
  return Array.from({ length: count }, (_, place) => {
    const run = runs[count === 1 ? 0 : Math.round((place / (count - 1)) * (runs.length - 1))]
    return run === undefined ? '' : timeOf(run)
  })
}
