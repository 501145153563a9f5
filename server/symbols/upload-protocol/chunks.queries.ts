import { holdBlobs, releaseBlobs, type ReceivedContent } from '../../platform/blobs/blobs.queries.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { projectPart } from '../../projects/registry/project-rows.ts'

/** SQL of chunks, and of the files that were put together of them. */

/** The holder of their blobs. */
const UPLOAD_CHUNK = 'upload_chunk'

export type Chunk = { readonly sha1: Buffer; readonly content: ReceivedContent }

/** Adds a chunk that the organisation does not have yet; keeps one that it has for another day. */
export async function insertChunk(tx: Tx, orgId: string, { sha1, content }: Chunk, at: Date): Promise<void> {
  const id = newId()
  const { rows } = await tx.query<{ id: string }>(
    `insert into upload_chunks as c (id, org_id, sha1, size_bytes, created_at) values ($1, $2, $3, $4, $5)
     on conflict (org_id, sha1) do update set created_at = excluded.created_at returning c.id`,
    [id, orgId, sha1, content.sizeBytes, at],
  )
  if (rows[0]?.id === id) await holdBlobs(tx, [{ holder: UPLOAD_CHUNK, holderId: id, orgId, day: null, content }])
}

export type StoredChunk = { readonly sha1: string; readonly blobId: string; readonly sizeBytes: number }

/** Chunks of an organisation by their digest, hexadecimal; those that are missing are not in the result. */
export async function findChunks(
  db: Connection,
  orgId: string,
  digests: readonly string[],
): Promise<Map<string, StoredChunk>> {
  const { rows } = await db.query<StoredChunk>({
    name: 'upload-chunks-find',
    text: `select encode(c.sha1, 'hex') as sha1, u.blob_id as "blobId", c.size_bytes as "sizeBytes"
           from upload_chunks c join blob_uses u on u.holder = $3 and u.holder_id = c.id
           where c.org_id = $1 and c.sha1 = any ($2::bytea[])`,
    values: [orgId, digests.map((digest) => Buffer.from(digest, 'hex')), UPLOAD_CHUNK],
  })
  return new Map(rows.map((row) => [row.sha1, row]))
}

/** A chunk counts at least so much: its rows take room too. */
const MIN_CHUNK_BYTES = 64 * 1024

/** Bytes of the chunks of an organisation. */
export async function bytesOfChunks(db: Connection, orgId: string): Promise<number> {
  const { rows } = await db.query<{ bytes: number }>(
    'select coalesce(sum(greatest(size_bytes, $2::int)), 0)::float8 as bytes from upload_chunks where org_id = $1',
    [orgId, MIN_CHUNK_BYTES],
  )
  return rows[0]?.bytes ?? 0
}

/** Deletes at most `max` chunks older than a time. @returns number deleted */
export async function deleteChunksBefore(tx: Tx, before: Date, max: number): Promise<number> {
  const { rows } = await tx.query<{ id: string }>(
    `delete from upload_chunks where id in (select id from upload_chunks where created_at < $1 limit $2) returning id`,
    [before, max],
  )
  await releaseBlobs(
    tx,
    UPLOAD_CHUNK,
    rows.map(({ id }) => id),
  )
  return rows.length
}

/** Files that were put together before. @returns ids of symbol files by digest, hexadecimal */
export async function findAssembled(
  db: Connection,
  projectId: string,
  digests: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await db.query<{ sha1: string; file_ids: string[] }>({
    name: 'assembled-files-find',
    text: `select encode(a.sha1, 'hex') as sha1, a.file_ids from assembled_files a
           where a.project_id = $1 and a.sha1 = any ($2::bytea[])
             and not exists (select from unnest(a.file_ids) k left join symbol_files f on f.id = k where f.id is null)`,
    values: [projectId, digests.map((digest) => Buffer.from(digest, 'hex'))],
  })
  return new Map(rows.map(({ sha1, file_ids: ids }) => [sha1, ids]))
}

export async function insertAssembled(
  tx: Connection,
  projectId: string,
  digest: string,
  fileIds: readonly string[],
  at: Date,
): Promise<void> {
  await tx.query(
    `insert into assembled_files (project_id, sha1, file_ids, created_at) values ($1, $2, $3, $4)
     on conflict (project_id, sha1) do update set file_ids = excluded.file_ids, created_at = excluded.created_at`,
    [projectId, Buffer.from(digest, 'hex'), [...fileIds], at],
  )
}

export const ASSEMBLED_PART = projectPart(1_000, [ownRows('assembled_files')])
