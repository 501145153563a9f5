import { promisify } from 'node:util'
import zlib from 'node:zlib'
import type { ContentEncoding } from '../kernel/content-encoding.ts'
import { inflateInto } from '../kernel/inflate.ts'
import { compressZstd } from '../kernel/zstd-encoder.ts'

/**
 * Blocks: bodies of many events compressed together, at most half the size of separate ones
 * (docs/decisions/stored-events.md).
 */

export type BlockLimits = { readonly events: number; readonly bytes: number }

/** Limits of a block of the packing job, in events and bytes of JSON; a larger event gets its own block. */
export const PACKED_BLOCK: BlockLimits = { events: 50, bytes: 1024 * 1024 }
/**
 * The same of digestion. Smaller, because a batch has few events of one issue, so that reading an issue opens a block
 * per event, and hardly less dense: mixed 20 kB events take 1,590 bytes in blocks of 16, 1,530 of 32, 1,485 of 200.
 */
export const NEW_BLOCK: BlockLimits = { events: 32, bytes: 512 * 1024 }
/** Fewer bodies of a batch stay in their rows. */
export const MIN_NEW_BLOCK_EVENTS = 4

/** A part of a decoded block, bytes. */
export type Part = { readonly start: number; readonly end: number }

const { constants } = zlib
// Level 6 takes 40 µs per 20 kB event, level 3 takes 14 and makes blocks a sixth larger.
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 6 } }
const compress = promisify(zlib.zstdCompress)

/** Compresses off the event loop. */
export const packBlock = (jsons: readonly Buffer[]): Promise<Buffer> => compress(Buffer.concat(jsons), ZSTD)

/** Compresses at once, at level 1: 20 µs per 20 kB event, where level 3 takes 26 and saves 3 %. */
export const packNewBlock = (jsons: readonly Buffer[]): Buffer => compressZstd(Buffer.concat(jsons))

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

/** The part of a decoded block; null for that of a deleted event, which is blank. */
export function partOf(decoded: Buffer, { start, end }: Part): Buffer | null {
  return decoded[start] === 0 ? null : decoded.subarray(start, end)
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

export type Body = Part & { readonly body: Buffer; readonly encoding: ContentEncoding }

/** Room behind the JSON, for what an envelope has after its event. */
const ROOM = 4 * 1024

/** A copy of the JSON of a stored body; null when it cannot be decoded. */
export function jsonOf({ body, encoding, start, end }: Body): Buffer | null {
  try {
    const json = inflated(body, encoding, end) ?? openBody(body, encoding)
    return json.length >= end && start < end ? Buffer.from(json.subarray(start, end)) : null
  } catch {
    return null
  }
}

let scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** With the decoder that each thread keeps; null when `openBody` must decode it. Valid until the next call. */
function inflated(body: Buffer, encoding: ContentEncoding, end: number): Buffer | null {
  if ((encoding !== 'gzip' && encoding !== 'deflate') || end > PACKED_BLOCK.bytes) return null
  if (scratch.length < end + ROOM) scratch = Buffer.allocUnsafeSlow(end + ROOM)
  const result = inflateInto(body, encoding, scratch)
  return 'end' in result ? scratch.subarray(0, result.end) : null
}
