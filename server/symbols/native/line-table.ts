import { Cursor } from './cursor.ts'
import { FORM } from './dwarf-codes.ts'
import { readForm, type UnitFormat } from './dwarf-forms.ts'
import { isCode, type AddressRange } from './native-object.ts'
import type { Budget, Section } from './section.ts'

/** Rows of a line number program, its sequences in the order of their addresses. */
export type LineTable = {
  /** The row `at` holds from its address to the next row. */
  readonly addresses: Float64Array
  readonly files: Uint32Array
  readonly lines: Uint32Array
  /** First row, row of its end, and range of each sequence. */
  readonly sequences: readonly (AddressRange & { readonly first: number; readonly last: number })[]
  /** @returns the path of a file by its number in the program */
  path(file: number): string | undefined
}

type LineSections = { readonly line: Section; readonly str?: Section; readonly lineStr?: Section }

/** Rows take 16 bytes: more than a unit of a program linked as a whole has. */
const MAX_ROWS = 10_000_000
const KEPT_ROWS = 65_536
const MAX_FILES = 1_000_000
const MAX_PATH = 4_096

const CONTENT = { path: 1, directory: 2 } as const

/** Rows of one program at a time: used again, so that the rows of earlier ones do not wait for a collection. */
export class LineRows {
  addresses = new Float64Array(1024)
  files = new Uint32Array(1024)
  lines = new Uint32Array(1024)
  count = 0

  clear(): void {
    this.count = 0
    if (this.addresses.length <= KEPT_ROWS) return
    this.addresses = new Float64Array(KEPT_ROWS)
    this.files = new Uint32Array(KEPT_ROWS)
    this.lines = new Uint32Array(KEPT_ROWS)
  }

  push(address: number, file: number, line: number): void {
    if (this.count === MAX_ROWS) throw new RangeError('a line program with too many rows')
    if (this.count === this.addresses.length) {
      const [addresses, files, lines] = [this.addresses, this.files, this.lines]
      this.addresses = new Float64Array(2 * this.count)
      this.files = new Uint32Array(2 * this.count)
      this.lines = new Uint32Array(2 * this.count)
      this.addresses.set(addresses)
      this.files.set(files)
      this.lines.set(lines)
    }
    this.addresses[this.count] = address
    this.files[this.count] = file
    this.lines[this.count] = line
    this.count++
  }
}

/** Joins as the producer would: a name that is absolute on its system stands alone. */
function joinPath(directory: string, name: string): string {
  if (directory === '' || /^(?:[/\\]|[A-Za-z]:[/\\])/.test(name)) return name
  const separator = /^[A-Za-z]:\\|^\\\\/.test(directory) ? '\\' : '/'
  return directory.endsWith(separator) ? directory + name : directory + separator + name
}

/**
 * Runs the line number program at `at` (DWARF 5, 6.2; versions 2 to 5).
 *
 * @param compDir the unit's directory, which relative paths begin with
 * @param rows holds the rows of the result, until it is given again
 */
export function readLineTable(
  sections: LineSections,
  at: number,
  unit: { readonly compDir: string; readonly addressSize: number },
  code: readonly AddressRange[],
  rows: LineRows,
  budget: Budget,
): LineTable {
  const head = sections.line.cursor(at, 12)
  let length = head.u32()
  let offsetSize = 4
  if (length === 0xffff_ffff) {
    length = head.u64()
    offsetSize = 8
  }
  budget.spend(length / 4)
  const cursor = new Cursor(sections.line.read(at + head.at, length))
  const version = cursor.u16()
  if (version < 2 || version > 5) throw new RangeError(`a line program of version ${version}`)
  let addressSize = unit.addressSize
  if (version === 5) {
    addressSize = cursor.u8()
    cursor.skip(1)
  }
  const headerLength = cursor.unsigned(offsetSize)
  const program = cursor.at + headerLength
  const minInstruction = cursor.u8()
  if (version >= 4) cursor.skip(1)
  cursor.skip(1)
  const lineBase = cursor.i8()
  const lineRange = cursor.u8() || 1
  const opcodeBase = cursor.u8()
  const operands = Array.from({ length: Math.max(0, opcodeBase - 1) }, () => cursor.u8())

  const format: UnitFormat = { version, addressSize, offsetSize }
  const files = version === 5 ? readFiles(cursor, format, sections, budget) : readOldFiles(cursor)

  rows.clear()
  const sequences: LineTable['sequences'][number][] = []
  cursor.at = program
  let [address, file, line, first] = [0, 1, 1, 0]
  const emit = (): void => {
    const last = rows.count - 1
    // A row at the address of the row before replaces it.
    if (last >= first && rows.addresses[last] === address) rows.count = last
    rows.push(address, file, line)
  }
  const endSequence = (): void => {
    rows.push(address, 0, 0)
    const start = rows.addresses[first] ?? 0
    // Removed functions leave sequences at 0 or at the end of the address space.
    if (address > start && isCode(code, start)) sequences.push({ first, last: rows.count - 1, start, end: address })
    else rows.count = first
    ;[address, file, line, first] = [0, 1, 1, rows.count]
  }
  const constAddPc = Math.floor((255 - opcodeBase) / lineRange) * minInstruction
  while (!cursor.ended) {
    const opcode = cursor.u8()
    if (opcode >= opcodeBase) {
      const adjusted = opcode - opcodeBase
      address += Math.floor(adjusted / lineRange) * minInstruction
      line += lineBase + (adjusted % lineRange)
      emit()
      continue
    }
    switch (opcode) {
      case 0: {
        const end = cursor.uleb() + cursor.at
        if (end > cursor.at) {
          const extended = cursor.u8()
          if (extended === 1) endSequence()
          // DW_LNE_set_address: the length says how long an address is.
          else if (extended === 2) address = cursor.unsigned(Math.min(8, end - cursor.at))
          else if (extended === 3) files.push(readOldFile(cursor))
        }
        cursor.skip(end - cursor.at)
        break
      }
      case 1:
        emit()
        break
      case 2:
        address += cursor.uleb() * minInstruction
        break
      case 3:
        line += cursor.sleb()
        break
      case 4:
        file = cursor.uleb()
        break
      case 8:
        address += constAddPc
        break
      case 9:
        address += cursor.u16()
        break
      default:
        for (let left = operands[opcode - 1] ?? 0; left > 0; left--) cursor.uleb()
    }
  }
  sequences.sort((a, b) => a.start - b.start || a.end - b.end)
  return {
    addresses: rows.addresses.subarray(0, rows.count),
    files: rows.files,
    lines: rows.lines,
    sequences,
    path: (number) => {
      const entry = files.at(version === 5 ? number : number - 1)
      if (entry === undefined || (version < 5 && number === 0)) return undefined
      const directory =
        version < 5 && entry.directory === 0
          ? unit.compDir
          : joinPath(unit.compDir, files.directory(version === 5 ? entry.directory : entry.directory - 1) ?? '')
      return joinPath(directory, entry.name).slice(0, MAX_PATH)
    },
  }
}

type FileEntry = { readonly name: string; readonly directory: number }

/** The files and directories of a program. */
class Files {
  readonly #directories: readonly string[]
  readonly #entries: FileEntry[]

  constructor(directories: readonly string[], entries: FileEntry[]) {
    this.#directories = directories
    this.#entries = entries
  }

  at(number: number): FileEntry | undefined {
    return number < 0 ? undefined : this.#entries[number]
  }

  directory(number: number): string | undefined {
    return this.#directories[number]
  }

  push(entry: FileEntry): void {
    this.#entries.push(entry)
  }
}

function readOldFile(cursor: Cursor): FileEntry {
  const name = cursor.text()
  const directory = cursor.uleb()
  cursor.uleb()
  cursor.uleb()
  return { name, directory }
}

/** Versions 2 to 4: strings until an empty one. */
function readOldFiles(cursor: Cursor): Files {
  const directories: string[] = []
  while (cursor.bytes[cursor.at] !== 0) directories.push(cursor.text())
  cursor.skip(1)
  const entries: FileEntry[] = []
  while (cursor.bytes[cursor.at] !== 0) entries.push(readOldFile(cursor))
  cursor.skip(1)
  return new Files(directories, entries)
}

/** Version 5: lists whose entries have a described format (6.2.4.1). */
function readFiles(cursor: Cursor, format: UnitFormat, sections: LineSections, budget: Budget): Files {
  const list = (): FileEntry[] => {
    const fields = Array.from({ length: cursor.u8() }, () => ({ content: cursor.uleb(), form: cursor.uleb() }))
    const count = cursor.uleb()
    // Each entry has at least a byte, else a list without bytes could be endless.
    if (count > MAX_FILES || (count > 0 && count > cursor.bytes.length)) throw new RangeError('too many files')
    budget.spend(count)
    return Array.from({ length: count }, () => {
      let [name, directory] = ['', 0]
      for (const { content, form } of fields) {
        const value = readForm(cursor, form, format, 0)
        if (content === CONTENT.directory) directory = value
        if (content === CONTENT.path) name = pathText(cursor, form, value, sections)
      }
      return { name, directory }
    })
  }
  const directories = list().map(({ name }) => name)
  return new Files(directories, list())
}

function pathText(cursor: Cursor, form: number, value: number, sections: LineSections): string {
  if (form === FORM.string) return new Cursor(cursor.bytes, value).text()
  if (form === FORM.lineStrp) return sections.lineStr?.text(value) ?? ''
  if (form === FORM.strp) return sections.str?.text(value) ?? ''
  return ''
}
