import { DEFAULT_GRACE_MINUTES, DEFAULT_LIMIT_MINUTES } from '#shared/monitors.ts'
import type { Monitor, MonitorEnvironment, MonitorRun } from '../../../api/monitor-queries.ts'
import { MINUTE_MS } from '../../../ui/format.ts'

/** The pages of monitors compute this from the answers of the service. Pure. */

export const graceMs = (monitor: Monitor): number =>
  (monitor.checkin_margin_minutes ?? DEFAULT_GRACE_MINUTES) * MINUTE_MS
export const limitMs = (monitor: Monitor): number => (monitor.max_runtime_minutes ?? DEFAULT_LIMIT_MINUTES) * MINUTE_MS
export const neededFailures = (monitor: Monitor): number => monitor.failure_issue_threshold ?? 1
export const neededRecoveries = (monitor: Monitor): number => monitor.recovery_threshold ?? 1

/** A monitor in one of its environments: a row of the list. */
export type MonitorPart = { readonly monitor: Monitor; readonly environment: MonitorEnvironment }

export type ShownState = MonitorEnvironment['status'] | 'paused' | 'muted'

/** The state that a row shows: a paused or muted monitor is never shown as failing, one that fails shows why. */
export function shownState({ monitor, environment }: MonitorPart): ShownState {
  if (monitor.state !== 'active') return monitor.state
  return environment.problem ?? environment.status
}

const URGENCY: Readonly<Record<ShownState, number>> = {
  missed: 0,
  failed: 1,
  long: 2,
  late: 3,
  ok: 4,
  waiting: 4,
  paused: 5,
  muted: 5,
}

/** Whether a person is needed: it fails, and not only by starting late. */
export const needsAttention = ({ monitor, environment }: MonitorPart): boolean =>
  monitor.state === 'active' && environment.is_failing && environment.problem !== 'late'

export const keyOfPart = ({ monitor, environment }: MonitorPart): string => `${monitor.id} ${environment.name}`

export const toMonitorParts = (monitors: readonly Monitor[]): MonitorPart[] =>
  monitors.flatMap((monitor) => monitor.environments.map((environment) => ({ monitor, environment })))

/** Most urgent first, then by name. */
export const byUrgency = (parts: readonly MonitorPart[]): MonitorPart[] =>
  parts.toSorted(
    (a, b) =>
      URGENCY[shownState(a)] - URGENCY[shownState(b)] ||
      Number(needsAttention(b)) - Number(needsAttention(a)) ||
      a.monitor.slug.localeCompare(b.monitor.slug) ||
      a.environment.name.localeCompare(b.environment.name),
  )

/** In the order that was given once; what came later is at the end. */
export function inOrder(parts: readonly MonitorPart[], order: readonly string[]): MonitorPart[] {
  const places = new Map(order.map((key, place) => [key, place]))
  const placeOf = (part: MonitorPart): number => places.get(keyOfPart(part)) ?? order.length
  return parts.toSorted((a, b) => placeOf(a) - placeOf(b))
}

export type RunKind = MonitorRun['kind']
export const RUN_KINDS = ['ok', 'late', 'long', 'failed', 'missed', 'running'] as const satisfies readonly RunKind[]

/** The number of runs of each kind; their sum is the number of runs. */
export const countKinds = (runs: readonly MonitorRun[]): Record<RunKind, number> => {
  const counts: Record<RunKind, number> = { ok: 0, late: 0, long: 0, failed: 0, missed: 0, running: 0 }
  for (const { kind } of runs) counts[kind] += 1
  return counts
}

/** A percentile of how long runs took that ended; null without one. */
export function durationAt(runs: readonly MonitorRun[], share: number): number | null {
  const known = runs
    .flatMap(({ is_running: isRunning, duration_ms: took }) => (isRunning || took === null ? [] : [took]))
    .toSorted((a, b) => a - b)
  return known[Math.max(0, Math.ceil(known.length * share) - 1)] ?? null
}

/** The newest run that a check-in reported. */
export const lastRun = (runs: readonly MonitorRun[]): MonitorRun | undefined =>
  runs.findLast(({ check_in_id: id }) => id !== null)

/** How long after its time a run began; null beside the schedule, and for missed runs. */
export const lateMs = ({ expected_at: expected, began_at: began }: MonitorRun): number | null =>
  expected === null || began === null ? null : Date.parse(began) - Date.parse(expected)

/** The runs that made the state: the newest decided ones of one kind. */
export function newestInARow({ runs, in_a_row: count }: MonitorEnvironment): MonitorRun[] {
  const decided = runs.filter(({ kind }) => kind !== 'running')
  return decided.slice(decided.length - count)
}

/** Good runs since the newest that went wrong. */
export function goodInARow(runs: readonly MonitorRun[]): number {
  const decided = runs.filter(({ kind }) => kind !== 'running')
  return decided.length - 1 - decided.findLastIndex(({ kind }) => kind !== 'ok')
}

/** Where a release is seen first among runs, newest first; the first run of all says nothing. */
export function releaseChanges(runs: readonly MonitorRun[]): { readonly index: number; readonly release: string }[] {
  const changes: { index: number; release: string }[] = []
  let before: string | null = null
  for (const [index, { release }] of runs.entries()) {
    if (release === null) continue
    if (before !== null && release !== before) changes.push({ index, release })
    before = release
  }
  return changes.toReversed()
}
