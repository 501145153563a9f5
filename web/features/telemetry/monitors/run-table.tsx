import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { paths } from '../../../address/paths.ts'
import { RUN_FILTERS, type RunFilter } from '../../../address/search.ts'
import type { Monitor, MonitorRun } from '../../../api/monitor-queries.ts'
import { Button } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration, formatExact } from '../../../ui/format.ts'
import { useNow } from '../../../ui/now.ts'
import { Segmented } from '../../../ui/segmented.tsx'
import { NoData } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { graceMs, lateMs, limitMs } from './model.ts'
import { StateMark } from './state-mark.tsx'
import { monitorsTexts as texts } from './texts.ts'
import { formatWhen } from './when.ts'
import styles from './run-table.module.css'

const route = getRouteApi('/signed-in/shell/monitors/$monitorId')
const SHOWN = 25

const fits = (filter: RunFilter | undefined, { kind }: MonitorRun): boolean =>
  filter === undefined || (filter === 'problems' ? kind !== 'ok' && kind !== 'running' : kind === filter)

/** The runs, newest first. */
export function RunTable({ monitor, runs }: { monitor: Monitor; runs: readonly MonitorRun[] }) {
  const { kind } = route.useSearch()
  const navigate = route.useNavigate()
  const [isWhole, setWhole] = useState(false)
  const found = runs.filter((run) => fits(kind, run)).toReversed()
  const shown = isWhole ? found : found.slice(0, SHOWN)
  const countOf = (filter: RunFilter | undefined): number => runs.filter((run) => fits(filter, run)).length
  const offered = RUN_FILTERS.filter((filter) => filter === kind || countOf(filter) > 0)
  return (
    <Card
      className={fitStyles.clips}
      title={texts.runs}
      header={
        offered.length === 0 ? null : (
          <span className={classNames(styles.filter, fitStyles.atEnd)}>
            <Segmented<RunFilter | 'all'>
              label={texts.runsFilter}
              size="sm"
              value={kind ?? 'all'}
              options={[
                { value: 'all', label: `${texts.all} ${runs.length}` },
                ...offered.map((value) => ({ value, label: `${texts.filters[value]} ${countOf(value)}` })),
              ]}
              onChange={(value) =>
                void navigate({
                  search: (before) => ({ ...before, kind: value === 'all' ? undefined : value }),
                  resetScroll: false,
                })
              }
            />
          </span>
        )
      }
    >
      {found.length === 0 ? (
        <EmptyState kind="filtered" title={texts.noRunsOf} />
      ) : (
        <Rows monitor={monitor} runs={shown} />
      )}
      {shown.length < found.length ? (
        <CardFooter note={texts.shownRuns(shown.length, found.length)}>
          <Button size="sm" onClick={() => setWhole(true)}>
            {texts.showAllRuns(found.length)}
          </Button>
        </CardFooter>
      ) : null}
    </Card>
  )
}

function Rows({ monitor, runs }: { monitor: Monitor; runs: readonly MonitorRun[] }) {
  const now = useNow('half-minute')
  const columns = texts.runColumns
  const hasRelease = runs.some(({ release }) => release !== null)
  const hasTrace = runs.some(({ trace_id: trace }) => trace !== null)
  return (
    <DataTable
      scrollLabel={texts.runsTable}
      className={fitStyles.nowrapAll}
      rows={runs}
      keyOf={(run, place) => run.check_in_id ?? run.expected_at ?? place}
      columns={[
        {
          head: columns.expected,
          className: typeStyles.figures,
          cell: ({ expected_at: at }) =>
            at === null ? <span className={typeStyles.quiet}>{texts.unplanned}</span> : <At at={at} now={now} />,
        },
        { head: columns.state, cell: ({ kind }) => <StateMark state={kind} /> },
        {
          head: columns.started,
          className: classNames(typeStyles.figures, typeStyles.soft),
          cell: ({ began_at: at }) =>
            at === null ? <span className={typeStyles.quiet}>{texts.noCheckInCell}</span> : <At at={at} now={now} />,
        },
        {
          head: columns.took,
          numeric: true,
          cell: ({ duration_ms: took, is_running: isRunning }) =>
            took === null ? <NoData /> : isRunning ? texts.running(formatDuration(took)) : formatDuration(took),
        },
        { head: columns.note, className: typeStyles.meta, cell: (run) => noteOf(monitor, run, now) },
        ...(hasRelease
          ? [
              {
                head: columns.release,
                className: classNames(styles.release, typeStyles.mono, fitStyles.ellipsis),
                title: ({ release }: MonitorRun) => release,
                cell: ({ release }: MonitorRun) => release,
              },
            ]
          : []),
        ...(hasTrace
          ? [
              {
                head: columns.trace,
                isHeadHidden: true,
                className: typeStyles.links,
                cell: ({ trace_id: trace }: MonitorRun) =>
                  trace === null ? null : <Link {...paths.trace(trace)}>{texts.openTrace}</Link>,
              },
            ]
          : []),
      ]}
    />
  )
}

const At = ({ at, now }: { at: string; now: number }) => (
  <time dateTime={at} title={formatExact(at)}>
    {formatWhen(at, now)}
  </time>
)

/** How late a run was, by how much it was over the limit, or when it was taken for missed. */
function noteOf(monitor: Monitor, run: MonitorRun, now: number): string | null {
  const { kind, duration_ms: took, expected_at: expected } = run
  if (kind === 'missed' && expected !== null) {
    return texts.decidedAt(formatWhen(new Date(Date.parse(expected) + graceMs(monitor)).toISOString(), now))
  }
  const late = lateMs(run)
  if (kind === 'late' && late !== null) return texts.afterTime(formatDuration(late))
  if (kind === 'long' && took !== null) return texts.overTheLimit(formatDuration(took - limitMs(monitor)))
  return null
}
