import { sql } from 'kysely'
import type { Tx } from '../../platform/storage/database.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** Documents are deleted with their issues. */
export const IDENTITY_PART = projectPart(5_000, [ownRows('user_identities')])

/** Deletes new terms of issues that are about to be deleted. */
export async function deleteNewTermsOfIssues(tx: Tx, issueIds: readonly string[]): Promise<void> {
  await sql`delete from issue_new_terms where issue_id = any(${[...issueIds]}::uuid[])`.execute(tx)
}
