import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { ContentEncoding } from '../kernel/content-encoding.ts'

/**
 * Blocks: bodies of many events compressed together, at most half the size of separate ones
 * (docs/decisions/stored-events.md).
 */

/** Maximum events and bytes of JSON of one block; a larger event gets its own block. */
export const MAX_BLOCK_EVENTS = 50
export const MAX_BLOCK_BYTES = 1024 * 1024

/** A part of a decoded block, bytes. */
export type Part = { readonly start: number; readonly end: number }

const { constants } = zlib
// Level 6 takes 40 µs per 20 kB event, level 3 takes 14 and makes blocks a sixth larger.
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 6 } }
const compress = promisify(zlib.zstdCompress)

/** Compresses off the event loop. */
export const packBlock = (jsons: readonly Buffer[]): Promise<Buffer> => compress(Buffer.concat(jsons), ZSTD)

export const openBlock = (body: Buffer): Buffer => zlib.zstdDecompressSync(body)

/**
 * Overwrites parts with zeros; the positions of other parts stay.
 * @returns the block, compressed; null when nothing is left
 */
export function blankParts(body: Buffer, parts: readonly Part[]): Buffer | null {
  const decoded = openBlock(body)
  for (const { start, end } of parts) decoded.fill(0, start, end)
  if (decoded.equals(Buffer.alloc(decoded.length))) return null
  return zlib.zstdCompressSync(decoded, ZSTD)
}

const OPEN: Record<ContentEncoding, (body: Buffer) => Buffer> = {
  none: (body) => body,
  gzip: (body) => zlib.gunzipSync(body),
  deflate: (body) => zlib.inflateSync(body),
  br: (body) => zlib.brotliDecompressSync(body),
  zstd: (body) => zlib.zstdDecompressSync(body),
}

/** Decodes a stored body; intake has checked its limits. @throws Error when it is damaged */
export const openBody = (body: Buffer, encoding: ContentEncoding): Buffer => OPEN[encoding](body)
