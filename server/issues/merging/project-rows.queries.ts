import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

export const DISCARD_PARTS = [
  projectPart(1_000, [ownRows('discarded_fingerprints')]),
  projectPart(1_000, [ownRows('discards')]),
]

/** Rows of one issue that are deleted together: users, and hours. */
const MAX_COUNTS = 50_000

/**
 * Locks some issues of a project, with those merged into them, and deletes their users and hours.
 * @returns the ids of the groups; `isWhole` when no users and hours of them are left
 */
export async function emptyIssues(
  tx: Tx,
  projectId: string,
  max: number,
): Promise<{ readonly ids: string[]; readonly isWhole: boolean; readonly rows: number }> {
  // Those merged into an issue are deleted with it.
  const { rows: found } = await sql<{ id: string }>`
    with chosen as (select id from issues where project_id = ${projectId} and merged_into is null limit ${max})
    select id from issues where id in (
      select id from chosen union select m.id from issues m join chosen on m.merged_into = chosen.id
    ) order by id for update`.execute(tx)
  const ids = found.map(({ id }) => id)
  const counted = [0, 0, 0]
  for (const [index, table] of (['issue_users', 'issue_user_slots', 'issue_hours'] as const).entries()) {
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where ctid = any(array(
        select ctid from ${sql.table(table)} where group_id = any(${ids}::uuid[]) limit ${MAX_COUNTS} for update))`.execute(
      tx,
    )
    counted[index] = Number(numAffectedRows ?? 0)
  }
  return {
    ids,
    isWhole: counted.every((n) => n < MAX_COUNTS),
    rows: counted.reduce((sum, n) => sum + n, 0),
  }
}

/** Deletes issues with everything that refers to them: groups, fingerprints, documents, activity, comments, inboxes. */
export async function deleteIssueRows(tx: Tx, issueIds: readonly string[]): Promise<number> {
  const { numAffectedRows } = await sql`delete from issues where id = any(${[...issueIds]}::uuid[])`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

export async function deleteGeneration(tx: Tx, projectId: string): Promise<number> {
  const { numAffectedRows } = await sql`delete from issue_generations where project_id = ${projectId}`.execute(tx)
  return Number(numAffectedRows ?? 0)
}
