import type { App } from '../../platform/context/app.ts'
import { deleteEntriesOfUser, ENTRY_TABLES } from './purge.queries.ts'
import { partitionDays } from '../../platform/storage/day-partitions.ts'

const MAX_ROWS = 5_000

/**
 * Deletes log entries and trace metrics that name one of these users in an attribute, day by day.
 * @returns numbers deleted
 */
export async function eraseUserTelemetry(
  app: App,
  projectId: string,
  userKeys: readonly string[],
  signal: AbortSignal,
): Promise<{ logs: number; trace_metrics: number }> {
  const erased = { logs: 0, trace_metrics: 0 }
  for (const table of ENTRY_TABLES)
    for (const day of await partitionDays(app.db, table)) {
      for (;;) {
        if (signal.aborted) return erased
        const removed = await app.tx((tx) => deleteEntriesOfUser(tx, table, day, projectId, userKeys, MAX_ROWS))
        erased[table] += removed
        if (removed < MAX_ROWS) break
      }
    }
  return erased
}
