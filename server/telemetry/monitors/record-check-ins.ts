import type { Tx } from '../../platform/storage/database.ts'
import { newId, unhyphenate } from '../../platform/kernel/ids.ts'
import type { CheckIn, MonitorConfig } from '../../events/protocol/check-in.ts'
import { ACCEPTED, type ItemOutcome, type Recorder } from '../../events/items/recorder.ts'
import { afterCheckIn, type Run } from './check-in.ts'
import * as sql from './check-ins.queries.ts'
import type { Receipt } from '../logs/entries.queries.ts'

/** Monitors of a project. Check-ins of further ones are invalid, because clients choose the slugs. */
export const MAX_MONITORS = 1_000

/**
 * Records check-ins in the given order: creates monitors, replaces their configuration, and opens, updates and closes runs.
 * @returns for each check-in whether it was recorded; false when its project already has {@link MAX_MONITORS} monitors
 */
export async function recordCheckIns(
  tx: Tx,
  now: Date,
  checkIns: readonly (CheckIn & Receipt)[],
): Promise<readonly boolean[]> {
  const monitors = await findOrCreateMonitors(tx, now, checkIns)
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
    const run = endsNewest(checkIn)
      ? runs.newestOpen(monitorId, checkIn.environment)
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

export const checkInRecorder: Recorder<CheckIn> = async (tx, { at: now }, facts) => {
  const isRecorded = await recordCheckIns(
    tx,
    now,
    facts.map(({ fact, context: { projectId, receivedAt } }) => ({ ...fact, projectId, receivedAt })),
  )
  return isRecorded.map((one) => (one ? ACCEPTED : TOO_MANY_MONITORS))
}

/** An end without an id belongs to the newest open run; a start without an id begins a new run. */
const endsNewest = (checkIn: CheckIn): boolean => checkIn.id === null && checkIn.status !== 'in_progress'

/** With more named runs in one batch, an end without an id may miss the newest open run. */
const MAX_NAMED_BESIDE = 100

type Known = { readonly checkIn: CheckIn & Receipt; readonly monitorId: string }

/** Runs that the check-ins may change: those they name, and the open ones that they may end without an id. */
async function findRuns(tx: Tx, known: readonly Known[]): Promise<Run[]> {
  const named: { monitorId: string; id: string }[] = []
  const open = new Map<string, { monitorId: string; environment: string; max: number }>()
  for (const { checkIn, monitorId } of known) {
    if (checkIn.id !== null) named.push({ monitorId, id: checkIn.id })
    if (!endsNewest(checkIn)) continue
    const key = openKey({ monitorId, environment: checkIn.environment })
    const one = open.get(key)
    if (one === undefined) open.set(key, { monitorId, environment: checkIn.environment, max: 1 })
    else one.max++
  }
  const namedOf = new Map<string, number>()
  for (const { monitorId } of named) namedOf.set(monitorId, (namedOf.get(monitorId) ?? 0) + 1)
  // Named runs may be among the newest and end earlier in the batch.
  for (const one of open.values()) one.max += Math.min(namedOf.get(one.monitorId) ?? 0, MAX_NAMED_BESIDE)
  return [...(await sql.lockRuns(tx, named)), ...(await sql.lockOpenRuns(tx, [...open.values()]))]
}

async function findOrCreateMonitors(
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
  // Reads again, because another process may have created one of them meanwhile.
  for (const [key, id] of await sql.findMonitors(tx, allowed)) found.set(key, id)
  return found
}

/** Runs of a batch while its check-ins are applied. */
class Runs {
  readonly #runs = new Map<string, Run>()
  readonly #changed = new Set<string>()
  /** Keys of runs that were open when added, oldest first, by monitor and environment. */
  readonly #opened = new Map<string, string[]>()

  constructor(runs: readonly Run[]) {
    for (const run of runs.toSorted((a, b) => a.receivedAt.getTime() - b.receivedAt.getTime())) this.#put(run)
  }

  get(monitorId: string, id: string): Run | null {
    return this.#runs.get(`${monitorId}/${id}`) ?? null
  }

  newestOpen(monitorId: string, environment: string): Run | null {
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
