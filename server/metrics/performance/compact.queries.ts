import type pg from 'pg'
import { dayPlus } from '../../kernel/day.ts'
import type { DeviceClass } from '../../protocol/device-class.ts'
import { METRICS, type Metric } from '../../protocol/span-values.ts'
import { DDSketch } from '../sketch/ddsketch.ts'
import type { Place } from './fact.ts'
import { metricAt } from './record.queries.ts'

/** Measurements of a series and metric in one bucket of `step` minutes. */
export type Rollup = {
  readonly projectId: string
  readonly grain: number
  readonly metric: Metric
  readonly bucket: Date
  readonly step: number
  readonly seriesId: string
  failures: number
  leftOut: number
  readonly sketch: DDSketch
}

export const keyOf = (row: Rollup): string =>
  `${row.projectId}/${row.grain}/${row.metric}/${row.bucket.getTime()}/${row.step}/${row.seriesId}`

const COMPACTION_LOCK = 7_201_994_320

/** Until the end of the transaction; false when somebody else has it. */
export async function lockCompaction(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [
    COMPACTION_LOCK,
  ])
  return rows[0]?.locked === true
}

type Row = {
  project_id: string
  grain: number
  metric: number
  bucket: Date
  step: number
  series_id: string
  failures: number
  left_out: number
  sketch: Buffer
}

const rollupOf = (row: Row): Rollup => ({
  projectId: row.project_id,
  grain: row.grain,
  metric: metricAt(row.metric),
  bucket: row.bucket,
  step: row.step,
  seriesId: row.series_id,
  failures: row.failures,
  leftOut: row.left_out,
  sketch: DDSketch.fromBytes(row.sketch),
})

/** Takes the rows away. */
export async function takeDeltas(client: pg.ClientBase, most: number): Promise<Rollup[]> {
  const { rows } = await client.query<Row>(
    `delete from performance_deltas where ctid = any(array(select ctid from performance_deltas limit $1))
     returning project_id, 0 as grain, metric, minute as bucket, 1 as step, series_id, failures, left_out, sketch`,
    [most],
  )
  return rows.map(rollupOf)
}

/** Takes rows of this step away whose bucket begins before `before`, oldest first. */
export async function takeRollups(client: pg.ClientBase, step: number, before: Date, most: number): Promise<Rollup[]> {
  const { rows } = await client.query<Row>(
    `delete from performance_rollups where ctid = any(array(
       select ctid from performance_rollups where step = $1 and bucket < $2 order by bucket limit $3))
     returning project_id, grain, metric, bucket, step, series_id, failures, left_out, sketch`,
    [step, before, most],
  )
  return rows.map(rollupOf)
}

/** What the series say, by id. */
export async function placesOf(client: pg.ClientBase, rows: readonly Rollup[]): Promise<Map<string, Place>> {
  const ids = new Map(rows.map((row) => [row.seriesId, row.projectId]))
  const { rows: found } = await client.query<Omit<Place, 'deviceClass'> & { id: string; device_class: DeviceClass }>(
    `select s.id, s.name, s.op, s.release, s.environment, s.os, s.device_class
     from unnest($1::uuid[], $2::uuid[]) k (project_id, id)
     join performance_series s on s.project_id = k.project_id and s.id = k.id`,
    [[...ids.values()], [...ids.keys()]],
  )
  return new Map(found.map(({ id, device_class: deviceClass, ...place }) => [id, { ...place, deviceClass }]))
}

/** The rows with the keys of these, as they are. */
export async function findRollups(client: pg.ClientBase, keys: readonly Rollup[]): Promise<Rollup[]> {
  const { rows } = await client.query<Row>(
    `select r.project_id, r.grain, r.metric, r.bucket, r.step, r.series_id, r.failures, r.left_out, r.sketch
     from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::timestamptz[], $5::smallint[], $6::uuid[])
       k (project_id, grain, metric, bucket, step, series_id)
     join performance_rollups r using (project_id, grain, metric, bucket, step, series_id)`,
    keyColumns(keys),
  )
  return rows.map(rollupOf)
}

/** Writes the rows in place of those with their keys. */
export async function saveRollups(client: pg.ClientBase, rollups: readonly Rollup[]): Promise<void> {
  const rows = rollups.map((row) => ({ row, key: keyOf(row) })).sort((a, b) => (a.key < b.key ? -1 : 1))
  const sorted = rows.map(({ row }) => row)
  await client.query(
    `insert into performance_rollups (project_id, grain, metric, bucket, step, series_id, count, failures, left_out, sketch)
     select * from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::timestamptz[], $5::smallint[], $6::uuid[],
       $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[])
     on conflict (project_id, grain, metric, bucket, step, series_id)
     do update set count = excluded.count, failures = excluded.failures, left_out = excluded.left_out, sketch = excluded.sketch`,
    [
      ...keyColumns(sorted),
      sorted.map((row) => row.sketch.count),
      sorted.map((row) => row.failures),
      sorted.map((row) => row.leftOut),
      sorted.map((row) => row.sketch.toBytes()),
    ],
  )
}

const keyColumns = (rows: readonly Rollup[]): unknown[] => [
  rows.map((row) => row.projectId),
  rows.map((row) => row.grain),
  rows.map((row) => METRICS.indexOf(row.metric)),
  rows.map((row) => row.bucket),
  rows.map((row) => row.step),
  rows.map((row) => row.seriesId),
]

/** Rollups from before `before`, series that have none left, and counters of past days; at most `most` rows of each. */
export async function deleteOld(client: pg.ClientBase, before: Date, today: string, most: number): Promise<number> {
  const { rowCount } = await client.query(
    `delete from performance_rollups where ctid = any(array(
       select ctid from performance_rollups where step = 360 and bucket < $1 order by bucket limit $2))`,
    [before, most],
  )
  await client.query('delete from performance_days where day < $1::date', [dayPlus(today, -2)])
  await client.query(
    `delete from performance_series s where ctid = any(array(
       select ctid from performance_series where last_day < $1::date limit $2))`,
    // Late data reaches back 30 days.
    [dayPlus(before.toISOString().slice(0, 10), -31), most],
  )
  return rowCount ?? 0
}
