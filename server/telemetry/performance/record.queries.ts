import type { Tx } from '../../platform/storage/database.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { dayPlus, DAY_MS } from '../../platform/kernel/day.ts'
import type { DeviceClass } from '../../events/protocol/device-signals.ts'
import { LEFT_OUT, METRICS, type LeftOut, type Metric } from '../../events/protocol/span-values.ts'
import type { Dimensions } from './fact.ts'
import { metricCode, type Delta, type LeftOutCounts } from './deltas.ts'
import { sql } from 'kysely'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { eachWithPauses } from '../../platform/kernel/thread-task.ts'
import { projectPart, type ProjectPart } from '../../projects/registry/project-rows.ts'
import type { AgingRows } from '../../platform/jobs/purge.ts'
import { MAX_GAP_MS } from './battery-drain.ts'
import { LONG } from './steps.ts'
import type { DDSketch } from '../sketch/ddsketch.ts'
import type { HyperLogLog } from '../sketch/hyperloglog.ts'

/** Duplicates are recognised for this many days of receipt. */
export const SEEN_DAYS = 3

/** Keys that were recorded in the last days, with the series of segments. */
export async function findSeen(tx: Tx, today: string, keys: readonly number[]): Promise<Map<number, string | null>> {
  if (keys.length === 0) return new Map()
  const { rows } = await tx.query<{ key: number; series_id: string | null }>({
    name: 'performance-find-seen',
    // A sorted array instead of a join: PostgreSQL reads neighbours of the index together, and never the whole index.
    text: `select key, series_id from performance_seen
           where key = any($1::bigint[]) and received_day > $2::date and received_day <= $3::date`,
    values: [keys.toSorted((a, b) => a - b), dayPlus(today, -SEEN_DAYS), dayPlus(today, 1)],
  })
  return new Map(rows.map((row) => [row.key, row.series_id]))
}

/**
 * Saves keys, with the series of segments. The day's partition must exist. @returns keys that were not saved today yet
 */
export async function saveSeen(tx: Tx, today: string, keys: ReadonlyMap<number, string | null>): Promise<Set<number>> {
  if (keys.size === 0) return new Set()
  const sorted = [...keys].sort(([a], [b]) => a - b)
  const { rows } = await tx.query<{ key: number }>({
    name: 'performance-save-seen',
    text: `insert into performance_seen (received_day, key, series_id)
           select $1::date, k.* from unnest($2::bigint[], $3::uuid[]) k on conflict do nothing returning key`,
    values: [today, sorted.map(([key]) => key), sorted.map(([, id]) => id)],
  })
  return new Set(rows.map(({ key }) => key))
}

/** Appends rows without a look-up or lock, so that the cost does not grow with stored data. */
export async function insertDeltas(tx: Tx, deltas: readonly Delta[]): Promise<void> {
  if (deltas.length === 0) return
  const rows = new CopyRows()
  for (const delta of deltas) {
    rows.row(12)
    rows.uuid(delta.projectId)
    rows.uuid(delta.seriesId)
    rows.text(delta.device)
    rows.int16(metricCode(delta.metric))
    rows.time(delta.minute)
    rows.int32(delta.sketch.count)
    rows.int32(delta.failures)
    for (const reason of LEFT_OUT) rows.int32(delta.leftOut[reason])
    rows.bytes(delta.sketch.toBytes())
    if (delta.users === null) rows.nothing()
    else rows.bytes(delta.users.toBytes())
  }
  await tx.copyIn(
    `performance_deltas (project_id, series_id, device, metric, minute, count, failures, ${LEFT_OUT.join(', ')}, sketch, users)`,
    rows,
  )
}

/** A value whose segment is not known yet. */
export type Pending = {
  readonly segmentKey: number
  readonly projectId: string
  readonly receivedAt: Date
  readonly occurredAt: Date
  readonly metric: Metric
  readonly value: number
  readonly leftOut: LeftOut | null
  readonly dimensions: Dimensions
}

export async function insertPending(tx: Tx, pending: readonly Pending[]): Promise<void> {
  if (pending.length === 0) return
  await tx.query({
    name: 'performance-insert-pending',
    text: `insert into performance_pending (segment_key, project_id, received_at, occurred_at, metric, value, left_out, name, op, release, environment, os, device_class, device)
           select * from unnest($1::bigint[], $2::uuid[], $3::timestamptz[], $4::timestamptz[], $5::smallint[], $6::float8[], $7::text[],
             $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])`,
    values: [
      pending.map((one) => one.segmentKey),
      pending.map((one) => one.projectId),
      pending.map((one) => one.receivedAt),
      pending.map((one) => one.occurredAt),
      pending.map((one) => METRICS.indexOf(one.metric)),
      pending.map((one) => one.value),
      pending.map((one) => one.leftOut),
      pending.map((one) => one.dimensions.name),
      pending.map((one) => one.dimensions.op),
      pending.map((one) => one.dimensions.release),
      pending.map((one) => one.dimensions.environment),
      pending.map((one) => one.dimensions.os),
      pending.map((one) => one.dimensions.deviceClass),
      pending.map((one) => one.dimensions.device),
    ],
  })
}

type PendingRow = {
  segment_key: number
  project_id: string
  received_at: Date
  occurred_at: Date
  metric: number
  value: number
  left_out: LeftOut | null
  name: string
  op: string
  release: string
  environment: string
  os: string
  device_class: DeviceClass
  device: string
}

/** Deletes and returns the values that wait for these segments. */
export async function takePending(tx: Tx, segmentKeys: readonly number[]): Promise<Pending[]> {
  if (segmentKeys.length === 0) return []
  const { rows } = await tx.query<PendingRow>({
    name: 'performance-take-pending',
    text: 'delete from performance_pending where segment_key = any($1::bigint[]) returning *',
    values: [segmentKeys.toSorted((a, b) => a - b)],
  })
  return rows.map(pendingOf)
}

/** Deletes and returns at most `max` values that wait since before `before`. */
export async function takeExpired(tx: Tx, before: Date, max: number): Promise<Pending[]> {
  const { rows } = await tx.query<PendingRow>(
    `delete from performance_pending where ctid in (
       select ctid from performance_pending where received_at < $1 order by received_at limit $2 for update skip locked)
     returning *`,
    [before, max],
  )
  return rows.map(pendingOf)
}

function pendingOf(row: PendingRow): Pending {
  const { name, op, release, environment, os, device } = row
  return {
    segmentKey: row.segment_key,
    projectId: row.project_id,
    receivedAt: row.received_at,
    occurredAt: row.occurred_at,
    metric: metricAt(row.metric),
    value: row.value,
    leftOut: row.left_out,
    dimensions: { name, op, release, environment, os, device, deviceClass: row.device_class },
  }
}

/** The metric of a stored position. @throws Error for an unknown one */
export function metricAt(position: number): Metric {
  const metric = METRICS[position]
  if (metric === undefined) throw new Error(`no metric ${position}`)
  return metric
}

/** The attributes that a series has, the others are empty (GRAINS of series.ts). */
export type Grain = 0 | 1 | 2 | 3 | 4 | 5 | 6

export type Series = {
  readonly id: string
  readonly projectId: string
  readonly grain: Grain
  readonly dimensions: Dimensions
  /** An operation, or a part of the time; only in the grains of spans. */
  readonly span?: string
}

/** Ids of the series that were already written today. */
export async function findSeries(
  tx: Tx,
  today: string,
  series: readonly Pick<Series, 'id' | 'projectId'>[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'performance-find-series',
    text: `select s.id from unnest($1::uuid[], $2::uuid[]) k (project_id, id)
           join performance_series s on s.project_id = k.project_id and s.id = k.id where s.last_day >= $3::date`,
    values: [series.map(({ projectId }) => projectId), series.map(({ id }) => id), today],
  })
  return new Set(rows.map(({ id }) => id))
}

export type DayCounts = { names: number; series: number; devices: number; operations: number; parts: number }

/** The counters of a project for today, locked until the transaction ends. */
export async function lockDay(tx: Tx, projectId: string, today: string): Promise<DayCounts> {
  const { rows } = await tx.query<DayCounts>({
    name: 'performance-lock-day',
    // With an update that changes nothing, one statement inserts or locks the row and returns it.
    text: `insert into performance_days as d (project_id, day, names, series) values ($1, $2::date, 0, 0)
           on conflict (project_id, day) do update set names = d.names returning names, series, devices, operations, parts`,
    values: [projectId, today],
  })
  return rows[0] ?? { names: 0, series: 0, devices: 0, operations: 0, parts: 0 }
}

export async function saveDay(tx: Tx, projectId: string, today: string, counts: DayCounts): Promise<void> {
  const { names, series, devices, operations, parts } = counts
  await tx.query({
    name: 'performance-save-day',
    text: `update performance_days set names = $3, series = $4, devices = $5, operations = $6, parts = $7
           where project_id = $1 and day = $2::date`,
    values: [projectId, today, names, series, devices, operations, parts],
  })
}

/** Names that were already written today. */
export async function findNames(
  tx: Tx,
  projectId: string,
  today: string,
  names: readonly string[],
): Promise<Set<string>> {
  const { rows } = await tx.query<{ name: string }>({
    name: 'performance-find-names',
    text: `select k.name from unnest($3::text[]) k (name) where exists (
             select 1 from performance_series s where s.project_id = $1 and s.last_day = $2::date and s.name = k.name and s.grain = 0)`,
    values: [projectId, today, names],
  })
  return new Set(rows.map(({ name }) => name))
}

/** Creates series, or sets their last day to today. */
export async function saveSeries(tx: Tx, today: string, series: readonly Series[]): Promise<void> {
  if (series.length === 0) return
  const rows = series.toSorted((a, b) => (a.projectId + a.id < b.projectId + b.id ? -1 : 1))
  await tx.query({
    name: 'performance-save-series',
    text: `insert into performance_series (project_id, id, grain, name, op, release, environment, os, device_class, device, span, last_day)
           select k.*, $12::date from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::text[], $11::text[]) k
           on conflict (project_id, id) do update set last_day = greatest(performance_series.last_day, excluded.last_day)`,
    values: [
      rows.map(({ projectId }) => projectId),
      rows.map(({ id }) => id),
      rows.map(({ grain }) => grain),
      rows.map(({ dimensions }) => dimensions.name),
      rows.map(({ dimensions }) => dimensions.op),
      rows.map(({ dimensions }) => dimensions.release),
      rows.map(({ dimensions }) => dimensions.environment),
      rows.map(({ dimensions }) => dimensions.os),
      rows.map(({ dimensions }) => dimensions.deviceClass),
      rows.map(({ dimensions }) => dimensions.device),
      rows.map(({ span = '' }) => span),
      today,
    ],
  })
}

const LEVELS = ownRows('battery_levels')
const HOURS = ownRows('battery_hours')
const ROLLUPS = ownRows('performance_rollups')
const DAYS = ownRows('performance_days')
const SERIES = ownRows('performance_series')

const ROLLUP_RETENTION_DAYS = 400
/** Measurements are at most this much older than their day of receipt. */
const MAX_LATE_DAYS = 31
/** A dry run of an alert rule looks back seven days, each moment over a window of up to seven. */
const BATTERY_HOUR_DAYS = 15

/** Rollups of long buckets; shorter ones do not live as long. Then series without rollups, and battery levels. */
export const AGING_PERFORMANCE: readonly AgingRows[] = [
  ...LONG.map((step) => ({
    rows: ROLLUPS,
    column: 'bucket',
    kept: { ms: ROLLUP_RETENTION_DAYS * DAY_MS },
    equal: { step },
  })),
  { rows: SERIES, column: 'last_day', kept: { days: ROLLUP_RETENTION_DAYS + MAX_LATE_DAYS } },
  { rows: DAYS, column: 'day', kept: { days: 1 } },
  { rows: LEVELS, column: 'seen_at', kept: { ms: MAX_GAP_MS } },
  { rows: HOURS, column: 'hour', kept: { ms: BATTERY_HOUR_DAYS * DAY_MS } },
]

/** Keys of segments name their series. The other keys are hashes that name nothing; they are dropped after three days. */
const KEYS: ProjectPart = {
  tables: ['performance_seen'],
  max: 2_000,
  async deleteRows(tx, projectId, max) {
    const { numAffectedRows } = await sql`
      delete from performance_seen where (key, received_day) in (
        select key, received_day from performance_seen
        where series_id in (select id from performance_series where project_id = ${projectId}) limit ${max})`.execute(
      tx,
    )
    return Number(numAffectedRows ?? 0)
  },
}

export const PERFORMANCE_PARTS = [
  // In the order in which measurements move between the tables, so that none escapes to one that was read before.
  projectPart(2_000, [LEVELS, HOURS, ownRows('performance_pending'), ownRows('performance_deltas'), ROLLUPS, DAYS]),
  KEYS,
  projectPart(2_000, [SERIES]),
]

/** Measurements of a series and metric in one bucket of `step` minutes. */
export type Rollup = {
  readonly projectId: string
  readonly grain: number
  /** Its stored number. */
  readonly metric: number
  readonly bucket: Date
  readonly step: number
  readonly seriesId: string
  readonly failures: number
  readonly leftOut: LeftOutCounts
  /** The sketch as stored. */
  readonly bytes: Buffer
  /** The sketch of the users as stored; null where none was named, and in coarser grains. */
  readonly users: Buffer | null
}

/** The sum of all rows with the key of `row`. */
export type Sum = {
  readonly row: Rollup
  failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
  users: HyperLogLog | null
}

/** A rollup that digestion added, with its device. */
type FreshRollup = Rollup & { readonly device: string }

export const rollupKey = (row: Rollup): string =>
  `${row.projectId}/${row.grain}/${row.metric}/${row.bucket.getTime()}/${row.step}/${row.seriesId}`

const LEFT_OUT_COLUMNS = LEFT_OUT.join(', ')

const COMPACTION_LOCK = 7_201_994_320

/** Takes the lock until the transaction ends. @returns false when another process has it */
export async function lockCompaction(tx: Tx): Promise<boolean> {
  const { rows } = await tx.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    COMPACTION_LOCK,
  ])
  return rows[0]?.locked === true
}

type Row = { [K in LeftOut]: number } & {
  project_id: string
  grain: number
  metric: number
  bucket: Date
  step: number
  series_id: string
  failures: number
  sketch: Buffer
  users: Buffer | null
}

const rollupOf = (row: Row): Rollup => ({
  projectId: row.project_id,
  grain: row.grain,
  metric: row.metric,
  bucket: row.bucket,
  step: row.step,
  seriesId: row.series_id,
  failures: row.failures,
  leftOut: { too_long: row.too_long, prewarmed: row.prewarmed, invalid: row.invalid },
  bytes: row.sketch,
  users: row.users,
})

/** Deletes and returns rows. */
export async function takeDeltas(tx: Tx, max: number): Promise<FreshRollup[]> {
  const { rows } = await tx.query<Row & { device: string }>(
    `delete from performance_deltas where ctid = any(array(select ctid from performance_deltas limit $1))
     returning project_id, 0 as grain, metric, minute as bucket, 1 as step, series_id, device,
       failures, ${LEFT_OUT_COLUMNS}, sketch, users`,
    [max],
  )
  return rows.map((row) => ({ ...rollupOf(row), device: row.device }))
}

/** Deletes and returns rows of this step whose bucket starts before `before`, oldest first. */
export async function takeRollups(tx: Tx, step: number, before: Date, max: number): Promise<Rollup[]> {
  const { rows } = await tx.query<Row>(
    `delete from performance_rollups where ctid = any(array(
       select ctid from performance_rollups where step = $1 and bucket < $2 order by bucket limit $3))
     returning project_id, grain, metric, bucket, step, series_id, failures, ${LEFT_OUT_COLUMNS}, sketch, users`,
    [step, before, max],
  )
  return rows.map(rollupOf)
}

/** Project and dimensions of series, by series id. */
export async function selectDimensions(
  tx: Tx,
  rows: readonly Rollup[],
): Promise<Map<string, { projectId: string; grain: Grain; dimensions: Dimensions }>> {
  const ids = new Map(rows.map((row) => [row.seriesId, row.projectId]))
  const { rows: found } = await tx.query<
    Omit<Dimensions, 'deviceClass' | 'device'> & {
      id: string
      project_id: string
      grain: Grain
      device_class: DeviceClass
    }
  >(
    `select s.id, s.project_id, s.grain, s.name, s.op, s.release, s.environment, s.os, s.device_class
     from unnest($1::uuid[], $2::uuid[]) k (project_id, id)
     join performance_series s on s.project_id = k.project_id and s.id = k.id`,
    [[...ids.values()], [...ids.keys()]],
  )
  return new Map(
    found.map(({ id, project_id: projectId, grain, device_class: deviceClass, ...dimensions }) => [
      id,
      { projectId, grain, dimensions: { ...dimensions, deviceClass, device: '' } },
    ]),
  )
}

/** Reads rows by their keys. */
export async function findRollups(tx: Tx, keys: readonly Rollup[]): Promise<Rollup[]> {
  const { rows } = await tx.query<Row>(
    `select r.project_id, r.grain, r.metric, r.bucket, r.step, r.series_id, r.failures,
       ${LEFT_OUT.map((reason) => `r.${reason}`).join(', ')}, r.sketch, r.users
     from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::timestamptz[], $5::smallint[], $6::uuid[])
       k (project_id, grain, metric, bucket, step, series_id)
     join performance_rollups r using (project_id, grain, metric, bucket, step, series_id)`,
    keyColumns(keys),
  )
  return rows.map(rollupOf)
}

/** Replaces the rows with these keys by the sums. */
export async function saveRollups(tx: Tx, sums: ReadonlyMap<string, Sum>): Promise<void> {
  const sorted = [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum)
  const sketches: Buffer[] = []
  const userSketches: (Buffer | null)[] = []
  await eachWithPauses(sorted, ({ sketch, users }) => {
    sketches.push(sketch.toBytes())
    userSketches.push(users?.toBytes() ?? null)
  })
  await tx.query(
    `insert into performance_rollups (project_id, grain, metric, bucket, step, series_id, count, failures, ${LEFT_OUT_COLUMNS}, sketch, users)
     select * from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::timestamptz[], $5::smallint[], $6::uuid[],
       $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[], $13::bytea[])
     on conflict (project_id, grain, metric, series_id, step, bucket)
     do update set count = excluded.count, failures = excluded.failures,
       ${LEFT_OUT.map((reason) => `${reason} = excluded.${reason}`).join(', ')}, sketch = excluded.sketch, users = excluded.users`,
    [
      ...keyColumns(sorted.map(({ row }) => row)),
      sorted.map(({ sketch }) => sketch.count),
      sorted.map(({ failures }) => failures),
      ...LEFT_OUT.map((reason) => sorted.map(({ leftOut }) => leftOut[reason])),
      sketches,
      userSketches,
    ],
  )
}

const keyColumns = (rows: readonly Rollup[]): unknown[] => [
  rows.map((row) => row.projectId),
  rows.map((row) => row.grain),
  rows.map((row) => row.metric),
  rows.map((row) => row.bucket),
  rows.map((row) => row.step),
  rows.map((row) => row.seriesId),
]
