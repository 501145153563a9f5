import { sql, type RawBuilder } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

const run = async (tx: Tx, statement: RawBuilder<unknown>): Promise<number> =>
  Number((await statement.execute(tx)).numAffectedRows ?? 0)

/** Tables in the order in which measurements move between them, so that none escapes to one that was read before. */
const TABLES = [
  'battery_levels',
  'battery_hours',
  'performance_pending',
  'performance_deltas',
  'performance_rollups',
  'performance_days',
] as const

/** Deletes measurements of a project and their rollups. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  let deleted = 0
  for (const table of TABLES)
    deleted += await run(
      tx,
      sql`delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where project_id = ${projectId} limit ${max} for update))`,
    )
  if (deleted > 0) return deleted
  // Keys of segments name their series. The other keys are hashes that name nothing; they are dropped after three days.
  const keys = await run(
    tx,
    sql`delete from performance_seen where (key, received_day) in (
      select key, received_day from performance_seen
      where series_id in (select id from performance_series where project_id = ${projectId}) limit ${max})`,
  )
  if (keys > 0) return keys
  return run(
    tx,
    sql`delete from performance_series where (project_id, id) in (
      select project_id, id from performance_series where project_id = ${projectId} limit ${max})`,
  )
}
