import { unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { isImageType, refusalSentence } from './attachment.ts'
import type { Attachment, RefusedAttachment } from './attachments.api.ts'
import { selectAttachments, selectRefused } from './attachments.queries.ts'

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

/** Files of an event that were refused, in order of receipt. The caller has checked access to the project. */
export async function listRefusedAttachments(
  db: Connection,
  projectId: string,
  eventId: string | null,
): Promise<RefusedAttachment[]> {
  if (eventId === null) return []
  const refused = await selectRefused(db, [{ projectId, eventId }])
  return refused.map(({ id, receivedAt, file }) => ({
    id,
    filename: file.filename,
    size_bytes: file.sizeBytes,
    refused: file.refusal,
    message: refusalSentence(file.filename, file.sizeBytes, file.refusal),
    received_at: receivedAt.toISOString(),
  }))
}

/** The refused files as errors of their event. */
export const refusalErrors = (refused: readonly RefusedAttachment[]): { name: string; reason: string }[] =>
  refused.map(({ message }) => ({ name: 'attachment', reason: message }))
