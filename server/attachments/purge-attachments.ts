import type { App } from '../context/app.ts'
import { dayOf, dayPlus } from '../kernel/day.ts'
import { generalSettings } from '../projects/general-settings.ts'
import { deleteAttachmentsBefore, dropDay } from './attachments.queries.ts'
import { partitionDays } from '../storage/day-partitions.ts'
import { selectAllSettings } from '../projects/projects.queries.ts'

/** Files removed at once; each may have a hundred chunks. */
const PIECE = 500

/**
 * Removes files older than the retention of their project, and whole days older than the longest retention any project
 * has.
 * @returns how many files and days went
 */
export async function purgeAttachments(app: App, signal?: AbortSignal): Promise<{ files: number; days: number }> {
  const today = dayOf(app.clock.now())
  const projects = await selectAllSettings(app.db)
  let longestDays = 0
  let files = 0
  for (const { id, settings } of projects) {
    const { retention_days: retentionDays } = generalSettings(settings)
    longestDays = Math.max(longestDays, retentionDays)
    for (;;) {
      signal?.throwIfAborted()
      const removed = await deleteAttachmentsBefore(app.db, id, dayPlus(today, -retentionDays), PIECE)
      files += removed
      if (removed < PIECE) break
    }
  }
  // Without projects there is no retention setting; files of deleted projects may wait.
  const days = projects.length === 0 ? 0 : await dropDays(app, dayPlus(today, -longestDays))
  return { files, days }
}

async function dropDays(app: App, before: string): Promise<number> {
  const days = (await partitionDays(app.db, 'attachments')).filter((day) => day < before)
  for (const day of days) await app.tx((tx) => dropDay(tx, day))
  return days.length
}
