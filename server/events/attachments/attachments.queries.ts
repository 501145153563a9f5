import { readPiece, releaseBlobs, holdBlobs } from '../../platform/blobs/blobs.queries.ts'
import { unpackPiece } from '../../platform/blobs/pack-content.ts'
import type { ProjectPart } from '../../projects/registry/project-rows.ts'
import { type RawBuilder, sql } from 'kysely'
import { CopyRows } from '../../platform/storage/copy-in.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { hyphenate, newId, unhyphenate } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Attachment, RefusedFile } from './attachment.ts'
import { REFUSALS } from './attachments.api.ts'

/** SQL of attachments. Their contents are blobs; those of earlier releases are in `attachment_chunks`. */

/** The holder of blobs. */
export const ATTACHMENT = 'attachment'

/** A file with its organisation, project and time of receipt. */
export type ReceivedAttachment = {
  readonly orgId: string
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
           where a.received_day > $3::date and a.received_day <= $4::date and a.refused is null`,
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

/** Writes files. Partitions of their days must exist. @returns their ids */
export async function insertAttachments(tx: Tx, files: readonly ReceivedAttachment[]): Promise<string[]> {
  if (files.length === 0) return []
  const rows = new CopyRows()
  const uses = files.map(({ orgId, receivedAt, attachment }) => ({
    holder: ATTACHMENT,
    holderId: newId(),
    orgId,
    day: utcDay(receivedAt),
    content: attachment.content,
  }))
  for (const [index, { projectId, receivedAt, attachment }] of files.entries()) {
    const id = uses[index]?.holderId ?? ''
    rows.row(10)
    rows.day(utcDay(receivedAt))
    rows.uuid(id)
    rows.uuid(projectId)
    rows.uuid(attachment.eventId)
    rows.time(receivedAt)
    rows.text(attachment.filename)
    rows.text(attachment.contentType)
    rows.text(attachment.attachmentType)
    rows.int64(attachment.content.sizeBytes)
    rows.bytes(attachment.content.sha256)
  }
  await tx.copyIn(
    'attachments (received_day, id, project_id, event_id, received_at, filename, content_type, attachment_type, size_bytes, sha256)',
    rows,
  )
  await holdBlobs(tx, uses)
  return uses.map(({ holderId }) => holderId)
}

/** Files in a list. An envelope may have 30. */
export const MAX_LISTED = 200

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
    .where('refused', 'is', null)
    .orderBy('received_at')
    .orderBy('id')
    .limit(MAX_LISTED)
    .execute()
}

/** A refused file with its project and time of receipt. */
export type ReceivedRefusal = { readonly projectId: string; readonly receivedAt: Date; readonly file: RefusedFile }

/** Refused files that an event names: further ones are only counted. */
export const MAX_REFUSED = 30

/** Writes which files were refused. Partitions of their days must exist. */
export async function insertRefused(tx: Tx, files: readonly ReceivedRefusal[]): Promise<void> {
  if (files.length === 0) return
  const rows = new CopyRows()
  for (const { projectId, receivedAt, file } of files) {
    rows.row(11)
    rows.day(utcDay(receivedAt))
    rows.uuid(newId())
    rows.uuid(projectId)
    rows.uuid(file.eventId)
    rows.time(receivedAt)
    rows.text(file.filename)
    rows.text(file.contentType)
    rows.text(file.attachmentType)
    rows.int64(file.sizeBytes)
    rows.bytes(NO_CONTENT)
    rows.text(file.refusal)
  }
  await tx.copyIn(
    'attachments (received_day, id, project_id, event_id, received_at, filename, content_type, attachment_type, size_bytes, sha256, refused)',
    rows,
  )
}

const NO_CONTENT = Buffer.alloc(0)

/** Refused files of events in order of receipt. */
export async function selectRefused(
  db: Connection,
  events: readonly { readonly projectId: string; readonly eventId: string }[],
): Promise<(ReceivedRefusal & { readonly id: string })[]> {
  if (events.length === 0) return []
  const { rows } = await sql<RefusedRow>`
    select a.id, a.project_id, a.event_id, a.received_at, a.filename, a.content_type, a.attachment_type, a.size_bytes, a.refused
    from unnest(${events.map(({ projectId }) => projectId)}::uuid[], ${events.map(({ eventId }) => hyphenate(eventId))}::uuid[]) k (project_id, event_id)
    join attachments a on a.project_id = k.project_id and a.event_id = k.event_id
    where a.refused is not null order by a.received_at, a.id`.execute(db)
  return rows.map((row) => ({
    id: row.id,
    projectId: row.project_id,
    receivedAt: row.received_at,
    file: {
      eventId: unhyphenate(row.event_id),
      filename: row.filename,
      contentType: row.content_type,
      attachmentType: row.attachment_type,
      sizeBytes: row.size_bytes,
      refusal: REFUSALS.find((one) => one === row.refused) ?? 'too_large',
    },
  }))
}

type RefusedRow = {
  id: string
  project_id: string
  event_id: string
  received_at: Date
  filename: string
  content_type: string
  attachment_type: string
  size_bytes: number
  refused: string
}

const filesWithBlobs = (db: Connection) =>
  db
    .selectFrom('attachments as a')
    .leftJoin('blob_uses as u', (join) => join.onRef('u.holder_id', '=', 'a.id').on('u.holder', '=', ATTACHMENT))
    .select(['a.id', 'a.received_day', 'a.size_bytes', 'u.blob_id'])

/** One file of a project. */
export function selectAttachment(db: Connection, projectId: string, id: string) {
  return filesWithBlobs(db)
    .select('a.filename')
    .where('a.id', '=', id)
    .where('a.project_id', '=', projectId)
    .where('a.refused', 'is', null)
    .executeTakeFirst()
}

/** The place of a file's content. */
export type StoredFile = {
  readonly id: string
  readonly received_day: string
  readonly size_bytes: number
  /** Null for a file of an earlier release. */
  readonly blob_id: string | null
}

/** One piece of a file, decompressed; null when the file was deleted meanwhile. */
export async function readPieceOfFile(db: Connection, file: StoredFile, seq: number): Promise<Buffer | null> {
  if (file.blob_id !== null) return readPiece(db, file.blob_id, seq)
  const row = await db
    .selectFrom('attachment_chunks')
    .select(['encoding', 'bytes'])
    .where('attachment_id', '=', file.id)
    .where('received_day', '=', file.received_day)
    .where('seq', '=', seq)
    .executeTakeFirst()
  return row === undefined ? null : unpackPiece(row.encoding, row.bytes)
}

/**
 * Deletes the files of these events of one project. The caller deletes the events.
 * @param types only these attachment types
 * @returns number of files deleted
 */
export async function deleteEventAttachments(
  tx: Tx,
  projectId: string,
  eventIds: readonly string[],
  types?: readonly string[],
): Promise<number> {
  if (eventIds.length === 0) return 0
  const ofTypes = types === undefined ? sql`true` : sql`attachment_type = any(${[...types]}::text[])`
  return deleteFiles(
    tx,
    sql`select id, received_day from attachments where project_id = ${projectId}
        and event_id = any(${eventIds.map(hyphenate)}::uuid[]) and ${ofTypes}`,
  )
}

/** A file that may name its user: an event of a replay, or a profile. */
export type RecordingFile = StoredFile & { readonly event_id: string }

/** The next files of a project with these types, ordered by event. */
export function filesOfTypes(
  db: Connection,
  projectId: string,
  types: readonly string[],
  after: { event_id: string; id: string } | null,
  limit: number,
): Promise<RecordingFile[]> {
  return filesWithBlobs(db)
    .select('a.event_id')
    .where('a.project_id', '=', projectId)
    .where('a.attachment_type', 'in', [...types])
    .$if(after !== null, (query) =>
      query.where(sql<boolean>`(a.event_id, a.id) > (${after?.event_id}::uuid, ${after?.id}::uuid)`),
    )
    .orderBy('a.event_id')
    .orderBy('a.id')
    .limit(limit)
    .execute()
}

/** Deletes files of a project that were received before a day. @returns number of files deleted */
export const deleteAttachmentsBefore = (tx: Tx, projectId: string, day: string, max: number): Promise<number> =>
  deleteFiles(
    tx,
    sql`select id, received_day from attachments where project_id = ${projectId} and received_day < ${day}::date limit ${max}`,
  )

/** Files of a deleted project, with their contents. */
export const ATTACHMENT_PART: ProjectPart = {
  tables: ['attachments', 'attachment_chunks'],
  max: 50,
  deleteRows: (tx, projectId, max) =>
    deleteFiles(tx, sql`select id, received_day from attachments where project_id = ${projectId} limit ${max}`),
}

/** Deletes files with their contents. @param chosen selects `id` and `received_day` */
async function deleteFiles(tx: Tx, chosen: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    with chosen as (${chosen}), deleted as (
      delete from attachments a using chosen where a.id = chosen.id and a.received_day = chosen.received_day returning a.id
    ), chunks as (
      delete from attachment_chunks c using chosen
      where c.attachment_id = chosen.id and c.received_day = chosen.received_day
    )
    select id from deleted`.execute(tx)
  await releaseBlobs(
    tx,
    ATTACHMENT,
    rows.map(({ id }) => id),
  )
  return rows.length
}
