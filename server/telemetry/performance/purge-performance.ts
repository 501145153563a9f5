import type { App } from '../../platform/context/app.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { MAX_GAP_MS } from './battery-drain.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import {
  deleteBatteryHoursBefore,
  deleteBatteryLevelsBefore,
  deleteDayCountersBefore,
  deleteRollupsBefore,
  deleteSeriesUnusedSince,
} from './purge.queries.ts'
import { SEEN_DAYS } from './record.queries.ts'

const DAY_MS = 86_400_000
const ROLLUP_RETENTION_DAYS = 400
/** Measurements are at most this much older than their day of receipt. */
const MAX_LATE_DAYS = 31
/** A dry run of an alert rule looks back seven days, each moment over a window of up to seven. */
const BATTERY_HOUR_DAYS = 15
const MAX_ROWS = 10_000

/**
 * Deletes rollups after 400 days and series without rollups, old keys of duplicates, battery levels and the counters of past
 * days, in small transactions.
 * @returns number of rollups deleted
 */
export async function purgePerformance(app: App, signal?: AbortSignal): Promise<number> {
  const now = app.clock.now()
  const today = dayOf(now)
  const oldest = new Date(now.getTime() - ROLLUP_RETENTION_DAYS * DAY_MS)
  await dropDaysBefore(app.db, ['performance_seen'], dayPlus(today, -SEEN_DAYS))
  let total = 0
  let deleted = MAX_ROWS
  while (deleted === MAX_ROWS) {
    signal?.throwIfAborted()
    deleted = await deleteRollupsBefore(app.db, oldest, MAX_ROWS)
    total += deleted
  }
  await deleteSeriesUnusedSince(app.db, dayPlus(dayOf(oldest), -MAX_LATE_DAYS))
  await deleteDayCountersBefore(app.db, dayPlus(today, -1))
  await deleteBatteryLevelsBefore(app.db, new Date(now.getTime() - MAX_GAP_MS))
  await deleteBatteryHoursBefore(app.db, new Date(now.getTime() - BATTERY_HOUR_DAYS * DAY_MS))
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
