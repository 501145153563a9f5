import type { Connection } from '../storage/database.ts'

/** An issue and those merged into it: where its events are filed. */
export async function withMergedIssues(db: Connection, issueId: string): Promise<string[]> {
  const rows = await db.selectFrom('issues').select('id').where('merged_into', '=', issueId).execute()
  return [issueId, ...rows.map(({ id }) => id)]
}
