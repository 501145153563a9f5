import { useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { sessionSummaryQuery, volumeQuery, type SessionSummary, type Volume } from '../../api/issue-queries.ts'
import { usePolling } from '../../api/live.ts'
import { releaseMarkersQuery } from '../../api/release-queries.ts'
import { usePrefs } from '../../common/prefs.ts'
import type { Range } from '../../address/search.ts'
import { BarChart, type BarSeries } from '../../ui/chart/bar-chart.tsx'
import { ChartLegend } from '../../ui/chart/legend.tsx'
import { FigureTable } from '../../ui/chart/chart-table.tsx'
import type { Buckets } from '../../ui/chart/use-chart-reading.ts'
import { Delta } from '../../ui/delta.tsx'
import { Count } from '../../ui/figures.tsx'
import {
  formatChange,
  formatCount,
  formatDuration,
  formatFactor,
  formatPoints,
  formatRate,
  formatWindow,
} from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Popover } from '../../ui/popover.tsx'
import { issuesTexts } from './texts.ts'
import { QueryError } from '../../common/query-error.tsx'
import { axisLabels, bucketLabel } from '../../common/time-axis.ts'
import { markersOf } from '../../common/issue/markers.ts'
import { bucketsOf, windowOfBuckets, type Window } from '../../common/time-window.ts'
import { sumOfPoints } from './volume-window.ts'
import styles from './volume.module.css'
import issuesStyles from './issues.module.css'
import typeStyles from '../../ui/type.module.css'

type IssueVolumeProps = {
  project: string | null
  range: Range
  /** The selected part of the range. */
  window: Window | null
  onWindow: (window: Window | null) => void
}

/** The summary above the list: events and crashes, compared with the previous period. */
export const IssueVolume = memo(function IssueVolume({ project, range, window, onWindow }: IssueVolumeProps) {
  const polling = usePolling(15_000)
  const volume = useQuery({
    ...volumeQuery(project, range),
    ...(polling === false ? {} : { refetchInterval: polling }),
  })
  // Without sessions the summary uses events only.
  const sessions = useQuery(sessionSummaryQuery(project, range)).data
  usePrefs()
  const [first, last] = [volume.data?.points[0]?.t ?? '', volume.data?.points.at(-1)?.t ?? '']
  const markers = useQuery({
    ...releaseMarkersQuery(project === null ? [] : [project], first, last),
    enabled: first !== '' && first !== last,
    meta: { quiet: true },
  })
  if (volume.data === undefined) {
    return (
      <section className={styles.strip} aria-label={issuesTexts.strip[range]} aria-busy={volume.isPending}>
        {volume.error === null ? null : (
          <QueryError what={issuesTexts.volume} error={volume.error} onRetry={() => void volume.refetch()} />
        )}
      </section>
    )
  }
  const { points, total, interval_seconds } = volume.data
  const { fatal } = sumOfPoints(points, null)
  const peak = Math.max(0, ...points.map((point) => point.events))
  const chosen = bucketsOf(window, points, interval_seconds)
  const series: BarSeries[] = [
    {
      label: issuesTexts.series.other,
      tone: 'quiet',
      values: points.map((point) => Math.max(0, point.events - point.fatal)),
    },
    { label: issuesTexts.series.fatal, tone: 'crit', values: points.map((point) => point.fatal) },
  ]
  const choose = (buckets: Buckets | null) =>
    onWindow(buckets === null ? null : windowOfBuckets(buckets, points, interval_seconds))
  const label = (buckets: Buckets) => {
    const marked = windowOfBuckets(buckets, points, interval_seconds)
    return marked === null ? '' : formatWindow(marked.from, marked.to)
  }
  return (
    <section
      className={styles.strip}
      aria-label={
        window === null ? issuesTexts.strip[range] : issuesTexts.stripWindow(formatWindow(window.from, window.to))
      }
    >
      <dl className={styles.stripN}>
        {chosen === null ? (
          <RangeFigures volume={volume.data} sessions={sessions} />
        ) : (
          <WindowFigures volume={volume.data} chosen={chosen} />
        )}
      </dl>
      <figure className={styles.stripChart}>
        <BarChart
          label={issuesTexts.chartFinding(formatDuration(interval_seconds * 1000), peak, fatal, total)}
          heightPx={76}
          series={series}
          buckets={points.map((point) => bucketLabel(point.t, interval_seconds, range))}
          xLabels={axisLabels(
            points.map((point) => point.t),
            interval_seconds,
            range,
          )}
          markers={markersOf(null, markers.data?.items ?? [], {
            start: first,
            interval_seconds,
            counts: points.map((point) => point.events),
          })}
          openEnd
          choice={{ chosen, onChoose: choose, label }}
        />
        <figcaption className={styles.stripC}>
          <ChartLegend className={styles.legend} series={series.toReversed()} />
          <VolumeTable volume={volume.data} range={range} />
        </figcaption>
      </figure>
    </section>
  )
})

/** Three figures of the whole range. Without sessions, unhandled and fatal events replace crash-free sessions. */
function RangeFigures({ volume, sessions }: { volume: Volume; sessions: SessionSummary | undefined }) {
  const { total, previous_total, points } = volume
  const users = sessions?.crashed_users ?? null
  const crashFree = sessions?.crash_free_sessions ?? null
  const before = sessions?.previous
  return (
    <>
      <div>
        <dt>{issuesTexts.stripEvents}</dt>
        <dd>
          <Count value={total} short /> <CountDelta now={total} before={previous_total} />
        </dd>
      </div>
      {users === null ? (
        <div>
          <dt>{issuesTexts.stripFatal}</dt>
          <dd>
            <Count value={sumOfPoints(points, null).fatal} short />
          </dd>
        </div>
      ) : (
        <div>
          <dt>{issuesTexts.stripUsers}</dt>
          <dd>
            <Count value={users} short /> <CountDelta now={users} before={before?.crashed_users ?? 0} />
          </dd>
        </div>
      )}
      {crashFree === null ? null : (
        <div>
          <dt>{issuesTexts.stripCrashFree}</dt>
          <dd>
            <span className={typeStyles.figures}>{formatRate(crashFree)}</span>{' '}
            <PointDelta now={crashFree} before={before?.crash_free_sessions ?? null} />
          </dd>
        </div>
      )}
    </>
  )
}

/** Events of the selected part; sessions are only known for the whole range. */
function WindowFigures({ volume: { points }, chosen }: { volume: Volume; chosen: Buckets }) {
  const { events, fatal } = sumOfPoints(points, chosen)
  return (
    <>
      <div>
        <dt>{issuesTexts.stripEvents}</dt>
        <dd>
          <Count value={events} short />
        </dd>
      </div>
      <div>
        <dt>{issuesTexts.stripFatal}</dt>
        <dd>
          <Count value={fatal} short />
        </dd>
      </div>
    </>
  )
}

/** The change of a count; an increase is bad and red. */
function CountDelta({ now, before }: { now: number; before: number }) {
  if (before === 0) return null
  const tone = now > before ? 'worse' : now < before ? 'better' : 'same'
  return (
    <Delta change={tone} title={issuesTexts.changeFrom(formatCount(before))}>
      {now / before >= 10 ? formatFactor(now / before) : formatChange(now, before)}
    </Delta>
  )
}

/** The change of a rate; a decrease is bad. */
function PointDelta({ now, before }: { now: number; before: number | null }) {
  if (before === null) return null
  const text = formatPoints(now - before)
  const tone = /[1-9]/.test(text) ? (now < before ? 'worse' : 'better') : 'same'
  return (
    <Delta change={tone} title={issuesTexts.changeFrom(formatRate(before))}>
      {text}
    </Delta>
  )
}

/** The values of the chart as a table. */
function VolumeTable({ volume, range }: { volume: Volume; range: Range }) {
  const rows = volume.points.filter((point) => point.events > 0).toReversed()
  return (
    <Popover
      label={issuesTexts.asTable}
      trigger={
        <button type="button" className={styles.asTable}>
          <Icon name="issues" />
          <span>{issuesTexts.asTable}</span>
        </button>
      }
    >
      <div className={issuesStyles.scrollY}>
        <FigureTable
          head={[issuesTexts.tableTime, issuesTexts.stripEvents, issuesTexts.stripFatal]}
          rows={rows.map((point) => [
            bucketLabel(point.t, volume.interval_seconds, range),
            formatCount(point.events),
            formatCount(point.fatal),
          ])}
        />
      </div>
    </Popover>
  )
}
