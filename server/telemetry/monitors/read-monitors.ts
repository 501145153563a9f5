import { setImmediate } from 'node:timers/promises'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { runDuration } from './check-in.ts'
import { findBegin, type JudgedMonitor, judgeRuns, readTiming, type Timing } from './judge-runs.ts'
import { monitorConfig, viewConfig } from './monitor-config.ts'
import type { MonitorView } from './monitors.api.ts'
import {
  countListed,
  type MonitorRow,
  selectActiveMonitors,
  selectMonitor,
  selectMonitors,
  selectNewestRuns,
} from './monitors.queries.ts'
import { nextByCrontab } from './schedule.ts'

/** Runs of an environment in a list, and of one monitor. */
const LISTED_RUNS = 30
const SHOWN_RUNS = 100
const NEXT_RUNS = 5

/** @throws AppError not_found (project) */
export async function listMonitors(
  app: App,
  actor: OrgActor,
  {
    projectId = null,
    limit,
    offset,
  }: { readonly projectId?: string | null; readonly limit: number; readonly offset: number },
): Promise<Page<MonitorView>> {
  if (projectId !== null) await requireProject(app, actor, projectId)
  const { orgId } = actor
  const [rows, total] = await Promise.all([
    selectMonitors(app.db, { orgId, projectId }, { limit, offset }),
    countListed(app.db, orgId, projectId),
  ])
  const items = await viewMonitors(app, rows, LISTED_RUNS)
  return { items, total, limit, offset, next_cursor: null }
}

/** @throws AppError not_found */
export async function readMonitor(app: App, actor: OrgActor, id: string): Promise<MonitorView> {
  const row = await selectMonitor(app.db, actor.orgId, id)
  if (row === undefined) throw notFound('Monitor')
  const [view] = await viewMonitors(app, [row], SHOWN_RUNS)
  if (view === undefined) throw notFound('Monitor')
  return view
}

async function viewMonitors(app: App, rows: readonly MonitorRow[], max: number): Promise<MonitorView[]> {
  const now = app.clock.now()
  const judged = await judgeMonitors(app.db, rows, { now, maxOf: () => max })
  const byMonitor = Map.groupBy(judged, ({ monitor }) => monitor.id)
  return rows.map((row) => ({
    id: row.id,
    project_id: row.project_id,
    slug: row.slug,
    state: row.state,
    state_at: row.state_at?.toISOString() ?? null,
    ...viewConfig(row),
    created_at: row.created_at.toISOString(),
    last_check_in_at: row.last_check_in_at.toISOString(),
    next_runs: nextOf(row, now),
    environments: (byMonitor.get(row.id) ?? []).map(viewEnvironment),
  }))
}

function nextOf(row: MonitorRow, now: Date): string[] {
  const config = monitorConfig(row)
  if (config?.schedule.type !== 'crontab' || row.state === 'paused') return []
  const crontab = { value: config.schedule.value, timezone: config.timezone }
  return nextByCrontab(crontab, now, NEXT_RUNS).map((at) => at.toISOString())
}

function viewEnvironment({
  monitor,
  environment,
  judged,
  now,
}: JudgedEnvironment): MonitorView['environments'][number] {
  const isPaused = monitor.state === 'paused'
  return {
    name: environment,
    status: judged.kind ?? 'waiting',
    is_failing: judged.isFailing && !isPaused,
    problem: isPaused ? null : judged.problem,
    in_a_row: judged.inARow,
    since: judged.since?.toISOString() ?? null,
    next_at: isPaused ? null : (judged.nextAt?.toISOString() ?? null),
    runs: judged.runs.map(({ kind, expectedAt, run }) => ({
      kind,
      expected_at: expectedAt?.toISOString() ?? null,
      check_in_id: run?.id ?? null,
      began_at: run === null ? null : findBegin(run).toISOString(),
      // While it runs: so far.
      duration_ms:
        run === null
          ? null
          : run.status === 'in_progress'
            ? now.getTime() - findBegin(run).getTime()
            : runDuration(run),
      is_running: run?.status === 'in_progress',
      release: run?.release ?? null,
      trace_id: run?.traceId ?? null,
    })),
  }
}

export type JudgedEnvironment = {
  readonly monitor: MonitorRow
  readonly environment: string
  readonly timing: Timing
  readonly judged: JudgedMonitor
  readonly now: Date
}

/** Monitors that are judged before other work has its turn. */
const AT_ONCE = 25
/** Runs beyond those that the thresholds of a monitor count. */
const SPARE_RUNS = 4

/**
 * Judges the monitors of a project that are neither paused nor muted.
 * @param max runs of all of them together; unless given as many as their thresholds count
 */
export async function judgeActive(
  db: Connection,
  projectId: string,
  { now, max }: { readonly now: Date; readonly max?: number },
): Promise<JudgedEnvironment[]> {
  const monitors = await selectActiveMonitors(db, projectId)
  const share = max === undefined ? null : Math.max(SPARE_RUNS, Math.floor(max / Math.max(1, monitors.length)))
  return judgeMonitors(db, monitors, { now, maxOf: (monitor) => share ?? countedRuns(monitor) })
}

const countedRuns = ({ failure_issue_threshold: failures, recovery_threshold: recoveries }: MonitorRow): number =>
  SPARE_RUNS + Math.max(failures ?? 1, recoveries ?? 1)

type Judging = {
  readonly now: Date
  /** Runs of a monitor in each of its environments. */
  readonly maxOf: (monitor: MonitorRow) => number
}

/** Judges monitors in each of their environments, some at a time. */
async function judgeMonitors(
  db: Connection,
  monitors: readonly MonitorRow[],
  { now, maxOf }: Judging,
): Promise<JudgedEnvironment[]> {
  const judged: JudgedEnvironment[] = []
  for (let first = 0; first < monitors.length; first += AT_ONCE) {
    const some = new Map(monitors.slice(first, first + AT_ONCE).map((monitor) => [monitor.id, monitor]))
    const wanted = [...some.values()].map((monitor) => ({ id: monitor.id, max: maxOf(monitor) }))
    for (const { monitorId, environment, runs } of await selectNewestRuns(db, wanted)) {
      const monitor = some.get(monitorId)
      if (monitor === undefined) continue
      const timing = readTiming(monitorConfig(monitor))
      // A schedule that changed says nothing about the time before, nor does the time of a pause.
      const since = new Date(Math.max(monitor.updated_at.getTime(), monitor.state_at?.getTime() ?? 0))
      const bounds = { since, now, max: maxOf(monitor) }
      judged.push({ monitor, environment, timing, now, judged: judgeRuns(timing, runs, bounds) })
    }
    await setImmediate()
  }
  return judged
}
