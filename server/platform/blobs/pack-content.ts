import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib'
import { CONTENT_ENCODINGS } from '../kernel/inflate.ts'
import { compressZstd } from '../kernel/zstd-encoder.ts'

/** Content in its stored form. */
export type PackedContent = {
  readonly sizeBytes: number
  /** Digest of the received content, 32 bytes. */
  readonly sha256: Buffer
  readonly pieces: readonly Piece[]
}

export type Piece = { readonly encoding: 'none' | 'zstd'; readonly bytes: Buffer }

/** Decoded size of all pieces but the last. */
export const PIECE_BYTES = 1024 * 1024

const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }
/** Packing this much takes less than a millisecond. */
const SYNC_BYTES = 128 * 1024
const compress = promisify(zstdCompress)

/**
 * Divides content into pieces and compresses those that become smaller: a minidump shrinks to a tenth, a photo not at all.
 * Compresses large content in another thread. The result shares no memory with `content`.
 */
export async function packContent(content: Buffer): Promise<PackedContent> {
  const sha256 = createHash('sha256')
  const pieces: Piece[] = []
  for (let start = 0; start < content.length; start += PIECE_BYTES) {
    const piece = content.subarray(start, start + PIECE_BYTES)
    sha256.update(piece)
    pieces.push(await packPiece(piece))
  }
  return { sizeBytes: content.length, sha256: sha256.digest(), pieces }
}

/** Packs at most {@link PIECE_BYTES}. */
export async function packPiece(piece: Buffer): Promise<Piece> {
  const packed = piece.length <= SYNC_BYTES ? compressZstd(piece) : await compress(piece, ZSTD)
  return packed.length < piece.length * 0.9
    ? { encoding: 'zstd', bytes: packed }
    : { encoding: 'none', bytes: Buffer.from(piece) }
}

/** The bytes of a stored piece. @param encoding as the database stores it */
export const unpackPiece = (encoding: number, bytes: Buffer): Buffer =>
  CONTENT_ENCODINGS[encoding] === 'zstd' ? zstdDecompressSync(bytes, { maxOutputLength: PIECE_BYTES }) : bytes
