import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'
import type { App } from '../../platform/context/app.ts'
import { PIECE_BYTES } from '../../platform/blobs/pack-content.ts'
import { readPiece } from '../../platform/blobs/blobs.queries.ts'
import { invalid, tooLarge } from '../../platform/kernel/errors.ts'
import { MAX_BYTES } from '../files/symbol-kinds.api.ts'
import { findChunks, type StoredChunk } from './chunks.queries.ts'

/** A file in pieces, as a tool names it. */
export type ChunkedFile = {
  /** SHA-1 of the whole, hexadecimal. */
  readonly checksum: string
  readonly chunks: readonly string[]
}

/** Chunks that the organisation does not have, in order and each once. */
export async function missingChunks(app: App, orgId: string, { chunks }: ChunkedFile): Promise<string[]> {
  const found = await findChunks(app.db, orgId, [...new Set(chunks)])
  return [...new Set(chunks)].filter((digest) => !found.has(digest))
}

/**
 * Writes a file of its chunks to a folder.
 * @returns its path
 * @throws AppError invalid when a chunk is missing or the whole has another SHA-1, too_large
 */
export async function joinChunks(app: App, orgId: string, file: ChunkedFile, folder: string): Promise<string> {
  const found = await findChunks(app.db, orgId, [...new Set(file.chunks)])
  const inOrder = file.chunks.map((digest) => {
    const chunk = found.get(digest)
    if (chunk === undefined) throw invalid(`The chunk ${digest} is missing. Send it again.`)
    return chunk
  })
  if (inOrder.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > MAX_BYTES.macho)
    throw tooLarge(`A file may have at most ${MAX_BYTES.macho / 1024 ** 2} MiB.`)
  const path = join(folder, 'joined')
  const sha1 = createHash('sha1')
  await pipeline(
    Readable.from(bytesOf(app, inOrder, (bytes) => sha1.update(bytes))),
    createWriteStream(path, { mode: 0o600 }),
  )
  if (sha1.digest('hex') !== file.checksum)
    throw invalid('The file that was put together of its chunks has another SHA-1. Send it again.')
  return path
}

async function* bytesOf(
  app: App,
  chunks: readonly StoredChunk[],
  onBytes: (bytes: Buffer) => void,
): AsyncGenerator<Buffer> {
  for (const { blobId, sizeBytes, sha1 } of chunks)
    for (let seq = 0; seq * PIECE_BYTES < sizeBytes; seq++) {
      const piece = await readPiece(app.db, blobId, seq)
      if (piece === null) throw invalid(`The chunk ${sha1} is missing. Send it again.`)
      onBytes(piece)
      yield piece
    }
}
