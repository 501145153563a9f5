import { setImmediate } from 'node:timers/promises'
import type { App } from '../../platform/context/app.ts'
import { addJob, defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import { eachWithPauses } from '../../platform/kernel/thread-task.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { BUCKET_SECONDS, KEPT_MS, floorToBucket } from './buckets.ts'
import {
  type Source,
  DIMENSIONS,
  LEVEL_DIMENSIONS,
  LEVELS,
  countColumn,
  COUNTS,
  type Counts,
  noCounts,
  USER_SETS,
  type UserSet,
  ALL_ID,
  attributesId,
  type Dimension,
  type Level,
  MAX_NEW_PER_DAY,
  otherId,
} from './dimensions.ts'
import * as sql from './fold.queries.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import { HyperLogLog } from '../sketch/hyperloglog.ts'
import { type Changed, type Sketches, type TakenDelta, AGING_HEALTH } from './fold.queries.ts'
import { purgeTask } from '../../platform/jobs/purge.ts'

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
  const minutes = await sumByMinute(deltas)
  const ids = await admitAttributes(
    tx,
    now,
    minutes.wanted.map(({ want }) => want),
  )
  const rollups = new Map<string, Rollup>()
  await eachWithPauses(minutes.wanted.entries(), ([index, { minutes: sums }]) => {
    const attributesId = ids[index]
    if (attributesId === undefined) return
    for (const { key, sum } of sums.values()) spread(rollups, { ...key, attributesId }, sum, now)
  })
  await write(tx, [...rollups.values()])
  return deltas.length
}

type MinuteKey = { readonly projectId: string; readonly source: Source; readonly minute: number }
type Minute = { readonly key: MinuteKey; readonly sum: HealthSum }

/** Deltas summed by level, values and minute. */
async function sumByMinute(deltas: readonly sql.TakenDelta[]) {
  // First by all values, because batches repeat them.
  const combinations = new Map<string, { delta: sql.TakenDelta; minute: Minute }>()
  await eachWithPauses(deltas, (delta) => {
    const key = { projectId: delta.project_id, source: sql.sourceAt(delta.source), minute: delta.minute.getTime() }
    const text = `${key.projectId}\n${key.source}\n${key.minute}\n${DIMENSIONS.map((one) => delta[one]).join('\n')}`
    let known = combinations.get(text)
    if (known === undefined) combinations.set(text, (known = { delta, minute: { key, sum: new HealthSum() } }))
    known.minute.sum.addDelta(delta)
  })
  const wanted = new Map<string, { want: Wanted; minutes: Map<string, Minute> }>()
  await eachWithPauses(combinations.values(), ({ delta, minute }) => {
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
  })
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
    const changes: { readonly key: sql.RollupKey; readonly counts: Counts; readonly sketches: Changed }[] = []
    await eachWithPauses(part, (rollup) => {
      const known = before.get(rollup)
      const sketches = known === undefined ? UNCHANGED : rollup.sum.over(known)
      changes.push({ key: rollup.key, counts: rollup.sum.counts, sketches })
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

/** The changes that a fold makes to one rollup: counts, users, and durations to add and to remove. */
class HealthSum {
  readonly counts: Counts = noCounts()
  readonly #users = new Map<UserSet, HyperLogLog>()
  #durations: DDSketch | null = null
  #removed: DDSketch | null = null

  addDelta(delta: TakenDelta): void {
    for (const name of COUNTS) this.counts[name] += delta[name]
    for (const set of USER_SETS) {
      const bytes = delta[set]
      if (bytes !== null) this.#set(set).mergeBytes(bytes)
    }
    if (delta.durations !== null) (this.#durations ??= new DDSketch()).mergeBytes(delta.durations)
    if (delta.durations_removed !== null) (this.#removed ??= new DDSketch()).mergeBytes(delta.durations_removed)
  }

  add(other: HealthSum): void {
    for (const name of COUNTS) this.counts[name] += other.counts[name]
    for (const [set, users] of other.#users) this.#set(set).merge(users)
    if (other.#durations !== null) (this.#durations ??= new DDSketch()).merge(other.#durations)
    if (other.#removed !== null) (this.#removed ??= new DDSketch()).merge(other.#removed)
  }

  get hasSketches(): boolean {
    return this.#users.size > 0 || this.#durations !== null || this.#removed !== null
  }

  get isNothing(): boolean {
    return !this.hasSketches && COUNTS.every((name) => this.counts[name] === 0)
  }

  /** Stored sketches with this sum, and what those of users count; null for those that stay as they are. */
  over(stored: Sketches): Changed {
    const changed: Changed = { ...UNCHANGED }
    for (const [set, users] of this.#users) {
      const before = stored[set]
      if (before !== null) users.mergeBytes(before)
      const after = users.toBytes()
      if (before !== null && after.equals(before)) continue
      changed[set] = after
      changed[countColumn(set)] = users.count()
    }
    if (this.#durations !== null || this.#removed !== null) {
      const sketch = stored.durations === null ? new DDSketch() : DDSketch.fromBytes(stored.durations)
      if (this.#durations !== null) sketch.merge(this.#durations)
      if (this.#removed !== null) sketch.subtract(this.#removed)
      changed.durations = sketch.toBytes()
    }
    return changed
  }

  #set(set: UserSet): HyperLogLog {
    let users = this.#users.get(set)
    if (users === undefined) {
      users = new HyperLogLog()
      this.#users.set(set, users)
    }
    return users
  }
}

const NO_SKETCHES: Sketches = {
  users: null,
  unhandled_users: null,
  crashed_users: null,
  anr_users: null,
  anr_foreground_users: null,
  durations: null,
}

const UNCHANGED: Changed = {
  ...NO_SKETCHES,
  users_count: null,
  unhandled_users_count: null,
  crashed_users_count: null,
  anr_users_count: null,
  anr_foreground_users_count: null,
}

/** Values that a fold met at a level. */
type Wanted = {
  readonly projectId: string
  readonly level: Level
  readonly values: Readonly<Partial<Record<Dimension, string>>>
  /** Sessions and events in this fold, by the UTC day of their bucket. */
  readonly occurrences: Map<string, number>
}

/** While more than half of a limit is used, values need this many occurrences in a fold: few of junk have them. */
const MIN_OCCURRENCES = 5

/**
 * The ids that values are counted under: their own, or the one of what exceeds the limit of their level. Known values
 * keep their own.
 * @returns ids in the given order
 */
async function admitAttributes(tx: Tx, now: Date, wanted: readonly Wanted[]): Promise<number[]> {
  const today = utcDay(now)
  const rows = wanted.map(({ projectId, level, values }) => ({
    projectId,
    level,
    values,
    id: attributesId(level, values),
  }))
  const known = await sql.findAttributes(
    tx,
    today,
    rows.filter(({ id }) => id !== ALL_ID),
  )
  const projects = [...new Set(wanted.map(({ projectId }) => projectId))]
  const admittedToday = new Map(
    (await sql.readDays(tx, today, projects)).map((day) => [`${day.projectId}/${day.level}`, day.admitted]),
  )
  const ids = rows.map(({ id }) => id)
  const days = new Map<string, { row: Omit<sql.DayCount, 'admitted' | 'refused'>; admitted: number; refused: number }>()
  const dayCount = (projectId: string, level: Level, day: string) => {
    const key = `${projectId}/${day}/${level}`
    let count = days.get(key)
    if (count === undefined) days.set(key, (count = { row: { projectId, level, day }, admitted: 0, refused: 0 }))
    return count
  }
  const writes = new Map<string, sql.AttributesRow>()
  // The most frequent first, so that a flood of made-up values leaves room for them.
  for (const index of byOccurrences(wanted)) {
    const [row, want] = [rows[index], wanted[index]]
    if (row === undefined || want === undefined || row.level === 'all') continue
    const found = known.get(sql.attributesKey(row.projectId, row.id))
    if (found !== undefined) {
      if (!found.isUsed) writes.set(sql.attributesKey(row.projectId, row.id), row)
      continue
    }
    const key = `${row.projectId}/${row.level}`
    const admitted = admittedToday.get(key) ?? 0
    const max = MAX_NEW_PER_DAY[row.level]
    if (admitted < max / 2 || (admitted < max && sum(want) >= MIN_OCCURRENCES)) {
      admittedToday.set(key, admitted + 1)
      dayCount(row.projectId, row.level, today).admitted++
      writes.set(sql.attributesKey(row.projectId, row.id), row)
      continue
    }
    const id = otherId(row.level)
    ids[index] = id
    writes.set(sql.attributesKey(row.projectId, id), { ...row, id, values: {} })
    for (const [day, count] of want.occurrences) dayCount(row.projectId, row.level, day).refused += count
  }
  if (writes.size > 0) await sql.writeAttributes(tx, today, [...writes.values()])
  if (days.size > 0)
    await sql.addToDays(
      tx,
      [...days.values()].map(({ row, admitted, refused }) => ({ ...row, admitted, refused })),
    )
  return ids
}

const sum = ({ occurrences }: Wanted): number => [...occurrences.values()].reduce((a, b) => a + b, 0)

function byOccurrences(wanted: readonly Wanted[]): number[] {
  const sums = wanted.map(sum)
  return [...wanted.keys()].sort((a, b) => (sums[b] ?? 0) - (sums[a] ?? 0))
}

/** Runs every hour: deleting a day's sessions in one run would keep autovacuum busy for long. */
export const purgeSessionsTask = purgeTask('purge-sessions', '23 * * * *', AGING_HEALTH)
