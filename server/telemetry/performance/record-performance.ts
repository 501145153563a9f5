import { ACCEPTED, DUPLICATE, type Recorder } from '../../events/items/recorder.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { isBetter } from '../../events/protocol/span-values.ts'
import { findDrains } from './battery-drain.ts'
import * as battery from './battery.queries.ts'
import { Deltas } from './deltas.ts'
import type { MeasuredValue, PerformanceFact } from './fact.ts'
import * as sql from './record.queries.ts'
import { BatchSpans } from './record-spans.ts'
import { registerSeries, deriveSeries } from './series.ts'
import type { Series } from './record.queries.ts'

/** The series of a fact's values: one of this batch, a known one, or none before the segment arrives. */
type Target =
  | { readonly wanted: Series; readonly device: string }
  | { readonly found: string; readonly device: string }
  | 'pending'

/**
 * Adds measurements to their series. Skips duplicates of this batch or the last days. A batch needs a fixed number of
 * statements; rows are appended, never changed (docs/decisions/performance-rollups.md).
 * @returns for each fact whether it was new
 */
export async function recordPerformance(tx: Tx, now: Date, facts: readonly PerformanceFact[]): Promise<boolean[]> {
  const today = utcDay(now)
  const seen = await sql.findSeen(tx, today, [...new Set(facts.flatMap(keysOf))])
  const taken = new Set<number>()
  const isNew = facts.map(({ identities }) => {
    if (identities.some((key) => seen.has(key) || taken.has(key))) return false
    for (const key of identities) taken.add(key)
    return true
  })
  const fresh = facts.filter((fact, index) => isNew[index] === true && isRecorded(fact))
  if (fresh.length === 0) return isNew

  const values = valuesToCount(fresh, seen)
  const segments = new Map<number, PerformanceFact>()
  for (const fact of fresh) if (fact.role === 'segment' && fact.segmentKey !== null) segments.set(fact.segmentKey, fact)
  const targets = new Map(fresh.map((fact) => [fact, targetOf(fact, segments, seen)]))
  const wanted = [...targets.values()].flatMap((target) =>
    typeof target === 'object' && 'wanted' in target ? [target.wanted] : [],
  )
  const spans = new BatchSpans()
  const assigned = await registerSeries(tx, today, [...wanted, ...spans.wanted(fresh)])

  const keys = new Map<number, string | null>()
  for (const fact of fresh) {
    const seriesId = seriesIdOf(targets.get(fact), assigned)
    for (const key of fact.identities) keys.set(key, key === fact.segmentKey ? seriesId : null)
    for (const { onceKey } of values.get(fact) ?? []) if (onceKey !== null) keys.set(onceKey, null)
  }
  // Another connection may have saved a key meanwhile. It then counted the value.
  const mine = await sql.saveSeen(tx, today, keys)
  const deltas = new Deltas()
  const pending: sql.Pending[] = []
  for (const [index, fact] of facts.entries()) {
    if (isNew[index] !== true || !isRecorded(fact)) continue
    isNew[index] = fact.identities.every((key) => mine.has(key))
    if (isNew[index] !== true) continue
    const target = targets.get(fact)
    const seriesId = seriesIdOf(target, assigned)
    const device = typeof target === 'object' ? target.device : ''
    spans.count(fact, assigned, deltas)
    for (const value of values.get(fact) ?? []) {
      if (value.onceKey !== null && !mine.has(value.onceKey)) continue
      if (seriesId === null) pending.push(...pendingOf(fact, value, now))
      else {
        const about = value.metric === 'duration' ? fact : {}
        deltas.add(fact.projectId, { id: seriesId, device }, value.at ?? fact.at, value, about)
      }
    }
  }
  const read = fresh.filter((fact) => fact.battery !== undefined && isNew[facts.indexOf(fact)] === true)
  const drained = await readBatteries(tx, read)
  for (const { fact, drains } of drained) {
    const target = targets.get(fact)
    const seriesId = seriesIdOf(target, assigned)
    if (seriesId === null) continue
    const device = typeof target === 'object' ? target.device : ''
    for (const { atMs, percentPerHour } of drains)
      deltas.add(fact.projectId, { id: seriesId, device }, new Date(atMs), drainOf(percentPerHour))
  }
  await battery.addHours(
    tx,
    drained.flatMap(({ fact, drains }) => drains.map(({ atMs }) => ({ fact, atMs }))),
  )
  await sql.insertPending(tx, pending)
  for (const one of await sql.takePending(tx, [...segments.keys()])) {
    const seriesId = keys.get(one.segmentKey) ?? null
    if (seriesId === null) continue
    deltas.add(one.projectId, { id: seriesId, device: one.dimensions.device }, one.occurredAt, one)
  }
  await sql.insertDeltas(tx, deltas.list())
  return isNew
}

/** Spans that are only counted as items have no identity. */
const isRecorded = ({ role, identities }: PerformanceFact): boolean => role !== 'plain' || identities.length > 0

const drainOf = (value: number) => ({ metric: 'battery_drain', value, leftOut: null }) as const

const firstLevel = (fact: PerformanceFact): number => fact.battery?.levels[0]?.atMs ?? 0

/** The drains of each fact's readings, after those of earlier facts of its device. */
async function readBatteries(tx: Tx, facts: readonly PerformanceFact[]) {
  if (facts.length === 0) return []
  const states = await battery.lockStates(tx, facts)
  const inOrder = facts.toSorted((a, b) => firstLevel(a) - firstLevel(b))
  const found = inOrder.map((fact) => {
    const key = battery.stateKey(fact)
    const { drains, state } = findDrains(states.get(key) ?? null, fact.battery?.levels ?? [])
    if (state !== null) states.set(key, state)
    return { fact, drains }
  })
  await battery.saveStates(tx, facts, states)
  return found
}

/** A transaction or span that was recorded in the last days is a duplicate. */
export const performanceRecorder: Recorder<PerformanceFact> = async (tx, { at: now }, facts) => {
  const isNew = await recordPerformance(
    tx,
    now,
    facts.map(({ fact }) => fact),
  )
  return isNew.map((one) => (one ? ACCEPTED : DUPLICATE))
}

const seriesIdOf = (target: Target | undefined, assigned: ReadonlyMap<string, string>): string | null =>
  target === undefined || target === 'pending'
    ? null
    : 'found' in target
      ? target.found
      : (assigned.get(target.wanted.id) ?? target.wanted.id)

/** After this time values are counted without their segment. */
export const MAX_WAIT_MS = 3_600_000

/**
 * Counts at most `max` values whose segment did not arrive, under their own dimensions. @returns number of values
 */
export async function countExpiredPending(tx: Tx, now: Date, max: number): Promise<number> {
  const expired = await sql.takeExpired(tx, new Date(now.getTime() - MAX_WAIT_MS), max)
  if (expired.length === 0) return 0
  const series = expired.map((one) => deriveSeries(one.projectId, 0, one.dimensions))
  const assigned = await registerSeries(tx, utcDay(now), series)
  const deltas = new Deltas()
  for (const [index, one] of expired.entries()) {
    const id = series[index]?.id ?? ''
    deltas.add(one.projectId, { id: assigned.get(id) ?? id, device: one.dimensions.device }, one.occurredAt, one)
  }
  await sql.insertDeltas(tx, deltas.list())
  return expired.length
}

/** Keys to look up: identities, the segment of a child, and values that count once. */
function keysOf(fact: PerformanceFact): number[] {
  const keys = [...fact.identities]
  if (fact.role === 'child' && fact.segmentKey !== null) keys.push(fact.segmentKey)
  for (const { onceKey } of fact.values) if (onceKey !== null) keys.push(onceKey)
  return keys
}

/** Only the best of values that were sent several times, and no value that is already counted. */
function valuesToCount(
  facts: readonly PerformanceFact[],
  seen: ReadonlyMap<number, string | null>,
): Map<PerformanceFact, MeasuredValue[]> {
  const best = new Map<number, MeasuredValue>()
  for (const { values } of facts) {
    for (const value of values) {
      if (value.onceKey === null) continue
      const known = best.get(value.onceKey)
      if (known === undefined || isBetter(value, known)) best.set(value.onceKey, value)
    }
  }
  return new Map(
    facts.map((fact) => [
      fact,
      fact.values.filter(
        (value) => value.onceKey === null || (best.get(value.onceKey) === value && !seen.has(value.onceKey)),
      ),
    ]),
  )
}

function targetOf(
  fact: PerformanceFact,
  segments: ReadonlyMap<number, PerformanceFact>,
  seen: ReadonlyMap<number, string | null>,
): Target {
  const { role, segmentKey, dimensions } = fact
  if (dimensions === null) return 'pending'
  const { device } = dimensions
  if (role === 'child' && segmentKey !== null) {
    const segment = segments.get(segmentKey)?.dimensions
    if (segment !== null && segment !== undefined)
      return { wanted: deriveSeries(fact.projectId, 0, segment), device: segment.device || device }
    const found = seen.get(segmentKey) ?? null
    if (found !== null) return { found, device }
    if (fact.waits) return 'pending'
  }
  return { wanted: deriveSeries(fact.projectId, 0, dimensions), device }
}

function pendingOf(fact: PerformanceFact, { metric, value, leftOut }: MeasuredValue, now: Date): sql.Pending[] {
  if (fact.segmentKey === null || fact.dimensions === null) return []
  const { segmentKey, projectId, at, dimensions } = fact
  return [{ segmentKey, projectId, receivedAt: now, occurredAt: at, metric, value, leftOut, dimensions }]
}
