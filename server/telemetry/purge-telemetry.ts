import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { defineTask, NoPayload } from '../jobs/task.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { dropDaysBefore, partitionDays } from '../storage/day-partitions.ts'
import { generalSettings } from '../projects/general-settings.ts'

const TABLES = ['logs', 'trace_metrics'] as const
const PIECE = 5_000

/**
 * Removes logs, trace metrics and runs of jobs older than the retention of their project, and whole days older than the
 * longest retention any project has. In pieces, so that digestion never waits long.
 * @returns how many rows and days went
 */
export async function purgeTelemetry(app: App, signal?: AbortSignal): Promise<{ rows: number; days: number }> {
  const today = dayOf(app.clock.now())
  const projects = await app.db.selectFrom('projects').select(['id', 'settings']).execute()
  // Without projects nobody says how long; the entries of the last ones may wait.
  if (projects.length === 0) return { rows: 0, days: 0 }
  const oldest = projects.map(({ id, settings }) => ({
    id,
    day: dayPlus(today, -generalSettings(settings).retention_days),
  }))
  const longest = oldest.reduce((least, { day }) => (day < least ? day : least), today)
  const days = await dropDaysBefore(app.db, TABLES, longest)
  let rows = 0
  for (const table of TABLES) {
    const present = (await partitionDays(app.db, table)).filter((day) => day >= longest)
    for (const { id, day } of oldest) {
      for (const one of present.filter((candidate) => candidate < day))
        rows += await inPieces(signal, () => deletePiece(app, table, one, id))
    }
  }
  for (const { id, day } of oldest) {
    rows += await inPieces(signal, () => deleteRuns(app, id, day))
    await deleteIdleMonitors(app, id, day)
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

/** Of one day, so that row addresses are of one partition. */
async function deletePiece(app: App, table: (typeof TABLES)[number], day: string, projectId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from ${sql.table(table)} where received_day = ${day}::date and ctid = any(array(
      select ctid from ${sql.table(table)} where received_day = ${day}::date and project_id = ${projectId} limit ${PIECE}
    ))`.execute(app.db)
  return Number(numAffectedRows ?? 0)
}

async function deleteRuns(app: App, projectId: string, day: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from check_ins where (monitor_id, id) in (
      select monitor_id, id from check_ins where project_id = ${projectId} and received_at < ${`${day}T00:00:00Z`}::timestamptz
      limit ${PIECE} for update skip locked
    )`.execute(app.db)
  return Number(numAffectedRows ?? 0)
}

/** A job nobody has heard of since makes room for another. */
async function deleteIdleMonitors(app: App, projectId: string, day: string): Promise<void> {
  await sql`
    delete from monitors m where m.project_id = ${projectId} and m.last_check_in_at < ${`${day}T00:00:00Z`}::timestamptz
      and not exists (select from check_ins c where c.monitor_id = m.id)`.execute(app.db)
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
