import type { Tx } from '../../platform/storage/database.ts'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { dayPlus } from '../../platform/kernel/day.ts'
import type { DeviceClass } from '../../events/protocol/device-signals.ts'
import { LEFT_OUT, METRICS, type LeftOut, type Metric } from '../../events/protocol/span-values.ts'
import type { Dimensions } from './fact.ts'
import type { Delta } from './deltas.ts'

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
    rows.row(11)
    rows.uuid(delta.projectId)
    rows.uuid(delta.seriesId)
    rows.text(delta.device)
    rows.int16(METRICS.indexOf(delta.metric))
    rows.time(delta.minute)
    rows.int32(delta.sketch.count)
    rows.int32(delta.failures)
    for (const reason of LEFT_OUT) rows.int32(delta.leftOut[reason])
    rows.bytes(delta.sketch.toBytes())
  }
  await tx.copyIn(
    `performance_deltas (project_id, series_id, device, metric, minute, count, failures, ${LEFT_OUT.join(', ')}, sketch)`,
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
