import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { dryRunQuery, type DryRun as DryRunAnswer, type DryRunBody } from '../../api/alert-queries.ts'
import { formatMeasured } from '../../subjects/alerts/look.ts'
import { timeTicks } from '../../subjects/figures/time-ticks.ts'
import { QueryError } from '../../frames/query-error.tsx'
import { bucketLabel } from '../../subjects/figures/time-axis.ts'
import { BarChart, LineChart } from '../../ui/chart/charts.tsx'
import type { Spot } from '../../ui/chart/chart-frame.tsx'
import { ChartTable } from '../../ui/chart/chart-table.tsx'
import { formatMoment, formatShortCount, NO_DATA } from '../../ui/format.ts'
import { Icon } from '../../ui/icon.tsx'
import { Minor } from '../../ui/text.tsx'
import { builderTexts } from './builder-texts.ts'
import styles from './dry-run.module.css'
import typeStyles from '../../ui/type.module.css'

const texts = builderTexts.dryRun
const HEIGHT_PX = 136
/** Alerts in a week above which a rule is noise. */
const OFTEN = 20
/** A dry run begins when typing pauses. */
const PAUSE_MS = 400

/** Alerts that the rule would have fired in the last 7 days; null while a condition is missing. */
export function DryRun({ body, hasProject }: { body: DryRunBody | null; hasProject: boolean }) {
  const settled = usePaused(body)
  const run = useQuery({
    ...dryRunQuery(settled ?? { projectId: '', trigger_type: 'new_issue' }),
    enabled: settled !== null,
    // Only results of the same trigger: another trigger measures something else.
    placeholderData: (before, query) =>
      query?.queryKey[1].trigger_type === settled?.trigger_type ? before : undefined,
  })
  const { data, error } = run
  return (
    <figure className={styles.dry} aria-label={texts.name} aria-busy={run.isFetching ? true : undefined}>
      {body === null ? (
        <Minor as="p">{hasProject ? texts.incomplete : texts.projectMissing}</Minor>
      ) : error !== null ? (
        <QueryError what={texts.failed} error={error} onRetry={() => void run.refetch()} />
      ) : data === undefined ? (
        <div className={styles.waiting}>
          <Minor>{texts.running}</Minor>
        </div>
      ) : (
        <Result run={data} />
      )}
    </figure>
  )
}

function headlineOf({ count, threshold, has_data: hasData }: DryRunAnswer): { text: string; hint: string | null } {
  if (!hasData) return { text: texts.noData, hint: texts.noDataHint }
  if (count === 0) return { text: texts.never, hint: threshold === null ? texts.unmatchedHint : texts.neverHint }
  return { text: texts.fired(count), hint: count > OFTEN ? texts.oftenHint : null }
}

function Result({ run }: { run: DryRunAnswer }) {
  const { text, hint } = headlineOf(run)
  return (
    <>
      <figcaption>
        {/* Said to screen readers after each change of the condition. */}
        <b role="status">
          {hint === null ? null : <Icon name={run.has_data ? 'warn' : 'info'} className={typeStyles.amber} />}
          {text}
        </b>
        <Minor>{texts.source(run.measures)}</Minor>
        {hint === null ? null : <p>{hint}</p>}
      </figcaption>
      {run.has_data ? <Chart run={run} headline={text} /> : null}
      {run.occurrences.length === 0 ? null : <Occurrences run={run} />}
    </>
  )
}

/** The number of an occurrence counts from the oldest. */
function spotsOf({ count, occurrences }: DryRunAnswer, [start, end]: readonly [number, number]): Spot[] {
  return occurrences
    .map(({ at }, index) => ({ at: (Date.parse(at) - start) / (end - start), label: String(count - index) }))
    .toReversed()
}

function Chart({ run, headline }: { run: DryRunAnswer; headline: string }) {
  const { points, unit, threshold } = run
  const start = Date.parse(run.from)
  // The last hour has not ended.
  const end = start + points.length * run.interval_seconds * 1000
  const names = points.map(({ t }) => bucketLabel(t, run.interval_seconds, '7d'))
  const values = points.map(({ value }) => value)
  const limit = threshold === null ? null : (formatMeasured(threshold, unit) ?? '')
  const frame = {
    label: texts.finding(headline, run.measures),
    heightPx: HEIGHT_PX,
    xLabels: timeTicks(start, end, true),
    spots: spotsOf(run, [start, end]),
    openEnd: Date.parse(run.to) < end,
  }
  if (unit === null || unit === 'events') {
    return (
      <BarChart
        {...frame}
        buckets={names}
        series={[{ label: texts.measured, tone: 'base', values }]}
        {...(threshold === null || limit === null
          ? {}
          : { limit: { value: threshold, label: texts.threshold(formatShortCount(threshold)) } })}
      />
    )
  }
  return (
    <LineChart
      {...frame}
      buckets
      fromZero
      lines={[{ label: texts.measured, tone: 'measure', values, end: null }]}
      places={names}
      thresholds={
        threshold === null || limit === null
          ? []
          : [{ from: threshold, to: Infinity, label: texts.threshold(limit), tone: 'bad', edge: true }]
      }
      formatTick={(value) => formatMeasured(value, unit === 'percent_per_hour' ? 'percent' : unit) ?? ''}
      formatValue={(value) => formatMeasured(value, unit) ?? NO_DATA}
    />
  )
}

function Occurrences({ run: { occurrences, count, unit } }: { run: DryRunAnswer }) {
  return (
    <ChartTable
      label={occurrences.length < count ? texts.newestOccurrences(occurrences.length, count) : texts.occurrences(count)}
      head={[texts.when, texts.about, texts.value]}
      rows={occurrences.map(({ at, title, value, issue }) => [
        formatMoment(at),
        issue === null ? title : `${issue.short_id} ${issue.title}`,
        formatMeasured(value, unit) ?? NO_DATA,
      ])}
    />
  )
}

/** The newest value, once it has not changed for a moment. The first is there at once. */
function usePaused(body: DryRunBody | null): DryRunBody | null {
  const [settled, setSettled] = useState(body)
  const text = JSON.stringify(body)
  const newest = useRef(body)
  useEffect(() => {
    newest.current = body
  })
  useEffect(() => {
    const timer = setTimeout(() => setSettled(newest.current), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}
