import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from feedback where id in (select id from feedback where project_id = ${projectId} limit ${max})`.execute(tx)
  return Number(numAffectedRows ?? 0)
}
