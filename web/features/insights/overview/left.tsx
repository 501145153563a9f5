import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { Issue } from '../../../api/issue-queries.ts'
import type { MetricSeries } from '../../../api/metric-queries.ts'
import type { Overview } from '../../../api/overview-queries.ts'
import { transactionsQuery } from '../../../api/performance-queries.ts'
import { releaseMarkersQuery } from '../../../api/marker-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { Range, ShellSearch } from '../../../address/search.ts'
import { figuresTexts } from '../../../subjects/figures/texts.ts'
import { barAxis, buildTimeAxis } from '../../../subjects/figures/time-axis-of.ts'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Card } from '../../../ui/card.tsx'
import { BarChart } from '../../../ui/chart/charts.tsx'
import { ChartCard } from '../../../ui/chart/chart-card.tsx'
import { ChartTable } from '../../../ui/chart/chart-table.tsx'
import { ChartLegend } from '../../../ui/chart/legend.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount, formatDuration, formatRate } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { Severity } from '../../../ui/status.tsx'
import { Minor, ShortId } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { overviewTexts as texts } from './texts.ts'
import styles from './left.module.css'

/** Events over the time, those of crashes apart; the same as on the page of metrics. */
export function EventsChart({ projectId, series }: { projectId: string; series: MetricSeries }) {
  const navigate = useNavigate()
  const { points, range, interval_seconds: seconds, total, totals } = series
  const markers = useQuery({
    ...releaseMarkersQuery([projectId], points[0]?.t ?? '', points.at(-1)?.t ?? ''),
    meta: { quiet: true },
  })
  const axis = buildTimeAxis({
    points,
    intervalSeconds: seconds,
    range,
    window: null,
    releases: markers.data?.items ?? [],
    onWindow: (window) => void navigate(paths.metrics({ project: projectId, range, ...window })),
  })
  const bars = [
    {
      label: texts.other,
      tone: 'quiet' as const,
      values: points.map(({ value, critical }) => (value === null ? null : value - (critical ?? 0))),
    },
    { label: texts.critical, tone: 'crit' as const, values: points.map(({ critical }) => critical ?? 0) },
  ]
  return (
    <ChartCard
      title={texts.events}
      unit={figuresTexts.per[range]}
      legend={<ChartLegend series={bars.toReversed()} />}
      table={
        <ChartTable
          label={texts.asTable}
          head={[texts.time, texts.events, texts.critical]}
          rows={axis.names.map((name, index) => [
            name,
            formatCount(points[index]?.value ?? 0),
            formatCount(points[index]?.critical ?? 0),
          ])}
        />
      }
    >
      <BarChart
        {...barAxis(axis)}
        label={texts.chartLabel(total ?? 0, totals.critical ?? 0)}
        heightPx={150}
        series={bars}
      />
    </ChartCard>
  )
}

const MAX_ISSUES = 6

type NewAndBackProps = { issues: readonly Issue[]; overview: Overview; search: ShellSearch }

/** Issues that are new, and those that came back. */
export function NewAndBack({ issues, overview, search }: NewAndBackProps) {
  return (
    <Card
      className={fitStyles.clips}
      title={texts.newAndBack}
      header={
        <Link
          className={classNames(fitStyles.atEnd, typeStyles.accent, typeStyles.small)}
          {...paths.issues({ project: search.project, sort: '-first_seen' })}
        >
          {texts.allOpen(overview.issues.open)}
        </Link>
      }
    >
      {issues.length === 0 ? (
        <EmptyState kind="good" title={texts.noneNew} />
      ) : (
        <ul className={fitStyles.ruled}>
          {issues.slice(0, MAX_ISSUES).map((issue) => (
            <IssueRow key={issue.id} issue={issue} project={search.project} />
          ))}
        </ul>
      )}
    </Card>
  )
}

function IssueRow({ issue, project }: { issue: Issue; project: string | undefined }) {
  const { name, rest } = splitTitle(issue)
  return (
    <li className={classNames(styles.issue, choiceStyles.row)}>
      <Severity severity={issue.severity} word={false} />
      <Link
        {...paths.issue(issue.id, { project })}
        className={classNames(fitStyles.ellipsis, typeStyles.headNames, choiceStyles.underlines)}
      >
        <b>{name}</b> {rest === null ? null : <span className={typeStyles.soft}>{rest}</span>}
      </Link>
      {issue.status === 'regressed' ? (
        <Badge tone="violet" icon="st-regressed">
          {texts.back}
        </Badge>
      ) : (
        <Badge tone="blue" icon="spark">
          {texts.new}
        </Badge>
      )}
      <ShortId className={narrowStyles.hiddenAt600}>{issue.short_id}</ShortId>
      <span className={classNames(typeStyles.figures, fitStyles.textEnd)} title={texts.eventsOf(issue.event_count)}>
        {formatCount(issue.event_count)}
        <span className={typeStyles.hidden}>{texts.eventsOf(issue.event_count)}</span>
      </span>
    </li>
  )
}

const MAX_TRANSACTIONS = 5

/** The transactions that take the most time; absent without tracing. */
export function Slowest({ projectId, range, search }: { projectId: string; range: Range; search: ShellSearch }) {
  const list = useInfiniteQuery({
    ...transactionsQuery({ projectId, range, filters: {} }, '-total'),
    meta: { quiet: true },
  })
  const rows = (list.data?.pages[0]?.items ?? []).slice(0, MAX_TRANSACTIONS)
  if (rows.length === 0) return null
  const { columns } = texts
  return (
    <Card
      className={fitStyles.clips}
      title={texts.slowest}
      header={
        <>
          <Minor>{texts.byTime}</Minor>
          <Link
            className={classNames(fitStyles.atEnd, typeStyles.accent, typeStyles.small)}
            {...paths.performance(search)}
          >
            {texts.allTransactions}
          </Link>
        </>
      }
    >
      <DataTable
        scrollLabel={texts.tableOf(texts.slowest)}
        className={fitStyles.nowrapAll}
        rows={rows}
        keyOf={({ name, op }) => `${op} ${name}`}
        columns={[
          {
            head: columns.name,
            isName: true,
            className: classNames(styles.name, typeStyles.mono, fitStyles.ellipsis),
            title: ({ name }) => name,
            cell: ({ name }) => <Link {...paths.transaction(name, search)}>{name}</Link>,
          },
          { head: columns.count, numeric: true, cell: ({ count }) => formatCount(count) },
          { head: columns.p95, numeric: true, cell: ({ p95 }) => formatDuration(p95) },
          { head: columns.failed, numeric: true, cell: ({ failure_rate: rate }) => formatRate(rate) },
        ]}
      />
    </Card>
  )
}
