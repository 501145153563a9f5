import type { Tx } from '../../platform/storage/database.ts'
import type { Dimensions } from './fact.ts'

/** The attributes that a series has, the others are empty (GRAINS of series.ts). */
export type Grain = 0 | 1 | 2 | 3 | 4

export type Series = {
  readonly id: string
  readonly projectId: string
  readonly grain: Grain
  readonly dimensions: Dimensions
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

export type DayCounts = { names: number; series: number; devices: number }

/** The counters of a project for today, locked until the transaction ends. */
export async function lockDay(tx: Tx, projectId: string, today: string): Promise<DayCounts> {
  const { rows } = await tx.query<DayCounts>({
    name: 'performance-lock-day',
    // With an update that changes nothing, one statement inserts or locks the row and returns it.
    text: `insert into performance_days as d (project_id, day, names, series) values ($1, $2::date, 0, 0)
           on conflict (project_id, day) do update set names = d.names returning names, series, devices`,
    values: [projectId, today],
  })
  return rows[0] ?? { names: 0, series: 0, devices: 0 }
}

export async function saveDay(tx: Tx, projectId: string, today: string, counts: DayCounts): Promise<void> {
  const { names, series, devices } = counts
  await tx.query({
    name: 'performance-save-day',
    text: 'update performance_days set names = $3, series = $4, devices = $5 where project_id = $1 and day = $2::date',
    values: [projectId, today, names, series, devices],
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
             select 1 from performance_series s where s.project_id = $1 and s.last_day = $2::date and s.name = k.name)`,
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
    text: `insert into performance_series (project_id, id, grain, name, op, release, environment, os, device_class, device, last_day)
           select k.*, $11::date from unnest($1::uuid[], $2::uuid[], $3::smallint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
             $9::text[], $10::text[]) k
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
      today,
    ],
  })
}
