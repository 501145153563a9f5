import type { App } from '../../context/app.ts'
import { defineTask, NoPayload } from '../../jobs/task.ts'
import { dayOf, dayPlus } from '../../kernel/day.ts'
import { dropDaysBefore } from '../../storage/day-partitions.ts'
import { deleteDayCountersBefore, deleteRollupsBefore, deleteSeriesUnusedSince } from './purge.queries.ts'
import { SEEN_DAYS } from './record.queries.ts'

const DAY_MS = 86_400_000
/** Rollups are kept that long. */
const ROLLUPS_KEPT_DAYS = 400
/** Measurements are up to so much older than the day they are received on. */
const LATE_DAYS = 31
const PIECE = 10_000

/**
 * Deletes what is too old: rollups after 400 days and the series only they were of, what was remembered to know
 * repetitions by, and the counters of past days. In pieces.
 * @returns how many rollups went
 */
export async function purgePerformance(app: App, signal?: AbortSignal): Promise<number> {
  const now = app.clock.now()
  const today = dayOf(now)
  const oldest = new Date(now.getTime() - ROLLUPS_KEPT_DAYS * DAY_MS)
  await dropDaysBefore(app.db, ['performance_seen'], dayPlus(today, -SEEN_DAYS))
  let total = 0
  let deleted = PIECE
  while (deleted === PIECE) {
    signal?.throwIfAborted()
    deleted = await deleteRollupsBefore(app.db, oldest, PIECE)
    total += deleted
  }
  await deleteSeriesUnusedSince(app.db, dayPlus(dayOf(oldest), -LATE_DAYS))
  await deleteDayCountersBefore(app.db, dayPlus(today, -1))
  return total
}

export const purgePerformanceTask = defineTask({
  name: 'purge-performance',
  payload: NoPayload,
  cron: '41 * * * *',
  async run(app, _payload, signal) {
    await purgePerformance(app, signal)
  },
})
