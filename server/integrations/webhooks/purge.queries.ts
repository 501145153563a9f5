import type { Connection } from '../../platform/storage/database.ts'

/**
 * Deletes versions of secrets that sign nothing any more: not the current one, no overlap, and no delivery with attempts
 * left is pinned to them.
 * @returns number of secrets
 */
export async function deleteUnusedSecrets(db: Connection, now: Date): Promise<number> {
  const { rowCount } = await db.query(
    `delete from webhook_secrets s using webhook_endpoints e
     where e.id = s.endpoint_id and s.version <> e.secret_version
       and (s.overlap_until is null or s.overlap_until <= $1)
       and not exists (
         select from outbox_deliveries d
         where d.lane_id = s.endpoint_id and d.next_attempt_at is not null and d.secret_version = s.version
       )`,
    [now],
  )
  return rowCount ?? 0
}
