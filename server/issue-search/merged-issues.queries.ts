import type { Connection } from '../storage/database.ts'

/** Returns the ids of an issue and of the issues merged into it; events keep the id they were recorded with. */
export async function withMergedIssues(db: Connection, issueId: string): Promise<string[]> {
  const rows = await db.selectFrom('issues').select('id').where('merged_into', '=', issueId).execute()
  return [issueId, ...rows.map(({ id }) => id)]
}
