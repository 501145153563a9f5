import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { type ContentEncoding, inflateInto } from '../../platform/kernel/inflate.ts'
import { decompressZstdInto } from '../../platform/kernel/zstd-decoder.ts'
import { compressZstd } from '../../platform/kernel/zstd-encoder.ts'
import { utcDay } from '../../platform/kernel/day.ts'
import type { StoredEvent } from './event.ts'

/**
 * Blocks: bodies of many events compressed together, at most half the size of separate ones
 * (docs/decisions/stored-events.md).
 */

type BlockLimits = { readonly events: number; readonly bytes: number }

/** Limits of a block of the packing job, in events and bytes of JSON; a larger event gets its own block. */
export const PACKED_BLOCK: BlockLimits = { events: 50, bytes: 1024 * 1024 }
/**
 * The same of digestion. Smaller, because a batch has few events of one issue, so that reading an issue opens a block
 * per event, and hardly less dense: mixed 20 kB events take 1,550 bytes in blocks of 25, 1,485 in blocks of 200.
 */
export const NEW_BLOCK: BlockLimits = { events: 64, bytes: 512 * 1024 }
/** Fewer bodies of a batch stay in their rows. */
export const MIN_NEW_BLOCK_EVENTS = 4

/** A part of a decoded block, bytes. */
export type Part = { readonly start: number; readonly end: number }

/** A part of a stored block. */
export type PackedPart = Part & { readonly day: string; readonly blockId: number }

const { constants } = zlib
// Level 6 takes 40 µs per 20 kB event, level 3 takes 14 and makes blocks a sixth larger.
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 6 } }
const compress = promisify(zlib.zstdCompress)

/** Compresses a block off the event loop. */
export const packBlock = (content: Buffer): Promise<Buffer> => compress(content, ZSTD)

/** Compresses a block at once, at level 1: level 3 takes a third longer and saves 3 %. */
const packNewBlock = (content: Buffer): Buffer => compressZstd(content)

const opened = Buffer.allocUnsafeSlow(PACKED_BLOCK.bytes + 1)

/** The content of a block; valid until the next call. @throws Error when it is damaged */
export function openBlock(body: Buffer): Buffer {
  const end = decompressZstdInto(body, opened)
  return end === null ? zlib.zstdDecompressSync(body) : opened.subarray(0, end)
}

/** The same; null for a damaged block, which must not stop what concerns other events. */
export function openSoundBlock(body: Buffer): Buffer | null {
  try {
    return openBlock(body)
  } catch {
    return null
  }
}

/**
 * Overwrites parts with zeros; the positions of other parts stay.
 * @returns the block, compressed; null when nothing is left
 */
export function blankParts(body: Buffer, parts: readonly Part[]): Buffer | null {
  const decoded = openBlock(body)
  for (const { start, end } of parts) decoded.fill(0, start, end)
  if (decoded.equals(Buffer.alloc(decoded.length))) return null
  return decoded.length > NEW_BLOCK.bytes ? zlib.zstdCompressSync(decoded, ZSTD) : packNewBlock(decoded)
}

/** The same; undefined for a damaged block. */
export function blankSoundParts(body: Buffer, parts: readonly Part[]): Buffer | null | undefined {
  try {
    return blankParts(body, parts)
  } catch {
    return undefined
  }
}

/** The part of a decoded block; null for the part of a deleted event, which is blank. */
export function readBlockPart(decoded: Buffer, { start, end }: Part): Buffer | null {
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

type Body = Part & { readonly body: Buffer; readonly encoding: ContentEncoding }

/** Room for what an envelope has beside its event. */
const ROOM = 64 * 1024

/** The content of a block, decoded in place: bodies are not copied. */
export class BlockContent {
  readonly #limits: BlockLimits
  #buffer: Buffer
  #bytes = 0
  #events = 0

  constructor(limits: BlockLimits) {
    this.#limits = limits
    this.#buffer = Buffer.allocUnsafeSlow(limits.bytes + ROOM)
  }

  /** Valid until {@link clear}. */
  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.#bytes)
  }

  get events(): number {
    return this.#events
  }

  isFullFor({ start, end }: Part): boolean {
    const { events, bytes } = this.#limits
    return this.#events > 0 && (this.#events >= events || this.#bytes + end - start > bytes)
  }

  /** Adds the JSON of a stored body. @returns its place; null when it cannot be decoded */
  add({ body, encoding, start, end }: Body): Part | null {
    const at = this.#bytes
    if (start >= end) return null
    if (this.#buffer.length < at + end + ROOM) {
      const larger = Buffer.allocUnsafeSlow(at + end + ROOM)
      this.#buffer.copy(larger, 0, 0, at)
      this.#buffer = larger
    }
    if (decodeInto(body, encoding, this.#buffer.subarray(at)) < end) return null
    this.#buffer.copyWithin(at, at + start, at + end)
    this.#bytes = at + end - start
    this.#events++
    return { start: at, end: this.#bytes }
  }

  clear(): void {
    this.#bytes = 0
    this.#events = 0
  }
}

/** Decodes a body with the decoders that each thread keeps. @returns the bytes written to `out`; 0 when it is damaged */
function decodeInto(body: Buffer, encoding: ContentEncoding, out: Buffer): number {
  if (encoding === 'gzip' || encoding === 'deflate') {
    const result = inflateInto(body, encoding, out)
    if ('end' in result) return result.end
  }
  const end = encoding === 'zstd' ? decompressZstdInto(body, out) : null
  if (end !== null) return end
  try {
    return openBody(body, encoding).copy(out)
  } catch {
    return 0
  }
}

/** A block that is not stored yet, with the place of each event in it. */
type NewBlock = {
  readonly day: string
  readonly body: Buffer
  readonly parts: ReadonlyMap<StoredEvent, Part>
}

/**
 * Packs bodies of a batch into blocks, by day, project and issue. What is too large, cannot be decoded, or would be in
 * a block of a few is in none.
 */
export function newBlocks(events: readonly StoredEvent[]): NewBlock[] {
  if (events.length < MIN_NEW_BLOCK_EVENTS) return []
  // An error may have left bodies of other events.
  content.clear()
  const blocks: NewBlock[] = []
  for (const [day, ofDay] of Map.groupBy(events, (event) => utcDay(event.receivedAt))) {
    let parts = new Map<StoredEvent, Part>()
    const close = (): void => {
      if (content.events >= MIN_NEW_BLOCK_EVENTS) blocks.push({ day, body: packNewBlock(content.bytes), parts })
      content.clear()
      parts = new Map()
    }
    const small = ofDay.filter((event) => sizeOf(event) <= NEW_BLOCK.bytes / MIN_NEW_BLOCK_EVENTS).sort(byIssue)
    const sizes = evenly(small)
    for (const event of small) {
      const { body, encoding, bodyStart: start, bodyEnd: end } = event
      if (content.isFullFor({ start, end })) close()
      const part = content.add({ body, encoding, start, end })
      if (part !== null) parts.set(event, part)
      if (content.bytes.length >= sizes.bytes || content.events >= sizes.events) close()
    }
    close()
  }
  return blocks
}

const sizeOf = (event: StoredEvent): number => event.bodyEnd - event.bodyStart

/** The size of blocks with which the last one is as large as the others, so that it does not remain too small. */
function evenly(events: readonly StoredEvent[]): BlockLimits {
  const bytes = events.reduce((sum, event) => sum + sizeOf(event), 0)
  const blocks = Math.max(1, Math.ceil(bytes / NEW_BLOCK.bytes), Math.ceil(events.length / NEW_BLOCK.events))
  return { events: Math.ceil(events.length / blocks), bytes: bytes / blocks }
}

/** One per thread: a block is packed without interruption. */
const content = new BlockContent(NEW_BLOCK)

/** Events of one issue, and of one project, have most in common. */
function byIssue(a: StoredEvent, b: StoredEvent): number {
  const [left, right] = a.projectId === b.projectId ? [a.issueId, b.issueId] : [a.projectId, b.projectId]
  return left < right ? -1 : left > right ? 1 : 0
}
