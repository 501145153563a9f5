import type { MonitorKind } from '#shared/alert-rules.ts'
import { DEFAULT_GRACE_MINUTES, DEFAULT_LIMIT_MINUTES } from '#shared/monitors.ts'
import type { MonitorConfig } from '../../events/protocol/check-in.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'
import type { RUN_KINDS } from './monitors.api.ts'
import { type Run, runDuration, runStart } from './check-in.ts'
import { afterIntervals, expectedByCrontab, nextByCrontab, type Schedule } from './schedule.ts'

/** The outcome of the runs that a monitor expects. Pure: a check-in that arrives late changes the answer, not a stored state. */

/** `long`: it took, or takes, longer than its limit. `late`: it began after the grace. */
export type RunKind = (typeof RUN_KINDS)[number]

/** A run of a monitor, or the time at which one was expected and did not come. */
export type JudgedRun = {
  readonly kind: RunKind
  /** Null for a run beside the schedule. */
  readonly expectedAt: Date | null
  /** Null for a missed run. */
  readonly run: JudgedOf | null
}
export type JudgedOf = Pick<
  Run,
  'id' | 'status' | 'release' | 'traceId' | 'durationMs' | 'startedAt' | 'finishedAt' | 'receivedAt'
>

export type JudgedMonitor = {
  /** Oldest first. */
  readonly runs: readonly JudgedRun[]
  /** The outcome of the newest run that is decided; null before one is. */
  readonly kind: Exclude<RunKind, 'running'> | null
  /** Newest decided runs of that kind, one after the other; at most as many as were judged. */
  readonly inARow: number
  /** When the first of them was expected or began. */
  readonly since: Date | null
  /** Whether the failures reach the threshold of the monitor, and not enough good runs followed. */
  readonly isFailing: boolean
  /** The problem that made it fail; null when it does not. */
  readonly problem: MonitorKind | null
  /** The state after each decided run, and when that run was decided; oldest first. */
  readonly states: readonly StateAt[]
  /** When the newest run began that ended well; null when none of those that were given did. */
  readonly lastGoodAt: Date | null
  /** The next expected start; null without a schedule. */
  readonly nextAt: Date | null
}

export type Timing = {
  /** Null: only what was reported counts. */
  readonly schedule: Schedule | null
  /** IANA name. */
  readonly timezone: string
  readonly graceMinutes: number
  readonly limitMinutes: number
  /** Runs in a row that must fail or be missed, and be good again. */
  readonly failures: number
  readonly recoveries: number
}

/** A start before its time by less than this is on time: clocks differ. */
const EARLY_MS = MINUTE_MS

export const readTiming = (config: MonitorConfig | null): Timing => ({
  schedule: config?.schedule ?? null,
  timezone: config?.timezone ?? 'UTC',
  graceMinutes: config?.checkinMarginMinutes ?? DEFAULT_GRACE_MINUTES,
  limitMinutes: config?.maxRuntimeMinutes ?? DEFAULT_LIMIT_MINUTES,
  failures: config?.failureIssueThreshold ?? 1,
  recoveries: config?.recoveryThreshold ?? 1,
})

/** When a run began, as well as it is known. */
export const findBegin = (run: JudgedOf): Date => runStart(run) ?? run.finishedAt ?? run.receivedAt

/**
 * Judges the runs of a monitor in one environment.
 * @param runs in any order
 * @param since runs are expected after this moment only: the schedule is not older, or the monitor was paused before
 * @param now up to when check-ins have arrived
 * @param max of the newest runs
 */
export function judgeRuns(
  timing: Timing,
  runs: readonly JudgedOf[],
  { since, now, max }: { readonly since: Date; readonly now: Date; readonly max: number },
): JudgedMonitor {
  const own = runs.toSorted((a, b) => findBegin(a).getTime() - findBegin(b).getTime())
  const { schedule } = timing
  const found =
    schedule === null
      ? { slots: own.map((run): Slot => ({ expectedAt: null, run })), nextAt: null }
      : schedule.type === 'crontab'
        ? byCrontab({ value: schedule.value, timezone: timing.timezone }, own, { since, now, max })
        : byInterval(schedule, own, { since, now, max })
  const judged = found.slots.flatMap((slot) => judge(timing, slot, now) ?? []).slice(-max)
  const states = statesOver(timing, judged)
  const good = own.findLast(({ status }) => status === 'ok')
  const lastGoodAt = good === undefined ? null : findBegin(good)
  return { ...(states.at(-1) ?? UNKNOWN), runs: judged, states, lastGoodAt, nextAt: found.nextAt }
}

type Slot = { readonly expectedAt: Date | null; readonly run: JudgedOf | null }
type Found = { readonly slots: readonly Slot[]; readonly nextAt: Date | null }
type Bounds = { readonly since: Date; readonly now: Date; readonly max: number }

/** Each run belongs to the newest expected start before it, if that has none yet. */
function byCrontab(
  crontab: { readonly value: string; readonly timezone: string },
  runs: readonly JudgedOf[],
  { since, now, max }: Bounds,
): Found {
  const expected = startingWith(runs[0], expectedByCrontab(crontab, since, new Date(now.getTime() + EARLY_MS), max))
  const taken = new Map<number, JudgedOf>()
  const beside: JudgedOf[] = []
  for (const run of runs) {
    const begin = findBegin(run).getTime() + EARLY_MS
    const at = expected.findLast((one) => one.getTime() <= begin)?.getTime()
    if (at === undefined || taken.has(at)) beside.push(run)
    else taken.set(at, run)
  }
  const slots = [
    ...expected.map((expectedAt): Slot => ({ expectedAt, run: taken.get(expectedAt.getTime()) ?? null })),
    ...beside.map((run): Slot => ({ expectedAt: null, run })),
  ].filter(({ expectedAt, run }) => run !== null || (expectedAt !== null && expectedAt <= now))
  return {
    slots: slots.toSorted((a, b) => momentOf(a) - momentOf(b)),
    nextAt: nextByCrontab(crontab, now, 1)[0] ?? null,
  }
}

/** Nothing is known of the time before the oldest run: it is the first, or older ones were not read. */
function startingWith(oldest: JudgedOf | undefined, expected: readonly Date[]): readonly Date[] {
  if (oldest === undefined) return expected
  const begin = findBegin(oldest).getTime() + EARLY_MS
  const own = expected.findLast((at) => at.getTime() <= begin)?.getTime() ?? begin
  return expected.filter((at) => at.getTime() >= own)
}

/** A run is expected an interval after the one before began; each further interval without one is another that is missed. */
function byInterval(
  interval: Extract<Schedule, { type: 'interval' }>,
  runs: readonly JudgedOf[],
  { since, now, max }: Bounds,
): Found {
  const slots: Slot[] = []
  let nextAt: Date | null = null
  for (const [index, run] of runs.entries()) {
    const begin = findBegin(run)
    if (index === 0) slots.push({ expectedAt: null, run })
    const next = runs[index + 1]
    const until = next === undefined ? now : new Date(findBegin(next).getTime() + EARLY_MS)
    // A schedule that is younger than the run counts from its own beginning.
    const from = begin < since ? since : begin
    const expected = expectedWithin(interval, from, until, max)
    const last = next === undefined ? undefined : expected.pop()
    for (const expectedAt of expected) slots.push({ expectedAt, run: null })
    if (next !== undefined) slots.push({ expectedAt: last ?? null, run: next })
    else nextAt = afterIntervals(interval, expected.at(-1) ?? from, 1)
  }
  return { slots: slots.slice(-max), nextAt }
}

/** The newest `max` of the expected starts after a run, oldest first. */
function expectedWithin(
  interval: Extract<Schedule, { type: 'interval' }>,
  from: Date,
  until: Date,
  max: number,
): Date[] {
  // About as many as fit; a month has 28 to 31 days.
  const oneMs = afterIntervals(interval, from, 1).getTime() - from.getTime()
  const about = Math.floor((until.getTime() - from.getTime()) / oneMs)
  const expected: Date[] = []
  for (let count = Math.max(1, about - max - 2); ; count += 1) {
    const at = afterIntervals(interval, from, count)
    if (at > until) return expected.slice(-max)
    expected.push(at)
  }
}

const momentOf = ({ expectedAt, run }: Slot): number =>
  run === null ? (expectedAt?.getTime() ?? 0) : findBegin(run).getTime()

/** Null while a run may still come in time. */
function judge(timing: Timing, { expectedAt, run }: Slot, now: Date): JudgedRun | null {
  const graceMs = timing.graceMinutes * MINUTE_MS
  const limitMs = timing.limitMinutes * MINUTE_MS
  if (run === null)
    return expectedAt === null || now.getTime() <= expectedAt.getTime() + graceMs
      ? null
      : { kind: 'missed', expectedAt, run }
  const begin = findBegin(run)
  const isLate = expectedAt !== null && begin.getTime() > expectedAt.getTime() + graceMs
  const tookMs = run.status === 'in_progress' ? now.getTime() - begin.getTime() : (runDuration(run) ?? 0)
  const isLong = tookMs > limitMs
  if (run.status === 'error') return { kind: 'failed', expectedAt, run }
  if (isLong) return { kind: 'long', expectedAt, run }
  if (run.status === 'in_progress') return { kind: isLate ? 'late' : 'running', expectedAt, run }
  return { kind: isLate ? 'late' : 'ok', expectedAt, run }
}

type State = Omit<JudgedMonitor, 'runs' | 'states' | 'lastGoodAt' | 'nextAt'>
type StateAt = State & { readonly at: Date }

const UNKNOWN: State = { kind: null, inARow: 0, since: null, isFailing: false, problem: null }

/** @param runs oldest first */
function statesOver(timing: Timing, runs: readonly JudgedRun[]): StateAt[] {
  const states: StateAt[] = []
  let [bad, good] = [0, 0]
  let { kind, inARow, since, isFailing, problem } = UNKNOWN
  for (const one of runs) {
    if (one.kind === 'running') continue
    if (one.kind !== kind) [inARow, since] = [0, one.expectedAt ?? (one.run === null ? null : findBegin(one.run))]
    kind = one.kind
    inARow += 1
    if (one.kind === 'ok') {
      good += 1
      bad = 0
      if (good >= timing.recoveries) isFailing = false
    } else {
      bad += 1
      good = 0
      problem = one.kind
      if (bad >= timing.failures) isFailing = true
    }
    states.push({ kind, inARow, since, isFailing, problem: isFailing ? problem : null, at: decidedAt(timing, one) })
  }
  return states
}

function decidedAt(timing: Timing, { expectedAt, run }: JudgedRun): Date {
  if (run === null) return new Date((expectedAt?.getTime() ?? 0) + timing.graceMinutes * MINUTE_MS)
  return run.finishedAt ?? new Date(findBegin(run).getTime() + timing.limitMinutes * MINUTE_MS)
}
