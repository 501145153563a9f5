import { SymbolFileError, type PositionedFile } from '../index-file/built-index.ts'
import { Cursor, MAX_NAME_BYTES } from './cursor.ts'

const PAGE_BYTES = 64 * 1024
const MAX_PAGES = 128

/** A range of a file, read by position. Small reads go through a bounded number of cached pages. */
export class Section {
  readonly size: number
  readonly file: PositionedFile
  readonly #position: number
  readonly #pages = new Map<number, Buffer>()

  constructor(file: PositionedFile, position: number, size: number) {
    this.file = file
    this.#position = position
    // A header may name bytes after the end of the file.
    this.size = Math.max(0, Math.min(size, file.sizeBytes - position))
  }

  /** @returns exactly these bytes, uncached: for what is read once, in large pieces */
  read(at: number, length: number): Buffer {
    if (at < 0 || length < 0 || at + length > this.size) throw new RangeError('the section ends too early')
    const bytes = this.file.read(this.#position + at, length)
    if (bytes.length < length) throw new RangeError('the file ends too early')
    return bytes
  }

  /** @returns up to `length` bytes from `at`, fewer at the end of the section or of a page */
  #near(at: number, length: number): Buffer {
    if (!(at >= 0 && at < this.size)) throw new RangeError('an offset outside of its section')
    const number = Math.floor(at / PAGE_BYTES)
    let page = this.#pages.get(number)
    if (page === undefined) {
      const start = number * PAGE_BYTES
      page = this.read(start, Math.min(PAGE_BYTES, this.size - start))
      if (this.#pages.size >= MAX_PAGES) this.#pages.delete(this.#pages.keys().next().value ?? 0)
      this.#pages.set(number, page)
    }
    const offset = at - number * PAGE_BYTES
    return page.subarray(offset, offset + length)
  }

  /** @returns up to `length` bytes from `at`, fewer at the end of the section only */
  peek(at: number, length: number): Buffer {
    const near = this.#near(at, length)
    const whole = Math.min(length, this.size - at)
    return near.length === whole ? near : this.read(at, whole)
  }

  cursor(at: number, length: number): Cursor {
    return new Cursor(this.peek(at, length))
  }

  text(at: number): string {
    let bytes = this.#near(at, MAX_NAME_BYTES)
    let end = bytes.indexOf(0)
    if (end < 0 && bytes.length < MAX_NAME_BYTES) {
      bytes = this.peek(at, MAX_NAME_BYTES)
      end = bytes.indexOf(0)
    }
    return bytes.toString('utf8', 0, end < 0 ? bytes.length : end)
  }
}

/** A section whose bytes are in memory, such as a decompressed one. */
export const memorySection = (bytes: Buffer): Section =>
  new Section(
    { sizeBytes: bytes.length, read: (position, length) => bytes.subarray(position, position + length) },
    0,
    bytes.length,
  )

/** Runs a reader: whatever a damaged file makes of it is one error with a sentence. */
export function readingFile<Result>(read: () => Result): Result {
  try {
    return read()
  } catch (error) {
    if (error instanceof RangeError) throw new SymbolFileError('The file is damaged or was cut off.', { cause: error })
    throw error
  }
}

/**
 * The work that a file may cost. Offsets may lead many entries to the same table, so that the work is not bounded by
 * the size of the file.
 */
export class Budget {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  spend(steps: number): void {
    this.#left -= steps
    if (this.#left < 0) throw new SymbolFileError('The debug information refers to itself too often to be read.')
  }
}
