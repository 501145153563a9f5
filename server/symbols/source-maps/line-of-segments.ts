import { SymbolFileError } from '../index-file/built-index.ts'
import { NONE } from './decode-mappings.ts'

/** A map of 64 MiB has at most about 8 million useful segments. */
const MAX_SEGMENTS = 10_000_000

const FIELDS = 5
const CHUNK_SEGMENTS = 1 << 14

export type LineSegment = {
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
export class LineOfSegments {
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
