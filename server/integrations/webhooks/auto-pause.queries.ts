import type { Tx } from '../../platform/storage/database.ts'

/**
 * An endpoint that can be paused automatically: not deleted, not paused, and it asked for it. Its lane is locked before it,
 * in the order of changes by users.
 */
export async function lockForAutoPause(tx: Tx, endpointId: string) {
  const lane = await tx
    .selectFrom('outbox_lanes')
    .select('paused_at')
    .where('id', '=', endpointId)
    .where('closed_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (lane === undefined || lane.paused_at !== null) return undefined
  return tx
    .selectFrom('webhook_endpoints')
    .select([
      'org_id as orgId',
      'url',
      'failing_since as failingSince',
      'failed_attempts as failedAttempts',
      'last_attempt_at as lastAttemptAt',
    ])
    .where('id', '=', endpointId)
    .where('auto_pause', '=', true)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
}

export async function markAutoPaused(tx: Tx, endpointId: string, now: Date): Promise<void> {
  await tx.updateTable('webhook_endpoints').set({ auto_paused_at: now }).where('id', '=', endpointId).execute()
}
