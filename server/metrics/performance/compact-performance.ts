import { setImmediate } from 'node:timers/promises'
import type pg from 'pg'
import type { App } from '../../context/app.ts'
import { dayOf } from '../../kernel/day.ts'
import { withClientTx } from '../../storage/pool.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import * as sql from './compact.queries.ts'
import { settlePending } from './record-performance.ts'
import { GRAINS, seriesOf, type Series } from './series.ts'
import { saveSeries } from './series.queries.ts'
import { bucketOf, KEPT_MS, stepFor, STEPS } from './steps.ts'

/** Rows moved per transaction: some hundred milliseconds. */
const MOST_ROWS = 5_000

/**
 * Folds what digestion appended into rollups, and rollups that grew old into longer buckets; every minute. Each
 * transaction takes rows away and adds them elsewhere, so readers see every measurement once at any moment. One runs at
 * a time; another leaves at once.
 * @param signal ends it after the transaction at hand
 * @returns how many rows were moved
 */
export async function compactPerformance(app: App, signal?: AbortSignal): Promise<number> {
  let moved = 0
  for (const work of [settle, foldDeltas, ...STEPS.slice(0, -1).map(({ minutes }) => foldOf(minutes)), forget]) {
    let rows = MOST_ROWS
    while (rows === MOST_ROWS && signal?.aborted !== true) {
      rows = await withClientTx(app.pool, async (client) =>
        (await sql.lockCompaction(client)) ? work(client, app.clock.now()) : 0,
      )
      moved += rows
      await setImmediate()
    }
  }
  return moved
}

const settle = (client: pg.ClientBase, now: Date): Promise<number> => settlePending(client, now, MOST_ROWS)

async function foldDeltas(client: pg.ClientBase, now: Date): Promise<number> {
  const deltas = await sql.takeDeltas(client, MOST_ROWS)
  if (deltas.length === 0) return 0
  const places = await sql.placesOf(client, deltas)
  const sums = new Map<string, sql.Rollup>()
  const coarse = new Map<string, Series>()
  for (const delta of deltas) {
    const place = places.get(delta.seriesId)
    for (const grain of GRAINS) {
      const step = stepFor(delta.bucket, now)
      let { seriesId } = delta
      if (grain > 0) {
        if (place === undefined) continue
        const series = seriesOf(delta.projectId, grain, place)
        coarse.set(series.id, series)
        seriesId = series.id
      }
      addTo(sums, { ...delta, grain, step, bucket: bucketOf(delta.bucket, step), seriesId })
    }
  }
  await saveSeries(client, dayOf(now), [...coarse.values()])
  await save(client, sums)
  return deltas.length
}

/** Whole buckets of the next length only, so that each of those is written once. */
const foldOf =
  (minutes: number) =>
  async (client: pg.ClientBase, now: Date): Promise<number> => {
    const at = STEPS.findIndex((step) => step.minutes === minutes)
    const next = STEPS[at + 1]
    if (next === undefined) return 0
    const oldFrom = new Date(now.getTime() - (STEPS[at]?.youngMs ?? 0))
    const rows = await sql.takeRollups(client, minutes, bucketOf(oldFrom, next.minutes), MOST_ROWS)
    const sums = new Map<string, sql.Rollup>()
    for (const row of rows) addTo(sums, { ...row, step: next.minutes, bucket: bucketOf(row.bucket, next.minutes) })
    await save(client, sums)
    return rows.length
  }

const forget = (client: pg.ClientBase, now: Date): Promise<number> =>
  sql.deleteOld(client, new Date(now.getTime() - KEPT_MS), dayOf(now), MOST_ROWS)

function addTo(sums: Map<string, sql.Rollup>, row: sql.Rollup): void {
  const key = sql.keyOf(row)
  const sum = sums.get(key)
  if (sum === undefined) {
    // Its own sketch: the row's is added to more than one grain.
    const sketch = new DDSketch()
    sketch.merge(row.sketch)
    sums.set(key, { ...row, sketch })
    return
  }
  sum.failures += row.failures
  sum.leftOut += row.leftOut
  sum.sketch.merge(row.sketch)
}

/** Adds the sums to the rows that exist; the lock of compaction keeps others from adding to them meanwhile. */
async function save(client: pg.ClientBase, sums: Map<string, sql.Rollup>): Promise<void> {
  if (sums.size === 0) return
  for (const row of await sql.findRollups(client, [...sums.values()])) addTo(sums, row)
  await sql.saveRollups(client, [...sums.values()])
}
