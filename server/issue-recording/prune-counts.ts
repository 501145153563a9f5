import { sql } from 'kysely'
import type { App } from '../context/app.ts'

const DAY_MS = 86_400_000
/** Counts are kept so long. */
const KEPT_DAYS = 400
const PIECE = 10_000

/** Deletes hours of issues and minutes of projects that are too old, in pieces. Returns how many rows went. */
export async function pruneCounts(app: App, signal?: AbortSignal): Promise<number> {
  const before = new Date(app.clock.now().getTime() - KEPT_DAYS * DAY_MS)
  let total = 0
  for (const { table, time } of [
    { table: 'issue_hours', time: 'hour' },
    { table: 'project_minutes', time: 'minute' },
  ]) {
    for (;;) {
      signal?.throwIfAborted()
      // Rows are found by where they lie: two pieces at once never wait for each other.
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} where ${sql.ref(time)} < ${before} limit ${PIECE} for update skip locked
        ))`.execute(app.db)
      const deleted = Number(numAffectedRows ?? 0)
      total += deleted
      if (deleted < PIECE) break
    }
  }
  return total
}
