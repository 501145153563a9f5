import type { App } from '../../platform/context/app.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { generalSettings } from '../../projects/registry/general-settings.ts'
import { releaseBlobsBefore } from '../../platform/blobs/blobs.queries.ts'
import { ATTACHMENT, deleteAttachmentsBefore } from './attachments.queries.ts'
import { dropDaysBefore } from '../../platform/storage/day-partitions.ts'
import { selectAllSettings } from '../../projects/registry/projects.queries.ts'
import { inBatches } from '../../platform/jobs/purge.ts'

/** Files per transaction. Each may have a hundred chunks. */
const MAX_FILES = 500

/**
 * Deletes files older than the retention of their project, and drops days older than the longest retention.
 * @returns numbers of files and days deleted
 */
export async function purgeAttachments(app: App, signal?: AbortSignal): Promise<{ files: number; days: number }> {
  const today = utcDay(app.clock.now())
  const projects = await selectAllSettings(app.db)
  let longestDays = 0
  let files = 0
  for (const { id, settings } of projects) {
    const { retention_days: retentionDays } = generalSettings(settings)
    longestDays = Math.max(longestDays, retentionDays)
    const before = dayPlus(today, -retentionDays)
    files += await inBatches(MAX_FILES, signal, () =>
      app.tx((tx) => deleteAttachmentsBefore(tx, id, before, MAX_FILES)),
    )
  }
  // Without projects there is no retention setting. Files of deleted projects stay until there is one.
  if (projects.length === 0) return { files, days: 0 }
  const before = dayPlus(today, -longestDays)
  const days = await dropDaysBefore(app.db, ['attachments', 'attachment_chunks'], before)
  await inBatches(MAX_FILES, signal, () => app.tx((tx) => releaseBlobsBefore(tx, ATTACHMENT, before, MAX_FILES)))
  return { files, days }
}
