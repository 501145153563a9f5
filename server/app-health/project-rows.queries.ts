import { sql } from 'kysely'
import type { Tx } from '../storage/database.ts'

/** Deletes sessions of a project and their rollups. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  let deleted = 0
  for (const table of ['app_sessions', 'session_rollups', 'session_attributes']) {
    const { numAffectedRows } = await sql`delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where project_id = ${projectId} limit ${max} for update))`.execute(tx)
    deleted += Number(numAffectedRows ?? 0)
  }
  return deleted
}
