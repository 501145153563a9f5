import { countsStart } from '#shared/time-ranges.ts'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { lazy, memo, Suspense, useState } from 'react'
import {
  sessionSummaryQuery,
  volumeQuery,
  type SessionSummary,
  type StreamFilters,
  type Volume,
} from '../../../api/issue-queries.ts'
import { usePolling } from '../../../api/live.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { parseQueryMistake } from '../../../subjects/query/mistake.ts'
import type { Range } from '../../../address/search.ts'
import { BarChart } from '../../../ui/chart/charts.tsx'
import type { BarSeries } from '../../../ui/chart/bar-chart.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import type { Buckets } from '../../../ui/chart/use-chart-reading.ts'
import { Delta } from '../../../ui/delta.tsx'
import { Count } from '../../../ui/figures.tsx'
import {
  DAY_MS,
  formatChange,
  formatCount,
  formatDuration,
  formatFactor,
  formatPoints,
  formatRate,
  formatWindow,
} from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { useNow } from '../../../ui/now.ts'
import { Popover } from '../../../ui/popover.tsx'
import { issuesTexts } from './texts.ts'
import { QueryError } from '../../../frames/query-error.tsx'
import { axisLabels, bucketLabel } from '../../../subjects/figures/time-axis.ts'
import { chooseMarkers } from '../../../subjects/figures/markers.ts'
import { windowBuckets, windowOfBuckets, type Window } from '../../../subjects/figures/time-window.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import narrowStyles from '../../../ui/narrow.module.css'
import { sumOfPoints } from './volume-window.ts'
import styles from './volume.module.css'
import typeStyles from '../../../ui/type.module.css'

const VolumeTable = lazy(() => import('./volume-table.tsx').then((module) => ({ default: module.VolumeTable })))

type IssueVolumeProps = {
  filters: StreamFilters
  /** False until the list is there: the code of the chart is loaded after the first rows. */
  isListed: boolean
  onWindow: (window: Window | null) => void
}

/** The summary above the list: events and users of what the list shows, compared with the previous period. */
export const IssueVolume = memo(function IssueVolume({ filters, isListed, onWindow }: IssueVolumeProps) {
  const { project, window } = filters
  const polling = usePolling(15_000)
  const rangeStart = countsStart(useNow('half-minute'), filters.range)
  // A time that begins before the range has a chart of its own; another one is a part of the range's chart.
  const isOutside = window !== null && Date.parse(window.from) < rangeStart
  const live = { placeholderData: keepPreviousData, ...(polling === false ? {} : { refetchInterval: polling }) }
  const volume = useQuery({ ...volumeQuery(filters, isOutside ? window : null), ...live })
  const part = useQuery({ ...volumeQuery(filters, window), ...live, enabled: window !== null && !isOutside })
  const range = isOutside ? rangeLike(window) : filters.range
  // Sessions have none of the filters, except the project. Without them the summary uses events only.
  const isWhole =
    window === null &&
    filters.q === '' &&
    filters.assignee === null &&
    [filters.severity, filters.platform].every((values) => values.length === 0)
  const sessions = useQuery({ ...sessionSummaryQuery(project, filters.range), enabled: isWhole }).data
  usePrefs()
  const last = useLast(volume.data)
  const shown = volume.error === null || parseQueryMistake(volume.error) !== null ? last : volume.data
  const [start, end] = [shown?.points[0]?.t ?? '', shown?.points.at(-1)?.t ?? '']
  const markers = useQuery({
    ...releaseMarkersQuery(project === null ? [] : [project], start, end),
    enabled: start !== '' && start !== end,
    meta: { quiet: true },
  })
  if (shown === undefined || !isListed) {
    return (
      <section
        className={styles.strip}
        aria-label={issuesTexts.strip[filters.range]}
        aria-busy={volume.isPending || !isListed}
      >
        {volume.error === null || parseQueryMistake(volume.error) !== null ? null : (
          <QueryError what={issuesTexts.volume} error={volume.error} onRetry={() => void volume.refetch()} />
        )}
      </section>
    )
  }
  const { points, total, interval_seconds } = shown
  const { fatal } = sumOfPoints(points, null)
  const peak = Math.max(0, ...points.map((point) => point.events))
  const chosen = isOutside ? null : windowBuckets(window, points, interval_seconds)
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
        window === null
          ? issuesTexts.strip[filters.range]
          : issuesTexts.stripWindow(formatWindow(window.from, window.to))
      }
    >
      <dl className={styles.stripN}>
        <Figures
          volume={window === null || isOutside ? shown : part.data}
          isCompared={window === null}
          sessions={isWhole ? sessions : undefined}
        />
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
          markers={chooseMarkers(null, markers.data?.items ?? [], {
            start,
            interval_seconds,
            counts: points.map((point) => point.events),
          })}
          openEnd
          choice={{ chosen, onChoose: choose, label }}
        />
        <figcaption className={styles.stripC}>
          <ChartLegend className={narrowStyles.hiddenAt600} series={series.toReversed()} />
          <Popover
            label={issuesTexts.asTable}
            trigger={
              <button type="button" className={classNames(styles.asTable, choiceStyles.lightens, fitStyles.icons12)}>
                <Icon name="issues" />
                <span>{issuesTexts.asTable}</span>
              </button>
            }
          >
            <Suspense fallback={null}>
              <VolumeTable volume={shown} range={range} />
            </Suspense>
          </Popover>
        </figcaption>
      </figure>
    </section>
  )
})

/** The newest data: a query with a mistake keeps what was read before. */
function useLast<T>(data: T | undefined): T | undefined {
  const [last, setLast] = useState(data)
  if (data !== undefined && data !== last) setLast(data)
  return data ?? last
}

/** The range whose axis suits a time. */
function rangeLike({ from, to }: Window): Range {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS
  return days <= 1 ? '24h' : days <= 7 ? '7d' : '30d'
}

type FiguresProps = {
  /** Undefined while it is read. */
  volume: Volume | undefined
  isCompared: boolean
  sessions: SessionSummary | undefined
}

/** Three figures of what is listed. Of all issues of a project with sessions, the third is crash-free sessions. */
function Figures({ volume, isCompared, sessions }: FiguresProps) {
  const crashFree = sessions?.crash_free_sessions ?? null
  // The list has filters, at least by status, but too many issues match to sum their events.
  const isOfAll = volume?.counts === 'projects'
  const fatal = volume === undefined ? null : sumOfPoints(volume.points, null).fatal
  return (
    <>
      <div title={isOfAll ? issuesTexts.stripAllHint : undefined}>
        <dt>{isOfAll ? issuesTexts.stripAllEvents : issuesTexts.stripEvents}</dt>
        <dd>
          <Count value={volume?.total ?? null} short />
          {volume === undefined || !isCompared ? null : (
            <>
              {' '}
              <CountDelta now={volume.total} before={volume.previous_total} />
            </>
          )}
        </dd>
      </div>
      <div title={volume?.users === null ? issuesTexts.stripUsersUnknown : issuesTexts.stripUsersHint}>
        <dt>{issuesTexts.stripUsers}</dt>
        <dd>
          <Count value={volume?.users ?? null} short />
        </dd>
      </div>
      {crashFree === null ? (
        <div>
          <dt>{issuesTexts.stripFatal}</dt>
          <dd>
            <Count value={fatal} short />
          </dd>
        </div>
      ) : (
        <div>
          <dt>{issuesTexts.stripCrashFree}</dt>
          <dd>
            <span className={typeStyles.figures}>{formatRate(crashFree)}</span>{' '}
            <PointDelta now={crashFree} before={sessions?.previous.crash_free_sessions ?? null} />
          </dd>
        </div>
      )}
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
