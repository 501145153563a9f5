import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import type { Readable } from 'node:stream'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Upload } from '../../platform/context/handlers.ts'
import { deleteDraft } from '../../platform/blobs/blobs.queries.ts'
import { receiveContent } from '../../platform/blobs/receive-content.ts'
import { conflict, invalid, tooLarge } from '../../platform/kernel/errors.ts'
import { retryOnDeadlock } from '../../platform/storage/retry-on-deadlock.ts'
import { withScratch } from '../files/scratch.ts'
import { type FormFile, readForm } from '../uploads/read-form.ts'
import { CHUNKS } from './upload-protocol.api.ts'
import { bytesOfChunks, insertChunk } from './chunks.queries.ts'

const MIB = 1024 * 1024
/** Chunks that wait for their file, of one organisation. */
const MAX_ORG_BYTES = 4 * 1024 * MIB

/**
 * Stores chunks from a multipart form: each part is named by the SHA-1 of its content, and a part `file_gzip` is compressed.
 * @throws AppError invalid (form, digest), too_large, conflict (too many chunks wait)
 */
export async function receiveChunks(app: App, { orgId }: OrgActor, upload: Upload): Promise<void> {
  await withScratch(app, async (folder) => {
    const { files } = await readForm(upload, folder, CHUNKS.perRequest)
    for (const file of files) await receiveChunk(app, orgId, file)
  })
}

async function receiveChunk(app: App, orgId: string, file: FormFile): Promise<void> {
  const digest = file.filename.toLowerCase()
  if (!/^[0-9a-f]{40}$/u.test(digest)) throw invalid('The name of a chunk must be the SHA-1 of its content.')
  if ((await bytesOfChunks(app.db, orgId)) > MAX_ORG_BYTES)
    throw conflict('Too many pieces of files were uploaded and not put together. They are deleted after a day.')
  const sha1 = createHash('sha1')
  const content = await receiveContent(
    app,
    orgId,
    contentOf(file, (bytes) => sha1.update(bytes)),
  )
  try {
    if (sha1.digest('hex') !== digest) throw invalid(`The chunk ${digest} has another SHA-1. Send it again.`)
    await retryOnDeadlock(() =>
      app.tx((tx) => insertChunk(tx, orgId, { sha1: Buffer.from(digest, 'hex'), content }, app.clock.now())),
    )
  } finally {
    // The content of a refused chunk, and of a known one.
    await deleteDraft(app.db, content.draftId).catch(() => {})
  }
}

async function* contentOf(file: FormFile, onBytes: (bytes: Buffer) => void): AsyncGenerator<Buffer> {
  const source = createReadStream(file.path)
  const stream: Readable = file.field === 'file_gzip' ? source.pipe(createGunzip()) : source
  let size = 0
  try {
    for await (const bytes of stream as AsyncIterable<Buffer>) {
      size += bytes.length
      if (size > CHUNKS.bytes) throw tooLarge(`A chunk may have at most ${CHUNKS.bytes / MIB} MiB.`)
      onBytes(bytes)
      yield bytes
    }
  } catch (error) {
    if (error instanceof Error && 'errno' in error) throw invalid('A chunk is not compressed as gzip.')
    throw error
  }
}
