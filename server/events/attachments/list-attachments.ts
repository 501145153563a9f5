import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { isImageType } from './attachment.ts'
import type { Attachment } from './attachments.api.ts'
import { selectAttachments } from './attachments.queries.ts'

/** Files of events of one project in order of receipt, at most 200. The caller has checked access to the project. */
export async function listAttachments(
  db: Connection,
  projectId: string,
  eventIds: readonly string[],
): Promise<Attachment[]> {
  if (eventIds.length === 0) return []
  return (await selectAttachments(db, projectId, eventIds)).map((row) => ({
    id: row.id,
    event_id: unhyphenate(row.event_id),
    filename: row.filename,
    content_type: row.content_type,
    attachment_type: row.attachment_type,
    size_bytes: row.size_bytes,
    is_image: isImageType(row.content_type),
    received_at: row.received_at.toISOString(),
  }))
}
