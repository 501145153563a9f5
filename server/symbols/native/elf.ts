import { inflateSync, zstdDecompressSync } from 'node:zlib'
import { SymbolFileError, type PositionedFile } from '../index-file/built-index.ts'
import { Cursor } from './cursor.ts'
import { MAX_SYMBOLS, SymbolCollector, isCode, uuidText } from './native-object.ts'
import type { AddressRange, ObjectFile, SymbolTable } from './native-object.ts'
import { Section, memorySection } from './section.ts'

/** ELF files, as the System V gABI describes them: header, section headers, program headers, symbols, notes. */
const SHT_SYMTAB = 2
const SHT_NOTE = 7
const SHT_NOBITS = 8
const SHT_DYNSYM = 11
const SHF_EXECINSTR = 0x4
const SHF_COMPRESSED = 0x800
const PT_LOAD = 1
const PT_NOTE = 4
const PF_X = 1
const STT_NOTYPE = 0
const STT_FUNC = 2
const STT_GNU_IFUNC = 10
const NT_GNU_BUILD_ID = 3
const COMPRESS_ZLIB = 1
const COMPRESS_ZSTD = 2

/** A linked file has some dozens. */
const MAX_HEADERS = 1_000
const MAX_HEADER_BYTES = 256
const MAX_NOTES = 50
const MAX_NOTE_BYTES = 64 * 1024
/** Compressed sections are in memory as a whole. */
const MAX_DECOMPRESSED_BYTES = 256 * 1024 * 1024

/** The values of `e_machine` that apps run on. */
const MACHINES: Record<number, string> = {
  3: 'x86',
  8: 'mips',
  40: 'armv7',
  62: 'x86_64',
  183: 'arm64',
  243: 'riscv',
  258: 'loongarch64',
}

type SectionHeader = AddressRange & {
  readonly name: string
  readonly type: number
  readonly flags: number
  readonly offset: number
  readonly size: number
  readonly link: number
}

type Segment = AddressRange & { type: number; flags: number; offset: number; fileSize: number }

export function isElf(file: PositionedFile): boolean {
  return file.sizeBytes >= 52 && file.read(0, 4).equals(Buffer.from([0x7f, 0x45, 0x4c, 0x46]))
}

/** @throws SymbolFileError or RangeError when the file is damaged */
export function readElf(file: PositionedFile): ObjectFile {
  const image = new Section(file, 0, file.sizeBytes)
  const head = image.cursor(0, 64)
  const is64 = head.bytes[4] === 2
  if (head.bytes[5] !== 1) throw new SymbolFileError('Big-endian ELF files are not supported.')
  const word = is64 ? 8 : 4
  head.skip(18)
  const machine = head.u16()
  head.skip(4 + word)
  const segmentsAt = head.unsigned(word)
  const sectionsAt = head.unsigned(word)
  head.skip(6)
  const segments = readSegments(image, segmentsAt, head.u16(), head.u16(), is64)
  const sections = readSections(image, sectionsAt, { size: head.u16(), count: head.u16(), names: head.u16() }, is64)

  const content = ({ offset, size, type }: SectionHeader): Section =>
    new Section(file, offset, type === SHT_NOBITS ? 0 : size)
  const find = (name: string): SectionHeader | undefined =>
    sections.find((section) => section.name === name && section.type !== SHT_NOBITS && section.size > 0)
  const loads = segments.filter(({ type }) => type === PT_LOAD)
  const codeSections = sections.filter(({ flags }) => (flags & SHF_EXECINSTR) !== 0)
  const code = codeSections.length > 0 ? codeSections : loads.filter(({ flags }) => (flags & PF_X) !== 0)
  const symbolTables = sections.filter(({ type }) => type === SHT_SYMTAB || type === SHT_DYNSYM)

  const buildId = findBuildId(image, sections, segments)
  const identity = buildId ?? hashOfCode(image, sections)
  if (identity === undefined) {
    throw new SymbolFileError('The ELF file has no build id and no code, so that no event can name it.')
  }
  const decompressed = new Map<string, Section>()
  let decompressedBytes = 0
  const decompress = (name: string, section: Section, header: CompressionHeader): Section => {
    decompressedBytes += header.size
    if (decompressedBytes > MAX_DECOMPRESSED_BYTES) {
      throw new SymbolFileError(
        'The compressed debug information is too large. Upload the file without compression ' +
          '(objcopy --decompress-debug-sections).',
      )
    }
    const result = memorySection(decompressSection(section, header))
    decompressed.set(name, result)
    return result
  }
  return {
    object: {
      kind: 'elf',
      debugId: debugIdOf(identity),
      codeId: buildId?.toString('hex') ?? null,
      cpuName: MACHINES[machine] ?? 'unknown',
      features: {
        // A stripped library has its dynamic symbols still: the functions that others call.
        symtab: symbolTables.some(({ type, size }) => type === SHT_SYMTAB && size > 0),
        debug: (find('.debug_info') ?? find('.zdebug_info')) !== undefined,
        unwind: (find('.eh_frame') ?? find('.debug_frame') ?? find('.ARM.exidx')) !== undefined,
        sources: false,
      },
      name: null,
      offset: 0,
      size: file.sizeBytes,
    },
    // The kernel and the dynamic linker map whole pages.
    baseAddress: loads.length === 0 ? 0 : Math.min(...loads.map(({ start }) => start - (start % 4096))),
    code,
    debugSection: (name) => {
      const known = decompressed.get(name)
      if (known !== undefined) return known
      const plain = find(`.${name}`)
      if (plain !== undefined) {
        const section = content(plain)
        if ((plain.flags & SHF_COMPRESSED) === 0) return section
        return decompress(name, section, compressionHeader(section, is64))
      }
      const old = find(`.z${name}`)
      return old === undefined ? undefined : decompress(name, content(old), oldCompressionHeader(content(old)))
    },
    symbols: () => {
      // The dynamic symbols are a part of the others, where a file has both.
      const table = symbolTables.find(({ type, size }) => type === SHT_SYMTAB && size > 0) ?? symbolTables[0]
      const names = sections[table?.link ?? -1]
      if (table === undefined || names === undefined) return new SymbolCollector().sorted(() => '')
      return readSymbols(content(table), content(names), code, is64, machine === 40)
    },
  }
}

function readSegments(image: Section, at: number, entrySize: number, count: number, is64: boolean): Segment[] {
  if (count === 0 || at === 0) return []
  if (entrySize < (is64 ? 56 : 32) || entrySize > MAX_HEADER_BYTES)
    throw new RangeError('program headers of a wrong size')
  const bytes = image.read(at, entrySize * count)
  const segments: Segment[] = []
  for (let number = 0; number < count; number++) {
    const cursor = new Cursor(bytes, number * entrySize)
    const type = cursor.u32()
    let flags = is64 ? cursor.u32() : 0
    const word = is64 ? 8 : 4
    const offset = cursor.unsigned(word)
    const start = cursor.unsigned(word)
    cursor.skip(word)
    const fileSize = cursor.unsigned(word)
    const end = start + cursor.unsigned(word)
    if (!is64) flags = cursor.u32()
    segments.push({ type, flags, offset, fileSize, start, end })
  }
  return segments
}

function readSections(
  image: Section,
  at: number,
  header: { size: number; count: number; names: number },
  is64: boolean,
): SectionHeader[] {
  if (at === 0) return []
  const word = is64 ? 8 : 4
  if (header.size < (is64 ? 64 : 40) || header.size > MAX_HEADER_BYTES)
    throw new RangeError('section headers of a wrong size')
  const first = new Cursor(image.read(at, header.size), 8 + 3 * word)
  // A file with more sections writes their number into the first header.
  const count = header.count === 0 ? first.unsigned(word) : header.count
  if (count > MAX_HEADERS)
    throw new SymbolFileError(`The ELF file has more than ${MAX_HEADERS.toLocaleString('en')} sections.`)
  const namesAt = header.names === 0xffff ? first.u32() : header.names
  const bytes = image.read(at, header.size * count)
  const raw = Array.from({ length: count }, (_, number) => {
    const cursor = new Cursor(bytes, number * header.size)
    const [name, type, flags, start] = [cursor.u32(), cursor.u32(), cursor.unsigned(word), cursor.unsigned(word)]
    const [offset, size, link] = [cursor.unsigned(word), cursor.unsigned(word), cursor.u32()]
    return { name, type, flags, start, end: start + size, offset, size, link }
  })
  const table = raw[namesAt]
  const names = table === undefined ? undefined : new Section(image.file, table.offset, table.size)
  return raw.map((section) => ({
    ...section,
    name: names === undefined || section.name >= names.size ? '' : names.text(section.name),
  }))
}

function readSymbols(
  entries: Section,
  names: Section,
  code: readonly AddressRange[],
  is64: boolean,
  isArm: boolean,
): SymbolTable {
  const collector = new SymbolCollector()
  const entrySize = is64 ? 24 : 16
  const count = Math.floor(entries.size / entrySize)
  if (count > MAX_SYMBOLS) throw new SymbolFileError('The symbol table has too many entries.')
  for (let from = 0; from < count; from += 4096) {
    const batch = Math.min(4096, count - from)
    const cursor = new Cursor(entries.read(from * entrySize, batch * entrySize))
    for (let number = 0; number < batch; number++) {
      const name = cursor.u32()
      let [type, section, value, size] = [0, 0, 0, 0]
      if (is64) {
        type = cursor.u8() & 0xf
        cursor.skip(1)
        ;[section, value, size] = [cursor.u16(), cursor.u64(), cursor.u64()]
      } else {
        ;[value, size, type] = [cursor.u32(), cursor.u32(), cursor.u8() & 0xf]
        cursor.skip(1)
        section = cursor.u16()
      }
      if (section === 0 || name === 0) continue
      const isFunction = type === STT_FUNC || type === STT_GNU_IFUNC
      if (!isFunction && type !== STT_NOTYPE) continue
      // The lowest bit of a function's address says that it is in the Thumb instruction set.
      if (isArm && isFunction) value -= value % 2
      if (!isCode(code, value)) continue
      // Symbols such as `$t` and `$d.12` mark instruction sets and data.
      if (!isFunction && /^\$[adtx](?:\.|$)/.test(names.text(name))) continue
      collector.add(value, size, name)
    }
  }
  return collector.sorted((at) => names.text(at))
}

/** @returns the descriptor of the note NT_GNU_BUILD_ID, which a linker writes */
function findBuildId(
  image: Section,
  sections: readonly SectionHeader[],
  segments: readonly Segment[],
): Buffer | undefined {
  const places = [
    ...sections.filter(({ type }) => type === SHT_NOTE),
    ...segments.filter(({ type }) => type === PT_NOTE).map(({ offset, fileSize }) => ({ offset, size: fileSize })),
  ]
  for (const { offset, size } of places.slice(0, MAX_NOTES)) {
    if (size < 12 || offset + size > image.size) continue
    const notes = new Cursor(image.read(offset, Math.min(size, MAX_NOTE_BYTES)))
    while (notes.bytes.length - notes.at >= 12) {
      const [nameSize, descriptorSize, type] = [notes.u32(), notes.u32(), notes.u32()]
      const nameAt = notes.at
      const descriptorAt = nameAt + Math.ceil(nameSize / 4) * 4
      const end = descriptorAt + descriptorSize
      if (end > notes.bytes.length) break
      const isGnu = notes.bytes.toString('latin1', nameAt, nameAt + nameSize) === 'GNU\0'
      if (isGnu && type === NT_GNU_BUILD_ID && descriptorSize > 0) {
        return Buffer.from(notes.bytes.subarray(descriptorAt, end))
      }
      notes.at = Math.ceil(end / 4) * 4
    }
  }
  return undefined
}

/** The identity of a file without build id, as Breakpad computes it: the first page of `.text`, XORed in 16 bytes. */
function hashOfCode(image: Section, sections: readonly SectionHeader[]): Buffer | undefined {
  const text = sections.find(({ name, type }) => name === '.text' && type !== SHT_NOBITS)
  if (text === undefined || text.size === 0) return undefined
  const page = image.read(text.offset, Math.min(text.size, 4096))
  const hash = Buffer.alloc(16)
  for (let at = 0; at + 16 <= page.length; at += 16) {
    for (let byte = 0; byte < 16; byte++) hash[byte] = (hash[byte] ?? 0) ^ (page[at + byte] ?? 0)
  }
  return hash
}

/** The first 16 bytes as a GUID in memory: its first three fields are little-endian. */
function debugIdOf(buildId: Buffer): string {
  const bytes = Buffer.alloc(16)
  buildId.copy(bytes)
  bytes.subarray(0, 4).reverse()
  bytes.subarray(4, 6).reverse()
  bytes.subarray(6, 8).reverse()
  return uuidText(bytes)
}

type CompressionHeader = { readonly type: number; readonly size: number; readonly length: number }

/** `Elf32_Chdr` and `Elf64_Chdr`. */
function compressionHeader(section: Section, is64: boolean): CompressionHeader {
  const cursor = section.cursor(0, is64 ? 24 : 12)
  const type = cursor.u32()
  if (is64) cursor.skip(4)
  return { type, size: cursor.unsigned(is64 ? 8 : 4), length: is64 ? 24 : 12 }
}

/** `.zdebug_…`: "ZLIB" and the size, big-endian. */
function oldCompressionHeader(section: Section): CompressionHeader {
  const bytes = section.peek(0, 12)
  if (bytes.toString('latin1', 0, 4) !== 'ZLIB') throw new RangeError('no header of a compressed section')
  return { type: COMPRESS_ZLIB, size: Number(bytes.readBigUInt64BE(4)), length: 12 }
}

function decompressSection(section: Section, { type, size, length }: CompressionHeader): Buffer {
  const bytes = section.read(length, section.size - length)
  if (type !== COMPRESS_ZLIB && type !== COMPRESS_ZSTD) {
    throw new SymbolFileError(`The debug sections are compressed in an unknown way (${type}).`)
  }
  let result: Buffer
  try {
    // In one piece: many small ones would be joined, which takes twice the memory.
    const options = { maxOutputLength: Math.max(1, size), chunkSize: Math.max(64, size + 1) }
    result = type === COMPRESS_ZLIB ? inflateSync(bytes, options) : zstdDecompressSync(bytes, options)
  } catch (error) {
    throw new SymbolFileError('A compressed debug section is damaged.', { cause: error })
  }
  if (result.length !== size) throw new SymbolFileError('A compressed debug section has a wrong size.')
  return result
}
