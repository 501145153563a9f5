import type { App } from '../../platform/context/app.ts'
import { purgeBefore, startOfDay } from '../../platform/jobs/purge.ts'
import type { OwnRows } from '../../platform/storage/own-rows.ts'
import { defineTask, NoPayload } from '../../platform/jobs/task.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { ENTRY_ROWS, ENTRY_TABLES } from '../logs/purge.queries.ts'
import { CHECK_IN_ROWS, deleteIdleMonitors } from './check-ins.queries.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'

/**
 * Deletes logs, trace metrics and check-ins older than the retention of their project, and drops days older than the
 * longest retention. Small transactions keep the waits of digestion short.
 * @returns numbers of rows and days deleted
 */
export async function purgeTelemetry(app: App, signal?: AbortSignal): Promise<{ rows: number; days: number }> {
  const today = utcDay(app.clock.now())
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
  for (const { id, day } of oldest) {
    const purge = (own: OwnRows, column: string) =>
      purgeBefore(app, own, { equal: { project_id: id }, before: [column, startOfDay(day)] }, signal)
    for (const own of ENTRY_ROWS) rows += await purge(own, 'received_day')
    rows += await purge(CHECK_IN_ROWS, 'received_at')
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
