import zlib from 'node:zlib'
import { openZlibCoder } from './zlib-handle.ts'

/**
 * Zstandard at level 1, the level of everything that is stored as it arrives. `zlib.zstdCompressSync` creates a
 * compression context at every call, which costs three times what compressing a 3 kB body does; here each thread keeps
 * one context. The bytes are the same.
 */

const { ZSTD_e_end: END_FRAME, ZSTD_c_compressionLevel: LEVEL } = zlib.constants
const OPTIONS = { params: { [LEVEL]: 1 } }

/** Larger bodies go through the API: they are rare, and the output buffer is kept. */
const MAX_KEPT_BYTES = 1024 * 1024
/** The largest frame of `bytes` bytes, as `ZSTD_compressBound` says: an incompressible body grows by 0.4 %. */
const maxFrameBytes = (bytes: number): number => bytes + (bytes >> 8) + 1024

type Encoder = (bytes: Buffer) => Buffer | null

/** One per thread; undefined until the first call, null where Node's internals are unknown. */
let kept: Encoder | null | undefined

/** One frame with the content of `bytes`. The result does not share memory with later ones. */
export function compressZstd(bytes: Buffer): Buffer {
  if (kept === undefined) kept = openEncoder()
  return (bytes.length <= MAX_KEPT_BYTES ? kept?.(bytes) : null) ?? zlib.zstdCompressSync(bytes, OPTIONS)
}

function openEncoder(): Encoder | null {
  const encoder = createEncoder()
  return encoder !== null && agreesWithApi(encoder) ? encoder : null
}

function createEncoder(): Encoder | null {
  // The stream's own buffer is never written to, so it is small.
  const coder = openZlibCoder(zlib.createZstdCompress({ ...OPTIONS, chunkSize: 64 }))
  if (coder === null) return null
  const { handle, state } = coder
  let out = Buffer.allocUnsafeSlow(64 * 1024)
  handle.onerror = () => {
    // A context that failed is not used again; the API compresses from here on.
    kept = null
  }
  return (bytes) => {
    const needed = maxFrameBytes(bytes.length)
    if (out.length < needed) out = Buffer.allocUnsafeSlow(needed)
    handle.writeSync(END_FRAME, bytes, 0, bytes.length, out, 0, out.length)
    const [freeBytes = 0, inputLeft = 0] = state
    if (kept === null || inputLeft > 0 || freeBytes === 0) {
      kept = null
      handle.close()
      return null
    }
    return Buffer.from(out.subarray(0, out.length - freeBytes))
  }
}

function agreesWithApi(encode: Encoder): boolean {
  const text = Buffer.from('compress, as it should be. '.repeat(400))
  return [text, text.subarray(0, 0), text.subarray(0, 10), text].every((bytes) =>
    encode(bytes)?.equals(zlib.zstdCompressSync(bytes, OPTIONS)),
  )
}
