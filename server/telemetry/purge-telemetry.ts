import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { deleteEntries, deleteIdleMonitors, deleteRuns, ENTRY_TABLES } from './purge.queries.ts'
import { dropDaysBefore, partitionDays } from '../storage/day-partitions.ts'
import { generalSettings } from '../projects/general-settings.ts'
import { selectAllSettings } from '../projects/projects.queries.ts'

const PIECE = 5_000

/**
 * Removes logs, trace metrics and runs of jobs older than the retention of their project, and whole days older than the
 * longest retention any project has. In pieces, so that digestion never waits long.
 * @returns how many rows and days went
 */
export async function purgeTelemetry(app: App, signal?: AbortSignal): Promise<{ rows: number; days: number }> {
  const today = dayOf(app.clock.now())
  const projects = await selectAllSettings(app.db)
  // Without projects there is no retention setting; entries of deleted projects may wait.
  if (projects.length === 0) return { rows: 0, days: 0 }
  const oldest = projects.map(({ id, settings }) => ({
    id,
    day: dayPlus(today, -generalSettings(settings).retention_days),
  }))
  const longest = oldest.reduce((least, { day }) => (day < least ? day : least), today)
  const days = await dropDaysBefore(app.db, ENTRY_TABLES, longest)
  let rows = 0
  for (const table of ENTRY_TABLES) {
    const present = (await partitionDays(app.db, table)).filter((day) => day >= longest)
    for (const { id, day } of oldest) {
      for (const one of present.filter((candidate) => candidate < day))
        rows += await inPieces(signal, () => deleteEntries(app.db, table, one, id, PIECE))
    }
  }
  for (const { id, day } of oldest) {
    rows += await inPieces(signal, () => deleteRuns(app.db, id, day, PIECE))
    await deleteIdleMonitors(app.db, id, day)
  }
  return { rows, days }
}

async function inPieces(signal: AbortSignal | undefined, piece: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    signal?.throwIfAborted()
    const deleted = await piece()
    total += deleted
    if (deleted < PIECE) return total
  }
}

/** Once a day, while few are awake. */
export const purgeTelemetryTask = defineTask({
  name: 'purge-telemetry',
  payload: NoPayload,
  cron: '41 3 * * *',
  async run(app, _payload, signal) {
    const removed = await purgeTelemetry(app, signal)
    app.log.info(removed, 'logs, trace metrics and check-ins beyond their retention are gone')
  },
})
