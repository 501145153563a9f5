import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib'
import { type BackupKey, contentDigest } from './backup-key.ts'
import { decryptChunks, encryptChunks } from './chunk-cipher.ts'

/** A file of a backup: the bytes of one COPY, compressed, and encrypted where there is a key. Streamed in both directions. */
export type StoredFile = {
  /** SHA-256 of the file as it is stored; also its name. */
  readonly sha256: string
  readonly storedBytes: number
  /** Digest of the bytes before compression (backup-key.ts). */
  readonly content: string
  readonly bytes: number
}

/** Compressing many small pieces costs more than joining them. */
export const PIECE_BYTES = 256 * 1024
const LEVEL = 3

/**
 * Writes a new file, which is stored when this returns.
 * @param store takes its bytes
 * @param onBytes called with the number of bytes read since the last call
 */
export async function writeBackupFile(
  source: AsyncIterable<Buffer>,
  store: (pieces: AsyncIterable<Buffer>) => Promise<void>,
  { key, onBytes, signal }: { key: BackupKey | null; onBytes?: (bytes: number) => void; signal?: AbortSignal },
): Promise<StoredFile> {
  const content = contentDigest(key)
  const stored = createHash('sha256')
  let bytes = 0
  let storedBytes = 0
  await pipeline(
    async function* read() {
      for await (const piece of joined(source)) {
        content.update(piece)
        bytes += piece.length
        onBytes?.(piece.length)
        yield piece
      }
    },
    createZstdCompress({ params: { [constants.ZSTD_c_compressionLevel]: LEVEL } }),
    async function* seal(compressed: AsyncIterable<Buffer>) {
      for await (const piece of key === null ? compressed : encryptChunks(key, compressed)) {
        stored.update(piece)
        storedBytes += piece.length
        yield piece
      }
    },
    store,
    { signal },
  )
  return { sha256: stored.digest('hex'), storedBytes, content: content.digest('hex'), bytes }
}

/**
 * Reads the bytes that were compressed.
 * @param file its bytes
 * @throws Error when the file cannot be opened, decrypted or decompressed. The caller compares the digest of the content
 */
export async function* readBackupFile(file: AsyncIterable<Buffer>, key: BackupKey | null): AsyncGenerator<Buffer> {
  const decompress = createZstdDecompress()
  const feeding = pipeline(
    file,
    async function* open(stored: AsyncIterable<Buffer>) {
      yield* key === null ? stored : decryptChunks(key, stored)
    },
    decompress,
  )
  // Reading the stream throws the same error.
  feeding.catch(() => {})
  for await (const piece of decompress) if (Buffer.isBuffer(piece)) yield piece
  await feeding
}

/** SHA-256 of a file as it is stored. */
export async function digestOfFile(file: AsyncIterable<Buffer>, onBytes?: (bytes: number) => void): Promise<string> {
  const digest = createHash('sha256')
  for await (const piece of file) {
    digest.update(piece)
    onBytes?.(piece.length)
  }
  return digest.digest('hex')
}

async function* joined(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let pieces: Buffer[] = []
  let size = 0
  for await (const piece of source) {
    pieces.push(piece)
    size += piece.length
    if (size < PIECE_BYTES) continue
    yield Buffer.concat(pieces)
    pieces = []
    size = 0
  }
  if (size > 0) yield Buffer.concat(pieces)
}
