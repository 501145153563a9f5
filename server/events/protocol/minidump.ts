import { crashReason, type CrashReason, type Os } from './minidump-reasons.ts'

/**
 * Reads a minidump without symbols: system, crash, threads, modules (format: Microsoft's minidumpapiset.h; the streams
 * of other systems: Breakpad's and Crashpad's public headers). Pure. All work is bounded by the size of the file and
 * the limits below; a part with an invalid offset stays empty.
 */

export type Minidump = {
  readonly os: Os
  /** The usual name: `x86_64`, `arm64`, …; null for unknown processors. */
  readonly arch: string | null
  readonly osVersion: string | null
  readonly osBuild: string | null
  /** Time of writing, seconds since 1970; null when unknown. */
  readonly writtenAtS: number | null
  readonly processId: number | null
  readonly crash: MinidumpCrash | null
  readonly threads: readonly MinidumpThread[]
  readonly modules: readonly MinidumpModule[]
  /** Parts that could not be read or were left out. */
  readonly problems: readonly string[]
}

type MinidumpCrash = CrashReason & {
  readonly threadId: number
  /** The accessed address, or the crash address if that is unknown. */
  readonly address: bigint
  readonly registers: Registers | null
}

type MinidumpThread = {
  readonly id: number
  readonly name: string | null
  readonly registers: Registers | null
}

export type Registers = {
  readonly ip: bigint
  readonly named: Readonly<Record<string, bigint>>
}

type MinidumpModule = {
  readonly codeFile: string
  readonly debugFile: string | null
  readonly version: string | null
  readonly address: bigint
  readonly sizeBytes: number
  /** Id of the code: build id (ELF), time and size (PE); null when unknown. */
  readonly codeId: string | null
  /** As in debug images (docs/protocol.md §8); null when unknown. */
  readonly debugId: string | null
  readonly type: 'elf' | 'macho' | 'pe'
}

/** Maximum streams, threads and modules; real dumps have dozens of streams and a few hundred threads and modules. */
const MAX_STREAMS = 1_000
const MAX_THREADS = 256
const MAX_MODULES = 1_000
const MAX_NAME = 512

const HEADER_BYTES = 32
const STREAM = { threads: 3, modules: 4, exception: 6, system: 7, misc: 15, threadNames: 24 }

/** Whether the bytes start like a minidump of either byte order. */
export const isMinidump = (bytes: Buffer): boolean => /^(?:MDMP|PMDM)/.test(bytes.toString('latin1', 0, 4))

/** @returns null when the bytes are no minidump, or end within its header */
export function readMinidump(bytes: Buffer): Minidump | null {
  if (!isMinidump(bytes) || bytes.length < HEADER_BYTES) return null
  const reader = new BoundedReader(bytes, bytes.toString('latin1', 0, 4) === 'PMDM')
  const problems: string[] = []
  const streams = readDirectory(reader, problems)
  const system = readSystem(reader, streams.get(STREAM.system) ?? null)
  if (system === null) problems.push('no system information')
  const { os = 'unknown', cpu = null, osVersion = null, osBuild = null } = system ?? {}
  const names = readThreadNames(reader, streams.get(STREAM.threadNames) ?? null)
  const misc = streams.get(STREAM.misc)
  const hasProcess = misc !== undefined && ((reader.u32(misc.at + 4) ?? 0) & 1) === 1
  return {
    os,
    arch: cpu?.name ?? null,
    osVersion,
    osBuild,
    writtenAtS: reader.u32(20) === 0 ? null : reader.u32(20),
    processId: hasProcess ? reader.u32(misc.at + 8) : null,
    crash: readCrash(reader, streams.get(STREAM.exception) ?? null, os, cpu),
    threads: readThreads(reader, streams.get(STREAM.threads) ?? null, names, cpu, problems),
    modules: readModules(reader, streams.get(STREAM.modules) ?? null, os, problems),
    problems,
  }
}

type Stream = { readonly at: number; readonly size: number }

/** The first stream of each type. */
function readDirectory(reader: BoundedReader, problems: string[]): Map<number, Stream> {
  const count = reader.u32(8) ?? 0
  const at = reader.u32(12) ?? 0
  if (count > MAX_STREAMS) problems.push(`${count} streams; the first ${MAX_STREAMS} are read`)
  const streams = new Map<number, Stream>()
  for (let index = 0; index < Math.min(count, MAX_STREAMS); index++) {
    const entry = at + index * 12
    const [type, size, start] = [reader.u32(entry), reader.u32(entry + 4), reader.u32(entry + 8)]
    if (type === null || size === null || start === null) {
      problems.push('the directory of streams is cut')
      break
    }
    if (type !== 0 && !streams.has(type)) streams.set(type, { at: start, size })
  }
  return streams
}

/** The number of entries of a list that fit in its stream and the file. Some writers pad the count to eight bytes. */
function listOf(
  reader: BoundedReader,
  stream: Stream | null,
  entryBytes: number,
  max: number,
  what: string,
  problems: string[],
): { start: number; count: number } {
  if (stream === null) {
    problems.push(`no list of ${what}`)
    return { start: 0, count: 0 }
  }
  const claimed = reader.u32(stream.at) ?? 0
  const padded = stream.size === 8 + claimed * entryBytes
  const start = stream.at + (padded ? 8 : 4)
  const room = Math.max(0, Math.floor((stream.size - (start - stream.at)) / entryBytes))
  let count = Math.min(claimed, max, room)
  while (count > 0 && !reader.has(start, count * entryBytes)) count = Math.floor(count / 2)
  if (count < claimed) problems.push(`${claimed} ${what}; ${count} are read`)
  return { start, count }
}

// --- System -------------------------------------------------------------------------------------------------------

type Cpu = {
  readonly name: string
  readonly registers: readonly (readonly [name: string, at: number])[]
  readonly wide: boolean
}

/** Offsets of registers in the CONTEXT record of each processor; the first is the instruction pointer. */
const word = (names: string, from: number, step: number): (readonly [string, number])[] =>
  names.split(' ').map((name, index) => [name, from + index * step])
const X86: Cpu = {
  name: 'x86',
  wide: false,
  registers: [['eip', 0xb8], ...word('edi esi ebx edx ecx eax ebp', 0x9c, 4), ['esp', 0xc4]],
}
const AMD64: Cpu = {
  name: 'x86_64',
  wide: true,
  registers: [['rip', 0xf8], ...word('rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15', 0x78, 8)],
}
const ARM: Cpu = {
  name: 'arm',
  wide: false,
  registers: [['pc', 0x40], ...word('r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10 fp r12 sp lr', 0x04, 4)],
}
const ARM64: Cpu = {
  name: 'arm64',
  wide: true,
  registers: [
    ['pc', 0x108],
    ...word(
      'x0 x1 x2 x3 x4 x5 x6 x7 x8 x9 x10 x11 x12 x13 x14 x15 x16 x17 x18 x19 x20 x21 x22 x23 x24 x25 x26 x27 x28 fp lr sp',
      0x08,
      8,
    ),
  ],
}
const CPUS = new Map([
  [0, X86],
  [5, ARM],
  [9, AMD64],
  [12, ARM64],
  [0x8003, ARM64],
])

const SYSTEMS = new Map<number, Os>([
  [1, 'windows'],
  [2, 'windows'],
  [0x8101, 'macos'],
  [0x8102, 'ios'],
  [0x8201, 'linux'],
  [0x8203, 'android'],
])

function readSystem(reader: BoundedReader, stream: Stream | null) {
  if (stream === null) return null
  const at = stream.at
  const platform = reader.u32(at + 20)
  const cpu = CPUS.get(reader.u16(at) ?? -1) ?? null
  if (platform === null) return null
  const os: Os = SYSTEMS.get(platform) ?? 'unknown'
  const [major, minor, build] = [reader.u32(at + 8) ?? 0, reader.u32(at + 12) ?? 0, reader.u32(at + 16) ?? 0]
  return {
    os,
    cpu,
    osVersion: major === 0 ? null : `${major}.${minor}.${build}`,
    osBuild: reader.utf16(reader.u32(at + 24) ?? 0, MAX_NAME),
  }
}

// --- Crash and threads --------------------------------------------------------------------------------------------

function readCrash(reader: BoundedReader, stream: Stream | null, os: Os, cpu: Cpu | null): MinidumpCrash | null {
  if (stream === null) return null
  const { at } = stream
  const [threadId, code, flags, address] = [
    reader.u32(at),
    reader.u32(at + 8),
    reader.u32(at + 12),
    reader.u64(at + 24),
  ]
  if (threadId === null || code === null || flags === null || address === null) return null
  const parameters: bigint[] = []
  for (let index = 0; index < Math.min(reader.u32(at + 32) ?? 0, 15); index++)
    parameters.push(reader.u64(at + 40 + index * 8) ?? 0n)
  const reason = crashReason(os, code, flags, parameters)
  return {
    ...reason,
    threadId,
    address: reason.touched ?? address,
    registers: readRegisters(reader, at + 160, cpu),
  }
}

function readRegisters(reader: BoundedReader, location: number, cpu: Cpu | null): Registers | null {
  const [size, at] = [reader.u32(location), reader.u32(location + 4)]
  if (cpu === null || size === null || at === null || size === 0 || !reader.has(at, size)) return null
  const named: Record<string, bigint> = {}
  for (const [name, offset] of cpu.registers) {
    if (offset + (cpu.wide ? 8 : 4) > size) return null
    const narrow = cpu.wide ? null : reader.u32(at + offset)
    named[name] = cpu.wide ? (reader.u64(at + offset) ?? 0n) : BigInt(narrow ?? 0)
  }
  return { ip: named[cpu.registers[0]?.[0] ?? ''] ?? 0n, named }
}

function readThreadNames(reader: BoundedReader, stream: Stream | null): Map<number, string> {
  const names = new Map<number, string>()
  if (stream === null) return names
  const count = Math.min(reader.u32(stream.at) ?? 0, MAX_THREADS)
  for (let index = 0; index < count; index++) {
    const entry = stream.at + 4 + index * 12
    const [id, at] = [reader.u32(entry), reader.u64(entry + 4)]
    if (id === null || at === null) break
    const name = at < 0x1_0000_0000n ? reader.utf16(Number(at), 100) : null
    if (name !== null) names.set(id, name)
  }
  return names
}

const THREAD_BYTES = 48

function readThreads(
  reader: BoundedReader,
  stream: Stream | null,
  names: ReadonlyMap<number, string>,
  cpu: Cpu | null,
  problems: string[],
): MinidumpThread[] {
  const { start, count } = listOf(reader, stream, THREAD_BYTES, MAX_THREADS, 'threads', problems)
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * THREAD_BYTES
    const id = reader.u32(at) ?? 0
    return { id, name: names.get(id) ?? null, registers: readRegisters(reader, at + 40, cpu) }
  })
}

// --- Modules ------------------------------------------------------------------------------------------------------

const MODULE_BYTES = 108
const SIGNATURES = { pdb70: 0x53445352, elf: 0x4270454c }
const MAX_BUILD_ID = 64

function readModules(reader: BoundedReader, stream: Stream | null, os: Os, problems: string[]): MinidumpModule[] {
  const { start, count } = listOf(reader, stream, MODULE_BYTES, MAX_MODULES, 'modules', problems)
  const type = os === 'windows' ? 'pe' : os === 'macos' || os === 'ios' ? 'macho' : 'elf'
  const modules: MinidumpModule[] = []
  for (let index = 0; index < count; index++) {
    const at = start + index * MODULE_BYTES
    const codeFile = reader.utf16(reader.u32(at + 20) ?? 0, MAX_NAME)
    const sizeBytes = reader.u32(at + 8) ?? 0
    if (codeFile === null) continue
    const ids = readIds(reader, reader.u32(at + 80) ?? 0, reader.u32(at + 76) ?? 0)
    const time = reader.u32(at + 16) ?? 0
    modules.push({
      codeFile,
      debugFile: ids.debugFile,
      version: readVersion(reader, at + 24),
      address: reader.u64(at) ?? 0n,
      sizeBytes,
      codeId: type === 'pe' && time !== 0 ? hex(time, 8) + sizeBytes.toString(16) : ids.buildId,
      debugId: ids.debugId,
      type,
    })
  }
  return modules
}

/** VS_FIXEDFILEINFO, if valid. */
function readVersion(reader: BoundedReader, at: number): string | null {
  const [high, low] = [reader.u32(at + 8) ?? 0, reader.u32(at + 12) ?? 0]
  if (reader.u32(at) !== 0xfeef04bd || (high === 0 && low === 0)) return null
  return `${high >>> 16}.${high & 0xffff}.${low >>> 16}.${low & 0xffff}`
}

/** The CodeView record: of a PDB, or a build id. */
function readIds(reader: BoundedReader, at: number, size: number) {
  const nothing = { debugId: null, buildId: null, debugFile: null }
  const signature = reader.u32(at)
  if (at === 0 || size < 5 || signature === null) return nothing
  if (signature === SIGNATURES.elf) {
    const id = reader.bytes(at + 4, Math.min(size - 4, MAX_BUILD_ID))
    return { ...nothing, debugId: debugIdOf(id, 0), buildId: isNil(id) ? null : id.toString('hex') }
  }
  if (signature !== SIGNATURES.pdb70 || size < 24) return nothing
  const age = reader.u32(at + 20) ?? 0
  return {
    ...nothing,
    debugId: debugIdOf(reader.bytes(at + 4, 16), age),
    debugFile: reader.utf8(at + 24, Math.min(size - 24, MAX_NAME)),
  }
}

/** 16 bytes read as a GUID, whose first three fields are little-endian; an age of 0 is left out. */
function debugIdOf(bytes: Buffer, age: number): string | null {
  if (bytes.length === 0 || isNil(bytes)) return null
  const id = Buffer.alloc(16)
  bytes.copy(id, 0, 0, 16)
  const guid = [
    hex(id.readUInt32LE(0), 8),
    hex(id.readUInt16LE(4), 4),
    hex(id.readUInt16LE(6), 4),
    id.toString('hex', 8, 10),
    id.toString('hex', 10, 16),
  ].join('-')
  return age === 0 ? guid : `${guid}-${age.toString(16)}`
}

const isNil = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0)
const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** Reads bytes of an untrusted file: positions outside of it are null, and nothing throws. */
class BoundedReader {
  readonly #bytes: Buffer
  readonly #bigEndian: boolean

  constructor(bytes: Buffer, bigEndian: boolean) {
    this.#bytes = bytes
    this.#bigEndian = bigEndian
  }

  has(at: number, bytes: number): boolean {
    return at >= 0 && bytes >= 0 && at + bytes <= this.#bytes.length
  }

  u16(at: number): number | null {
    if (!this.has(at, 2)) return null
    return this.#bigEndian ? this.#bytes.readUInt16BE(at) : this.#bytes.readUInt16LE(at)
  }

  u32(at: number): number | null {
    if (!this.has(at, 4)) return null
    return this.#bigEndian ? this.#bytes.readUInt32BE(at) : this.#bytes.readUInt32LE(at)
  }

  u64(at: number): bigint | null {
    if (!this.has(at, 8)) return null
    return this.#bigEndian ? this.#bytes.readBigUInt64BE(at) : this.#bytes.readBigUInt64LE(at)
  }

  /** A view, cut at the end of the file. */
  bytes(at: number, length: number): Buffer {
    return at < 0 || at > this.#bytes.length ? Buffer.alloc(0) : this.#bytes.subarray(at, at + Math.max(0, length))
  }

  /** A length-prefixed UTF-16 string of at most `max` units; null when it is empty or outside of the file. */
  utf16(at: number, max: number): string | null {
    const length = this.u32(at)
    if (at === 0 || length === null || length === 0) return null
    const units = Buffer.from(this.bytes(at + 4, Math.min(length - (length % 2), max * 2)))
    if (this.#bigEndian && units.length % 2 === 0) units.swap16()
    const text = units.toString('utf16le')
    const end = text.indexOf('\0')
    const clean = (end === -1 ? text : text.slice(0, end)).toWellFormed()
    return clean === '' ? null : clean
  }

  /** A zero-terminated UTF-8 string within `length` bytes. */
  utf8(at: number, length: number): string | null {
    const bytes = this.bytes(at, length)
    const end = bytes.indexOf(0)
    const text = bytes.toString('utf8', 0, end === -1 ? bytes.length : end)
    return text === '' ? null : text
  }
}
