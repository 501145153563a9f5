import type { Tx } from '../../platform/storage/database.ts'

export type FloodSamplingRow = {
  readonly projectId: string
  readonly keyId: string
  readonly hour: Date
  readonly letThrough: number
  readonly fingerprints: number
  readonly firstAt: Date
  readonly lastAt: Date
}

/** Adds to the hourly counts of flood sampling, except of deleted projects. */
export async function addFloodSampling(tx: Tx, samples: readonly FloodSamplingRow[]): Promise<void> {
  if (samples.length === 0) return
  // In a fixed order, so that two writers cannot deadlock.
  const rows = samples.toSorted((a, b) =>
    a.keyId === b.keyId ? a.hour.getTime() - b.hour.getTime() : a.keyId < b.keyId ? -1 : 1,
  )
  await tx.query(
    `insert into flood_sampling_hourly (project_id, key_id, hour, let_through, fingerprints, first_at, last_at)
     select k.* from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::timestamptz[], $7::timestamptz[])
       k (project_id, key_id, hour, let_through, fingerprints, first_at, last_at)
     where not exists (select from project_ids d where d.id = k.project_id and d.deleted_at is not null)
     on conflict (project_id, key_id, hour) do update set
       let_through = flood_sampling_hourly.let_through + excluded.let_through,
       fingerprints = flood_sampling_hourly.fingerprints + excluded.fingerprints,
       first_at = least(flood_sampling_hourly.first_at, excluded.first_at),
       last_at = greatest(flood_sampling_hourly.last_at, excluded.last_at)`,
    [
      rows.map((row) => row.projectId),
      rows.map((row) => row.keyId),
      rows.map((row) => row.hour),
      rows.map((row) => row.letThrough),
      rows.map((row) => row.fingerprints),
      rows.map((row) => row.firstAt),
      rows.map((row) => row.lastAt),
    ],
  )
}
