import zlib from 'node:zlib'
import { openZlibCoder } from './zlib-handle.ts'

/**
 * gzip and deflate without allocation per body. `zlib.gunzipSync` creates a stream, a native decoder and output buffers
 * at every call, whose memory causes major garbage collections that cost more than decoding. Here one decoder per
 * coding is reused and writes into our buffer (docs/decisions/stored-events.md).
 */

export type InflateCoding = 'gzip' | 'deflate'

type Inflated =
  /** Bytes written to the output. */
  | { readonly end: number }
  /** The output is full, and there is more. */
  | { readonly full: true }
  | { readonly broken: Error }

/**
 * Decodes all of `raw` into `out`, like `zlib.gunzipSync` and `zlib.inflateSync`: several members of gzip are one body,
 * bytes after the last one are ignored, and an incomplete body is broken.
 * @param out one byte longer than the maximum size; when it is full, the body is too large
 */
export function inflateInto(raw: Buffer, coding: InflateCoding, out: Buffer): Inflated {
  const decoder = kept.get(coding) ?? openDecoder(coding)
  return decoder === null ? inflateByApi(raw, coding, out) : decoder(raw, out)
}

type Decoder = (raw: Buffer, out: Buffer) => Inflated

/** One per thread and coding: decoding is synchronous. */
const kept = new Map<InflateCoding, Decoder>()
/** Whether this Node has the internals we expect; checked once. */
let isSupported: boolean | undefined

const create = { gzip: zlib.createGunzip, deflate: zlib.createInflate }
const sync = { gzip: zlib.gunzipSync, deflate: zlib.inflateSync }

function openDecoder(coding: InflateCoding): Decoder | null {
  isSupported ??= decodesCorrectly('gzip') && decodesCorrectly('deflate')
  const decoder = isSupported ? decoderOf(coding) : null
  if (decoder !== null) kept.set(coding, decoder)
  return decoder
}

/** Returns null when the stream does not have the expected internals. */
function decoderOf(coding: InflateCoding): Decoder | null {
  // The minimum size, because it is never written to.
  const coder = openZlibCoder(create[coding]({ chunkSize: 64 }))
  if (coder === null) return null
  const { handle, state } = coder
  let failure: Error | null = null
  handle.onerror = (message, _errno, code) => {
    failure = Object.assign(new Error(message), { code })
  }
  return (raw, out) => {
    failure = null
    handle.reset()
    handle.writeSync(zlib.constants.Z_FINISH, raw, 0, raw.length, out, 0, out.length)
    if (failure !== null) {
      // A decoder is not reused after an error.
      kept.delete(coding)
      handle.close()
      return { broken: failure }
    }
    const [bytesLeft = 0] = state
    return bytesLeft === 0 ? { full: true } : { end: out.length - bytesLeft }
  }
}

/** Whether valid, incomplete and two-member bodies are decoded like with the public functions. */
function decodesCorrectly(coding: InflateCoding): boolean {
  const text = Buffer.from('inflate, as it should be. '.repeat(40))
  const packed = coding === 'gzip' ? zlib.gzipSync(text) : zlib.deflateSync(text)
  const out = Buffer.alloc(text.length * 2 + 1)
  const decoder = decoderOf(coding)
  if (decoder === null) return false
  const isSame = (raw: Buffer): boolean => {
    const result = decoder(raw, out)
    return 'end' in result && out.subarray(0, result.end).equals(sync[coding](raw))
  }
  return (
    [packed, Buffer.concat([packed, packed]), packed].every(isSame) &&
    'full' in decoder(packed, out.subarray(0, 100)) &&
    isSame(packed) &&
    'broken' in decoder(packed.subarray(0, 20), out)
  )
}

function inflateByApi(raw: Buffer, coding: InflateCoding, out: Buffer): Inflated {
  try {
    const bytes = sync[coding](raw, { maxOutputLength: Math.max(1, out.length - 1) })
    return { end: bytes.copy(out) }
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE') return { full: true }
    return { broken: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** Content codings of stored bodies; the database stores the index. */
export const CONTENT_ENCODINGS = ['none', 'gzip', 'deflate', 'br', 'zstd'] as const
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number]
