import type { Tx } from '../storage/database.ts'
import { newId, unhyphenate } from '../kernel/ids.ts'
import type { CheckIn, MonitorConfig } from '../protocol/check-in.ts'
import { ACCEPTED, type ItemOutcome, type Recorder } from '../outcomes/recorder.ts'
import { afterCheckIn, type Run } from './check-in.ts'
import * as sql from './check-ins.queries.ts'
import type { Receipt } from './entries.queries.ts'

/** Monitors of one project; check-ins of further ones are refused, slugs come from outside. */
export const MAX_MONITORS = 1_000

/**
 * Writes check-ins in the order given, inside the caller's transaction: makes monitors, takes over their configuration,
 * opens, moves and closes runs.
 * @returns per check-in whether it was recorded; false where its project has {@link MAX_MONITORS} monitors already
 */
export async function recordCheckIns(
  tx: Tx,
  now: Date,
  checkIns: readonly (CheckIn & Receipt)[],
): Promise<readonly boolean[]> {
  const monitors = await findOrMakeMonitors(tx, now, checkIns)
  const monitorOf = (one: CheckIn & Receipt): string | undefined =>
    monitors.get(sql.monitorKey(one.projectId, one.slug))
  const known = checkIns.flatMap((checkIn) => {
    const monitorId = monitorOf(checkIn)
    return monitorId === undefined ? [] : [{ checkIn, monitorId }]
  })
  const runs = new Runs(await findRuns(tx, known))
  const configs = new Map<string, MonitorConfig>()
  const seen = new Map<string, Date>()
  for (const { checkIn, monitorId } of known) {
    const { projectId, receivedAt } = checkIn
    const run = endsLatest(checkIn)
      ? runs.latestOpen(monitorId, checkIn.environment)
      : runs.get(monitorId, checkIn.id ?? '')
    const id = run?.id ?? checkIn.id ?? unhyphenate(newId())
    runs.set(afterCheckIn(run, { id, monitorId, projectId }, checkIn, receivedAt))
    if (checkIn.config !== null) configs.set(monitorId, checkIn.config)
    const last = seen.get(monitorId)
    if (last === undefined || last < receivedAt) seen.set(monitorId, receivedAt)
  }
  await sql.writeRuns(tx, runs.changed())
  await sql.touchMonitors(tx, seen)
  await sql.configureMonitors(tx, now, configs)
  return checkIns.map((one) => monitorOf(one) !== undefined)
}

const TOO_MANY_MONITORS: ItemOutcome = { outcome: 'invalid', reason: 'too_many_monitors' }

export const checkInRecorder: Recorder<CheckIn> = async (tx, now, facts) => {
  const isRecorded = await recordCheckIns(
    tx,
    now,
    facts.map(({ fact, context: { projectId, receivedAt } }) => ({ ...fact, projectId, receivedAt })),
  )
  return isRecorded.map((one) => (one ? ACCEPTED : TOO_MANY_MONITORS))
}

/** An end without an id belongs to the latest run still open; a start without one begins a new run. */
const endsLatest = (checkIn: CheckIn): boolean => checkIn.id === null && checkIn.status !== 'in_progress'

/** Beyond that many named in one batch an end without an id may miss the newest run still open. */
const MAX_NAMED_BESIDE = 100

type Known = { readonly checkIn: CheckIn & Receipt; readonly monitorId: string }

/** Runs these check-ins may be about: those they name, and as many open ones as they may end without naming them. */
async function findRuns(tx: Tx, known: readonly Known[]): Promise<Run[]> {
  const named: { monitorId: string; id: string }[] = []
  const open = new Map<string, { monitorId: string; environment: string; most: number }>()
  for (const { checkIn, monitorId } of known) {
    if (checkIn.id !== null) named.push({ monitorId, id: checkIn.id })
    if (!endsLatest(checkIn)) continue
    const key = openKey({ monitorId, environment: checkIn.environment })
    const one = open.get(key)
    if (one === undefined) open.set(key, { monitorId, environment: checkIn.environment, most: 1 })
    else one.most++
  }
  const namedOf = new Map<string, number>()
  for (const { monitorId } of named) namedOf.set(monitorId, (namedOf.get(monitorId) ?? 0) + 1)
  // Those named may be among the newest, and be ended before.
  for (const one of open.values()) one.most += Math.min(namedOf.get(one.monitorId) ?? 0, MAX_NAMED_BESIDE)
  return [...(await sql.lockRuns(tx, named)), ...(await sql.lockOpenRuns(tx, [...open.values()]))]
}

async function findOrMakeMonitors(
  tx: Tx,
  now: Date,
  checkIns: readonly (CheckIn & Receipt)[],
): Promise<Map<string, string>> {
  const wanted = new Map(checkIns.map(({ projectId, slug }) => [sql.monitorKey(projectId, slug), { projectId, slug }]))
  const found = await sql.findMonitors(tx, [...wanted.values()])
  const missing = [...wanted].filter(([key]) => !found.has(key)).map(([, monitor]) => monitor)
  if (missing.length === 0) return found
  const counts = await sql.countMonitors(tx, [...new Set(missing.map(({ projectId }) => projectId))], MAX_MONITORS)
  const allowed = missing.filter(({ projectId }) => {
    const count = (counts.get(projectId) ?? 0) + 1
    counts.set(projectId, count)
    return count <= MAX_MONITORS
  })
  await sql.insertMonitors(
    tx,
    now,
    allowed.map((monitor) => ({ ...monitor, id: newId() })),
  )
  // Read again rather than returned: another digester may have made one of them meanwhile.
  for (const [key, id] of await sql.findMonitors(tx, allowed)) found.set(key, id)
  return found
}

/** Runs of this batch as they stand while it is gone through. */
class Runs {
  readonly #runs = new Map<string, Run>()
  readonly #changed = new Set<string>()
  /** Keys of runs that were open when they were put here, oldest first, by monitor and environment. */
  readonly #opened = new Map<string, string[]>()

  constructor(runs: readonly Run[]) {
    for (const run of runs.toSorted((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime())) this.#put(run)
  }

  get(monitorId: string, id: string): Run | null {
    return this.#runs.get(`${monitorId}/${id}`) ?? null
  }

  latestOpen(monitorId: string, environment: string): Run | null {
    const opened = this.#opened.get(openKey({ monitorId, environment })) ?? []
    for (;;) {
      const latest = opened.at(-1)
      if (latest === undefined) return null
      const run = this.#runs.get(latest)
      if (run?.status === 'in_progress') return run
      opened.pop()
    }
  }

  set(run: Run): void {
    this.#put(run)
    this.#changed.add(keyOf(run))
  }

  changed(): Run[] {
    return [...this.#changed].sort().flatMap((key) => this.#runs.get(key) ?? [])
  }

  #put(run: Run): void {
    const key = keyOf(run)
    const isNew = !this.#runs.has(key)
    this.#runs.set(key, run)
    if (!isNew || run.status !== 'in_progress') return
    const opened = this.#opened.get(openKey(run))
    if (opened === undefined) this.#opened.set(openKey(run), [key])
    else opened.push(key)
  }
}

const keyOf = (run: Run): string => `${run.monitorId}/${run.id}`
const openKey = ({ monitorId, environment }: Pick<Run, 'monitorId' | 'environment'>): string =>
  `${monitorId}/${environment}`
