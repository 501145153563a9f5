import type { Statements } from '../../platform/storage/database.ts'
import { packEntries, type SpoolEntry } from './entry.ts'
import type { SpoolBatch } from './read.ts'
import { deleteRows, insertQuarantined, type RowKey } from './spool.queries.ts'

/** Another reader settled these rows, because this one had lost its shards. Roll back and read again. */
export class SpoolFencedError extends Error {}

/**
 * Deletes rows from the spool, in the transaction that records their outcomes.
 * @throws SpoolFencedError when a row was deleted already; the transaction must then roll back
 */
export async function settleBatches(on: Statements, part: number, rows: readonly RowKey[]): Promise<void> {
  if (rows.length === 0) return
  const deleted = await deleteRows(on, part, rows)
  if (deleted !== rows.length)
    throw new SpoolFencedError(
      `part ${part}: ${rows.length - deleted} of ${rows.length} spool rows were settled by another reader`,
    )
}

/**
 * Copies an entry that cannot be digested to quarantine, unchanged. The caller settles its row.
 * @param reason one sentence for the operator, without user data
 */
export async function quarantineEntry(
  on: Statements,
  entry: SpoolEntry,
  reason: string,
  attempts: number,
  now: Date,
): Promise<void> {
  await insertQuarantined(on, {
    projectId: entry.projectId,
    receivedAt: new Date(entry.receivedAtMs),
    quarantinedAt: now,
    reason,
    attempts,
    entry: packEntries([entry]),
    body: entry.body,
  })
}

/** Copies every entry of a row to quarantine and settles the row. */
export async function quarantineBatch(on: Statements, batch: SpoolBatch, reason: string, now: Date): Promise<void> {
  for (const entry of batch.entries) await quarantineEntry(on, entry, reason, batch.attempts, now)
  await settleBatches(on, batch.part, [batch])
}
