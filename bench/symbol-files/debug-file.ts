import { ByteWriter } from '#server/symbols/source-maps/byte-writer.ts'
import { random } from '../payloads.ts'
import { className, functionName } from './words.ts'

/**
 * The DWARF file of a dSYM, as Xcode writes it for Swift, C++ and Objective-C on arm64: Mach-O with DWARF 4 (sections 7.5
 * and 6.2 of the standard), types, variables, inlined calls, lines and a symbol table. Nothing is optimised for its reader: most bytes
 * are types and variables, which a symboliser passes over.
 */

export type MadeDebugFile = {
  readonly pieces: readonly Buffer[]
  /** Addresses in the image behind calls, at the same functions in each build. */
  readonly returnAddresses: readonly number[]
}

const TEXT_ADDRESS = 0x1_0000_0000
const TEXT_OFFSET = 0x4000
const FUNCTIONS_PER_UNIT = 60
const TYPES_PER_UNIT = 120

type Attribute = readonly [name: number, form: number]
const [ADDR, DATA1, DATA2, DATA4, STRP, REF4, SEC_OFFSET, EXPRLOC, FLAG] = [
  0x01, 0x0b, 0x05, 0x06, 0x0e, 0x13, 0x17, 0x18, 0x19,
] as const
const NAME: Attribute = [0x03, STRP]
const TYPE: Attribute = [0x49, REF4]
const PLACE: readonly Attribute[] = [
  [0x3a, DATA1],
  [0x3b, DATA2],
]
const RANGE: readonly Attribute[] = [
  [0x11, ADDR],
  [0x12, DATA4],
]

/** Tag, whether it has children, attributes; the code of an abbreviation is its place here plus 1. */
const ABBREVIATIONS: readonly (readonly [tag: number, hasChildren: 0 | 1, attributes: readonly Attribute[]])[] = [
  [0x11, 1, [[0x25, STRP], [0x13, DATA2], NAME, [0x10, SEC_OFFSET], [0x1b, STRP], ...RANGE]],
  [0x2e, 1, [...RANGE, [0x40, EXPRLOC], [0x6e, STRP], NAME, ...PLACE, TYPE, [0x3f, FLAG]]],
  [0x05, 0, [[0x02, SEC_OFFSET], NAME, ...PLACE, TYPE]],
  [0x34, 0, [[0x02, SEC_OFFSET], NAME, ...PLACE, TYPE]],
  [0x0b, 1, RANGE],
  [0x1d, 1, [[0x31, REF4], ...RANGE, [0x58, DATA1], [0x59, DATA2]]],
  [
    0x05,
    0,
    [
      [0x02, EXPRLOC],
      [0x31, REF4],
    ],
  ],
  [0x2e, 1, [[0x6e, STRP], NAME, ...PLACE, [0x20, DATA1]]],
  [0x13, 1, [NAME, [0x0b, DATA2], ...PLACE]],
  [0x0d, 0, [NAME, TYPE, ...PLACE, [0x38, DATA1]]],
  [0x24, 0, [NAME, [0x3e, DATA1], [0x0b, DATA1]]],
  [0x05, 0, [NAME, ...PLACE, TYPE]],
]
const [
  UNIT,
  FUNCTION,
  PARAMETER,
  VARIABLE,
  BLOCK,
  INLINED,
  INLINED_PARAMETER,
  ABSTRACT,
  STRUCTURE,
  MEMBER,
  BASE,
  ABSTRACT_PARAMETER,
] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const

/** @param sizeBytes about this size @param uuid LC_UUID, 16 bytes */
export function makeDebugFile(sizeBytes: number, seed: number, uuid: Buffer): MadeDebugFile {
  const file = new DebugFile(seed)
  while (file.sizeBytes < sizeBytes) file.addUnit()
  return { pieces: file.pieces(uuid), returnAddresses: file.returnAddresses }
}

class DebugFile {
  readonly #seed: number
  readonly #info = new ByteWriter()
  readonly #lines = new ByteWriter()
  readonly #strings = new ByteWriter()
  readonly #places = new Map<string, number>()
  readonly #symbols = new ByteWriter()
  readonly #symbolNames = new ByteWriter()
  readonly returnAddresses: number[] = []
  #units = 0
  #address = TEXT_ADDRESS + TEXT_OFFSET

  constructor(seed: number) {
    this.#seed = seed
    this.#symbolNames.byte(0)
  }

  get sizeBytes(): number {
    return [this.#info, this.#lines, this.#strings, this.#symbols, this.#symbolNames].reduce(
      (sum, { length }) => sum + length,
      0,
    )
  }

  addUnit(): void {
    const number = this.#units++
    // The code of a build differs a little from the one before.
    const fixed = random(number + 1)
    const build = random(this.#seed * 7_919 + number)
    const out = new ByteWriter()
    const { area, name } = className(number)
    const start = this.#address
    const rows: Row[] = []
    const body = new ByteWriter()
    const types = this.#types(body, number, HEADER_BYTES + UNIT_BYTES)
    const abstracts: number[] = []
    for (let n = 0; n < 20; n++) {
      abstracts.push(HEADER_BYTES + UNIT_BYTES + body.length)
      body.varint(ABSTRACT)
      this.#string(body, swiftName(className(number + n).name, functionName(n)))
      this.#string(body, functionName(n))
      place(body, 2, 10 + n)
      body.byte(1)
      body.varint(ABSTRACT_PARAMETER)
      this.#string(body, 'self')
      place(body, 2, 10 + n)
      body.int32(types[n % types.length] ?? 0)
      body.byte(0)
    }
    for (let n = 0; n < FUNCTIONS_PER_UNIT; n++) {
      const length = 4 * Math.floor(30 + fixed() ** 3 * 300 + build() * 4)
      this.#function(body, { number, n, at: this.#address, length, types, abstracts, rows, random: fixed })
      this.#address += length
    }
    body.byte(0)

    out.varint(UNIT)
    this.#string(out, 'Apple Swift version 6.2 (swiftlang-6.2.0.10.950)')
    short(out, 0x1e)
    this.#string(out, `/Users/ci/shop/Sources/${area}/${name}.swift`)
    out.int32(this.#lines.length)
    this.#string(out, '/Users/ci/shop')
    address(out, start)
    out.int32(this.#address - start)
    const content = Buffer.concat([out.take(), body.take()])
    this.#info.int32(7 + content.length)
    short(this.#info, 4)
    this.#info.int32(0)
    this.#info.byte(8)
    this.#info.raw(content)
    writeLines(
      this.#lines,
      [`Sources/${area}`],
      [`${name}.swift`, `${className(number + 1).name}.swift`],
      rows,
      this.#address,
    )
  }

  #types(out: ByteWriter, unit: number, from: number): number[] {
    const places: number[] = []
    for (const [name, size] of [
      ['Int', 8],
      ['Bool', 1],
      ['Double', 8],
    ] as const) {
      places.push(from + out.length)
      out.varint(BASE)
      this.#string(out, name)
      out.byte(5)
      out.byte(size)
    }
    for (let n = 0; n < TYPES_PER_UNIT; n++) {
      const { name } = className(unit * 40 + n)
      const basic = places.slice(0, 3)
      places.push(from + out.length)
      out.varint(STRUCTURE)
      this.#string(out, name)
      short(out, 96)
      place(out, 1, n)
      for (let member = 0; member < 9; member++) {
        out.varint(MEMBER)
        this.#string(out, functionName(n + member * 7))
        out.int32(basic[member % 3] ?? 0)
        place(out, 1, n + member)
        out.byte(member * 8)
      }
      out.byte(0)
    }
    return places
  }

  #function(
    out: ByteWriter,
    f: {
      readonly number: number
      readonly n: number
      readonly at: number
      readonly length: number
      readonly types: readonly number[]
      readonly abstracts: readonly number[]
      readonly rows: Row[]
      readonly random: () => number
    },
  ): void {
    const { number, n, at, length, types, abstracts, rows } = f
    const owner = className(number).name
    const own = `${functionName(n)}${Math.floor(n / 12)}`
    const mangled = n % 3 === 0 ? swiftName(owner, own) : n % 3 === 1 ? cppName(owner, own) : `-[${owner} ${own}:with:]`
    out.varint(FUNCTION)
    address(out, at)
    out.int32(length)
    expression(out)
    this.#string(out, mangled)
    this.#string(out, n % 3 === 2 ? mangled : own)
    const line = 20 + n * 25
    place(out, 1, line)
    out.int32(types[n % types.length] ?? 0)
    this.#symbol(mangled, at)
    for (let parameter = 0; parameter < 3; parameter++) this.#variable(out, PARAMETER, line, types[parameter] ?? 0)

    let row = { address: at, file: 1, line }
    rows.push(row)
    const step = (to: number, lineTo: number, file: number): void => {
      for (let next = row.address + 8; next < to; next += 12) {
        row = { address: next, file, line: lineTo + (((next - at) >> 3) % 9) }
        rows.push(row)
      }
    }
    const calls = Math.floor(f.random() * 5)
    const each = 4 * Math.floor(length / 4 / (calls + 1))
    for (let call = 0; call < calls; call++) {
      const from = at + call * each + 4 * Math.floor(each / 12)
      const size = 4 * Math.floor(each / 8)
      step(from, line + 1 + call * 3, 1)
      out.varint(BLOCK)
      address(out, from)
      out.int32(size)
      this.#variable(out, VARIABLE, line + call, types[(call * 7) % types.length] ?? 0)
      this.#inlined(out, abstracts[(n + call) % abstracts.length] ?? 0, from, size, line + 2 + call * 3)
      if (size >= 32) this.#inlined(out, abstracts[(n + call + 3) % abstracts.length] ?? 0, from + 8, 16, 40)
      for (let open = size >= 32 ? 2 : 1; open > 0; open--) out.byte(0)
      out.byte(0)
      step(from + size, 12 + (n % 20), 2)
      if (call === 1 && (number + n) % 4 === 0) this.returnAddresses.push(from - TEXT_ADDRESS + 12)
    }
    step(at + length, line + 4, 1)
    if ((number + n) % 4 === 1) this.returnAddresses.push(at - TEXT_ADDRESS + length - 8)
    for (let variable = 0; variable < 4; variable++)
      this.#variable(out, VARIABLE, line + variable, types[(variable * 11) % types.length] ?? 0)
    out.byte(0)
  }

  #variable(out: ByteWriter, abbreviation: number, line: number, type: number): void {
    out.varint(abbreviation)
    out.int32(line)
    this.#string(out, functionName(line))
    place(out, 1, line)
    out.int32(type)
  }

  /** Opens an inlined call; the caller closes it. */
  #inlined(out: ByteWriter, abstract: number, at: number, length: number, line: number): void {
    out.varint(INLINED)
    out.int32(abstract)
    address(out, at)
    out.int32(length)
    place(out, 1, line)
    out.varint(INLINED_PARAMETER)
    expression(out)
    // The only child of the abstract function.
    out.int32(abstract + ABSTRACT_BYTES)
  }

  #string(out: ByteWriter, text: string): void {
    let at = this.#places.get(text)
    if (at === undefined) {
      at = this.#strings.length
      this.#places.set(text, at)
      this.#strings.raw(Buffer.from(`${text}\0`))
    }
    out.int32(at)
  }

  #symbol(name: string, at: number): void {
    this.#symbols.int32(this.#symbolNames.length)
    this.#symbols.byte(0x0e)
    this.#symbols.byte(1)
    short(this.#symbols, 0)
    address(this.#symbols, at)
    this.#symbolNames.raw(Buffer.from(`_${name}\0`))
  }

  pieces(uuid: Buffer): Buffer[] {
    const sections = [
      ['__debug_info', this.#info.take()],
      ['__debug_abbrev', abbreviations()],
      ['__debug_line', this.#lines.take()],
      ['__debug_str', this.#strings.take()],
    ] as const
    const symbols = this.#symbols.take()
    const symbolNames = this.#symbolNames.take()
    const out = new ByteWriter()
    const commandBytes = 24 + 24 + (72 + 80) + (72 + 80 * sections.length)
    for (const value of [0xfeedfacf, 0x0100000c, 0, 0xa, 4, commandBytes, 0, 0]) out.int32(value | 0)
    let offset = 32 + commandBytes
    for (const value of [0x1b, 24]) out.int32(value)
    out.raw(uuid)
    for (const value of [0x2, 24, offset, symbols.length / 16, offset + symbols.length, symbolNames.length])
      out.int32(value)
    offset += symbols.length + symbolNames.length
    segment(out, '__TEXT', TEXT_ADDRESS, this.#address - TEXT_ADDRESS, 0, 0, 1)
    section(
      out,
      '__text',
      '__TEXT',
      TEXT_ADDRESS + TEXT_OFFSET,
      this.#address - TEXT_ADDRESS - TEXT_OFFSET,
      0,
      0x8000_0400,
    )
    const size = sections.reduce((sum, [, { length }]) => sum + length, 0)
    const debugAddress = 2 * TEXT_ADDRESS
    segment(out, '__DWARF', debugAddress, size, offset, size, sections.length)
    let at = 0
    for (const [name, { length }] of sections) {
      section(out, name, '__DWARF', debugAddress + at, length, offset + at, 0x0200_0000)
      at += length
    }
    return [out.take(), symbols, symbolNames, ...sections.map(([, bytes]) => bytes)]
  }
}

/** Length, version, abbreviations and size of an address. */
const HEADER_BYTES = 11
const UNIT_BYTES = 1 + 4 + 2 + 4 + 4 + 4 + 8 + 4
const ABSTRACT_BYTES = 1 + 4 + 4 + 3 + 1

const swiftName = (owner: string, own: string): string => `$s4Shop${owner.length}${owner}C${own.length}${own}yyF`
const cppName = (owner: string, own: string): string => `_ZN4shop${owner.length}${owner}${own.length}${own}EiPKc`

function short(out: ByteWriter, value: number): void {
  out.byte(value & 0xff)
  out.byte((value >> 8) & 0xff)
}

function address(out: ByteWriter, value: number): void {
  out.int32((value % 2 ** 32) | 0)
  out.int32(Math.floor(value / 2 ** 32))
}

function place(out: ByteWriter, file: number, line: number): void {
  out.byte(file)
  short(out, line)
}

/** The register of the frame. */
function expression(out: ByteWriter): void {
  out.varint(1)
  out.byte(0x6d)
}

function abbreviations(): Buffer {
  const out = new ByteWriter()
  for (const [at, [tag, hasChildren, attributes]] of ABBREVIATIONS.entries()) {
    out.varint(at + 1)
    out.varint(tag)
    out.byte(hasChildren)
    for (const [name, form] of attributes) {
      out.varint(name)
      out.varint(form)
    }
    out.raw(Buffer.alloc(2))
  }
  out.byte(0)
  return out.take()
}

type Row = { readonly address: number; readonly file: number; readonly line: number }

/** Parameters of the line program (DWARF 4, 6.2.4), those of LLVM. */
const [LINE_BASE, LINE_RANGE, OPCODE_BASE] = [-5, 14, 13] as const
const OPCODE_LENGTHS = [0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1]

function writeLines(
  out: ByteWriter,
  folders: readonly string[],
  files: readonly string[],
  rows: readonly Row[],
  end: number,
): void {
  const head = new ByteWriter()
  for (const value of [1, 1, 1, LINE_BASE & 0xff, LINE_RANGE, OPCODE_BASE, ...OPCODE_LENGTHS]) head.byte(value)
  for (const folder of folders) head.raw(Buffer.from(`${folder}\0`))
  head.byte(0)
  for (const file of files) {
    head.raw(Buffer.from(`${file}\0`))
    for (const value of [1, 0, 0]) head.varint(value)
  }
  head.byte(0)
  const program = new ByteWriter()
  let [at, file, line] = [rows[0]?.address ?? 0, 1, 1]
  program.byte(0)
  program.varint(9)
  program.byte(2)
  address(program, at)
  for (const row of rows) {
    if (row.file !== file) {
      program.byte(4)
      program.varint(row.file)
    }
    const [advance, difference] = [row.address - at, row.line - line]
    const special = difference - LINE_BASE + LINE_RANGE * advance + OPCODE_BASE
    if (difference >= LINE_BASE && difference < LINE_BASE + LINE_RANGE && special <= 255) program.byte(special)
    else {
      program.byte(3)
      signed(program, difference)
      program.byte(2)
      program.varint(advance)
      program.byte(1)
    }
    ;[at, file, line] = [row.address, row.file, row.line]
  }
  program.byte(2)
  program.varint(end - at)
  program.raw(Buffer.from([0, 1, 1]))
  const [headBytes, programBytes] = [head.take(), program.take()]
  out.int32(6 + headBytes.length + programBytes.length)
  short(out, 4)
  out.int32(headBytes.length)
  out.raw(headBytes)
  out.raw(programBytes)
}

function signed(out: ByteWriter, value: number): void {
  let rest = value
  for (;;) {
    const low = rest & 0x7f
    rest >>= 7
    const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0)
    out.byte(isLast ? low : low | 0x80)
    if (isLast) return
  }
}

const fixed16 = (name: string): Buffer => Buffer.concat([Buffer.from(name)], 16)

function segment(
  out: ByteWriter,
  name: string,
  at: number,
  size: number,
  offset: number,
  fileBytes: number,
  sections: number,
): void {
  for (const value of [0x19, 72 + 80 * sections]) out.int32(value)
  out.raw(fixed16(name))
  for (const value of [at, size, offset, fileBytes]) address(out, value)
  for (const value of [7, 5, sections, 0]) out.int32(value)
}

function section(
  out: ByteWriter,
  name: string,
  inSegment: string,
  at: number,
  size: number,
  offset: number,
  flags: number,
): void {
  out.raw(fixed16(name))
  out.raw(fixed16(inSegment))
  for (const value of [at, size]) address(out, value)
  for (const value of [offset, 0, 0, 0, flags, 0, 0, 0]) out.int32(value | 0)
}
