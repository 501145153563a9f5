import type { Tx } from '../storage/database.ts'
import { packEntries, type SpoolEntry } from './entry.ts'
import type { SpoolBatch } from './read.ts'
import { deleteRows, insertQuarantined } from './spool.queries.ts'

/** Another reader settled these rows: this one had lost its shard. Roll back and read again. */
export class SpoolFencedError extends Error {}

/**
 * Takes rows off the spool, in the transaction that records what became of them.
 * @throws SpoolFencedError when a row is gone already; the transaction must then roll back
 */
export async function settleBatches(tx: Tx, shard: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  const deleted = await deleteRows(tx, shard, ids)
  if (deleted !== ids.length)
    throw new SpoolFencedError(
      `shard ${shard}: ${ids.length - deleted} of ${ids.length} spool rows were settled by somebody else`,
    )
}

/**
 * Moves an entry that cannot be digested to quarantine, unchanged. Its row is settled like any other.
 * @param reason one sentence for the operator, without user data
 */
export async function quarantineEntry(
  tx: Tx,
  entry: SpoolEntry,
  reason: string,
  attempts: number,
  now: Date,
): Promise<void> {
  await insertQuarantined(tx, {
    projectId: entry.projectId,
    receivedAt: new Date(entry.receivedAtMs),
    quarantinedAt: now,
    reason,
    attempts,
    entry: packEntries([entry]),
    body: entry.body,
  })
}

/** Quarantines every entry of a row and settles it. */
export async function quarantineBatch(tx: Tx, batch: SpoolBatch, reason: string, now: Date): Promise<void> {
  for (const entry of batch.entries) await quarantineEntry(tx, entry, reason, batch.attempts, now)
  await settleBatches(tx, batch.shard, [batch.id])
}
