import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { deleteUsageBefore } from '../limits/org-quota.queries.ts'
import { deleteRows } from '../../platform/storage/own-rows.ts'
import { COUNT_TABLES } from './outcomes.queries.ts'

const KEPT_DAYS = 400
const PIECE = 10_000

/**
 * Deletes counts after their retention, in pieces, so that digestion never waits long.
 * @returns the number of rows
 */
export async function purgeOutcomes(app: App, signal?: AbortSignal): Promise<number> {
  const day = dayPlus(dayOf(app.clock.now()), -KEPT_DAYS)
  const oldest = new Date(`${day}T00:00:00Z`)
  let total = 0
  for (const table of COUNT_TABLES) {
    let deleted = PIECE
    while (deleted === PIECE) {
      signal?.throwIfAborted()
      deleted = await deleteRows(app.db, table, { before: ['hour', oldest] }, PIECE, 'skip')
      total += deleted
    }
  }
  return total + (await deleteUsageBefore(app.db, day))
}

/** Once a day, at a quiet hour. */
export const purgeOutcomesTask = defineTask({
  name: 'purge-outcomes',
  payload: NoPayload,
  cron: '17 4 * * *',
  async run(app, _payload, signal) {
    await purgeOutcomes(app, signal)
  },
})
