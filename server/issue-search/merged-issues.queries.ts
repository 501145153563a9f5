import type { Connection } from '../storage/database.ts'

/** Returns the ids of an issue and of the issues merged into it; events keep the id they were recorded with. */
export async function withMergedIssues(db: Connection, issueId: string): Promise<string[]> {
  const rows = await db.selectFrom('issue_groups').select('id').where('issue_id', '=', issueId).execute()
  return rows.map(({ id }) => id)
}
