import type { Connection } from '../storage/database.ts'

/** How long an erasure still holds off what was received before it: longer than anything stays in the spool. */
const REMEMBERED_MS = 7 * 86_400_000

/** People somebody asked to erase lately, as hash → time of the request in ms; null when there are none. */
export async function recentErasures(
  db: Connection,
  projectId: string,
  now: Date,
): Promise<ReadonlyMap<number, number> | null> {
  const rows = await db
    .selectFrom('erasures')
    .select(['user_hash', 'requested_at'])
    .where('project_id', '=', projectId)
    .where('requested_at', '>', new Date(now.getTime() - REMEMBERED_MS))
    .execute()
  return rows.length === 0 ? null : new Map(rows.map((row) => [row.user_hash, row.requested_at.getTime()]))
}
