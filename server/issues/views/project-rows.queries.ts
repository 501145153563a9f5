import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'

/** Deletes saved views of this project alone, and removes it from the others: without it they would show all projects. */
async function deleteFromViews(tx: Tx, projectId: string, max: number): Promise<number> {
  const names = sql`filters -> 'projectId' ? ${projectId}::text`
  const deleted = await sql`
    delete from issue_views where id in (
      select id from issue_views where ${names} and jsonb_array_length(filters -> 'projectId') = 1 limit ${max})`.execute(
    tx,
  )
  const changed = await sql`
    update issue_views set filters = jsonb_set(filters, '{projectId}', (filters -> 'projectId') - ${projectId}::text)
    where id in (select id from issue_views where ${names} limit ${max})`.execute(tx)
  return Number(deleted.numAffectedRows ?? 0) + Number(changed.numAffectedRows ?? 0)
}

export const VIEW_PART: ProjectPart = { tables: ['issue_views'], max: 100, deleteRows: deleteFromViews }
