import zlib from 'node:zlib'
import { openZlibCoder } from '#server/kernel/zlib-handle.ts'

/**
 * gzip and deflate without making anything per body. `zlib.gunzipSync` builds a stream, a native decoder and output
 * buffers at every call; V8 counts their memory and answers with major collections, which cost more than decoding.
 * Here one decoder per coding is driven by hand and writes into a buffer of ours (docs/decisions/stored-events.md).
 */

export type InflateCoding = 'gzip' | 'deflate'

export type Inflated =
  /** Bytes written to the output. */
  | { readonly end: number }
  /** The output is full, and there is more. */
  | { readonly full: true }
  | { readonly broken: Error }

/**
 * Decodes all of `raw` into `out`, as `zlib.gunzipSync` and `zlib.inflateSync` would: members of gzip one after the
 * other are one body, what follows the last one is ignored, and a body cut short is broken.
 * @param out one byte longer than the most that may come out: a full one says that there is more
 */
export function inflateInto(raw: Buffer, coding: InflateCoding, out: Buffer): Inflated {
  const decoder = kept.get(coding) ?? openDecoder(coding)
  return decoder === null ? inflateByApi(raw, coding, out) : decoder(raw, out)
}

type Decoder = (raw: Buffer, out: Buffer) => Inflated

/** One per thread: decoding happens in one go, nobody else gets a turn in between. */
const kept = new Map<InflateCoding, Decoder>()
/** Whether this Node's internals are those we know; found out once. */
let isFamiliar: boolean | undefined

const create = { gzip: zlib.createGunzip, deflate: zlib.createInflate }
const sync = { gzip: zlib.gunzipSync, deflate: zlib.inflateSync }

function openDecoder(coding: InflateCoding): Decoder | null {
  isFamiliar ??= decodesRightly('gzip') && decodesRightly('deflate')
  const decoder = isFamiliar ? decoderOf(coding) : null
  if (decoder !== null) kept.set(coding, decoder)
  return decoder
}

/** Null when the stream does not look as expected. */
function decoderOf(coding: InflateCoding): Decoder | null {
  // The least buffer: it is never written to.
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
      // A decoder that failed is not trusted again.
      kept.delete(coding)
      handle.close()
      return { broken: failure }
    }
    const [roomLeft = 0] = state
    return roomLeft === 0 ? { full: true } : { end: out.length - roomLeft }
  }
}

/** Sound, cut and two-member bodies come out as the public functions say. */
function decodesRightly(coding: InflateCoding): boolean {
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
