/**
 * The bytes of an index of a mapping. Numbers are unsigned, 32 bits, little-endian.
 *
 * - Directory: form, count of parts, for each part where the name of its first class begins, then where the last name
 *   ends, then the names.
 * - Part: header, classes by obfuscated name, members of each class by obfuscated name, rows of each member in the order
 *   of the file, strings. A string is its length and its UTF-8 bytes, named by where it begins; 0 is no string.
 */
import { SymbolFileError } from '#server/symbols/index-file/built-index.ts'

const FORM = 1
const HEADER_WORDS = 4
const CLASS_WORDS = 4
const MEMBER_WORDS = 2
const ROW_WORDS = 6
/** Stands for a line number that the row does not have. */
const NO_LINE = 0xffff_ffff
/** Stands for the first line number of a field. */
const FIELD = 0xffff_fffe
/** Strings of a part beyond this number may be stored twice, so that one class of millions of names needs no more memory. */
const REMEMBERED_STRINGS = 50_000

/** One line of a mapping that names a member. The four line numbers are null where the line does not have them. */
export type MemberRow = {
  readonly minifiedFrom: number | null
  readonly minifiedTo: number | null
  readonly originalFrom: number | null
  readonly originalTo: number | null
  readonly member: OriginalMember
  /** JSON of `MemberFacts`. */
  readonly facts: string | null
}

/** The name before obfuscation. */
export type OriginalMember = {
  readonly isField: boolean
  readonly name: string
  /** Empty where it is the class of the row. */
  readonly className: string
  /** The file of another class, where the mapping says it; else empty. */
  readonly file: string
}

/** A class of a part, as the look-up finds it. */
export type ClassEntry = {
  readonly original: string
  /** Null if the mapping does not say it. */
  readonly sourceFile: string | null
  readonly membersFrom: number
  readonly membersTo: number
}

/** Rows of a part that belong to one obfuscated name. */
type RowSpan = { readonly from: number; readonly to: number }

/** Numbers that grow in one typed array: a class may have millions of rows. */
class Words {
  private words = new Uint32Array(1024)
  length = 0

  push(...values: readonly number[]): void {
    if (this.length + values.length > this.words.length) {
      const larger = new Uint32Array(this.words.length * 2)
      larger.set(this.words)
      this.words = larger
    }
    for (const value of values) this.words[this.length++] = value
  }

  content(): Buffer {
    const bytes = Buffer.alloc(this.length * 4)
    for (let index = 0; index < this.length; index += 1) bytes.writeUInt32LE(this.words[index] ?? 0, index * 4)
    return bytes
  }
}

/** Strings of a part, each once as far as memory allows. */
class Strings {
  private bytes = Buffer.alloc(64 * 1024)
  /** The first four bytes are empty, so that 0 can mean no string. */
  private used = 4
  private readonly positions = new Map<string, number>()

  get sizeBytes(): number {
    return this.used
  }

  add(text: string): number {
    const known = this.positions.get(text)
    if (known !== undefined) return known
    if (this.positions.size >= REMEMBERED_STRINGS) this.positions.clear()
    const position = this.write(Buffer.from(text))
    this.positions.set(text, position)
    return position
  }

  private write(text: Buffer): number {
    const position = this.used
    const end = position + 4 + text.length
    if (end > this.bytes.length) {
      const larger = Buffer.alloc(Math.max(this.bytes.length * 2, end))
      this.bytes.copy(larger, 0, 0, this.used)
      this.bytes = larger
    }
    this.bytes.writeUInt32LE(text.length, position)
    text.copy(this.bytes, position + 4)
    this.used = end
    return position
  }

  content(): Buffer {
    return this.bytes.subarray(0, this.used)
  }
}

/** Collects one part. Classes and their members come in the order of their obfuscated names. */
export class PartWriter {
  private readonly classes = new Words()
  private readonly members = new Words()
  private readonly rows = new Words()
  private readonly strings = new Strings()

  get sizeBytes(): number {
    return (this.classes.length + this.members.length + this.rows.length) * 4 + this.strings.sizeBytes
  }

  addClass(obfuscated: string, original: string, sourceFile: string | null): void {
    const file = sourceFile === null ? 0 : this.strings.add(sourceFile)
    this.classes.push(
      this.strings.add(obfuscated),
      this.strings.add(original),
      file,
      this.members.length / MEMBER_WORDS,
    )
  }

  /** Begins a member of the class that was added last. */
  addMember(obfuscated: string): void {
    this.members.push(this.strings.add(obfuscated), this.rows.length / ROW_WORDS)
  }

  /** Adds a row to the member that was added last. */
  addRow({ member, facts, ...lines }: MemberRow): void {
    this.rows.push(
      member.isField ? FIELD : (lines.minifiedFrom ?? NO_LINE),
      lines.minifiedTo ?? NO_LINE,
      lines.originalFrom ?? NO_LINE,
      lines.originalTo ?? NO_LINE,
      this.strings.add([member.name, member.className, member.file].join('\0')),
      facts === null ? 0 : this.strings.add(facts),
    )
  }

  content(): Buffer {
    const classCount = this.classes.length / CLASS_WORDS
    // One entry more: where its members and rows would begin, those of the last entry end.
    this.classes.push(0, 0, 0, this.members.length / MEMBER_WORDS)
    this.members.push(0, this.rows.length / ROW_WORDS)

    const membersAt = HEADER_WORDS * 4 + this.classes.length * 4
    const rowsAt = membersAt + this.members.length * 4
    const header = new Words()
    header.push(classCount, membersAt, rowsAt, rowsAt + this.rows.length * 4)
    return Buffer.concat([
      header.content(),
      this.classes.content(),
      this.members.content(),
      this.rows.content(),
      this.strings.content(),
    ])
  }
}

/** @param firstNames the obfuscated name of the first class of each part, in order */
export function writeDirectory(firstNames: readonly string[]): Buffer {
  const names = firstNames.map((name) => Buffer.from(name))
  const header = new Words()
  header.push(FORM, names.length)
  let position = (header.length + names.length + 1) * 4
  header.push(position)
  for (const name of names) {
    position += name.length
    header.push(position)
  }
  return Buffer.concat([header.content(), ...names])
}

/** @returns the part that holds a class, if the mapping has it; null if the name comes before all classes */
export function findPart(directory: Buffer, className: string): number | null {
  if (directory.readUInt32LE(0) !== FORM)
    throw new SymbolFileError('The index has another form. Upload the file again.')
  const name = Buffer.from(className)
  const after = firstIndex(directory.readUInt32LE(4), (part) => {
    const from = directory.readUInt32LE(8 + part * 4)
    const to = directory.readUInt32LE(12 + part * 4)
    return name.compare(directory, from, to) < 0
  })
  return after === 0 ? null : after - 1
}

/** @returns the classes of an obfuscated name: one, but for broken mappings */
export function findClasses(part: Buffer, obfuscated: string): ClassEntry[] {
  const name = Buffer.from(obfuscated)
  const count = part.readUInt32LE(0)
  const found: ClassEntry[] = []
  const at = (index: number): number => HEADER_WORDS * 4 + index * CLASS_WORDS * 4
  let index = firstIndex(count, (candidate) => compareString(part, part.readUInt32LE(at(candidate)), name) >= 0)
  for (; index < count && compareString(part, part.readUInt32LE(at(index)), name) === 0; index += 1) {
    const file = part.readUInt32LE(at(index) + 8)
    found.push({
      original: stringAt(part, part.readUInt32LE(at(index) + 4)),
      sourceFile: file === 0 ? null : stringAt(part, file),
      membersFrom: part.readUInt32LE(at(index) + 12),
      membersTo: part.readUInt32LE(at(index + 1) + 12),
    })
  }
  return found
}

/** @returns the rows of all members of a class that have an obfuscated name */
export function findRows(part: Buffer, entry: ClassEntry, obfuscated: string): RowSpan | null {
  const name = Buffer.from(obfuscated)
  const at = (index: number): number => part.readUInt32LE(4) + index * MEMBER_WORDS * 4
  const count = entry.membersTo - entry.membersFrom
  const index =
    entry.membersFrom +
    firstIndex(
      count,
      (candidate) => compareString(part, part.readUInt32LE(at(entry.membersFrom + candidate)), name) >= 0,
    )
  if (index >= entry.membersTo || compareString(part, part.readUInt32LE(at(index)), name) !== 0) return null
  return { from: part.readUInt32LE(at(index) + 4), to: part.readUInt32LE(at(index + 1) + 4) }
}

/** The kind and the minified range of a row alone: a look-up reads them of every row of a name. */
export type RowRange = {
  readonly isField: boolean
  readonly hasRange: boolean
  readonly from: number
  readonly to: number
}

/** Reads what says whether the row is the right one. */
export function rowRangeAt(part: Buffer, row: number): RowRange {
  const at = part.readUInt32LE(8) + row * ROW_WORDS * 4
  const from = part.readUInt32LE(at)
  return { isField: from === FIELD, hasRange: from < FIELD, from, to: part.readUInt32LE(at + 4) }
}

/** A number that is the same for rows of one original member, if the part could remember its name. */
export function memberKeyAt(part: Buffer, row: number): number {
  return part.readUInt32LE(part.readUInt32LE(8) + row * ROW_WORDS * 4 + 16)
}

/** Reads a whole row. */
export function rowAt(part: Buffer, row: number): MemberRow {
  const at = part.readUInt32LE(8) + row * ROW_WORDS * 4
  const line = (word: number): number | null => {
    const value = part.readUInt32LE(at + word * 4)
    return value >= FIELD ? null : value
  }
  const [name = '', className = '', file = ''] = stringAt(part, part.readUInt32LE(at + 16)).split('\0')
  const factsAt = part.readUInt32LE(at + 20)
  return {
    minifiedFrom: line(0),
    minifiedTo: line(1),
    originalFrom: line(2),
    originalTo: line(3),
    member: { isField: part.readUInt32LE(at) === FIELD, name, className, file },
    facts: factsAt === 0 ? null : stringAt(part, factsAt),
  }
}

function stringAt(part: Buffer, position: number): string {
  const from = part.readUInt32LE(12) + position
  return part.toString('utf8', from + 4, from + 4 + part.readUInt32LE(from))
}

/** The sign says whether the string of the part comes after the name, in the order of UTF-8 bytes. */
function compareString(part: Buffer, position: number, name: Buffer): number {
  const from = part.readUInt32LE(12) + position
  return -name.compare(part, from + 4, from + 4 + part.readUInt32LE(from))
}

/** @returns the first index for which the condition holds, where it holds for all indexes after it too; or the count */
function firstIndex(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
