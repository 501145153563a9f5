import type { App } from '../../platform/context/app.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import { AGING_PERFORMANCE } from './project-rows.queries.ts'
import { SEEN_DAYS } from './record.queries.ts'

/** Deletes old keys of duplicates, rollups, series, battery levels and the counters of past days. */
export async function purgePerformance(app: App, signal?: AbortSignal): Promise<Readonly<Record<string, number>>> {
  await dropDaysBefore(app.db, ['performance_seen'], dayPlus(utcDay(app.clock.now()), -SEEN_DAYS))
  return purgeRows(app, AGING_PERFORMANCE, signal)
}

export const purgePerformanceTask = defineTask({
  name: 'purge-performance',
  payload: NoPayload,
  cron: '41 * * * *',
  async run(app, _payload, signal) {
    await purgePerformance(app, signal)
  },
})
