import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'

/** Deletes results of bulk operations for issues that are about to be deleted. */
export async function deleteResultsOf(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`delete from bulk_operation_issues where issue_id = any(${[...issueIds]}::uuid[])`.execute(tx)
}

/** Removes the fixes that bulk operations chose for a project. */
async function deleteFixes(tx: Tx, projectId: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    update bulk_operations set fixes = fixes - ${projectId}::text where id in (
      select id from bulk_operations where fixes ? ${projectId}::text limit ${max})`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

export const BULK_PART: ProjectPart = { tables: ['bulk_operations'], max: 100, deleteRows: deleteFixes }
