import type { App } from '../../platform/context/app.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { deleteAttachmentsBefore, dropDay } from './attachments.queries.ts'
import { partitionDays } from '../../platform/storage/day-partitions.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'

/** Files per transaction. Each may have a hundred chunks. */
const MAX_FILES = 500

/**
 * Deletes files older than the retention of their project, and drops days older than the longest retention.
 * @returns numbers of files and days deleted
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
      const removed = await deleteAttachmentsBefore(app.db, id, dayPlus(today, -retentionDays), MAX_FILES)
      files += removed
      if (removed < MAX_FILES) break
    }
  }
  // Without projects there is no retention setting. Files of deleted projects stay until there is one.
  const days = projects.length === 0 ? 0 : await dropDays(app, dayPlus(today, -longestDays))
  return { files, days }
}

async function dropDays(app: App, before: string): Promise<number> {
  const days = (await partitionDays(app.db, 'attachments')).filter((day) => day < before)
  for (const day of days) await app.tx((tx) => dropDay(tx, day))
  return days.length
}
