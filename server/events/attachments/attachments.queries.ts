import { zstdDecompressSync } from 'node:zlib'
import { sql } from 'kysely'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { CONTENT_ENCODINGS } from '../../platform/kernel/content-encoding.ts'
import { dayOf, dayPlus } from '../../platform/kernel/day.ts'
import { hyphenate, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { type Attachment, CHUNK_BYTES } from './attachment.ts'

/** SQL of attachments. */

/** A file with its project and time of receipt. */
export type ReceivedAttachment = {
  readonly projectId: string
  readonly receivedAt: Date
  readonly attachment: Attachment
}

/** A file of an event that is sent again within this many days of receipt is stored once. */
const RESEND_DAYS = 7

const keyOf = (projectId: string, eventId: string, filename: string, type: string, sha256: Buffer): string =>
  `${projectId}/${eventId}/${type}/${sha256.toString('base64')}/${filename}`

/** Files with the same key are the same file. */
export const attachmentKey = ({ projectId, attachment }: ReceivedAttachment): string =>
  keyOf(projectId, attachment.eventId, attachment.filename, attachment.attachmentType, attachment.content.sha256)

/** Keys of the files that are already stored for the same events. */
export async function findStoredAttachments(
  tx: Tx,
  files: readonly ReceivedAttachment[],
  today: string,
): Promise<Set<string>> {
  if (files.length === 0) return new Set()
  const events = new Map(
    files.map(({ projectId, attachment }) => [`${projectId}${attachment.eventId}`, [projectId, attachment.eventId]]),
  )
  const { rows } = await tx.query<{
    project_id: string
    event_id: string
    filename: string
    attachment_type: string
    sha256: Buffer
  }>({
    name: 'attachments-find-stored',
    text: `select a.project_id, a.event_id, a.filename, a.attachment_type, a.sha256
           from unnest($1::uuid[], $2::uuid[]) k (project_id, event_id)
           join attachments a on a.project_id = k.project_id and a.event_id = k.event_id
           where a.received_day > $3::date and a.received_day <= $4::date`,
    values: [
      [...events.values()].map(([projectId]) => projectId),
      [...events.values()].map(([, eventId = '']) => hyphenate(eventId)),
      dayPlus(today, -RESEND_DAYS),
      dayPlus(today, 1),
    ],
  })
  return new Set(
    rows.map((row) => keyOf(row.project_id, unhyphenate(row.event_id), row.filename, row.attachment_type, row.sha256)),
  )
}

/** Writes files. Partitions of their days must exist. */
export async function insertAttachments(tx: Tx, files: readonly ReceivedAttachment[]): Promise<void> {
  if (files.length === 0) return
  const rows = new CopyRows()
  const chunks = new CopyRows()
  for (const { projectId, receivedAt, attachment } of files) {
    const id = newId()
    const day = dayOf(receivedAt)
    rows.row(10)
    rows.day(day)
    rows.uuid(id)
    rows.uuid(projectId)
    rows.uuid(attachment.eventId)
    rows.time(receivedAt)
    rows.text(attachment.filename)
    rows.text(attachment.contentType)
    rows.text(attachment.attachmentType)
    rows.int64(attachment.content.sizeBytes)
    rows.bytes(attachment.content.sha256)
    for (const [seq, chunk] of attachment.content.chunks.entries()) {
      chunks.row(5)
      chunks.day(day)
      chunks.uuid(id)
      chunks.int32(seq)
      chunks.int16(CONTENT_ENCODINGS.indexOf(chunk.encoding))
      chunks.bytes(chunk.bytes)
    }
  }
  await tx.copyIn(
    'attachments (received_day, id, project_id, event_id, received_at, filename, content_type, attachment_type, size_bytes, sha256)',
    rows,
  )
  await tx.copyIn('attachment_chunks (received_day, attachment_id, seq, encoding, bytes)', chunks)
}

/** Files in a list. An envelope may have 30. */
const MAX_LISTED = 200

/** Files of events in order of receipt; at most {@link MAX_LISTED} together. */
export function selectAttachments(db: Connection, projectId: string, eventIds: readonly string[]) {
  return db
    .selectFrom('attachments')
    .select([
      'id',
      'event_id',
      'received_day',
      'received_at',
      'filename',
      'content_type',
      'attachment_type',
      'size_bytes',
    ])
    .where('project_id', '=', projectId)
    .where('event_id', '=', sql<string>`any(${eventIds.map(hyphenate)}::uuid[])`)
    .orderBy('received_at')
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute()
}

/** One file of a project. */
export function selectAttachment(db: Connection, projectId: string, id: string) {
  return db
    .selectFrom('attachments')
    .select(['id', 'received_day', 'filename', 'size_bytes'])
    .where('id', '=', id)
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

/** One chunk of a file, decompressed; null when the file was deleted meanwhile. */
export async function readChunk(
  db: Connection,
  file: { id: string; received_day: string },
  seq: number,
): Promise<Buffer | null> {
  const row = await db
    .selectFrom('attachment_chunks')
    .select(['encoding', 'bytes'])
    .where('attachment_id', '=', file.id)
    .where('received_day', '=', file.received_day)
    .where('seq', '=', seq)
    .executeTakeFirst()
  if (row === undefined) return null
  return CONTENT_ENCODINGS[row.encoding] === 'zstd'
    ? zstdDecompressSync(row.bytes, { maxOutputLength: CHUNK_BYTES })
    : row.bytes
}

/**
 * Deletes the files of these events of one project. The caller deletes the events.
 * @param types only these attachment types
 * @returns number of files deleted
 */
export async function deleteAttachmentsOf(
  db: Connection,
  projectId: string,
  eventIds: readonly string[],
  types?: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0
  const ofTypes = types === undefined ? sql`true` : sql`attachment_type = any(${[...types]}::text[])`
  const { rows } = await sql<{ n: number }>`
    with deleted as (
      delete from attachments where project_id = ${projectId} and event_id = any(${eventIds.map(hyphenate)}::uuid[])
        and ${ofTypes} returning id
    ), chunks as (
      delete from attachment_chunks c using deleted where c.attachment_id = deleted.id
    )
    select count(*) as n from deleted`.execute(db)
  return rows[0]?.n ?? 0
}

/** A file that may name its user: an event of a replay, or a profile. */
export type RecordingFile = { id: string; received_day: string; event_id: string; size_bytes: number }

/** The next files of a project with these types, ordered by event. */
export function filesOfTypes(
  db: Connection,
  projectId: string,
  types: readonly string[],
  after: { event_id: string; id: string } | null,
  limit: number,
): Promise<RecordingFile[]> {
  return db
    .selectFrom('attachments')
    .select(['id', 'received_day', 'event_id', 'size_bytes'])
    .where('project_id', '=', projectId)
    .where('attachment_type', 'in', [...types])
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(event_id, id) > (${after?.event_id}::uuid, ${after?.id}::uuid)`),
    )
    .orderBy('event_id')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Deletes files of a project that were received before a day, with their chunks. @returns number of files deleted */
export async function deleteAttachmentsBefore(
  on: Connection,
  projectId: string,
  day: string,
  max: number,
): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    with deleted as (
      delete from attachments a using (
        select id, received_day from attachments where project_id = ${projectId} and received_day < ${day}::date limit ${max}
      ) old where a.id = old.id and a.received_day = old.received_day
      returning a.id, a.received_day
    ), chunks as (
      delete from attachment_chunks c using deleted
      where c.attachment_id = deleted.id and c.received_day = deleted.received_day
    )
    select count(*) as n from deleted`.execute(on)
  return rows[0]?.n ?? 0
}
