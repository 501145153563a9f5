import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { lockFold } from './fold.queries.ts'

/** In the order in which rows move between them. */
const TABLES = [
  'app_sessions',
  'user_devices',
  'health_deltas',
  'health_rollups',
  'health_sketches',
  'health_attributes',
  'health_days',
] as const

/** Deletes sessions of a project and what is counted of it. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  await lockFold(tx)
  let deleted = 0
  for (const table of TABLES) {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where project_id = ${projectId} limit ${max} for update))`.execute(tx)
    deleted += Number(numAffectedRows ?? 0)
  }
  return deleted
}
