import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { dropDaysBefore } from '../storage/day-partitions.ts'
import { projectSettings } from '../team/project-settings.ts'

/**
 * Drops days of events, bodies included, that are older than the longest retention any project has (product.md §9).
 * Issues, their counts and rollups stay.
 * @returns how many days went
 */
export async function purgeEvents(app: App): Promise<number> {
  const projects = await app.db.selectFrom('projects').select('settings').execute()
  // Without projects nobody says how long.
  if (projects.length === 0) return 0
  const longest = Math.max(...projects.map(({ settings }) => projectSettings(settings).retention_days))
  const day = dayPlus(dayOf(app.clock.now()), -longest)
  const dropped = await dropDaysBefore(app.pool, ['events', 'event_blocks'], day)
  // Only of days that are gone: one that was in use is still to be read through its blocks.
  await app.pool.query(
    `delete from event_packings p where p.received_day < $1::date
       and to_regclass('events_' || to_char(p.received_day, 'YYYYMMDD')) is null`,
    [day],
  )
  return dropped
}

/** Once a day, while few are awake. */
export const purgeEventsTask = defineTask({
  name: 'purge-events',
  payload: NoPayload,
  cron: '51 3 * * *',
  async run(app) {
    const days = await purgeEvents(app)
    if (days > 0) app.log.info({ days }, 'days of events beyond the longest retention are gone')
  },
})
