import type { Tx } from '../../platform/storage/database.ts'
import type { DeviceClass } from '../../events/protocol/device-signals.ts'
import { LEFT_OUT, METRICS, type LeftOut, type Metric } from '../../events/protocol/span-values.ts'
import type { DDSketch } from '../sketch/ddsketch.ts'
import type { LeftOutCounts } from './deltas.ts'
import type { Dimensions } from './fact.ts'
import { metricAt } from './record.queries.ts'

/** Measurements of a series and metric in one bucket of `step` minutes. */
export type Rollup = {
  readonly projectId: string
  readonly grain: number
  readonly metric: Metric
  readonly bucket: Date
  readonly step: number
  readonly seriesId: string
  readonly failures: number
  readonly leftOut: LeftOutCounts
  /** The sketch as stored. */
  readonly bytes: Buffer
}

/** The sum of all rows with the key of `row`. */
export type Sum = {
  readonly row: Rollup
  failures: number
  readonly leftOut: LeftOutCounts
  readonly sketch: DDSketch
}

/** A rollup that digestion added, with its device. */
export type FreshRollup = Rollup & { readonly device: string }

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
}

const rollupOf = (row: Row): Rollup => ({
  projectId: row.project_id,
  grain: row.grain,
  metric: metricAt(row.metric),
  bucket: row.bucket,
  step: row.step,
  seriesId: row.series_id,
  failures: row.failures,
  leftOut: { too_long: row.too_long, prewarmed: row.prewarmed, invalid: row.invalid },
  bytes: row.sketch,
})

/** Deletes and returns rows. */
export async function takeDeltas(tx: Tx, max: number): Promise<FreshRollup[]> {
  const { rows } = await tx.query<Row & { device: string }>(
    `delete from performance_deltas where ctid = any(array(select ctid from performance_deltas limit $1))
     returning project_id, 0 as grain, metric, minute as bucket, 1 as step, series_id, device,
       failures, ${LEFT_OUT_COLUMNS}, sketch`,
    [max],
  )
  return rows.map((row) => ({ ...rollupOf(row), device: row.device }))
}

/** Deletes and returns rows of this step whose bucket starts before `before`, oldest first. */
export async function takeRollups(tx: Tx, step: number, before: Date, max: number): Promise<Rollup[]> {
  const { rows } = await tx.query<Row>(
    `delete from performance_rollups where ctid = any(array(
       select ctid from performance_rollups where step = $1 and bucket < $2 order by bucket limit $3))
     returning project_id, grain, metric, bucket, step, series_id, failures, ${LEFT_OUT_COLUMNS}, sketch`,
    [step, before, max],
  )
  return rows.map(rollupOf)
}

/** Project and dimensions of series, by series id. */
export async function selectDimensions(
  tx: Tx,
  rows: readonly Rollup[],
): Promise<Map<string, { projectId: string; dimensions: Dimensions }>> {
  const ids = new Map(rows.map((row) => [row.seriesId, row.projectId]))
  const { rows: found } = await tx.query<
    Omit<Dimensions, 'deviceClass' | 'device'> & { id: string; project_id: string; device_class: DeviceClass }
  >(
    `select s.id, s.project_id, s.name, s.op, s.release, s.environment, s.os, s.device_class
     from unnest($1::uuid[], $2::uuid[]) k (project_id, id)
     join performance_series s on s.project_id = k.project_id and s.id = k.id`,
    [[...ids.values()], [...ids.keys()]],
  )
  return new Map(
    found.map(({ id, project_id: projectId, device_class: deviceClass, ...dimensions }) => [
      id,
      { projectId, dimensions: { ...dimensions, deviceClass, device: '' } },
    ]),
  )
}

/** Reads rows by their keys. */
export async function findRollups(tx: Tx, keys: readonly Rollup[]): Promise<Rollup[]> {
  const { rows } = await tx.query<Row>(
    `select r.project_id, r.grain, r.metric, r.bucket, r.step, r.series_id, r.failures,
       ${LEFT_OUT.map((reason) => `r.${reason}`).join(', ')}, r.sketch
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
  await tx.query(
    `insert into performance_rollups (project_id, grain, metric, bucket, step, series_id, count, failures, ${LEFT_OUT_COLUMNS}, sketch)
     select * from unnest($1::uuid[], $2::smallint[], $3::smallint[], $4::timestamptz[], $5::smallint[], $6::uuid[],
       $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[])
     on conflict (project_id, grain, metric, series_id, step, bucket)
     do update set count = excluded.count, failures = excluded.failures,
       ${LEFT_OUT.map((reason) => `${reason} = excluded.${reason}`).join(', ')}, sketch = excluded.sketch`,
    [
      ...keyColumns(sorted.map(({ row }) => row)),
      sorted.map(({ sketch }) => sketch.count),
      sorted.map(({ failures }) => failures),
      ...LEFT_OUT.map((reason) => sorted.map(({ leftOut }) => leftOut[reason])),
      sorted.map(({ sketch }) => sketch.toBytes()),
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
