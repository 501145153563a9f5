import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { deleteUsageBefore } from '../limits/org-quota.queries.ts'
import { COUNT_TABLES, deleteCounts } from './outcomes.queries.ts'

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
  for (const table of COUNT_TABLES) {
    let deleted = PIECE
    while (deleted === PIECE) {
      signal?.throwIfAborted()
      deleted = await deleteCounts(app.db, table, oldest, PIECE)
      total += deleted
    }
  }
  return total + (await deleteUsageBefore(app.db, day))
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
