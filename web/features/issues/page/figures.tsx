import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { trendQuery, type TrendRange } from '../../../api/issue-event-queries.ts'
import type { IssueDetail } from '../../../api/issue-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { Card } from '../../../ui/card.tsx'
import type { BarSeries } from '../../../ui/chart/bar-chart.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { Count } from '../../../ui/figures.tsx'
import { formatCount, formatDay, DAY_MS } from '../../../ui/format.ts'
import { LiveText } from '../../../ui/live-text.tsx'
import { useNow } from '../../../ui/now.ts'
import { Segmented } from '../../../ui/segmented.tsx'
import type { SparkTone } from '../../../ui/chart/sparkline.tsx'
import { Time } from '../../../ui/time.tsx'
import { decideTexts } from '../../../subjects/issue/decide-texts.ts'
import { issueTexts } from './texts.ts'
import { eventsTexts } from './events/texts.ts'
import { axisLabels, bucketLabel } from '../../../subjects/figures/time-axis.ts'
import { chooseMarkers } from '../../../subjects/figures/markers.ts'
import {
  findLevelStart,
  moveInTrend,
  trendPeak,
  trendSum,
  trendTone,
  shortVersion,
} from '../../../subjects/issue/trend.ts'
import { PageQuery } from '../../../frames/page-query.tsx'
import { classNames } from '../../../ui/class-names.ts'
import styles from './figures.module.css'
import typeStyles from '../../../ui/type.module.css'

/** An issue seen within this time is ongoing. */
const ONGOING_MS = 5 * 60_000
const TONES: Readonly<Record<SparkTone, ChartTone>> = {
  plain: 'base',
  regressed: 'regr',
  escalated: 'high',
  new: 'base',
}

/** Counts and dates of the issue, and a chart of its events. */
export function IssueFigures({ issue }: { issue: IssueDetail }) {
  const now = useNow('half-minute')
  usePrefs()
  const isOngoing = now - Date.parse(issue.last_seen) < ONGOING_MS
  const [range, setRange] = useState<TrendRange>('14d')
  return (
    <Card aria-label={issueTexts.overview} className={styles.overview}>
      <div className={styles.head}>
        <dl className={classNames(styles.stats, typeStyles.metaTerms)}>
          <div>
            <dt>{issueTexts.events}</dt>
            <dd>
              <Count value={issue.event_count} short />
            </dd>
          </div>
          <div>
            <dt>{issueTexts.users}</dt>
            <dd>
              <Count value={issue.user_count} short />
            </dd>
          </div>
          <div>
            <dt>{issueTexts.firstSeen}</dt>
            <dd>
              <FirstSeen at={issue.first_seen} now={now} />
              {issue.first_release === null ? null : (
                <small title={issue.first_release}> {shortVersion(issue.first_release)}</small>
              )}
            </dd>
          </div>
          <div>
            <dt>{issueTexts.lastSeen}</dt>
            <dd>
              {isOngoing ? (
                <LiveText>
                  <FirstSeen at={issue.last_seen} now={now} />
                </LiveText>
              ) : (
                <FirstSeen at={issue.last_seen} now={now} />
              )}
              {issue.last_release === null ? null : (
                <small title={issue.last_release}> {shortVersion(issue.last_release)}</small>
              )}
            </dd>
          </div>
        </dl>
        <Segmented
          size="sm"
          label={eventsTexts.range}
          value={range}
          options={RANGES.map((value) => ({ value, label: eventsTexts.ranges[value] }))}
          onChange={setRange}
        />
      </div>
      <Trend issue={issue} range={range} now={now} />
    </Card>
  )
}

/** `40 s ago`, or the day. */
function FirstSeen({ at, now }: { at: string; now: number }) {
  const time = <Time at={at} />
  return now - Date.parse(at) < DAY_MS ? (
    <span>
      {time} {issueTexts.ago}
    </span>
  ) : (
    time
  )
}

const RANGES = ['24h', '14d', '90d'] as const
/** The axis of each range. */
const AXES = { '24h': '24h', '14d': '7d', '90d': '30d' } as const

/** Events over the chosen time, with markers of releases. */
function Trend({ issue, range, now }: { issue: IssueDetail; range: TrendRange; now: number }) {
  const long = useQuery({ ...trendQuery(issue.id, range), enabled: range !== '24h' })
  return (
    <PageQuery
      query={range === '24h' ? { ...long, data: issue.trend } : long}
      what={eventsTexts.trendName}
      heightPx={128}
      inCard
    >
      {(trend) => <TrendChart issue={{ ...issue, trend }} range={range} now={now} />}
    </PageQuery>
  )
}

/** Where the level changed, in buckets: null outside the chart; and the first bucket of the present level. */
function changeOf(issue: IssueDetail, now: number): { move: number | null; split: number | null } {
  const tone = trendTone(issue, now)
  if (tone !== 'regressed' && tone !== 'escalated') return { move: null, split: null }
  return { move: moveInTrend(issue.status_changed_at, issue.trend), split: findLevelStart(issue, now) }
}

/** The release with the last fix, also after a regression. */
function fixedIn(issue: IssueDetail): string | null {
  if (issue.resolved_in_release !== null) return issue.resolved_in_release
  const noted = issue.activity.find((entry) => entry.kind === 'status_changed' && entry.data.to === 'regressed')
  const versions: unknown = noted?.data['fixed_in']
  const last: unknown = Array.isArray(versions) ? versions.at(-1) : null
  return typeof last === 'string' ? last : null
}

function TrendChart({ issue, range, now }: { issue: IssueDetail; range: TrendRange; now: number }) {
  const { trend } = issue
  const tone = trendTone(issue, now)
  const stepMs = trend.interval_seconds * 1000
  const starts = trend.counts.map((_, index) => new Date(Date.parse(trend.start) + index * stepMs).toISOString())
  const end = new Date(Date.parse(trend.start) + trend.counts.length * stepMs).toISOString()
  const markers = useQuery({ ...releaseMarkersQuery([issue.project_id], trend.start, end), meta: { quiet: true } })
  const { move, split } = changeOf(issue, now)
  const series: BarSeries[] =
    split === null
      ? [{ label: issueTexts.events, tone: 'base', values: trend.counts }]
      : [
          {
            label: issueTexts.beforeChange,
            tone: 'quiet',
            values: trend.counts.map((count, index) => (index < split ? count : 0)),
          },
          {
            label: issueTexts.sinceChange,
            tone: TONES[tone],
            values: trend.counts.map((count, index) => (index < split ? 0 : count)),
          },
        ]
  const buckets = starts.map((start) => bucketLabel(start, trend.interval_seconds, AXES[range]))
  const regression =
    move === null || issue.last_release === null || issue.status !== 'regressed'
      ? null
      : { at: move / trend.counts.length, label: shortVersion(issue.last_release) }
  return (
    <>
      <h2 className={typeStyles.hidden}>{eventsTexts.trendName}</h2>
      <BarChart
        label={eventsTexts.trend(trendSum(trend), trendPeak(trend), eventsTexts.long[range], eventsTexts.per[range])}
        heightPx={104}
        series={series}
        buckets={buckets}
        markers={chooseMarkers(regression, markers.data?.items ?? [], trend, {
          seen: [issue.first_release, issue.last_release],
          fixed: fixedIn(issue),
          note: decideTexts.fixedHere,
        })}
        xLabels={axisLabels(starts, trend.interval_seconds, AXES[range])}
        openEnd
      />
      <ChartTable
        label={issueTexts.asTable}
        head={[eventsTexts.time, issueTexts.events]}
        rows={starts.map((start, index) => [
          range === '24h' ? `${formatDay(start)}, ${buckets[index]}` : (buckets[index] ?? ''),
          formatCount(trend.counts[index] ?? 0),
        ])}
      />
    </>
  )
}
