import { setImmediate } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { addJob, defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { admitAttributes, type Wanted } from './admit-attributes.ts'
import { BUCKET_SECONDS, KEPT_MS, floorToBucket } from './buckets.ts'
import type { Source } from './counts.ts'
import { DIMENSIONS, LEVEL_DIMENSIONS, LEVELS } from './dimensions.ts'
import * as sql from './fold.queries.ts'
import { HealthSum, NO_SKETCHES, UNCHANGED } from './health-sum.ts'

/** Deltas per transaction, which takes some hundred milliseconds. */
const MAX_DELTAS = 4_000
/** Rollups per statement. */
const MAX_ROLLUPS = 1_000

/**
 * Moves deltas of digestion into rollups, each transaction some of them, so readers always count everything once. Leaves
 * out projects that another process folds.
 * @param signal ends it after the current transaction
 * @returns number of deltas moved
 */
export async function foldHealth(app: App, signal?: AbortSignal): Promise<number> {
  let moved = 0
  for (;;) {
    const deltas = await app.tx(async (tx) => foldSome(tx, app.clock.now(), await lockSomeProjects(tx)))
    moved += deltas
    if (deltas < MAX_DELTAS || signal?.aborted === true) return moved
    await setImmediate()
  }
}

/** Locks the projects of the oldest deltas that no other process folds. */
async function lockSomeProjects(tx: Tx): Promise<string[]> {
  const elsewhere: string[] = []
  for (;;) {
    const found = await sql.projectsWithDeltas(tx, MAX_DELTAS, elsewhere)
    const locked = found.length === 0 ? [] : await sql.tryLockFolds(tx, found)
    if (locked.length > 0 || found.length === 0) return locked
    elsewhere.push(...found)
  }
}

async function foldSome(tx: Tx, now: Date, projectIds: readonly string[]): Promise<number> {
  const deltas = projectIds.length === 0 ? [] : await sql.takeDeltas(tx, MAX_DELTAS, projectIds)
  if (deltas.length === 0) return 0
  const minutes = sumByMinute(deltas)
  const ids = await admitAttributes(
    tx,
    now,
    minutes.wanted.map(({ want }) => want),
  )
  const rollups = new Map<string, Rollup>()
  for (const [index, { minutes: sums }] of minutes.wanted.entries()) {
    const attributesId = ids[index]
    if (attributesId === undefined) continue
    for (const { key, sum } of sums.values()) spread(rollups, { ...key, attributesId }, sum, now)
  }
  await write(tx, [...rollups.values()])
  return deltas.length
}

type MinuteKey = { readonly projectId: string; readonly source: Source; readonly minute: number }
type Minute = { readonly key: MinuteKey; readonly sum: HealthSum }

/** Deltas summed by level, values and minute. */
function sumByMinute(deltas: readonly sql.TakenDelta[]) {
  // First by all values, because batches repeat them.
  const combinations = new Map<string, { delta: sql.TakenDelta; minute: Minute }>()
  for (const delta of deltas) {
    const key = { projectId: delta.project_id, source: sql.sourceAt(delta.source), minute: delta.minute.getTime() }
    const text = `${key.projectId}\n${key.source}\n${key.minute}\n${DIMENSIONS.map((one) => delta[one]).join('\n')}`
    let known = combinations.get(text)
    if (known === undefined) combinations.set(text, (known = { delta, minute: { key, sum: new HealthSum() } }))
    known.minute.sum.addDelta(delta)
  }
  const wanted = new Map<string, { want: Wanted; minutes: Map<string, Minute> }>()
  for (const { delta, minute } of combinations.values()) {
    const { projectId, source } = minute.key
    const day = utcDay(delta.minute)
    for (const level of LEVELS) {
      const dimensions = LEVEL_DIMENSIONS[level]
      const text = `${projectId}\n${level}\n${dimensions.map((one) => delta[one]).join('\n')}`
      let known = wanted.get(text)
      if (known === undefined) {
        const values = Object.fromEntries(dimensions.map((one) => [one, delta[one]]))
        known = { want: { projectId, level, values, occurrences: new Map() }, minutes: new Map() }
        wanted.set(text, known)
      }
      const { occurrences } = known.want
      occurrences.set(day, (occurrences.get(day) ?? 0) + Math.max(0, minute.sum.counts.total))
      const at = `${source}/${minute.key.minute}`
      let sum = known.minutes.get(at)
      if (sum === undefined) known.minutes.set(at, (sum = { key: minute.key, sum: new HealthSum() }))
      sum.sum.add(minute.sum)
    }
  }
  return { wanted: [...wanted.values()] }
}

type Rollup = { readonly key: sql.RollupKey; readonly sum: HealthSum }

/** Adds the sum of a minute to all buckets that hold it and are still kept. */
function spread(
  rollups: Map<string, Rollup>,
  { projectId, source, minute, attributesId }: MinuteKey & { readonly attributesId: number },
  sum: HealthSum,
  now: Date,
): void {
  for (const bucketSeconds of BUCKET_SECONDS) {
    if (now.getTime() - minute > KEPT_MS[bucketSeconds]) continue
    const bucket = floorToBucket(minute, bucketSeconds * 1000)
    const text = `${projectId}/${source}/${bucketSeconds}/${attributesId}/${bucket}`
    let rollup = rollups.get(text)
    if (rollup === undefined) {
      rollup = { key: { projectId, source, bucketSeconds, attributesId, bucket }, sum: new HealthSum() }
      rollups.set(text, rollup)
    }
    rollup.sum.add(sum)
  }
}

async function write(tx: Tx, all: readonly Rollup[]): Promise<void> {
  const rollups = all.filter(({ sum }) => !sum.isNothing)
  for (let at = 0; at < rollups.length; at += MAX_ROLLUPS) {
    const part = rollups.slice(at, at + MAX_ROLLUPS)
    const sketched = part.filter(({ sum }) => sum.hasSketches)
    const stored =
      sketched.length === 0
        ? []
        : await sql.readSketches(
            tx,
            sketched.map(({ key }) => key),
          )
    const before = new Map(sketched.map((rollup, index) => [rollup, stored[index] ?? NO_SKETCHES]))
    const changes = part.map((rollup) => {
      const known = before.get(rollup)
      return {
        key: rollup.key,
        counts: rollup.sum.counts,
        sketches: known === undefined ? UNCHANGED : rollup.sum.over(known),
      }
    })
    await sql.addRollups(tx, changes)
    await sql.saveSketches(
      tx,
      changes.filter(({ sketches }) => sql.hasChanged(sketches)),
    )
  }
}

const FOLD_INTERVAL_MS = 5_000
const requested = new WeakMap<App, number>()

/**
 * Asks for a fold within some seconds, because reading deltas costs more than reading rollups. Cheap enough for every batch
 * of digestion: it writes one job per interval.
 */
export async function requestFold(app: App): Promise<void> {
  const now = app.clock.now().getTime()
  const dueAt = (Math.floor(now / FOLD_INTERVAL_MS) + 1) * FOLD_INTERVAL_MS
  if (requested.get(app) === dueAt) return
  requested.set(app, dueAt)
  // The same time in every process: none postpones the job of another.
  await addJob(app.db, foldHealthTask.name, {}, { key: foldHealthTask.name, runAt: new Date(dueAt) })
}

/** Digestion asks for a fold when it appends; the schedule folds what an ended process left. */
export const foldHealthTask = defineTask({
  name: 'fold-health',
  payload: NoPayload,
  cron: '* * * * *',
  async run(app, _payload, signal) {
    await foldHealth(app, signal)
  },
})
