import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Deletes requests of a project in quarantine. Those in the spool share rows with others: digestion drops them. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from spool_quarantine where id in (
      select id from spool_quarantine where project_id = ${projectId} limit ${max})`.execute(tx)
  return Number(numAffectedRows ?? 0)
}
