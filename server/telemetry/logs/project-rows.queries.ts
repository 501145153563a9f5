import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { ENTRY_TABLES } from './purge.queries.ts'

/** Deletes logs, metrics, check-ins and monitors of a project. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  let deleted = 0
  for (const table of ENTRY_TABLES) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} l using (
        select received_day, project_id, occurred_at, id from ${sql.table(table)}
        where project_id = ${projectId} limit ${max}
      ) chosen where l.received_day = chosen.received_day and l.project_id = chosen.project_id
        and l.occurred_at = chosen.occurred_at and l.id = chosen.id`.execute(tx)
    deleted += Number(numAffectedRows ?? 0)
  }
  const { numAffectedRows: checkIns } = await sql`
    delete from check_ins where (monitor_id, id) in (
      select monitor_id, id from check_ins where project_id = ${projectId} limit ${max})`.execute(tx)
  deleted += Number(checkIns ?? 0)
  if (deleted > 0) return deleted
  const { numAffectedRows: monitors } = await sql`
    delete from monitors where id in (select id from monitors where project_id = ${projectId} limit ${max})`.execute(tx)
  return Number(monitors ?? 0)
}
