import type { App } from '../../platform/context/app.ts'
import { inBatches } from '../../platform/jobs/in-batches.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { deleteEntries, ENTRY_TABLES } from '../logs/purge.queries.ts'
import { deleteIdleMonitors, deleteRuns } from './purge.queries.ts'
import { dropDaysBefore, partitionDays } from '../../platform/storage/day-partitions.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'

const MAX_ROWS = 5_000

/**
 * Deletes logs, trace metrics and check-ins older than the retention of their project, and drops days older than the
 * longest retention. Small transactions keep the waits of digestion short.
 * @returns numbers of rows and days deleted
 */
export async function purgeTelemetry(app: App, signal?: AbortSignal): Promise<{ rows: number; days: number }> {
  const today = dayOf(app.clock.now())
  const projects = await selectAllSettings(app.db)
  // Without projects there is no retention setting. Entries of deleted projects stay until there is one.
  if (projects.length === 0) return { rows: 0, days: 0 }
  const oldest = projects.map(({ id, settings }) => ({
    id,
    day: dayPlus(today, -generalSettings(settings).retention_days),
  }))
  const longest = oldest.reduce((min, { day }) => (day < min ? day : min), today)
  const days = await dropDaysBefore(app.db, ENTRY_TABLES, longest)
  let rows = 0
  for (const table of ENTRY_TABLES) {
    const present = (await partitionDays(app.db, table)).filter((day) => day >= longest)
    for (const { id, day } of oldest) {
      for (const one of present.filter((candidate) => candidate < day))
        rows += await inBatches(MAX_ROWS, signal, () => deleteEntries(app.db, table, one, id, MAX_ROWS))
    }
  }
  for (const { id, day } of oldest) {
    rows += await inBatches(MAX_ROWS, signal, () => deleteRuns(app.db, id, day, MAX_ROWS))
    await deleteIdleMonitors(app.db, id, day)
  }
  return { rows, days }
}

/** Runs once a day at night (UTC). */
export const purgeTelemetryTask = defineTask({
  name: 'purge-telemetry',
  payload: NoPayload,
  cron: '41 3 * * *',
  async run(app, _payload, signal) {
    const removed = await purgeTelemetry(app, signal)
    app.log.info(removed, 'deleted logs, trace metrics and check-ins older than their retention')
  },
})
