import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'

/** Deletes which users a project had. Documents are deleted with their issues. */
export async function deleteProjectRows(tx: Tx, projectId: string, max: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from user_identities where ctid = any(array(
      select ctid from user_identities where project_id = ${projectId} limit ${max} for update))`.execute(tx)
  return Number(numAffectedRows ?? 0)
}

/** Deletes new terms of issues that are about to be deleted. */
export async function deleteNewTermsOf(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`delete from issue_new_terms where issue_id = any(${[...issueIds]}::uuid[])`.execute(tx)
}
