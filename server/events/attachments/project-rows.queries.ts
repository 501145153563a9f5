import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'

/** Deletes files of a project with their chunks. */
async function deleteFiles(tx: Tx, projectId: string, max: number): Promise<number> {
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

export const ATTACHMENT_PART: ProjectPart = {
  tables: ['attachments', 'attachment_chunks'],
  max: 50,
  deleteRows: deleteFiles,
}
