import zlib from 'node:zlib'
import { openZlibCoder } from './zlib-handle.ts'

/**
 * Decodes Zstandard with one kept context per thread: `zlib.zstdDecompressSync` creates one at every call and collects
 * its output in small pieces (measured: 41 µs for a body of 20 kB where this takes 14, 460 for a block of 500 kB where
 * this takes 100).
 */

type Decoder = (bytes: Buffer, out: Buffer) => number | null

/** One per thread; undefined while there is none, null where Node's internals are unknown. */
let kept: Decoder | null | undefined

/**
 * Decodes `bytes` into `out`.
 * @returns the number of bytes written; null when `bytes` is damaged, or `out` is not larger than its content
 */
export function decompressZstdInto(bytes: Buffer, out: Buffer): number | null {
  if (kept === undefined) kept = openDecoder()
  return kept === null ? decompressByApi(bytes, out) : kept(bytes, out)
}

function openDecoder(): Decoder | null {
  isSupported ??= decodesCorrectly()
  return isSupported ? createDecoder() : null
}
/** Whether this Node has the internals we expect; checked once. */
let isSupported: boolean | undefined

function createDecoder(): Decoder | null {
  // The stream's own buffer is never written to, so it is small.
  const coder = openZlibCoder(zlib.createZstdDecompress({ chunkSize: 64 }))
  if (coder === null) return null
  const { handle, state } = coder
  let isSound = true
  handle.onerror = () => {
    isSound = false
  }
  return (bytes, out) => {
    handle.writeSync(zlib.constants.ZSTD_e_end, bytes, 0, bytes.length, out, 0, out.length)
    const [freeBytes = 0, inputLeft = 0] = state
    if (isSound && inputLeft === 0 && freeBytes > 0) return out.length - freeBytes
    // Somewhere inside a frame: the context is not used again.
    kept = undefined
    handle.close()
    return null
  }
}

/** Whether whole, cut and damaged frames are decoded like with the public functions. */
function decodesCorrectly(): boolean {
  const text = Buffer.from('decompress, as it should be. '.repeat(400))
  const packed = zlib.zstdCompressSync(text)
  const out = Buffer.alloc(text.length + 1)
  const isWhole = (decode: Decoder): boolean => {
    const end = decode(packed, out)
    return end === text.length && out.subarray(0, end).equals(text)
  }
  const [whole, cut, short, broken] = [createDecoder(), createDecoder(), createDecoder(), createDecoder()]
  if (whole === null) return false
  return (
    isWhole(whole) &&
    isWhole(whole) &&
    cut?.(packed.subarray(0, 20), out) === null &&
    short?.(packed, out.subarray(0, 100)) === null &&
    broken?.(text, out) === null &&
    isWhole(whole)
  )
}

function decompressByApi(bytes: Buffer, out: Buffer): number | null {
  try {
    return zlib.zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, out.length - 1) }).copy(out)
  } catch {
    return null
  }
}
