import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Deletes files of a project with their chunks. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    with chosen as (
      select id, received_day from attachments where project_id = ${projectId} limit ${max}
    ), deleted as (
      delete from attachments a using chosen where a.id = chosen.id and a.received_day = chosen.received_day returning a.id
    ), chunks as (
      delete from attachment_chunks c using chosen
      where c.attachment_id = chosen.id and c.received_day = chosen.received_day
    )
    select count(*) as n from deleted`.execute(tx)
  return rows[0]?.n ?? 0
}
