import { setImmediate } from 'node:timers/promises'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { Page } from '../../platform/kernel/page.api.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { requireProject } from '../../projects/registry/view-project.ts'
import { runDuration } from './check-in.ts'
import { findBegin, type JudgedMonitor, judgeRuns, readTiming, type Timing } from './judge-runs.ts'
import { monitorConfig } from './monitor-config.ts'
import type { MonitorView } from './monitors.api.ts'
import {
  countListed,
  type MonitorRow,
  selectActiveMonitors,
  selectMonitor,
  selectMonitors,
  selectNewestRuns,
} from './monitors.queries.ts'
import { nextRuns } from './schedule.ts'

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
  const judged = await judgeMonitors(app.db, rows, { now: app.clock.now(), max })
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
    next_runs: nextOf(row, app.clock.now()),
    environments: (byMonitor.get(row.id) ?? []).map(viewEnvironment),
  }))
}

function viewConfig(row: MonitorRow) {
  const { schedule_type: type, schedule_value: value, schedule_unit: unit } = row
  return {
    schedule:
      type === null || value === null ? null : { type, value: type === 'interval' ? Number(value) : value, unit },
    timezone: row.timezone,
    checkin_margin_minutes: row.checkin_margin_minutes,
    max_runtime_minutes: row.max_runtime_minutes,
    failure_issue_threshold: row.failure_issue_threshold,
    recovery_threshold: row.recovery_threshold,
    owner: row.owner,
  }
}

function nextOf(row: MonitorRow, now: Date): string[] {
  const config = monitorConfig(row)
  if (config?.schedule.type !== 'crontab' || row.state === 'paused') return []
  return nextRuns({ value: config.schedule.value, timezone: config.timezone }, now, NEXT_RUNS).map((at) =>
    at.toISOString(),
  )
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
  const judged: JudgedEnvironment[] = []
  for (let first = 0; first < monitors.length; first += AT_ONCE) {
    const some = monitors.slice(first, first + AT_ONCE)
    const each = max === undefined ? countedRuns(some) : Math.max(SPARE_RUNS, Math.floor(max / monitors.length))
    judged.push(...(await judgeMonitors(db, some, { now, max: each })))
    await setImmediate()
  }
  return judged
}

const countedRuns = (monitors: readonly MonitorRow[]): number =>
  SPARE_RUNS +
  monitors.reduce((max, one) => Math.max(max, one.failure_issue_threshold ?? 1, one.recovery_threshold ?? 1), 1)

/** Judges monitors in each of their environments. @param max runs of each */
async function judgeMonitors(
  db: Connection,
  monitors: readonly MonitorRow[],
  { now, max }: { readonly now: Date; readonly max: number },
): Promise<JudgedEnvironment[]> {
  const byId = new Map(monitors.map((monitor) => [monitor.id, monitor]))
  const own = await selectNewestRuns(db, [...byId.keys()], max)
  return own.flatMap(({ monitorId, environment, runs }) => {
    const monitor = byId.get(monitorId)
    if (monitor === undefined) return []
    const timing = readTiming(monitorConfig(monitor))
    // A schedule that changed says nothing about the time before, nor does the time of a pause.
    const since = new Date(Math.max(monitor.updated_at.getTime(), monitor.state_at?.getTime() ?? 0))
    return [{ monitor, environment, timing, now, judged: judgeRuns(timing, runs, { since, now, max }) }]
  })
}
