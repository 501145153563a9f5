import { DEFAULT_GRACE_MINUTES, DEFAULT_LIMIT_MINUTES } from '#shared/monitors.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { MonitorsSearch } from '../../../address/search.ts'
import type { Monitor } from '../../../api/monitor-queries.ts'
import { projectsQuery } from '../../../api/queries.ts'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { DataTable } from '../../../ui/data-table.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatDuration, formatExact } from '../../../ui/format.ts'
import narrowStyles from '../../../ui/narrow.module.css'
import { useNow } from '../../../ui/now.ts'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { keyOfPart, lastRun, needsAttention, shownState, type MonitorPart } from './model.ts'
import { RunBars } from './run-bars.tsx'
import { scheduleInWords } from './schedule-words.ts'
import { StateMark, stateReason } from './state-mark.tsx'
import { monitorsTexts as texts } from './texts.ts'
import { formatNext, formatUntil, formatWhen } from './when.ts'
import styles from './monitor-table.module.css'

/** A row for each monitor and environment. */
export function MonitorTable({ parts, search }: { parts: readonly MonitorPart[]; search: MonitorsSearch }) {
  const now = useNow('half-minute')
  const { columns } = texts
  return (
    <DataTable
      cards
      className={styles.table}
      rows={parts}
      keyOf={keyOfPart}
      rowAttributes={(part) => ({ 'data-edge': edgeOf(part) })}
      columns={[
        { head: columns.job, className: styles.job, cell: (part) => <Job part={part} search={search} /> },
        {
          head: columns.schedule,
          headClass: styles.middle,
          className: classNames(styles.schedule, styles.middle),
          cell: ({ monitor }) => <Schedule monitor={monitor} />,
        },
        {
          head: columns.runs,
          headClass: styles.runsHead,
          className: narrowStyles.cardFact1,
          cell: ({ environment }) => <RunBars runs={environment.runs} />,
        },
        {
          head: columns.lastRun,
          headClass: classNames(styles.timeHead, narrowStyles.hiddenAt924),
          className: narrowStyles.hiddenAt924,
          cell: (part) => <LastRun part={part} now={now} />,
        },
        {
          head: columns.nextRun,
          headClass: classNames(styles.timeHead, styles.middle),
          className: classNames(styles.next, styles.middle),
          cell: (part) => <NextRun part={part} now={now} />,
        },
        {
          head: columns.state,
          headClass: styles.stateHead,
          className: styles.state,
          cell: (part) => <State part={part} now={now} />,
        },
      ]}
    />
  )
}

function edgeOf(part: MonitorPart): 'red' | 'amber' | undefined {
  if (!needsAttention(part)) return undefined
  return shownState(part) === 'long' ? 'amber' : 'red'
}

function Job({ part: { monitor, environment }, search }: { part: MonitorPart; search: MonitorsSearch }) {
  const project = useQuery(projectsQuery).data?.items.find(({ id }) => id === monitor.project_id)
  const isProduction = environment.name === 'production'
  return (
    <div className={styles.lines}>
      <Link
        {...paths.monitor(monitor.id, {
          project: search.project,
          ...(monitor.environments.length === 1 ? {} : { env: environment.name }),
        })}
        className={classNames(fitStyles.ellipsis, narrowStyles.breaksAt600, choiceStyles.underlines)}
        data-monitor=""
      >
        {monitor.slug}
        {isProduction ? null : <span className={typeStyles.hidden}>, {environment.name}</span>}
      </Link>
      <Minor className={styles.of}>
        {project === undefined ? null : <PlatformTile platform={project.platform} quiet />}
        <span className={fitStyles.ellipsis}>{project?.name}</span>
        {isProduction ? null : (
          <span className={classNames(styles.environment, fitStyles.ellipsis)} aria-hidden="true">
            {environment.name}
          </span>
        )}
      </Minor>
    </div>
  )
}

/** The schedule in words, with zone, grace and limit. */
function Schedule({ monitor }: { monitor: Monitor }) {
  const { schedule, timezone } = monitor
  const limit = monitor.max_runtime_minutes ?? DEFAULT_LIMIT_MINUTES
  if (schedule === null) {
    return (
      <div className={styles.lines}>
        <span>{texts.noSchedule}</span>
        <Minor>{texts.limitOnly(limit)}</Minor>
      </div>
    )
  }
  const words = scheduleInWords(schedule)
  const zone = schedule.type === 'crontab' && timezone !== null && timezone !== 'UTC' ? timezone : null
  const rest = texts.graceAndLimit(monitor.checkin_margin_minutes ?? DEFAULT_GRACE_MINUTES, limit)
  return (
    <div className={styles.lines}>
      <span className={classNames(fitStyles.ellipsis, words === null && typeStyles.mono)}>
        {words ?? String(schedule.value)}
      </span>
      <Minor className={fitStyles.ellipsis}>{zone === null ? rest : `${zone}, ${rest}`}</Minor>
    </div>
  )
}

function LastRun({ part: { environment }, now }: { part: MonitorPart; now: number }) {
  const last = lastRun(environment.runs)
  if (last?.began_at == null) return <Minor>{texts.noRun}</Minor>
  const took = last.duration_ms === null ? null : formatDuration(last.duration_ms)
  return (
    <div className={styles.lines}>
      <time dateTime={last.began_at} title={formatExact(last.began_at)}>
        {formatWhen(last.began_at, now)}
      </time>
      <Minor>{took === null ? null : last.is_running ? texts.running(took) : texts.took(took)}</Minor>
    </div>
  )
}

function NextRun({ part: { monitor, environment }, now }: { part: MonitorPart; now: number }) {
  const { next_at: at } = environment
  if (at === null) return <Minor>{monitor.schedule === null ? texts.unknownNext : texts.notPlanned}</Minor>
  const left = formatUntil(at, now)
  return (
    <div className={styles.lines}>
      <span>{left === null ? texts.due : texts.in(left)}</span>
      <Minor className={narrowStyles.hiddenAt600}>{formatNext(at, now, monitor)}</Minor>
    </div>
  )
}

function State({ part, now }: { part: MonitorPart; now: number }) {
  const reason = stateReason(part, now)
  return (
    <div className={styles.lines}>
      <StateMark state={shownState(part)} />
      {reason === null ? null : <Minor>{reason}</Minor>}
    </div>
  )
}
