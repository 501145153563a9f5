import { SymbolFileError, type PositionedFile } from '../index-file/built-index.ts'
import { Cursor } from './cursor.ts'
import { MAX_SYMBOLS, SymbolCollector, isCode, uuidText } from './native-object.ts'
import type { AddressRange, ObjectFile } from './native-object.ts'
import { Section } from './section.ts'

/**
 * Mach-O files, as Apple's headers `mach-o/loader.h`, `mach-o/nlist.h` and `mach-o/fat.h` describe them. Only
 * little-endian images: each platform that runs today writes them.
 */
const MAGIC_32 = 0xfeedface
const MAGIC_64 = 0xfeedfacf
const FAT_MAGIC = 0xcafebabe
const FAT_MAGIC_64 = 0xcafebabf
const MAX_SLICES = 16
const MAX_LOAD_COMMANDS = 1_000
const MAX_LOAD_COMMAND_BYTES = 1024 * 1024
const MAX_SECTIONS = 1_000

const LC_SEGMENT = 0x1
const LC_SYMTAB = 0x2
const LC_ID_DYLIB = 0xd
const LC_SEGMENT_64 = 0x19
const LC_UUID = 0x1b

/** Attributes of a section: it holds instructions only, or some. */
const INSTRUCTIONS = 0x8000_0400
const ZEROFILL = 0x1
/** Bits of an nlist entry's type. */
const N_STAB = 0xe0
const N_TYPE = 0x0e
const N_SECT = 0x0e
const MH_DSYM = 0xa

/** `mach/machine.h`: type and subtype of processors. The high byte of a subtype holds capabilities. */
function cpuNameOf(type: number, subtype: number): string {
  const low = subtype & 0xff
  if (type === 0x0100_000c) return low === 2 ? 'arm64e' : low === 1 ? 'arm64v8' : 'arm64'
  if (type === 0x0200_000c) return 'arm64_32'
  if (type === 0x0100_0007) return low === 8 ? 'x86_64h' : 'x86_64'
  if (type === 7) return 'x86'
  if (type === 12)
    return ({ 6: 'armv6', 9: 'armv7', 11: 'armv7s', 12: 'armv7k' } as Record<number, string>)[low] ?? 'arm'
  return 'unknown'
}

export type Slice = { readonly offset: number; readonly size: number }

const isThin = (magic: number): boolean => magic === MAGIC_32 || magic === MAGIC_64

/** @returns the images of a thin or fat file, or undefined when it is no Mach-O file */
export function machOSlices(file: PositionedFile): Slice[] | undefined {
  if (file.sizeBytes < 28) return undefined
  const head = file.read(0, 8)
  if (isThin(head.readUInt32LE())) return [{ offset: 0, size: file.sizeBytes }]
  if (isThin(head.readUInt32BE())) throw new SymbolFileError('Big-endian Mach-O files are not supported.')
  const magic = head.readUInt32BE()
  if (magic !== FAT_MAGIC && magic !== FAT_MAGIC_64) return undefined
  const count = head.readUInt32BE(4)
  // A class file of Java begins with the same four bytes; its version follows, which is 45 or more.
  if (count >= 45) return undefined
  if (count > MAX_SLICES)
    throw new SymbolFileError(`The file has ${count} architectures. At most ${MAX_SLICES} are read.`)
  const entrySize = magic === FAT_MAGIC ? 20 : 32
  const entries = new Section(file, 8, count * entrySize).read(0, count * entrySize)
  const slices: Slice[] = []
  for (let at = 0; at < entries.length; at += entrySize) {
    const [offset, size] =
      magic === FAT_MAGIC
        ? [entries.readUInt32BE(at + 8), entries.readUInt32BE(at + 12)]
        : [Number(entries.readBigUInt64BE(at + 8)), Number(entries.readBigUInt64BE(at + 16))]
    if (size < 28 || offset + size > file.sizeBytes)
      throw new SymbolFileError('An architecture of the file is cut off.')
    // Static libraries are fat files too; their slices are archives.
    if (isThin(file.read(offset, 4).readUInt32LE())) slices.push({ offset, size })
  }
  return slices
}

const fixedText = (bytes: Buffer): string => bytes.toString('latin1').replace(/\0.*$/s, '')

type MachSection = AddressRange & { readonly name: string; readonly offset: number; readonly isCode: boolean }

/** @throws SymbolFileError or RangeError when the slice is damaged */
export function readMachO(file: PositionedFile, { offset, size }: Slice): ObjectFile {
  const image = new Section(file, offset, size)
  const head = new Cursor(image.read(0, Math.min(32, image.size)))
  const is64 = head.u32() === MAGIC_64
  const cpuName = cpuNameOf(head.u32(), head.u32())
  const fileType = head.u32()
  const commandCount = head.u32()
  const commandBytes = head.u32()
  if (commandCount > MAX_LOAD_COMMANDS || commandBytes > MAX_LOAD_COMMAND_BYTES) {
    throw new SymbolFileError(`The Mach-O file has more than ${MAX_LOAD_COMMANDS} load commands.`)
  }
  const commands = image.read(is64 ? 32 : 28, commandBytes)

  let uuid: Buffer | undefined
  let name: string | null = null
  let baseAddress: number | undefined
  let table: { symbols: number; count: number; strings: number; stringBytes: number } | undefined
  const sections: MachSection[] = []
  for (let number = 0, at = 0; number < commandCount; number++) {
    const cursor = new Cursor(commands, at)
    const kind = cursor.u32() % 0x8000_0000
    const length = cursor.u32()
    if (length < 8 || at + length > commands.length) throw new RangeError('a load command ends too early')
    const command = commands.subarray(at, at + length)
    if (kind === LC_UUID) uuid = Buffer.from(command.subarray(8, 24))
    if (kind === LC_ID_DYLIB) name = fixedText(command.subarray(command.readUInt32LE(8))) || null
    if (kind === LC_SYMTAB) {
      table = { symbols: cursor.u32(), count: cursor.u32(), strings: cursor.u32(), stringBytes: cursor.u32() }
    }
    if (kind === LC_SEGMENT || kind === LC_SEGMENT_64) {
      const segment = readSegment(command, kind === LC_SEGMENT_64)
      if (segment.name === '__TEXT') baseAddress = segment.address
      sections.push(...segment.sections)
      if (sections.length > MAX_SECTIONS)
        throw new SymbolFileError(`The Mach-O file has more than ${MAX_SECTIONS.toLocaleString('en')} sections.`)
    }
    at += length
  }
  if (uuid?.length !== 16) {
    throw new SymbolFileError('The Mach-O file has no UUID (LC_UUID), so that no event can name it.')
  }

  const debugSection = (wanted: string): Section | undefined => {
    // Names of sections have at most 16 bytes: `__debug_str_offs`.
    const found = sections.find((section) => section.name === `__${wanted}`.slice(0, 16))
    if (found === undefined || found.end <= found.start || found.offset === 0) return undefined
    return new Section(file, offset + found.offset, Math.min(found.end - found.start, size - found.offset))
  }
  const code = sections.filter((section) => section.isCode)
  return {
    object: {
      kind: 'macho',
      debugId: uuidText(uuid),
      codeId: uuid.toString('hex'),
      cpuName,
      features: {
        symtab: table !== undefined && table.count > 0,
        debug: debugSection('debug_info') !== undefined,
        // The unwind information of a dSYM is a header without bytes.
        unwind:
          fileType !== MH_DSYM && sections.some(({ name: own }) => own === '__unwind_info' || own === '__eh_frame'),
        sources: false,
      },
      name: name?.slice(name.lastIndexOf('/') + 1) ?? null,
      offset,
      size,
    },
    baseAddress: baseAddress ?? 0,
    code,
    debugSection,
    symbols: () => {
      const collector = new SymbolCollector()
      const strings = new Section(file, offset + (table?.strings ?? 0), table?.stringBytes ?? 0)
      const entrySize = is64 ? 16 : 12
      const count = table?.count ?? 0
      if (count > MAX_SYMBOLS) throw new SymbolFileError('The symbol table has too many entries.')
      const entries = new Section(file, offset + (table?.symbols ?? 0), count * entrySize)
      for (let from = 0; from < count; from += 4096) {
        const batch = Math.min(4096, count - from)
        const cursor = new Cursor(entries.read(from * entrySize, batch * entrySize))
        for (let number = 0; number < batch; number++) {
          const nameAt = cursor.u32()
          const type = cursor.u8()
          cursor.skip(3)
          const address = cursor.unsigned(is64 ? 8 : 4)
          if ((type & N_STAB) === 0 && (type & N_TYPE) === N_SECT && nameAt > 0 && isCode(code, address)) {
            collector.add(address, 0, nameAt)
          }
        }
      }
      // The platform writes `_` before each name.
      return collector.sorted((at) => strings.text(at).replace(/^_/, ''))
    },
  }
}

/** `segment_command` and `segment_command_64` with their sections. */
function readSegment(command: Buffer, is64: boolean): { name: string; address: number; sections: MachSection[] } {
  const word = is64 ? 8 : 4
  const cursor = new Cursor(command, 24)
  const name = fixedText(command.subarray(8, 24))
  const address = cursor.unsigned(word)
  cursor.skip(3 * word + 8)
  const count = cursor.u32()
  cursor.skip(4)
  const sections: MachSection[] = []
  for (let number = 0; number < count; number++) {
    const sectionName = fixedText(command.subarray(cursor.at, cursor.at + 16))
    cursor.skip(32)
    const start = cursor.unsigned(word)
    const end = start + cursor.unsigned(word)
    const offset = cursor.u32()
    cursor.skip(12)
    const flags = cursor.u32()
    cursor.skip(is64 ? 12 : 8)
    const holdsCode = (flags & INSTRUCTIONS) !== 0 && (flags & 0xff) !== ZEROFILL
    sections.push({ name: sectionName, start, end, offset, isCode: holdsCode })
  }
  return { name, address, sections }
}
