import { useQuery } from '@tanstack/react-query'
import { memo } from 'react'
import { volumeQuery, type Volume } from '../api/issue-queries.ts'
import { usePolling } from '../api/live.ts'
import { releaseMarkersQuery } from '../api/release-queries.ts'
import { usePrefs } from '../prefs.ts'
import type { Range } from '../search.ts'
import { BarChart, ChartLegend, type BarSeries } from '../ui/bar-chart.tsx'
import { Count } from '../ui/figures.tsx'
import { formatChange, formatCount, formatDuration, formatFactor } from '../ui/format.ts'
import { Icon } from '../ui/icon.tsx'
import { Popover } from '../ui/popover.tsx'
import { issues as words } from '../words/issues.ts'
import { QueryError } from './query-error.tsx'
import { axisLabels, bucketLabel } from './issue-axis.ts'
import { faultLines } from './issue-fault-lines.ts'

/** The strip above the stream: how much arrives, how much of it hurts, against the time before. */
export const IssueVolume = memo(function IssueVolume({ project, range }: { project: string | null; range: Range }) {
  const polling = usePolling(15_000)
  const volume = useQuery({
    ...volumeQuery(project, range),
    ...(polling === false ? {} : { refetchInterval: polling }),
  })
  usePrefs()
  const [first, last] = [volume.data?.points[0]?.t ?? '', volume.data?.points.at(-1)?.t ?? '']
  const markers = useQuery({
    ...releaseMarkersQuery(project === null ? [] : [project], first, last),
    enabled: first !== '' && first !== last,
    meta: { quiet: true },
  })
  if (volume.data === undefined) {
    return (
      <section className="strip strip-wait" aria-label={words.strip[range]} aria-busy={volume.isPending}>
        {volume.error === null ? null : (
          <QueryError what={words.volume} error={volume.error} onRetry={() => void volume.refetch()} />
        )}
      </section>
    )
  }
  const { points, total, previous_total, interval_seconds } = volume.data
  const fatal = points.reduce((sum, point) => sum + point.fatal, 0)
  const peak = Math.max(0, ...points.map((point) => point.events))
  const series: BarSeries[] = [
    {
      label: words.series.other,
      tone: 'quiet',
      values: points.map((point) => Math.max(0, point.events - point.fatal)),
    },
    { label: words.series.fatal, tone: 'crit', values: points.map((point) => point.fatal) },
  ]
  return (
    <section className="strip" aria-label={words.strip[range]}>
      <dl className="strip-n">
        <div>
          <dt>{words.stripEvents}</dt>
          <dd>
            <Count value={total} short /> <Delta now={total} before={previous_total} />
          </dd>
        </div>
        <div>
          <dt>{words.stripFatal}</dt>
          <dd>
            <Count value={fatal} short />
          </dd>
        </div>
        <VolumeTable volume={volume.data} range={range} />
      </dl>
      <figure className="strip-chart">
        <BarChart
          label={words.chartFinding(formatDuration(interval_seconds * 1000), peak, fatal, total)}
          heightPx={76}
          series={series}
          buckets={points.map((point) => bucketLabel(point.t, interval_seconds, range))}
          xLabels={axisLabels(
            points.map((point) => point.t),
            interval_seconds,
            range,
          )}
          faults={faultLines(null, markers.data?.items ?? [], {
            start: first,
            interval_seconds,
            counts: points.map((point) => point.events),
          })}
          openEnd
        />
        <ChartLegend series={series.toReversed()} />
      </figure>
    </section>
  )
})

/** More than before is worse here, and says so in red. */
function Delta({ now, before }: { now: number; before: number }) {
  if (before === 0) return null
  const tone = now > before ? 'up-bad' : now < before ? 'up-good' : 'flat'
  return (
    <span className={`delta ${tone}`} title={words.changeFrom(formatCount(before))}>
      {now / before >= 10 ? formatFactor(now / before) : formatChange(now, before)}
    </span>
  )
}

/** The figures of the chart for those who read better than they look. */
function VolumeTable({ volume, range }: { volume: Volume; range: Range }) {
  const rows = volume.points.filter((point) => point.events > 0).toReversed()
  return (
    <div>
      <dt className="sr">{words.asTable}</dt>
      <dd className="strip-t">
        <Popover
          label={words.asTable}
          trigger={
            <button type="button" className="astable">
              <Icon name="issues" />
              <span>{words.asTable}</span>
            </button>
          }
        >
          <div className="scroll-y">
            <table className="tiny">
              <thead>
                <tr>
                  <th scope="col">{words.tableTime}</th>
                  <th scope="col">{words.stripEvents}</th>
                  <th scope="col">{words.stripFatal}</th>
                </tr>
              </thead>
              <tbody>
                {rows.map((point) => (
                  <tr key={point.t}>
                    <th scope="row">{bucketLabel(point.t, volume.interval_seconds, range)}</th>
                    <td>{formatCount(point.events)}</td>
                    <td>{formatCount(point.fatal)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Popover>
      </dd>
    </div>
  )
}
