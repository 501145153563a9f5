import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'

const TABLES = ['outcomes_hourly', 'client_losses_hourly', 'flood_sampling_hourly'] as const
/** Counts are kept that long. */
const KEPT_DAYS = 400
const PIECE = 10_000

/**
 * Removes counts of the intake that are too old. In pieces, so that digestion never waits long.
 * @returns how many rows went
 */
export async function purgeOutcomes(app: App, signal?: AbortSignal): Promise<number> {
  const day = dayPlus(dayOf(app.clock.now()), -KEPT_DAYS)
  const oldest = new Date(`${day}T00:00:00Z`)
  let total = 0
  for (const table of TABLES) {
    let deleted = PIECE
    while (deleted === PIECE) {
      signal?.throwIfAborted()
      const { numAffectedRows } = await sql`
        delete from ${sql.table(table)} where ctid = any(array(
          select ctid from ${sql.table(table)} where hour < ${oldest} limit ${PIECE}))`.execute(app.db)
      deleted = Number(numAffectedRows ?? 0)
      total += deleted
    }
  }
  const { numDeletedRows } = await app.db.deleteFrom('org_usage_daily').where('day', '<', day).executeTakeFirst()
  return total + Number(numDeletedRows)
}

/** Once a day, while few are awake. */
export const purgeOutcomesTask = defineTask({
  name: 'purge-outcomes',
  payload: NoPayload,
  cron: '17 4 * * *',
  async run(app, _payload, signal) {
    await purgeOutcomes(app, signal)
  },
})
