import type { Database } from '../../storage/pool.ts'

/** Ids under which an issue's events are filed: its own, and those of the issues merged into it. */
export async function eventSources(db: Database, issueId: string): Promise<string[]> {
  const merged = await db.selectFrom('issues').select('id').where('merged_into', '=', issueId).execute()
  return [issueId, ...merged.map(({ id }) => id)]
}
