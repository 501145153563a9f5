import type { App } from '../context/app.ts'
import { deleteEntriesOfUser, ENTRY_TABLES } from './purge.queries.ts'
import { partitionDays } from '../storage/day-partitions.ts'

const PIECE = 5_000

/**
 * Removes log entries and trace metrics that name one of these users in an attribute, day by day, newest first.
 * @returns how many of each
 */
export async function eraseTelemetryOf(
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
        const removed = await app.tx((tx) => deleteEntriesOfUser(tx, table, day, projectId, userKeys, PIECE))
        erased[table] += removed
        if (removed < PIECE) break
      }
    }
  return erased
}
