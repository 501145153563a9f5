import type { Connection } from '../../platform/storage/database.ts'

/** For this long digestion drops data that was received before an erasure: longer than requests stay in the spool. */
const RECENT_MS = 7 * 86_400_000

/** Recently erased users of a project: hash → time of the request in ms. Null when there are none. */
export async function recentErasures(
  db: Connection,
  projectId: string,
  now: Date,
): Promise<ReadonlyMap<number, number> | null> {
  const rows = await db
    .selectFrom('erasures')
    .select(['user_hash', 'requested_at'])
    .where('project_id', '=', projectId)
    .where('requested_at', '>', new Date(now.getTime() - RECENT_MS))
    .execute()
  return rows.length === 0 ? null : new Map(rows.map((row) => [row.user_hash, row.requested_at.getTime()]))
}
