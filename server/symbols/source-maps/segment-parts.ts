import { PART_BYTES } from '../index-file/built-index.ts'
import { ByteReader, ByteWriter } from './byte-writer.ts'
import { NONE } from './decode-mappings.ts'

/**
 * A part with segments of the generated code, in order of line and column. It is complete in itself: names of sources,
 * functions and symbols that its segments use are in it, so that a look-up needs no other part.
 *
 * Segments are in blocks of {@link BLOCK_SEGMENTS}, each with its first position in a table, which is searched; within a
 * block numbers are differences to the segment before. A segment takes 5 to 7 bytes instead of the 24 of six integers.
 *
 *     blocks, sources, texts (counts), start of texts   4 × int32
 *     per block: line, column, start                    3 × int32
 *     per source: index in the map, flags, text         3 × int32
 *     per text: its end in the texts                    1 × int32
 *     segments of the blocks, texts in UTF-8
 */
export type Segment = {
  line: number
  column: number
  /** Index of the source in the map, or {@link NONE}. */
  source: number
  sourceLine: number
  sourceColumn: number
  name: string | null
  functionName: string | null
}

type SegmentSource = { readonly name: string; readonly isIgnored: boolean; readonly hasContent: boolean }

type FoundSegment = Segment & {
  readonly sourceName: string
  readonly isIgnored: boolean
  readonly hasContent: boolean
}

const BLOCK_SEGMENTS = 32
const HEADER_BYTES = 16
const BLOCK_BYTES = 12
const SOURCE_BYTES = 12

const IS_IGNORED = 1
const HAS_CONTENT = 2

const ON_NEW_LINE = 1
const HAS_SOURCE = 2
const HAS_NAME = 4
const NEW_SOURCE = 8
const NEW_FUNCTION = 16

/** Collects segments in order and writes them as parts. */
export class SegmentPartWriter {
  readonly #sources: (index: number) => SegmentSource
  readonly #write: (part: Buffer, line: number, column: number) => void
  readonly #blocks: number[] = []
  readonly #segments = new ByteWriter()
  readonly #texts = new Map<string, number>()
  #textBytes = 0
  readonly #sourcePlaces = new Map<number, number>()
  #blockSegments = 0
  #functionName: string | null = null
  #functionText = 0
  /** State of the block: the segment before. Text 0 is "no function". */
  #line = 0
  #column = 0
  #source = 0
  #sourceLine = 0
  #sourceColumn = 0
  #name = 0
  #function = 0

  /** @param write receives each part with the position of its first segment */
  constructor(sources: (index: number) => SegmentSource, write: (part: Buffer, line: number, column: number) => void) {
    this.#sources = sources
    this.#write = write
  }

  /** Segments of one position stay in one block, because a look-up reads one. */
  add(segment: Segment): void {
    const isNewPosition = segment.line !== this.#line || segment.column !== this.#column
    if (isNewPosition && this.#sizeBytes() >= PART_BYTES) this.flush()
    if (this.#blocks.length === 0 || (isNewPosition && this.#blockSegments >= BLOCK_SEGMENTS)) this.#openBlock(segment)
    this.#blockSegments++
    const { line, column, source } = segment
    // Segments of one function follow each other.
    if (segment.functionName !== this.#functionName || this.#texts.size === 0) {
      this.#functionName = segment.functionName
      this.#functionText = segment.functionName === null ? 0 : this.#textPlace(segment.functionName)
    }
    const functionText = this.#functionText
    const place = source === NONE ? this.#source : this.#sourcePlace(source)
    const flags =
      (line === this.#line ? 0 : ON_NEW_LINE) |
      (source === NONE ? 0 : HAS_SOURCE) |
      (segment.name === null ? 0 : HAS_NAME) |
      (place === this.#source ? 0 : NEW_SOURCE) |
      (functionText === this.#function || source === NONE ? 0 : NEW_FUNCTION)
    const out = this.#segments
    out.byte(flags)
    if ((flags & ON_NEW_LINE) === 0) out.varint(column - this.#column)
    else {
      out.varint(line - this.#line)
      out.varint(column)
    }
    this.#line = line
    this.#column = column
    if (source === NONE) return
    out.signed(segment.sourceLine - this.#sourceLine)
    out.signed(segment.sourceColumn - this.#sourceColumn)
    if ((flags & NEW_SOURCE) !== 0) out.varint(place)
    if (segment.name !== null) {
      const name = this.#textPlace(segment.name)
      out.signed(name - this.#name)
      this.#name = name
    }
    if ((flags & NEW_FUNCTION) !== 0) out.varint(functionText)
    this.#source = place
    this.#sourceLine = segment.sourceLine
    this.#sourceColumn = segment.sourceColumn
    this.#function = functionText
  }

  /** Writes the part that is under way, if it has segments. */
  flush(): void {
    const [firstLine, firstColumn] = this.#blocks
    if (firstLine === undefined || firstColumn === undefined) return
    const blocks = this.#blocks.length / 3
    // Describing the sources adds their names to the texts.
    const sources = [...this.#sourcePlaces.keys()].flatMap((index) => {
      const { name, isIgnored, hasContent } = this.#sources(index)
      return [index, (isIgnored ? IS_IGNORED : 0) | (hasContent ? HAS_CONTENT : 0), this.#textPlace(name)]
    })
    const texts = [...this.#texts.keys()].map((text) => Buffer.from(text))
    const segments = this.#segments.take()
    const tableBytes = HEADER_BYTES + 4 * (this.#blocks.length + sources.length + this.#texts.size)
    const head = new ByteWriter()
    head.int32(blocks)
    head.int32(sources.length / 3)
    head.int32(this.#texts.size)
    head.int32(tableBytes + segments.length)
    for (let at = 0; at < this.#blocks.length; at += 3) {
      head.int32(this.#blocks[at] ?? 0)
      head.int32(this.#blocks[at + 1] ?? 0)
      head.int32(tableBytes + (this.#blocks[at + 2] ?? 0))
    }
    for (const value of sources) head.int32(value)
    let end = 0
    for (const text of texts) {
      end += text.length
      head.int32(end)
    }
    this.#write(Buffer.concat([head.take(), segments, ...texts]), firstLine, firstColumn)
    this.#blocks.length = 0
    this.#texts.clear()
    this.#textBytes = 0
    this.#sourcePlaces.clear()
  }

  #openBlock({ line, column }: Segment): void {
    this.#blocks.push(line, column, this.#segments.length)
    this.#blockSegments = 0
    this.#line = line
    this.#column = column
    this.#source = 0
    this.#sourceLine = 0
    this.#sourceColumn = 0
    this.#name = 0
    this.#function = 0
  }

  /** Text 0 is the function name of segments without one. */
  #textPlace(text: string): number {
    if (this.#texts.size === 0) this.#texts.set('', 0)
    const known = this.#texts.get(text)
    if (known !== undefined) return known
    const place = this.#texts.size
    this.#texts.set(text, place)
    this.#textBytes += text.length + 4
    return place
  }

  #sourcePlace(source: number): number {
    const known = this.#sourcePlaces.get(source)
    if (known !== undefined) return known
    const place = this.#sourcePlaces.size
    this.#sourcePlaces.set(source, place)
    this.#textBytes += this.#sources(source).name.length + SOURCE_BYTES + 4
    return place
  }

  #sizeBytes(): number {
    return this.#segments.length + this.#textBytes + this.#blocks.length * 4
  }
}

/**
 * Finds the segment of a zero-based position in a part: the first one with exactly this position, otherwise the last one
 * before it in its line. @param column null for the first segment of the line that has a source
 * @returns null where no segment is found, or one without a source
 */
export function findSegment(part: Buffer, line: number, column: number | null): FoundSegment | null {
  const blocks = part.readInt32LE(0)
  if (column === null) {
    for (let block = findBlock(part, blocks, line, 0); block < blocks; block++) {
      const reader = new BlockReader(part, blocks, block)
      while (reader.next()) {
        if (reader.line > line) return null
        if (reader.line === line && reader.hasSource) return reader.describe()
      }
    }
    return null
  }
  const block = findBlock(part, blocks, line, column)
  const count = countBefore(part, blocks, block, line, column)
  const reader = new BlockReader(part, blocks, block)
  for (let at = 0; at < count; at++) reader.next()
  return count > 0 && reader.line === line && reader.hasSource ? reader.describe() : null
}

/** @returns how many segments of the block end with the wanted one */
function countBefore(part: Buffer, blocks: number, block: number, line: number, column: number): number {
  const reader = new BlockReader(part, blocks, block)
  let count = 0
  while (reader.next()) {
    if (reader.line > line || (reader.line === line && reader.column > column)) return count
    count++
    if (reader.line === line && reader.column === column) return count
  }
  return count
}

/** @returns the last block that begins at or before the position; the first one when none does */
function findBlock(part: Buffer, blocks: number, line: number, column: number): number {
  let low = 1
  let high = blocks
  while (low < high) {
    const middle = (low + high) >>> 1
    const at = HEADER_BYTES + middle * BLOCK_BYTES
    const ownLine = part.readInt32LE(at)
    if (ownLine > line || (ownLine === line && part.readInt32LE(at + 4) > column)) high = middle
    else low = middle + 1
  }
  return low - 1
}

/** Reads the segments of a block in order. */
class BlockReader {
  readonly #part: Buffer
  readonly #blocks: number
  readonly #reader: ByteReader
  readonly #end: number
  line: number
  column: number
  hasSource = false
  #source = 0
  #sourceLine = 0
  #sourceColumn = 0
  #hasName = false
  #name = 0
  #function = 0

  constructor(part: Buffer, blocks: number, block: number) {
    const at = HEADER_BYTES + block * BLOCK_BYTES
    this.#part = part
    this.#blocks = blocks
    this.line = part.readInt32LE(at)
    this.column = part.readInt32LE(at + 4)
    this.#reader = new ByteReader(part, part.readInt32LE(at + 8))
    this.#end = block + 1 < blocks ? part.readInt32LE(at + BLOCK_BYTES + 8) : part.readInt32LE(12)
  }

  /** @returns false after the last segment */
  next(): boolean {
    const reader = this.#reader
    if (reader.at >= this.#end) return false
    const flags = reader.byte()
    if ((flags & ON_NEW_LINE) === 0) this.column += reader.varint()
    else {
      this.line += reader.varint()
      this.column = reader.varint()
    }
    this.hasSource = (flags & HAS_SOURCE) !== 0
    if (!this.hasSource) return true
    this.#sourceLine += reader.signed()
    this.#sourceColumn += reader.signed()
    if ((flags & NEW_SOURCE) !== 0) this.#source = reader.varint()
    this.#hasName = (flags & HAS_NAME) !== 0
    if (this.#hasName) this.#name += reader.signed()
    if ((flags & NEW_FUNCTION) !== 0) this.#function = reader.varint()
    return true
  }

  /** The segment that was read last. It has a source. */
  describe(): FoundSegment {
    const at = HEADER_BYTES + this.#blocks * BLOCK_BYTES + this.#source * SOURCE_BYTES
    const flags = this.#part.readInt32LE(at + 4)
    return {
      line: this.line,
      column: this.column,
      source: this.#part.readInt32LE(at),
      sourceLine: this.#sourceLine,
      sourceColumn: this.#sourceColumn,
      name: this.#hasName ? this.#text(this.#name) : null,
      functionName: this.#function === 0 ? null : this.#text(this.#function),
      sourceName: this.#text(this.#part.readInt32LE(at + 8)),
      isIgnored: (flags & IS_IGNORED) !== 0,
      hasContent: (flags & HAS_CONTENT) !== 0,
    }
  }

  #text(index: number): string {
    const part = this.#part
    const ends = HEADER_BYTES + this.#blocks * BLOCK_BYTES + part.readInt32LE(4) * SOURCE_BYTES
    const start = part.readInt32LE(12)
    const from = index === 0 ? 0 : part.readInt32LE(ends + (index - 1) * 4)
    return part.toString('utf8', start + from, start + part.readInt32LE(ends + index * 4))
  }
}
