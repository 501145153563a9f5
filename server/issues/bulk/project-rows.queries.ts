import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'
import { deleteGeneration, deleteIssueRows, emptyIssues } from '../rows/delete-rows.queries.ts'
import { deleteNewTermsOfIssues } from '../search/user-identities.queries.ts'

/** Deletes results of bulk operations for issues that are about to be deleted. */
async function deleteResultsOf(tx: Tx, issueIds: readonly string[]): Promise<void> {
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

/** Users and hours are up to 50,000 rows each: many issues at once hold their locks for long. */
export const ISSUE_PART: ProjectPart = {
  tables: [
    'issues',
    'issue_groups',
    'issue_fingerprints',
    'issue_generations',
    'issue_hours',
    'issue_users',
    'issue_user_slots',
    'issue_search',
    'issue_new_terms',
    'issue_activity',
    'comments',
    'comment_mentions',
    'issue_subscriptions',
    'inbox_entries',
    'bulk_operation_issues',
  ],
  max: 100,
  async deleteRows(tx, projectId, max) {
    const { ids, isWhole, rows } = await emptyIssues(tx, projectId, max)
    if (ids.length === 0) return deleteGeneration(tx, projectId)
    if (!isWhole) return rows
    await deleteResultsOf(tx, ids)
    await deleteNewTermsOfIssues(tx, ids)
    return rows + (await deleteIssueRows(tx, ids))
  },
}
