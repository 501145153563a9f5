import { sql } from 'kysely'
import type { App } from '../context/app.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { partitionDays, partitionName } from '../storage/day-partitions.ts'
import { generalSettings } from '../projects/general-settings.ts'

/** Files removed at once; each may have a hundred chunks. */
const PIECE = 500

/**
 * Removes files older than the retention of their project, and whole days older than the longest retention any project
 * has.
 * @returns how many files and days went
 */
export async function purgeAttachments(app: App, signal?: AbortSignal): Promise<{ files: number; days: number }> {
  const today = dayOf(app.clock.now())
  const projects = await app.db.selectFrom('projects').select(['id', 'settings']).execute()
  let longestDays = 0
  let files = 0
  for (const { id, settings } of projects) {
    const { retention_days: retentionDays } = generalSettings(settings)
    longestDays = Math.max(longestDays, retentionDays)
    for (;;) {
      signal?.throwIfAborted()
      const removed = await deleteBefore(app, id, dayPlus(today, -retentionDays))
      files += removed
      if (removed < PIECE) break
    }
  }
  // Without projects nobody says how long; the files of the last ones may wait.
  const days = projects.length === 0 ? 0 : await dropDaysBefore(app, dayPlus(today, -longestDays))
  return { files, days }
}

async function deleteBefore(app: App, projectId: string, day: string): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    with gone as (
      delete from attachments a using (
        select id, received_day from attachments where project_id = ${projectId} and received_day < ${day}::date limit ${PIECE}
      ) old where a.id = old.id and a.received_day = old.received_day
      returning a.id, a.received_day
    ), chunks as (
      delete from attachment_chunks c using gone
      where c.attachment_id = gone.id and c.received_day = gone.received_day
    )
    select count(*) as n from gone`.execute(app.db)
  return rows[0]?.n ?? 0
}

async function dropDaysBefore(app: App, day: string): Promise<number> {
  const days = (await partitionDays(app.db, 'attachments')).filter((one) => one < day)
  for (const one of days) {
    await app.tx(async (tx) => {
      // Dropping waits for readers, and everybody after it waits for that: rather try again tomorrow.
      await sql`set local lock_timeout = '2s'`.execute(tx)
      for (const table of ['attachments', 'attachment_chunks'])
        await sql`drop table if exists ${sql.ref(partitionName(table, one))}`.execute(tx)
    })
  }
  return days.length
}
