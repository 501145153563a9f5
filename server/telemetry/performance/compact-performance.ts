import { setImmediate } from 'node:timers/promises'
import type { Tx } from '../../platform/storage/database.ts'
import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { eachWithPauses } from '../../platform/kernel/thread-task.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import * as sql from './record.queries.ts'
import { countExpiredPending } from './record-performance.ts'
import { addLeftOut, noneLeftOut } from './deltas.ts'
import { admitDevices, deriveSeries } from './series.ts'
import { type Grain, type Series, saveSeries, SEEN_DAYS, AGING_PERFORMANCE } from './record.queries.ts'
import { floorToStep, stepsFor, STEPS, WHOLE } from './steps.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'

/** Rows per transaction, which takes some hundred milliseconds. */
const MAX_ROWS = 5_000

/**
 * Folds deltas of digestion into rollups, and old rollups into longer buckets. Each transaction moves rows, so readers
 * always see every measurement once. Returns immediately while another process does the same.
 * @param signal ends it after the current transaction
 * @returns number of rows moved
 */
export async function compactPerformance(app: App, signal?: AbortSignal): Promise<number> {
  let moved = 0
  for (const work of [expirePending, foldDeltas, ...STEPS.slice(0, -1).map(({ minutes }) => foldOf(minutes))]) {
    let rows = MAX_ROWS
    while (rows === MAX_ROWS && signal?.aborted !== true) {
      rows = await app.tx(async (tx) => ((await sql.lockCompaction(tx)) ? work(tx, app.clock.now()) : 0))
      moved += rows
      await setImmediate()
    }
  }
  return moved
}

const expirePending = (tx: Tx, now: Date): Promise<number> => countExpiredPending(tx, now, MAX_ROWS)

/** Grains without devices, besides the grain of all attributes. */
const COARSER: readonly Grain[] = [1, 2, 3]

async function foldDeltas(tx: Tx, now: Date): Promise<number> {
  const deltas = await sql.takeDeltas(tx, MAX_ROWS)
  if (deltas.length === 0) return 0
  const found = await sql.selectDimensions(tx, deltas)
  const coarser = new Map<string, readonly Series[]>()
  for (const [id, { projectId, grain, dimensions }] of found) {
    // Spans are counted in one grain.
    if (grain !== 0) continue
    coarser.set(
      id,
      COARSER.map((grain) => deriveSeries(projectId, grain, dimensions)),
    )
  }
  const devices = new Map<string, Series>()
  await eachWithPauses(deltas, ({ projectId, seriesId, device }) => {
    const dimensions = found.get(seriesId)?.dimensions
    if (device !== '' && dimensions !== undefined)
      devices.set(`${seriesId} ${device}`, deriveSeries(projectId, 4, { ...dimensions, device }))
  })
  const admitted = await admitDevices(tx, utcDay(now), [...devices.values()])
  const sums = new Map<string, sql.Sum>()
  await eachWithPauses(deltas, (delta) => {
    const ofDevice = admitted.get(devices.get(`${delta.seriesId} ${delta.device}`)?.id ?? '')
    const series = [...(coarser.get(delta.seriesId) ?? []), ...(ofDevice === undefined ? [] : [ofDevice])]
    for (const step of stepsFor(delta.bucket, now)) {
      const grain = found.get(delta.seriesId)?.grain ?? 0
      const row = { ...delta, grain, step, bucket: floorToStep(delta.bucket, step) }
      addTo(sums, row)
      // Users are united when they are asked for: in every grain they would be stored four times.
      for (const { id, grain } of series) addTo(sums, { ...row, grain, seriesId: id, users: null })
    }
  })
  const made = new Map([...coarser.values(), [...admitted.values()]].flat().map((series) => [series.id, series]))
  await saveSeries(tx, utcDay(now), [...made.values()])
  await save(tx, sums)
  return deltas.length
}

/**
 * Folds only complete buckets of the next length, so that each of them is written once. Whole steps hold everything
 * from the start: the rows before them are only deleted.
 */
const foldOf =
  (minutes: number) =>
  async (tx: Tx, now: Date): Promise<number> => {
    const at = STEPS.findIndex((step) => step.minutes === minutes)
    const next = STEPS[at + 1]
    if (next === undefined) return 0
    const oldFrom = new Date(now.getTime() - (STEPS[at]?.maxAgeMs ?? 0))
    const rows = await sql.takeRollups(tx, minutes, floorToStep(oldFrom, next.minutes), MAX_ROWS)
    if (WHOLE.some((minutes) => minutes === next.minutes)) return rows.length
    const sums = new Map<string, sql.Sum>()
    await eachWithPauses(rows, (row) =>
      addTo(sums, { ...row, step: next.minutes, bucket: floorToStep(row.bucket, next.minutes) }),
    )
    await save(tx, sums)
    return rows.length
  }

function addTo(sums: Map<string, sql.Sum>, row: sql.Rollup): void {
  const key = sql.rollupKey(row)
  let sum = sums.get(key)
  if (sum === undefined) {
    sum = { row, failures: 0, leftOut: noneLeftOut(), sketch: new DDSketch(), users: null }
    sums.set(key, sum)
  }
  sum.failures += row.failures
  addLeftOut(sum.leftOut, row.leftOut)
  sum.sketch.mergeBytes(row.bytes)
  if (row.users !== null) (sum.users ??= new HyperLogLog()).mergeBytes(row.users)
}

/** Adds the sums to existing rows. The compaction lock excludes other writers. */
async function save(tx: Tx, sums: Map<string, sql.Sum>): Promise<void> {
  if (sums.size === 0) return
  const keys = [...sums.values()].map(({ row: key }) => key)
  await eachWithPauses(await sql.findRollups(tx, keys), (row) => addTo(sums, row))
  await sql.saveRollups(tx, sums)
}

/** Runs every minute, because queries read unfolded rows one by one. */
export const compactPerformanceTask = defineTask({
  name: 'compact-performance',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await compactPerformance(app, signal)
  },
})

/** Deletes old keys of duplicates, rollups, series, battery levels and the counters of past days. */
export async function purgePerformance(app: App, signal?: AbortSignal): Promise<Readonly<Record<string, number>>> {
  await dropDaysBefore(app.db, ['performance_seen'], dayPlus(utcDay(app.clock.now()), -SEEN_DAYS))
  return purgeRows(app, AGING_PERFORMANCE, signal)
}

export const purgePerformanceTask = defineTask({
  name: 'purge-performance',
  payload: NoPayload,
  cron: '41 * * * *',
  async run(app, _payload, signal) {
    await purgePerformance(app, signal)
  },
})
