import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Deletes the traces of a project. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  let deleted = 0
  for (const table of ['trace_parts', 'trace_errors'] as const) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} t using (
        select received_day, trace_id, ctid as place from ${sql.table(table)} where project_id = ${projectId} limit ${max}
      ) chosen where t.project_id = ${projectId} and t.received_day = chosen.received_day and t.trace_id = chosen.trace_id
        and t.ctid = chosen.place`.execute(tx)
    deleted += Number(numAffectedRows ?? 0)
  }
  if (deleted > 0) return deleted
  const { numAffectedRows } = await sql`delete from trace_days where project_id = ${projectId}`.execute(tx)
  return Number(numAffectedRows ?? 0)
}
