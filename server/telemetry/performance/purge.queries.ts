import { sql } from 'kysely'
import type { Connection } from '../../platform/storage/database.ts'
import { LONG } from './steps.ts'

/** Deletes rollups of long buckets before a time; shorter ones do not live as long. @returns number deleted */
export async function deleteRollupsBefore(on: Connection, before: Date, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from performance_rollups where ctid = any(array(
      select ctid from performance_rollups where step = any(${[...LONG]}::smallint[]) and bucket < ${before} limit ${max}))`.execute(
    on,
  )
  return Number(numAffectedRows ?? 0)
}

export async function deleteSeriesUnusedSince(on: Connection, day: string): Promise<void> {
  await on.deleteFrom('performance_series').where('last_day', '<', day).execute()
}

export async function deleteBatteryLevelsBefore(on: Connection, before: Date): Promise<void> {
  await on.deleteFrom('battery_levels').where('seen_at', '<', before).execute()
}

export async function deleteBatteryHoursBefore(on: Connection, before: Date): Promise<void> {
  await on.deleteFrom('battery_hours').where('hour', '<', before).execute()
}

export async function deleteDayCountersBefore(on: Connection, day: string): Promise<void> {
  await on.deleteFrom('performance_days').where('day', '<', day).execute()
}
