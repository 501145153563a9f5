import zlib from 'node:zlib'
import { type ContentEncoding, inflateInto, type InflateCoding } from '../../platform/kernel/inflate.ts'
import { AppError, invalid, tooLarge } from '../../platform/kernel/errors.ts'

const MIB = 1024 * 1024
/** Maximum bytes of a received request body (docs/protocol.md §6). */
export const MAX_WIRE_BYTES = 20 * MIB
/** Maximum bytes after decoding. */
export const MAX_DECODED_BYTES = 100 * MIB
/** Maximum decoded bytes per received byte, above {@link RATIO_FREE_BYTES}. */
export const MAX_RATIO = 100
const RATIO_FREE_BYTES = MIB
/**
 * How far a large body may exceed that ratio during decoding: a dump may start with many zeros, but a bomb should be
 * recognised before it fills a hundred megabytes.
 */
const RATIO_AHEAD_BYTES = 24 * MIB

/** Bodies up to this size are decoded on the calling thread, which is cheaper than the thread pool. */
const SYNC_WIRE_BYTES = 64 * 1024
/** Maximum decoded size of such a body, a few milliseconds of work. */
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

/** Maximum decoded bytes of a body of `wireBytes`, by the absolute limit and the ratio. */
export const permittedBytes = (wireBytes: number): number =>
  Math.min(MAX_DECODED_BYTES, Math.max(RATIO_FREE_BYTES, wireBytes * MAX_RATIO))

const tooFar = (): AppError =>
  tooLarge(`The body decodes to more than ${MAX_DECODED_BYTES / MIB} MiB or to more than ${MAX_RATIO} times its size.`)

const broken = (encoding: ContentEncoding, cause: unknown): AppError =>
  new AppError('invalid', `The body is not valid ${encoding} data, or it is cut short.`, { cause })

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

// RFC 9659 allows a window of 8 MiB on the web; without this limit a small body could request 128 MiB.
const ZSTD_PARAMS = { [zlib.constants.ZSTD_d_windowLogMax]: 23 }

/**
 * Size of zlib's output chunks. A chunk that holds the whole body avoids joining; a much larger one wastes memory at
 * every request, which costs more than decoding.
 */
function pieceSize(raw: Buffer, encoding: ContentEncoding): number {
  const isGzip = encoding === 'gzip' && raw.length >= 18
  // A gzip body ends with the decoded size of its last member (RFC 1952 2.3.1). It is a hint, because a client may lie.
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
 * Decodes a body of any size on the calling thread; for workers and small bodies.
 * @param max a lower limit of the decoded size, bytes
 * @throws AppError `invalid` for broken or incomplete data, `too_large` above a limit
 */
export function decodeBodySync(raw: Buffer, encoding: ContentEncoding, max = MAX_DECODED_BYTES): Buffer {
  const limit = Math.min(max, permittedBytes(raw.length))
  if (encoding === 'none') {
    if (raw.length > max) throw tooFar()
    return raw
  }
  // zlib accepts empty input, but a compressed body is never empty.
  if (raw.length === 0) throw broken(encoding, undefined)
  try {
    return decodeWith(raw, encoding, limit, false)
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooFar()
    throw broken(encoding, error)
  }
}

/** A decoded body in reusable memory. */
export type DecodedBody = {
  readonly bytes: Buffer
  /** Makes the memory reusable; `bytes` must not be read afterwards. Not calling it only costs memory. */
  release(): void
}

const owned = (bytes: Buffer): DecodedBody => ({ bytes, release: () => {} })

/**
 * Decodes a small body on the calling thread.
 * @returns null when it is too large; then call {@link decodeLargeBody}
 * @throws AppError as {@link decodeBodySync}
 */
export function decodeSmallBody(raw: Buffer, encoding: ContentEncoding): DecodedBody | null {
  if (encoding === 'none') return owned(raw)
  if (raw.length > SYNC_WIRE_BYTES) return null
  if (raw.length === 0) throw broken(encoding, undefined)
  const permitted = permittedBytes(raw.length)
  const max = Math.min(permitted, SYNC_DECODED_BYTES)
  if (encoding === 'gzip' || encoding === 'deflate') {
    const inflated = inflateSmall(raw, encoding, max)
    if (inflated !== null) return inflated
  } else {
    try {
      return owned(decodeWith(raw, encoding, max, false))
    } catch (error) {
      if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw broken(encoding, error)
    }
  }
  if (permitted <= SYNC_DECODED_BYTES) throw tooFar()
  return null
}

/** Sizes of reusable output buffers; the last is one byte larger than the largest small body. */
const OUTPUT_BYTES = [128 * 1024, 512 * 1024, SYNC_DECODED_BYTES + 1] as const
/** Buffers kept of each size: one per shard of digestion. */
const MAX_IDLE = 4
const idle: Buffer[][] = OUTPUT_BYTES.map(() => [])

/**
 * Returns null when the body decodes to more than `max` bytes.
 * @throws AppError `invalid` for broken or incomplete data
 */
function inflateSmall(raw: Buffer, coding: InflateCoding, max: number): DecodedBody | null {
  for (const [size, bytes] of OUTPUT_BYTES.entries()) {
    const pool = idle[size] ?? []
    const out = pool.pop() ?? Buffer.allocUnsafeSlow(bytes)
    const inflated = inflateInto(raw, coding, out)
    if ('end' in inflated && inflated.end <= max) {
      return {
        bytes: out.subarray(0, inflated.end),
        release: () => {
          if (pool.length < MAX_IDLE) pool.push(out)
        },
      }
    }
    if (pool.length < MAX_IDLE) pool.push(out)
    if ('broken' in inflated) throw broken(coding, inflated.broken)
    if ('end' in inflated || bytes > max) return null
  }
  return null
}

/**
 * Decodes the first bytes of a body, to read its first line before the rest is received.
 * @returns null when nothing can be decoded (yet)
 */
export function decodePrefix(raw: Buffer, encoding: ContentEncoding, max: number): Buffer | null {
  if (encoding === 'none') return raw.subarray(0, max)
  if (raw.length === 0) return null
  try {
    // One output chunk is larger than `max`, so the limit only stops much longer output.
    return decodeWith(raw, encoding, Math.max(max, MIB), true).subarray(0, max)
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
 * Decodes a body of any permitted size, large ones off the event loop, into memory that the caller keeps.
 * @throws AppError as {@link decodeBodySync}
 */
export async function decodeBody(raw: Buffer, encoding: ContentEncoding): Promise<Buffer> {
  const { bytes } = await borrowBody(raw, encoding)
  return bytes
}

/**
 * As {@link decodeBody}, into memory that the caller releases.
 * @param aside does what needs no work of the calling thread
 */
export async function borrowBody(
  raw: Buffer,
  encoding: ContentEncoding,
  aside: (work: () => Promise<DecodedBody>) => Promise<DecodedBody> = (work) => work(),
): Promise<DecodedBody> {
  const small = decodeSmallBody(raw, encoding)
  return small ?? (encoding === 'none' ? owned(raw) : aside(() => decodeLargeBody(raw, encoding)))
}

/**
 * Decodes a body of any permitted size off the event loop. It counts the output, because zlib's streams ignore
 * `maxOutputLength`.
 * @throws AppError as {@link decodeBodySync}
 */
export function decodeLargeBody(raw: Buffer, encoding: Exclude<ContentEncoding, 'none'>): Promise<DecodedBody> {
  if (raw.length === 0) return Promise.reject(broken(encoding, undefined))
  const limit = permittedBytes(raw.length)
  return new Promise((resolve, reject) => {
    const decoder = createDecoder(encoding)
    // Allocates the maximum: only written pages become resident, and joining chunks (twice the memory, a long copy) is
    // avoided.
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
      // A full chunk is its whole buffer, which zlib no longer uses. Free it, or chunks accumulate.
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

/**
 * Frees memory immediately; otherwise hundreds of megabytes of refused bodies accumulate until the next garbage
 * collection.
 */
function discard(body: Buffer<ArrayBuffer>): void {
  body.buffer.transfer(0)
}
