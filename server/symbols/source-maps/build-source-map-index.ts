import { SymbolFileError, type BuiltIndex } from '../index-file/built-index.ts'
import { ContentPartWriter } from './content-parts.ts'
import { decodeMappings, MAX_POSITION, NONE } from './decode-mappings.ts'
import { writeDirectory, type PartStart } from './directory.ts'
import { readFunctions } from './read-functions.ts'
import { readSourceMap, type SourceMapSection } from './read-source-map.ts'
import { SegmentPartWriter, type Segment } from './segment-parts.ts'

/**
 * Builds the index of a source map: JSON of at most 64 MiB, plain or with sections (ECMA-426), also those of Metro and
 * Hermes. Parts with segments come first, parts with the contents of sources follow.
 * @throws SymbolFileError when the file cannot be used
 */
export function buildSourceMapIndex(file: Buffer): BuiltIndex {
  const { json, sections } = readSourceMap(file)
  const sources = sections.flatMap((section) => section.sources)
  const names = sections.flatMap((section) => section.names)
  const functions = readFunctions(json, sources)
  const parts: Buffer[] = []
  const segmentStarts: PartStart[] = []
  const contentStarts: PartStart[] = []

  const writer = new SegmentPartWriter(
    (index) => {
      const source = sources[index]
      return {
        name: source?.name ?? '',
        isIgnored: source?.isIgnored ?? false,
        hasContent: (source?.content ?? null) !== null,
      }
    },
    (part, major, minor) => {
      parts.push(part)
      segmentStarts.push({ major, minor })
    },
  )
  const used = new Uint8Array(sources.length)
  const segment: Segment = {
    line: 0,
    column: 0,
    source: NONE,
    sourceLine: 0,
    sourceColumn: 0,
    name: null,
    functionName: null,
  }
  readLines(sections, (line, segments) => {
    segments.take((found) => {
      // A source without a name says no more than no source.
      const isNamed = (sources[found.source]?.name ?? null) !== null
      segment.line = line
      segment.column = found.column
      segment.source = isNamed ? found.source : NONE
      segment.sourceLine = found.sourceLine
      segment.sourceColumn = found.sourceColumn
      segment.name = isNamed ? (names[found.name] ?? null) : null
      segment.functionName = isNamed
        ? (functions.get(found.source)?.nameAt(found.sourceLine, found.sourceColumn) ?? null)
        : null
      if (isNamed) used[found.source] = 1
      writer.add(segment)
    })
  })
  writer.flush()

  const contents = new ContentPartWriter((part, major, minor) => {
    parts.push(part)
    contentStarts.push({ major, minor })
  })
  for (const [index, { content }] of sources.entries()) {
    if (used[index] !== 1 || content === null) continue
    const text = json.decode(content)
    if (typeof text === 'string') contents.add(index, text)
  }
  contents.flush()
  return { directory: writeDirectory(segmentStarts, contentStarts), parts }
}

/** Calls `take` for each line of generated code that has segments, in order. Sources and names count through all sections. */
function readLines(
  sections: readonly SourceMapSection[],
  take: (line: number, segments: LineOfSegments) => void,
): void {
  const segments = new LineOfSegments()
  let current = 0
  let firstSource = 0
  let firstName = 0
  for (const { from, until, mappings, sources, names } of sections) {
    const sourcesBefore = firstSource
    const namesBefore = firstName
    decodeMappings(mappings, sources.length, names.length, {
      segment(ownLine, ownColumn, source, sourceLine, sourceColumn, name) {
        const line = from.line + ownLine
        const column = ownLine === 0 ? from.column + ownColumn : ownColumn
        if (line > until.line) return false
        if (line === until.line && column >= until.column) return true
        if (line >= MAX_POSITION || column > MAX_POSITION) {
          throw new SymbolFileError('A section of the source map has an offset that is too large.')
        }
        if (line !== current) {
          take(current, segments)
          current = line
        }
        segments.add(
          column,
          source === NONE ? NONE : source + sourcesBefore,
          sourceLine,
          sourceColumn,
          name === NONE ? NONE : name + namesBefore,
        )
        return true
      },
    })
    firstSource += sources.length
    firstName += names.length
  }
  take(current, segments)
}

/** A map of 64 MiB has at most about 8 million useful segments. */
const MAX_SEGMENTS = 10_000_000

const FIELDS = 5
const CHUNK_SEGMENTS = 1 << 14

type LineSegment = {
  column: number
  source: number
  sourceLine: number
  sourceColumn: number
  name: number
}

/**
 * Collects the segments of one generated line, which is the whole file where code is minified, and gives them out in order
 * of their columns without those that change no answer.
 */
class LineOfSegments {
  /** Five numbers per segment, in chunks: an array that grows would be in memory twice. */
  readonly #chunks: Int32Array[] = []
  #count = 0
  #total = 0
  #isSorted = true
  #lastColumn = 0

  add(column: number, source: number, sourceLine: number, sourceColumn: number, name: number): void {
    if (++this.#total > MAX_SEGMENTS) throw new SymbolFileError('The source map has more than 10 million segments.')
    const at = this.#count++
    const chunk = (this.#chunks[Math.floor(at / CHUNK_SEGMENTS)] ??= new Int32Array(CHUNK_SEGMENTS * FIELDS))
    const place = (at % CHUNK_SEGMENTS) * FIELDS
    chunk[place] = column
    chunk[place + 1] = source
    chunk[place + 2] = sourceLine
    chunk[place + 3] = sourceColumn
    chunk[place + 4] = name
    if (column < this.#lastColumn) this.#isSorted = false
    this.#lastColumn = column
  }

  /**
   * Gives out the segments and forgets them. A look-up takes the first segment of a column or the last one before it: the
   * segments of a column between its first and last are left out, and so is one that says "no source" where none was
   * before. @param emit must not keep its argument, which is written again
   */
  take(emit: (segment: LineSegment) => void): void {
    const order = this.#isSorted ? null : this.#sortedOrder()
    const segment: LineSegment = { column: 0, source: 0, sourceLine: 0, sourceColumn: 0, name: 0 }
    let hasSource = false
    for (let at = 0; at < this.#count;) {
      const column = this.#read(order, at, 0)
      let last = at
      while (last + 1 < this.#count && this.#read(order, last + 1, 0) === column) last++
      for (const place of last === at ? [at] : [at, last]) {
        this.#load(order, place, segment)
        if (last === at && !hasSource && segment.source === NONE) continue
        hasSource = segment.source !== NONE
        emit(segment)
      }
      at = last + 1
    }
    this.#count = 0
    this.#lastColumn = 0
    this.#isSorted = true
  }

  #load(order: Uint32Array | null, at: number, into: LineSegment): void {
    into.column = this.#read(order, at, 0)
    into.source = this.#read(order, at, 1)
    into.sourceLine = this.#read(order, at, 2)
    into.sourceColumn = this.#read(order, at, 3)
    into.name = this.#read(order, at, 4)
  }

  #read(order: Uint32Array | null, at: number, field: number): number {
    const index = order === null ? at : (order[at * 2] ?? 0)
    return this.#chunks[Math.floor(index / CHUNK_SEGMENTS)]?.[(index % CHUNK_SEGMENTS) * FIELDS + field] ?? 0
  }

  /**
   * Sorts by column, and by place where columns are equal: column and place are one number of 64 bits, and numbers are
   * sorted without calling JavaScript. @returns pairs of place and column
   */
  #sortedOrder(): Uint32Array {
    const keys = new BigUint64Array(this.#count)
    // Every platform of Node is little-endian: the lower half comes first.
    const halves = new Uint32Array(keys.buffer)
    for (let at = 0; at < this.#count; at++) {
      halves[at * 2] = at
      halves[at * 2 + 1] = this.#read(null, at, 0)
    }
    keys.sort()
    return halves
  }
}
