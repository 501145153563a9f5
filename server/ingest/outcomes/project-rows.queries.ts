import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { COUNT_TABLES } from './outcomes.queries.ts'

/** Deletes counts of a project. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  let deleted = 0
  for (const table of COUNT_TABLES) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where project_id = ${projectId} limit ${max} for update))`.execute(tx)
    deleted += Number(numAffectedRows ?? 0)
  }
  return deleted
}
