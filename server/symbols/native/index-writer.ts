import { PART_BYTES, SymbolFileError, type PartSink } from '../index-file/built-index.ts'
import type { FunctionDraft } from './function-draft.ts'
import type { AddressRange, SymbolTable } from './native-object.ts'
import { TextTable } from './text-table.ts'

/**
 * The index of an image. Its directory: a magic number, the number of parts, the first address of each (f64). A part
 * holds the records of a range of addresses and each text they need:
 *
 *     f64 base, u32 number of records, u32 number of texts,
 *     u32 start of each record from the base, u32 place of each record,
 *     u32 place of each text and the end of the last one, texts, records
 *
 * A record, in LEB128 numbers: by how much its beginning is cut, its texts (numbers in the part), then what
 * `encodeFunction` writes. Addresses are relative to the image.
 */
export const DIRECTORY_MAGIC = 0x314e_4c46
export const PART_HEADER_BYTES = 16

const ARENA_BYTES = 4 * 1024 * 1024
/** Functions, and then parts: four times what the largest file that is known has. */
const MAX_BYTES = 512 * 1024 * 1024
const tooLarge = (): SymbolFileError =>
  new SymbolFileError(`The index of the file would take more than ${MAX_BYTES / 1024 ** 2} MiB.`)

/** The longest number that a damaged file leads to. */
const MAX_LEB_BYTES = 20

/** A growing buffer of LEB128 numbers, used again and again. */
class Bytes {
  #buffer = Buffer.alloc(4096)
  length = 0

  uleb(value: number): void {
    if (this.length + MAX_LEB_BYTES > this.#buffer.length) {
      const larger = Buffer.alloc(2 * this.#buffer.length)
      this.#buffer.copy(larger)
      this.#buffer = larger
    }
    let left = value
    while (left >= 0x80) {
      this.#buffer[this.length++] = (left % 0x80) + 0x80
      left = Math.floor(left / 0x80)
    }
    this.#buffer[this.length++] = left
  }

  /** Zigzag: small numbers of either sign are short. */
  signed(value: number): void {
    this.uleb(value < 0 ? -2 * value - 1 : 2 * value)
  }

  get bytes(): Buffer {
    return this.#buffer.subarray(0, this.length)
  }
}

/** Collects functions in any order, and writes them as parts in the order of their addresses. */
export class IndexWriter {
  readonly #baseAddress: number
  readonly #texts = new TextTable()
  readonly #body = new Bytes()
  /** A chunk is let go when all of its functions are in parts. */
  readonly #chunks: (Buffer | undefined)[] = []
  readonly #left: number[] = []
  #chunkUsed = 0
  #count = 0
  #starts = new Float64Array(1024)
  #ends = new Float64Array(1024)
  /** Chunk, offset, number of texts and bytes of the body of each function. */
  #places = new Uint32Array(4 * 1024)

  /** @param baseAddress the file's address that is 0 in the index */
  constructor(baseAddress: number) {
    this.#baseAddress = baseAddress
  }

  get count(): number {
    return this.#count
  }

  /** @returns the number of a text, 0 for the empty one */
  text(text: string): number {
    return this.#texts.add(text)
  }

  textOf(number: number): string {
    return this.#texts.bytes(number).toString()
  }

  add(draft: FunctionDraft): void {
    if (draft.end <= draft.start || draft.start < this.#baseAddress) return
    this.#body.length = 0
    const texts = encodeFunction(draft, this.#body)
    const body = this.#body.bytes
    const length = 4 * texts.length + body.length
    let chunk = this.#chunks.at(-1)
    if (chunk === undefined || this.#chunkUsed + length > chunk.length) {
      if (this.#chunks.length * ARENA_BYTES > MAX_BYTES) throw tooLarge()
      chunk = Buffer.allocUnsafeSlow(Math.max(ARENA_BYTES, length))
      this.#chunks.push(chunk)
      this.#left.push(0)
      this.#chunkUsed = 0
    }
    if (this.#count === this.#starts.length) this.#grow()
    this.#starts[this.#count] = draft.start - this.#baseAddress
    this.#ends[this.#count] = draft.end - this.#baseAddress
    this.#places.set([this.#chunks.length - 1, this.#chunkUsed, texts.length, body.length], 4 * this.#count)
    this.#count++
    this.#left[this.#chunks.length - 1] = (this.#left.at(-1) ?? 0) + 1
    for (const text of texts) this.#chunkUsed = chunk.writeUInt32LE(text, this.#chunkUsed)
    this.#chunkUsed += body.copy(chunk, this.#chunkUsed)
  }

  #grow(): void {
    const [starts, ends, places] = [this.#starts, this.#ends, this.#places]
    this.#starts = new Float64Array(2 * this.#count)
    this.#ends = new Float64Array(2 * this.#count)
    this.#places = new Uint32Array(8 * this.#count)
    this.#starts.set(starts)
    this.#ends.set(ends)
    this.#places.set(places)
  }

  /**
   * Writes the parts. Symbols give names to the code between the functions.
   *
   * @returns the directory, or null where there is nothing to write
   */
  finish(symbols: SymbolTable, code: readonly AddressRange[], addPart: PartSink): Buffer | null {
    const parts = new PartWriter(this.#texts, addPart)
    const order = Uint32Array.from({ length: this.#count }, (_, at) => at)
    const [starts, ends] = [this.#starts, this.#ends]
    order.sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0) || (ends[b] ?? 0) - (ends[a] ?? 0) || a - b)
    const gaps = new SymbolGaps(symbols, code, this.#baseAddress, (start, end, name) => {
      this.#body.length = 0
      encodeSymbol(end - start, this.#body)
      parts.add(start, 0, [this.text(name)], this.#body.bytes)
    })
    let covered = 0
    for (const at of order) {
      const [start, end] = [starts[at] ?? 0, ends[at] ?? 0]
      const [chunkAt = 0, offset = 0, textCount = 0, length = 0] = this.#places.subarray(4 * at, 4 * at + 4)
      const chunk = this.#chunks[chunkAt]
      const left = (this.#left[chunkAt] ?? 0) - 1
      this.#left[chunkAt] = left
      if (left === 0) this.#chunks[chunkAt] = undefined
      // The linker may have folded identical functions: the first one keeps the range.
      if (end <= covered || chunk === undefined) continue
      gaps.fill(covered, start)
      const texts = Array.from({ length: textCount }, (_, text) => chunk.readUInt32LE(offset + 4 * text))
      const body = chunk.subarray(offset + 4 * textCount, offset + 4 * textCount + length)
      const from = Math.max(start, covered)
      parts.add(from, from - start, texts, body)
      covered = end
    }
    gaps.fill(covered, Infinity)
    return parts.finish()
  }
}

/** Walks symbols and the gaps between functions side by side. */
class SymbolGaps {
  readonly #symbols: SymbolTable
  readonly #code: readonly AddressRange[]
  readonly #base: number
  readonly #found: (start: number, end: number, name: string) => void
  #next = 0

  constructor(
    symbols: SymbolTable,
    code: readonly AddressRange[],
    base: number,
    found: (start: number, end: number, name: string) => void,
  ) {
    this.#symbols = symbols
    this.#code = code
    this.#base = base
    this.#found = found
  }

  fill(from: number, to: number): void {
    const { addresses, count } = this.#symbols
    while (this.#next < count && (addresses[this.#next] ?? 0) - this.#base < from) this.#next++
    while (this.#next < count) {
      const at = this.#next
      const address = addresses[at] ?? 0
      const start = address - this.#base
      if (start >= to) return
      while (this.#next < count && addresses[this.#next] === address) this.#next++
      const end = Math.min(this.#endOf(at), to)
      if (end > start) this.#found(start, end, this.#symbols.name(at))
    }
  }

  #endOf(at: number): number {
    const { addresses, sizes } = this.#symbols
    const address = addresses[at] ?? 0
    const codeEnd = this.#code.find(({ start, end }) => address >= start && address < end)?.end ?? address
    const next = this.#next < this.#symbols.count ? (addresses[this.#next] ?? Infinity) : Infinity
    const size = sizes[at] ?? 0
    return Math.min(size > 0 ? address + size : codeEnd, next, codeEnd) - this.#base
  }
}

class PartWriter {
  readonly #table: TextTable
  readonly #addPart: PartSink
  readonly #firsts: number[] = []
  readonly #places = new Map<number, number>()
  readonly #record = new Bytes()
  #texts: Buffer[] = []
  #records: Buffer[] = []
  #starts: number[] = []
  #bytes = 0
  #written = 0

  constructor(table: TextTable, addPart: PartSink) {
    this.#table = table
    this.#addPart = addPart
  }

  /** @param start larger than every one before */
  add(start: number, cut: number, texts: readonly number[], body: Buffer): void {
    const first = this.#starts[0] ?? start
    if (this.#bytes >= PART_BYTES || start - first > 0xffff_ffff) this.#flush()
    this.#record.length = 0
    this.#record.uleb(cut)
    this.#record.uleb(texts.length)
    for (const text of texts) this.#record.uleb(this.#place(text))
    const record = Buffer.concat([this.#record.bytes, body])
    this.#records.push(record)
    this.#starts.push(start)
    this.#bytes += record.length + 8
  }

  #place(text: number): number {
    let place = this.#places.get(text)
    if (place === undefined) {
      const bytes = this.#table.bytes(text)
      place = this.#texts.push(bytes) - 1
      this.#places.set(text, place)
      this.#bytes += bytes.length + 4
    }
    return place
  }

  #flush(): void {
    const [records, texts, starts] = [this.#records, this.#texts, this.#starts]
    const base = starts[0]
    if (base === undefined) return
    const head = Buffer.alloc(PART_HEADER_BYTES + 8 * records.length + 4 * (texts.length + 1))
    let at = head.writeDoubleLE(base)
    at = head.writeUInt32LE(records.length, at)
    at = head.writeUInt32LE(texts.length, at)
    for (const start of starts) at = head.writeUInt32LE(start - base, at)
    let place = head.length + texts.reduce((sum, { length }) => sum + length, 0)
    for (const record of records) {
      at = head.writeUInt32LE(place, at)
      place += record.length
    }
    place = head.length
    for (const text of texts) {
      at = head.writeUInt32LE(place, at)
      place += text.length
    }
    head.writeUInt32LE(place, at)
    const part = Buffer.concat([head, ...texts, ...records])
    this.#written += part.length
    if (this.#written > MAX_BYTES) throw tooLarge()
    this.#addPart(part)
    this.#firsts.push(base)
    this.#places.clear()
    this.#texts = []
    this.#records = []
    this.#starts = []
    this.#bytes = 0
  }

  finish(): Buffer | null {
    this.#flush()
    if (this.#firsts.length === 0) return null
    const directory = Buffer.alloc(8 + 8 * this.#firsts.length)
    directory.writeUInt32LE(DIRECTORY_MAGIC)
    directory.writeUInt32LE(this.#firsts.length, 4)
    for (const [at, first] of this.#firsts.entries()) directory.writeDoubleLE(first, 8 + 8 * at)
    return directory
  }
}

/**
 * Writes a function: its length, the zigzag distance from its symbol, its name, its inlined calls (parent, name, file
 * and line of the call) and its rows. A row: its distance from the row before times 4, plus 2 with another node, plus 1
 * with another file; node and file where they changed; the zigzag distance of its line. Texts are numbers in the list
 * that is returned, from 1; 0 is none. Calls that no row is in are left out.
 */
function encodeFunction(draft: FunctionDraft, out: Bytes): number[] {
  const numbers = new Map<number, number>()
  const reference = (text: number): number => {
    if (text === 0) return 0
    let number = numbers.get(text)
    if (number === undefined) {
      number = numbers.size + 1
      numbers.set(text, number)
    }
    return number
  }
  const used = new Set<number>()
  for (const node of draft.nodes) {
    for (let at = node; at > 0 && !used.has(at); at = draft.parents[at] ?? 0) used.add(at)
  }
  /** New numbers of the calls. A parent has a smaller one than its calls. */
  const kept = new Map<number, number>()
  out.uleb(draft.end - draft.start)
  out.signed(draft.start - draft.symbolAddress)
  out.uleb(reference(draft.name))
  out.uleb(used.size)
  for (const at of [...used].sort((a, b) => a - b)) {
    kept.set(at, kept.size + 1)
    out.uleb(kept.get(draft.parents[at] ?? 0) ?? 0)
    out.uleb(reference(draft.names[at] ?? 0))
    out.uleb(reference(draft.callFiles[at] ?? 0))
    out.uleb(draft.callLines[at] ?? 0)
  }
  out.uleb(draft.addresses.length)
  let [address, node, file, line] = [draft.start, 0, 0, 0]
  for (const [at, rowAddress] of draft.addresses.entries()) {
    const rowNode = kept.get(draft.nodes[at] ?? 0) ?? 0
    const rowFile = reference(draft.files[at] ?? 0)
    const rowLine = draft.lines[at] ?? 0
    out.uleb(4 * (rowAddress - address) + (rowNode === node ? 0 : 2) + (rowFile === file ? 0 : 1))
    if (rowNode !== node) out.uleb(rowNode)
    if (rowFile !== file) out.uleb(rowFile)
    out.signed(rowLine - line)
    ;[address, node, file, line] = [rowAddress, rowNode, rowFile, rowLine]
  }
  return [...numbers.keys()]
}

/** A symbol without debug information: a function with a name, no calls and no rows. */
function encodeSymbol(length: number, out: Bytes): void {
  out.uleb(length)
  out.signed(0)
  out.uleb(1)
  out.uleb(0)
  out.uleb(0)
}
