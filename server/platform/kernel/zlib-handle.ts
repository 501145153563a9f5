import type { Transform } from 'node:stream'
import { z } from 'zod'

/**
 * The native coder inside a stream of `node:zlib`, driven by hand: one coder serves many bodies, where `gunzipSync` and
 * its kind build a stream, a coder and buffers at every call. Not part of Node's API, so each user compares its results
 * with the public functions once before it relies on them.
 */

/** What `lib/zlib.js` puts into a stream. */
const Stream = z.object({
  // [free bytes of the output, bytes left of the input] after a write.
  _writeState: z.instanceof(Uint32Array).refine((state) => state.length === 2),
  _handle: z.custom<ZlibHandle>(
    (handle) =>
      typeof handle === 'object' &&
      handle !== null &&
      ['writeSync', 'reset', 'close', 'onerror'].every((name) => typeof Reflect.get(handle, name) === 'function'),
  ),
})

type ZlibHandle = {
  writeSync(
    flush: number,
    input: Buffer,
    inputAt: number,
    inputBytes: number,
    out: Buffer,
    outAt: number,
    outBytes: number,
  ): void
  reset(): void
  close(): void
  onerror: (message: string, errno: number, code: string) => void
}

interface ZlibCoder {
  readonly handle: ZlibHandle
  /** [free bytes of the output, bytes left of the input] after a write. */
  readonly state: Uint32Array
}

/** On another major version the internals may follow other rules; breaking one ends the process instead of throwing. */
const KNOWN_MAJOR = 26

/** @returns null on another version of Node, or when the stream does not look as expected */
export function openZlibCoder(stream: Transform): ZlibCoder | null {
  if (!process.versions.node.startsWith(`${KNOWN_MAJOR}.`)) return null
  const parsed = Stream.safeParse(stream)
  return parsed.success ? { handle: parsed.data._handle, state: parsed.data._writeState } : null
}
