import zlib from 'node:zlib'
import type { ContentEncoding } from '../kernel/content-encoding.ts'
import { AppError, invalid, tooLarge } from '../kernel/errors.ts'
import { inflateInto, type InflateCoding } from './inflate.ts'

const MIB = 1024 * 1024
/** Most bytes of a request body as it comes off the wire (docs/protocol.md §6). */
export const MAX_WIRE_BYTES = 20 * MIB
/** Most bytes after decoding. */
export const MAX_DECODED_BYTES = 100 * MIB
/** Most decoded bytes per wire byte, counted once {@link RATIO_FREE_BYTES} are out. */
export const MAX_RATIO = 100
export const RATIO_FREE_BYTES = MIB
/**
 * How far a large body may be ahead of that ratio on the way: a dump may begin with a long run of zeros, but a bomb
 * should not fill a hundred megabytes before it is seen as one.
 */
const RATIO_AHEAD_BYTES = 24 * MIB

/** Bodies up to this size are decoded at once on the calling thread: cheaper than a round trip to the thread pool. */
const SYNC_WIRE_BYTES = 64 * 1024
/** …as long as no more than this comes out, which takes a few milliseconds at worst. */
const SYNC_DECODED_BYTES = 2 * MIB

const NAMES = new Map<string, ContentEncoding>([
  ['', 'none'],
  ['identity', 'none'],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
])

/**
 * Reads a Content-Encoding header.
 * @throws AppError `invalid` for an unknown coding and for more than one (one layer only, docs/protocol.md §3.2)
 */
export function contentEncodingFrom(header: string | undefined): ContentEncoding {
  if (header === undefined) return 'none'
  const known = NAMES.get(header)
  if (known !== undefined) return known
  const name = header.trim().toLowerCase()
  const encoding = NAMES.get(name)
  if (encoding !== undefined) return encoding
  if (name.includes(',')) throw invalid('Only one Content-Encoding may be applied to a body.')
  throw invalid('Content-Encoding must be gzip, deflate, br, zstd or identity.')
}

/** How many bytes may come out of `wireBytes`: the absolute limit or the ratio, whichever is reached first. */
export const permittedBytes = (wireBytes: number): number =>
  Math.min(MAX_DECODED_BYTES, Math.max(RATIO_FREE_BYTES, wireBytes * MAX_RATIO))

const tooFar = (): AppError =>
  tooLarge(`The body decodes to more than ${MAX_DECODED_BYTES / MIB} MiB or to more than ${MAX_RATIO} times its size.`)

const broken = (encoding: ContentEncoding, cause: unknown): AppError =>
  new AppError('invalid', `The body is not valid ${encoding} data, or it is cut short.`, { cause })

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

// A window of 8 MiB is what RFC 9659 allows on the web; without the bound one small body may ask for 128 MiB.
const ZSTD_PARAMS = { [zlib.constants.ZSTD_d_windowLogMax]: 23 }

/**
 * Size of the pieces zlib puts out. A piece that holds all of a body saves joining pieces; one much larger than the
 * body is memory thrown away at every request, which costs more than decoding.
 */
function pieceSize(raw: Buffer, encoding: ContentEncoding): number {
  const isGzip = encoding === 'gzip' && raw.length >= 18
  // A gzip body ends with the size of what its last member holds (RFC 1952 2.3.1). Only a hint: anybody can write it.
  const expected = isGzip ? raw.readUInt32LE(raw.length - 4) + 1024 : raw.length * 10
  return Math.min(MAX_PIECE_BYTES, Math.max(MIN_PIECE_BYTES, expected))
}

const MIN_PIECE_BYTES = 4 * 1024
const MAX_PIECE_BYTES = 64 * 1024

function decodeWith(
  raw: Buffer,
  encoding: Exclude<ContentEncoding, 'none'>,
  maxOutputLength: number,
  cut: boolean,
): Buffer {
  const chunkSize = pieceSize(raw, encoding)
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush } = zlib.constants
  switch (encoding) {
    case 'gzip':
      return zlib.gunzipSync(
        raw,
        cut ? { chunkSize, maxOutputLength, finishFlush: Z_SYNC_FLUSH } : { chunkSize, maxOutputLength },
      )
    case 'deflate':
      return zlib.inflateSync(
        raw,
        cut ? { chunkSize, maxOutputLength, finishFlush: Z_SYNC_FLUSH } : { chunkSize, maxOutputLength },
      )
    case 'br':
      return zlib.brotliDecompressSync(
        raw,
        cut ? { chunkSize, maxOutputLength, finishFlush: BROTLI_OPERATION_FLUSH } : { chunkSize, maxOutputLength },
      )
    case 'zstd':
      return zlib.zstdDecompressSync(raw, {
        chunkSize,
        maxOutputLength,
        params: ZSTD_PARAMS,
        ...(cut ? { finishFlush: ZSTD_e_flush } : {}),
      })
  }
}

/**
 * Decodes on the calling thread, whatever the size: for workers and for bodies known to be small.
 * @param most further bound on the decoded size, bytes
 * @throws AppError `invalid` for broken or cut data, `too_large` past a limit
 */
export function decodeBodySync(raw: Buffer, encoding: ContentEncoding, most = MAX_DECODED_BYTES): Buffer {
  const limit = Math.min(most, permittedBytes(raw.length))
  if (encoding === 'none') {
    if (raw.length > most) throw tooFar()
    return raw
  }
  // zlib decodes nothing out of nothing without complaint; a compressed body always has bytes.
  if (raw.length === 0) throw broken(encoding, undefined)
  try {
    return decodeWith(raw, encoding, limit, false)
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooFar()
    throw broken(encoding, error)
  }
}

/** A decoded body whose memory is used again. */
export type DecodedBody = {
  readonly bytes: Buffer
  /** Gives the memory back; `bytes` must not be looked at afterwards. Forgetting it costs memory, nothing else. */
  release(): void
}

const owned = (bytes: Buffer): DecodedBody => ({ bytes, release: () => {} })

/**
 * Decodes a small body at once.
 * @returns null when it is too large for that; then call {@link decodeLargeBody}
 * @throws AppError as {@link decodeBodySync}
 */
export function decodeSmallBody(raw: Buffer, encoding: ContentEncoding): DecodedBody | null {
  if (encoding === 'none') return owned(raw)
  if (raw.length > SYNC_WIRE_BYTES) return null
  if (raw.length === 0) throw broken(encoding, undefined)
  const permitted = permittedBytes(raw.length)
  const most = Math.min(permitted, SYNC_DECODED_BYTES)
  if (encoding === 'gzip' || encoding === 'deflate') {
    const inflated = inflateSmall(raw, encoding, most)
    if (inflated !== null) return inflated
  } else {
    try {
      return owned(decodeWith(raw, encoding, most, false))
    } catch (error) {
      if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw broken(encoding, error)
    }
  }
  if (permitted <= SYNC_DECODED_BYTES) throw tooFar()
  return null
}

/** Sizes of the buffers bodies are inflated into; the last holds every small body and a byte more. */
const OUTPUT_BYTES = [128 * 1024, 512 * 1024, SYNC_DECODED_BYTES + 1] as const
/** Buffers kept of each size: as many as bodies are looked at at the same time, by shards of digestion. */
const MAX_IDLE = 4
const idle: Buffer[][] = OUTPUT_BYTES.map(() => [])

/** Null when more than `most` bytes come out. @throws AppError `invalid` for broken or cut data */
function inflateSmall(raw: Buffer, coding: InflateCoding, most: number): DecodedBody | null {
  for (const [size, bytes] of OUTPUT_BYTES.entries()) {
    const pool = idle[size] ?? []
    const out = pool.pop() ?? Buffer.allocUnsafeSlow(bytes)
    const inflated = inflateInto(raw, coding, out)
    if ('end' in inflated && inflated.end <= most) {
      return {
        bytes: out.subarray(0, inflated.end),
        release: () => {
          if (pool.length < MAX_IDLE) pool.push(out)
        },
      }
    }
    if (pool.length < MAX_IDLE) pool.push(out)
    if ('broken' in inflated) throw broken(coding, inflated.broken)
    if ('end' in inflated || bytes > most) return null
  }
  return null
}

/**
 * Decodes as much as the first bytes of a body give, for looking at its first line before the rest is read.
 * Null where nothing can be said about it yet, or ever.
 */
export function decodePrefix(raw: Buffer, encoding: ContentEncoding, most: number): Buffer | null {
  if (encoding === 'none') return raw.subarray(0, most)
  if (raw.length === 0) return null
  try {
    // The output piece is larger than `most` by itself, so the bound only stops what goes far beyond it.
    return decodeWith(raw, encoding, Math.max(most, MIB), true).subarray(0, most)
  } catch {
    return null
  }
}

const CHUNK_BYTES = 256 * 1024

const createDecoder = (encoding: Exclude<ContentEncoding, 'none'>) => {
  const chunkSize = CHUNK_BYTES
  switch (encoding) {
    case 'gzip':
      return zlib.createGunzip({ chunkSize })
    case 'deflate':
      return zlib.createInflate({ chunkSize })
    case 'br':
      return zlib.createBrotliDecompress({ chunkSize })
    case 'zstd':
      return zlib.createZstdDecompress({ chunkSize, params: ZSTD_PARAMS })
  }
}

/**
 * Decodes a body of any permitted size, small ones at once, large ones off the event loop, into memory that is the
 * caller's for good.
 * @throws AppError as {@link decodeBodySync}
 */
export async function decodeBody(raw: Buffer, encoding: ContentEncoding): Promise<Buffer> {
  const { bytes } = await borrowBody(raw, encoding)
  return bytes
}

/** As {@link decodeBody}, into memory that is given back after a look. */
export async function borrowBody(raw: Buffer, encoding: ContentEncoding): Promise<DecodedBody> {
  const small = decodeSmallBody(raw, encoding)
  return small ?? (encoding === 'none' ? owned(raw) : decodeLargeBody(raw, encoding))
}

/**
 * Decodes a body of any permitted size off the event loop, counting what comes out: zlib's streams do not
 * honour `maxOutputLength` themselves.
 * @throws AppError as {@link decodeBodySync}
 */
export function decodeLargeBody(raw: Buffer, encoding: Exclude<ContentEncoding, 'none'>): Promise<DecodedBody> {
  if (raw.length === 0) return Promise.reject(broken(encoding, undefined))
  const limit = permittedBytes(raw.length)
  return new Promise((resolve, reject) => {
    const decoder = createDecoder(encoding)
    // Only pages that are written become resident, so asking for the most there can be costs nothing,
    // and joining pieces at the end (twice the memory, a long copy) is spared.
    const out = Buffer.allocUnsafeSlow(limit)
    let length = 0
    let failed = false
    const fail = (error: AppError): void => {
      if (failed) return
      failed = true
      decoder.destroy()
      discard(out)
      reject(error)
    }
    decoder.on('data', (piece: Buffer) => {
      if (failed) return
      const soFar = decoder.bytesWritten * MAX_RATIO + RATIO_AHEAD_BYTES
      if (length + piece.length > Math.min(limit, soFar)) return fail(tooFar())
      piece.copy(out, length)
      length += piece.length
      // A piece that is full is all of its memory, and zlib has let go of it; as much again would pile up otherwise.
      if (
        piece.length === CHUNK_BYTES &&
        piece.buffer instanceof ArrayBuffer &&
        piece.buffer.byteLength === CHUNK_BYTES
      )
        piece.buffer.transfer(0)
    })
    decoder.on('end', () => resolve({ bytes: out.subarray(0, length), release: () => discard(out) }))
    decoder.on('error', (error) => fail(broken(encoding, error)))
    decoder.end(raw)
  })
}

/** Gives memory back at once; left to the collector, a few hundred megabytes of refused bodies can pile up before it looks. */
function discard(body: Buffer<ArrayBuffer>): void {
  body.buffer.transfer(0)
}
