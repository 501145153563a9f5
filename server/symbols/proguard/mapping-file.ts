import { isUtf8 } from 'node:buffer'
import { randomInt } from 'node:crypto'
import { SymbolFileError } from '#server/symbols/index-file/built-index.ts'
import { parseClassLine, parseComment, type ClassLine, type MappingComment } from './mapping-lines.ts'

/** Mappings of the largest known apps have about 100 MiB. */
const MAX_BYTES = 128 * 1024 * 1024
/** Longer lines are skipped: the longest name of a class file has 65,535 bytes, and a line may have several. */
const MAX_LINE_BYTES = 1024 * 1024
const MAX_COMMENT_BYTES = 64 * 1024
/** The source file is named directly below the class. */
const MAX_CLASS_COMMENTS = 8
const REMEMBERED_FILES = 10_000

const LINE_BREAK = 0x0a
const CARRIAGE_RETURN = 0x0d
const TAB = 0x09
const SPACE = 0x20
const HASH = 0x23
const COLON = 0x3a

/** A line of the file without its line break and without blanks at its ends. */
type Line = { readonly from: number; readonly to: number; readonly next: number }

/** A line with ` -> name` at its end; the name is not parsed yet. */
type MemberPosition = Line & { readonly nameFrom: number }

/** The members of a class in the order of their obfuscated names, then of the file. */
type SortedMembers = { readonly count: number; at(index: number): MemberPosition }

/**
 * A mapping file, read by position: it keeps a few numbers for each class and decodes a line where it is needed.
 *
 * @throws {SymbolFileError} if the file is not a mapping
 */
export class MappingFile {
  /** Old versions of ProGuard wrote the encoding of the machine. Both encodings sort like their code points. */
  private readonly encoding: 'utf8' | 'latin1'
  private readonly begin: number
  private lineStarts = new Uint32Array(4096)
  private nameStarts = new Uint32Array(4096)
  private nameEnds = new Uint32Array(4096)
  private count = 0
  private byOriginal = new Uint32Array(0)
  /** No mapping can be written whose names all meet in one slot. */
  private readonly seed = randomInt(2 ** 32)
  private readonly sourceFiles = new Map<string, string | null>()

  private readonly file: Buffer

  constructor(file: Buffer) {
    refuseOtherFiles(file)
    this.file = file
    this.encoding = isUtf8(file) ? 'utf8' : 'latin1'
    this.begin = file[0] === 0xef && file[1] === 0xbb && file[2] === 0xbf ? 3 : 0
    this.findClasses()
    if (this.count === 0)
      throw new SymbolFileError(
        'The file has no class of a mapping, such as the line "com.example.Cart -> a.b:". Upload the mapping.txt that ProGuard or R8 wrote.',
      )
    this.hashOriginals()
  }

  private findClasses(): void {
    for (let line = this.lineAt(this.begin); line; line = this.lineAt(line.next)) {
      if (this.file[line.to - 1] !== COLON || this.file[line.from] === HASH) continue
      const names = parseClassLine(this.text(line))
      if (names) this.addClass(line, Buffer.byteLength(names.obfuscated, this.encoding))
    }
  }

  private addClass(line: Line, nameLength: number): void {
    if (this.count === this.lineStarts.length) {
      this.lineStarts = doubled(this.lineStarts)
      this.nameStarts = doubled(this.nameStarts)
      this.nameEnds = doubled(this.nameEnds)
    }
    this.lineStarts[this.count] = line.from
    this.nameStarts[this.count] = line.to - 1 - nameLength
    this.nameEnds[this.count] = line.to - 1
    this.count += 1
  }

  /** @returns the numbers of all classes in the order of their obfuscated names, then of the file */
  sortedClasses(): Uint32Array {
    const order = new Uint32Array(this.count).map((_, index) => index)
    return order.sort((a, b) => this.compareNames(a, b) || a - b)
  }

  private compareNames(a: number, b: number): number {
    return compareBytes(
      this.file,
      this.nameStarts[a] ?? 0,
      this.nameEnds[a] ?? 0,
      this.nameStarts[b] ?? 0,
      this.nameEnds[b] ?? 0,
    )
  }

  classNames(number: number): ClassLine {
    const names = parseClassLine(this.text(this.classLine(number)))
    if (!names) throw new Error('A line that was a class is none.')
    return names
  }

  private classLine(number: number): Line {
    const line = this.lineAt(this.lineStarts[number] ?? 0)
    if (!line) throw new Error('A line that was a class is gone.')
    return line
  }

  /** @returns the file name below the class, null if there is none */
  sourceFileOf(number: number): string | null {
    let line = this.lineAt(this.classLine(number).next)
    for (let comments = 0; line && comments < MAX_CLASS_COMMENTS; comments += 1) {
      if (this.file[line.from] !== HASH) break
      const comment = this.commentAt(line)
      if (comment?.id === 'sourceFile' && comment.fileName !== undefined) return comment.fileName
      line = this.lineAt(line.next)
    }
    return null
  }

  /** @returns the file of a class that the mapping names, by its original name; null if it does not say it */
  sourceFileOfOriginal(original: string): string | null {
    const known = this.sourceFiles.get(original)
    if (known !== undefined) return known
    const number = this.findOriginal(original)
    const file = number === null ? null : this.sourceFileOf(number)
    if (this.sourceFiles.size >= REMEMBERED_FILES) this.sourceFiles.clear()
    this.sourceFiles.set(original, file)
    return file
  }

  /** A table of numbers, not a map of strings: 10^6 classes need 8 MiB instead of 150. */
  private hashOriginals(): void {
    this.byOriginal = new Uint32Array(2 ** Math.ceil(Math.log2(this.count * 2 + 2)))
    for (let number = 0; number < this.count; number += 1) {
      const slot = this.slotOf(this.classNames(number).original)
      if (this.byOriginal[slot] === 0) this.byOriginal[slot] = number + 1
    }
  }

  private findOriginal(original: string): number | null {
    const number = this.byOriginal[this.slotOf(original)] ?? 0
    return number === 0 ? null : number - 1
  }

  /** @returns the slot that holds the class, or the free one where it belongs */
  private slotOf(original: string): number {
    const mask = this.byOriginal.length - 1
    let slot = hashOf(original, this.seed) & mask
    for (;;) {
      const number = this.byOriginal[slot] ?? 0
      if (number === 0 || this.classNames(number - 1).original === original) return slot
      slot = (slot + 1) & mask
    }
  }

  /** @returns where the members of a class are in the file */
  membersOf(number: number): SortedMembers {
    const positions = new MemberPositions()
    const end = this.lineStarts[number + 1] ?? 0
    const bodyEnd = number + 1 < this.count ? end : this.file.length
    let line = this.lineAt(this.classLine(number).next)
    for (; line && line.from < bodyEnd; line = this.lineAt(line.next)) {
      if (this.file[line.from] === HASH) continue
      const nameFrom = this.nameAfterArrow(line)
      if (nameFrom !== null) positions.add({ ...line, nameFrom })
    }
    return positions.sorted(this.file)
  }

  private nameAfterArrow(line: Line): number | null {
    let at = line.to - 1
    while (at > line.from && this.file[at] !== SPACE) at -= 1
    const isArrow = this.file[at - 1] === 0x3e && this.file[at - 2] === 0x2d && this.file[at - 3] === SPACE
    return isArrow && at - 3 > line.from ? at + 1 : null
  }

  /** @returns the comments directly below a line */
  *commentsBelow(above: Line): Generator<MappingComment> {
    for (let line = this.lineAt(above.next); line && this.file[line.from] === HASH; line = this.lineAt(line.next)) {
      const comment = this.commentAt(line)
      if (comment) yield comment
    }
  }

  private commentAt(line: Line): MappingComment | null {
    return line.to - line.from > MAX_COMMENT_BYTES ? null : parseComment(this.text(line))
  }

  text(line: { readonly from: number; readonly to: number }): string {
    return this.file.toString(this.encoding, line.from, line.to)
  }

  /** @returns the first line at or after a position that is neither empty nor too long */
  private lineAt(position: number): Line | null {
    let start = position
    while (start < this.file.length) {
      const lineBreak = this.file.indexOf(LINE_BREAK, start)
      const end = lineBreak < 0 ? this.file.length : lineBreak
      const next = end + 1
      let from = start
      let to = end
      while (from < to && isBlank(this.file[from])) from += 1
      while (to > from && isBlank(this.file[to - 1])) to -= 1
      if (to > from && to - from <= MAX_LINE_BYTES) return { from, to, next }
      start = next
    }
    return null
  }
}

/** Positions of members in four numbers each: a class may have millions. */
class MemberPositions {
  private numbers = new Uint32Array(256)
  private count = 0

  add(position: MemberPosition): void {
    if (this.count * 4 === this.numbers.length) this.numbers = doubled(this.numbers)
    this.numbers.set([position.from, position.to, position.next, position.nameFrom], this.count * 4)
    this.count += 1
  }

  sorted(file: Buffer): SortedMembers {
    const { numbers } = this
    const number = (index: number, which: number): number => numbers[index * 4 + which] ?? 0
    const order = new Uint32Array(this.count).map((_, index) => index)
    order.sort((a, b) => compareBytes(file, number(a, 3), number(a, 1), number(b, 3), number(b, 1)) || a - b)
    const at = (sorted: number): MemberPosition => {
      const index = order[sorted] ?? 0
      return { from: number(index, 0), to: number(index, 1), next: number(index, 2), nameFrom: number(index, 3) }
    }
    return { count: this.count, at }
  }
}

function refuseOtherFiles(file: Buffer): void {
  if (file.length === 0) throw new SymbolFileError('The file is empty.')
  if (file.length > MAX_BYTES) throw new SymbolFileError('The mapping is larger than 128 MiB.')
  if (file[0] === 0x50 && file[1] === 0x4b)
    throw new SymbolFileError('The file is a zip archive. Upload the mapping.txt inside it.')
  if (file.includes(0)) throw new SymbolFileError('The file is binary, not a text of a mapping.')
  if (/^\s*</u.test(file.toString('latin1', 0, 1024)))
    throw new SymbolFileError('The file is HTML or XML, not a mapping. A download of the mapping may have failed.')
}

/** Names are short: a loop is faster than a call of Buffer.compare. */
function compareBytes(file: Buffer, fromA: number, toA: number, fromB: number, toB: number): number {
  const length = Math.min(toA - fromA, toB - fromB)
  for (let index = 0; index < length; index += 1) {
    const difference = (file[fromA + index] ?? 0) - (file[fromB + index] ?? 0)
    if (difference !== 0) return difference
  }
  return toA - fromA - (toB - fromB)
}

/** FNV-1a of the UTF-16 code units, from another beginning. */
function hashOf(text: string, seed: number): number {
  let hash = seed
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}

function doubled(numbers: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(numbers.length * 2)
  larger.set(numbers)
  return larger
}

function isBlank(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CARRIAGE_RETURN
}
