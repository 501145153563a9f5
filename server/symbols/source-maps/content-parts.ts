import { decompressZstdInto } from '#server/platform/kernel/zstd-decoder.ts'
import { compressZstd } from '#server/platform/kernel/zstd-encoder.ts'
import { ByteWriter } from './byte-writer.ts'

/**
 * Parts with the lines of sources, compressed. A large source continues in the next part, so that a look-up opens 16 KiB:
 * decompressing and reading it takes about 15 µs, of 64 KiB 60.
 *
 *     chunks (count)                                              int32
 *     per chunk: source, first line, lines, start and end of text  5 × int32
 *     texts of the chunks in UTF-8, lines separated by a line feed
 */
const CONTENT_BYTES = 16 * 1024
const CHUNK_BYTES = 20
/** Longer lines are cut: a line of a minified source would fill several parts, and no reader wants it whole. */
const MAX_LINE_CHARACTERS = 1_000

/** The largest decoded part: the last line that is added may be three bytes a character. */
const MAX_DECODED_BYTES = 1024 * 1024

/** The line terminators of JavaScript (ECMA-262, "Line Terminators"), which the lines of a source map count. */
const LINE_ENDS = /\r\n|[\n\r\u2028\u2029]/

type Chunk = { readonly source: number; readonly firstLine: number; lines: number; readonly from: number; to: number }

/** Collects sources in the order of their indexes and writes parts. */
export class ContentPartWriter {
  readonly #write: (part: Buffer, source: number, line: number) => void
  #chunks: Chunk[] = []
  #text: string[] = []
  #textBytes = 0

  /** @param write receives each part with the source and zero-based line that it begins with */
  constructor(write: (part: Buffer, source: number, line: number) => void) {
    this.#write = write
  }

  add(source: number, content: string): void {
    let chunk: Chunk | null = null
    let line = 0
    for (const whole of content.split(LINE_ENDS)) {
      if (this.#textBytes >= CONTENT_BYTES) {
        this.flush()
        chunk = null
      }
      if (chunk === null) {
        chunk = { source, firstLine: line, lines: 0, from: this.#textBytes, to: this.#textBytes }
        this.#chunks.push(chunk)
      }
      const text = `${whole.length > MAX_LINE_CHARACTERS ? `${whole.slice(0, MAX_LINE_CHARACTERS)}…` : whole}\n`
      this.#text.push(text)
      this.#textBytes += Buffer.byteLength(text)
      chunk.lines++
      chunk.to = this.#textBytes
      line++
    }
  }

  flush(): void {
    const [first] = this.#chunks
    if (first === undefined) return
    const out = new ByteWriter()
    out.int32(this.#chunks.length)
    const start = 4 + this.#chunks.length * CHUNK_BYTES
    for (const { source, firstLine, lines, from, to } of this.#chunks) {
      for (const value of [source, firstLine, lines, start + from, start + to]) out.int32(value)
    }
    out.raw(Buffer.from(this.#text.join('')))
    this.#write(compressZstd(out.take()), first.source, first.firstLine)
    this.#chunks = []
    this.#text = []
    this.#textBytes = 0
  }
}

const decoded = Buffer.allocUnsafeSlow(MAX_DECODED_BYTES + 1)

/** @returns the lines of a source in this part from `from` on, before `until`; zero-based */
export function readLines(
  part: Buffer,
  source: number,
  from: number,
  until: number,
): { first: number; lines: string[] } {
  const end = decompressZstdInto(part, decoded)
  if (end === null) return { first: from, lines: [] }
  const chunks = decoded.readInt32LE(0)
  for (let at = 4; at < 4 + chunks * CHUNK_BYTES; at += CHUNK_BYTES) {
    if (decoded.readInt32LE(at) !== source) continue
    const firstLine = decoded.readInt32LE(at + 4)
    const lines = decoded.readInt32LE(at + 8)
    const first = Math.max(from, firstLine)
    const last = Math.min(until, firstLine + lines)
    let position = decoded.readInt32LE(at + 12)
    for (let line = firstLine; line < first && line < last; line++) position = decoded.indexOf(0x0a, position) + 1
    const found: string[] = []
    for (let line = first; line < last; line++) {
      const lineEnd = decoded.indexOf(0x0a, position)
      found.push(decoded.toString('utf8', position, lineEnd))
      position = lineEnd + 1
    }
    return { first, lines: found }
  }
  return { first: from, lines: [] }
}
