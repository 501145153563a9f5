import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { partitionDays } from '../storage/day-partitions.ts'

/** Attributes that name a user: of SDKs, and of OpenTelemetry. */
const NAMING = [
  'user.id',
  'user.name',
  'user.email',
  'user.username',
  'user.ip_address',
  'enduser.id',
  'client.address',
]

const PIECE = 5_000
/** Nothing but a look at every entry of a day finds them; a large day takes longer than statements may otherwise. */
const STATEMENT_MS = 300_000

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
  for (const table of ['logs', 'trace_metrics'] as const)
    for (const day of await partitionDays(app.db, table)) {
      for (;;) {
        if (signal.aborted) return erased
        const removed = await erasePiece(app, table, day, projectId, userKeys)
        erased[table] += removed
        if (removed < PIECE) break
      }
    }
  return erased
}

function erasePiece(
  app: App,
  table: 'logs' | 'trace_metrics',
  day: string,
  projectId: string,
  userKeys: readonly string[],
): Promise<number> {
  return app.tx(async (tx) => {
    await sql`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`.execute(tx)
    // Of one partition, so that row addresses are of one table.
    const { numAffectedRows } = await sql`
      delete from ${sql.table(table)} where received_day = ${day}::date and ctid = any(array(
        select ctid from ${sql.table(table)} where received_day = ${day}::date and project_id = ${projectId} and exists (
          select from unnest(${NAMING}::text[]) name
          where attributes #>> array[name, 'value'] = any(${[...userKeys]}::text[])
        ) limit ${PIECE}
      ))`.execute(tx)
    return Number(numAffectedRows ?? 0)
  })
}
