import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { SymbolFileError, type BuiltIndex, type PositionedFile } from '../index-file/built-index.ts'
import { findFrames, nativeParts, type NativeFrame } from './find-frames.ts'
import { listObjects } from './list-objects.ts'
import { lookupAddress } from './lookup-address.ts'
import { chainOf, expectedChain, wholeIndex } from '#test/kit/native-oracle.ts'
import { cases } from '#test/kit/properties.ts'

const FIXTURES = new URL('../../../test/fixtures/symbols-native/', import.meta.url)
const fixture = (name: string): Buffer => readFileSync(new URL(name, FIXTURES))

/** @returns also how many bytes were read at a time at most */
function fileOf(bytes: Buffer): PositionedFile & { largest: number } {
  const file = {
    sizeBytes: bytes.length,
    largest: 0,
    read(position: number, length: number): Buffer {
      file.largest = Math.max(file.largest, length)
      return bytes.subarray(position, position + length)
    },
  }
  return file
}

function indexOf(bytes: Buffer): BuiltIndex {
  const file = fileOf(bytes)
  return wholeIndex(file, listObjects(file).objects[0]!)
}

function framesAt(index: BuiltIndex, address: number): NativeFrame[] {
  return findFrames(index.directory, (part) => index.parts[part]!, address)
}

/** The answers of llvm-symbolizer: `expect.ts` beside the binaries. */
const expected = z
  .record(
    z.string(),
    z.object({
      addresses: z.array(z.number()),
      found: z.array(z.number()),
      chains: z.array(z.array(z.tuple([z.string(), z.string(), z.number()]))),
    }),
  )
  .parse(JSON.parse(gunzipSync(fixture('expected.json.gz')).toString()))

describe('addresses of real binaries', () => {
  it.each(Object.keys(expected))('%s: functions, files, lines and inlined calls as llvm-symbolizer', (name) => {
    const { addresses, found, chains } = expected[name]!
    const index = indexOf(fixture(name))
    const wrong: unknown[] = []
    let chained = 0
    for (const [at, address] of addresses.entries()) {
      const theirs = expectedChain(chains[found[at]!]!)
      if (theirs === null) continue
      const ours = chainOf(framesAt(index, address))
      if (ours.length > 1) chained++
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) wrong.push({ address: address.toString(16), ours, theirs })
    }
    expect(wrong).toEqual([])
    expect(chained > 50).toBe(!name.includes('stripped'))
  })

  it('asks about hundreds of addresses of each architecture', () => {
    const count = (part: string): number =>
      Object.entries(expected).reduce((sum, [name, one]) => sum + (name.startsWith(part) ? one.addresses.length : 0), 0)
    expect(['ios-arm64', 'android-armv7', 'android-arm64', 'linux-x86_64'].map((part) => count(part) > 700)).toEqual([
      true,
      true,
      true,
      true,
    ])
  })

  it('reads names, calls and lines in the order from the innermost function', () => {
    const index = indexOf(fixture('linux-x86_64-dwarf5.so'))
    const { addresses, found, chains } = expected['linux-x86_64-dwarf5.so']!
    const deep = addresses[found.findIndex((chain) => chains[chain]!.length > 10)]!
    const frames = framesAt(index, deep)
    expect(frames.at(-1)).toMatchObject({ rawName: 'plain_c', functionName: 'plain_c', file: '/src/shapes.cpp' })
    expect(frames.at(-2)!.functionName).toMatch(
      /^shapes::\(anonymous namespace\)::Deep<12>::run\(int volatile\*, int\)$/,
    )
    expect(new Set(frames.map(({ symbolAddress }) => symbolAddress)).size).toBe(1)
  })
})

describe('objects of a file', () => {
  it('reads identifiers, processors and what there is', () => {
    const about = (name: string) => listObjects(fileOf(fixture(name))).objects[0]!
    const full = about('linux-x86_64-dwarf5.so')
    expect(full).toMatchObject({
      kind: 'elf',
      cpuName: 'x86_64',
      codeId: expect.stringMatching(/^[0-9a-f]{40}$/) as string,
    })
    // The first three fields of the GUID are little-endian.
    const id = Buffer.from(full.codeId!, 'hex')
    expect(full.debugId.slice(0, 18)).toBe(
      [id.subarray(0, 4), id.subarray(4, 6), id.subarray(6, 8)]
        .map((field) => Buffer.from(field).reverse().toString('hex'))
        .join('-'),
    )
    expect(full.features).toEqual({ symtab: true, debug: true, unwind: true, sources: false })
    expect(about('linux-x86_64-stripped.so')).toMatchObject({
      debugId: full.debugId,
      features: { symtab: false, debug: false },
    })
    expect(about('linux-x86_64-dwarf5.debug')).toMatchObject({
      debugId: full.debugId,
      features: { debug: true },
    })
    expect(about('android-armv7-dwarf4.so').cpuName).toBe('armv7')
    const dsym = about('ios-arm64-dwarf5.dsym')
    expect(dsym).toMatchObject({
      kind: 'macho',
      cpuName: 'arm64',
      features: { debug: true, symtab: true, unwind: false },
    })
    expect(dsym.debugId.replaceAll('-', '')).toBe(dsym.codeId)
  })

  it('lists each slice of a fat file, and indexes one of them', () => {
    const slices = [fixture('ios-arm64-dwarf4.dsym'), fixture('ios-arm64-dwarf5.dsym')]
    const head = Buffer.alloc(4096)
    head.writeUInt32BE(0xcafebabe)
    head.writeUInt32BE(2, 4)
    let offset = head.length
    for (const [at, slice] of slices.entries()) {
      head.writeUInt32BE(offset, 8 + 20 * at + 8)
      head.writeUInt32BE(slice.length, 8 + 20 * at + 12)
      offset += slice.length
    }
    const file = fileOf(Buffer.concat([head, ...slices]))
    const { objects } = listObjects(file)
    expect(objects.map(({ offset: at, size }) => [at, size])).toEqual([
      [4096, slices[0]!.length],
      [4096 + slices[0]!.length, slices[1]!.length],
    ])
    expect(wholeIndex(file, objects[1]!).parts).toEqual(indexOf(slices[1]!).parts)
    head.writeUInt32BE(17, 4)
    expect(() => listObjects(fileOf(Buffer.concat([head, ...slices])))).toThrow('The file has 17 architectures')
  })

  it('refuses more than 1,000 load commands, and files of other kinds', () => {
    const bytes = Buffer.from(fixture('ios-arm64-dwarf4.dsym'))
    bytes.writeUInt32LE(1001, 16)
    expect(() => listObjects(fileOf(bytes))).toThrow('more than 1000 load commands')
    const javaClass = Buffer.concat([Buffer.from('cafebabe00000034', 'hex'), Buffer.alloc(64)])
    for (const other of [Buffer.alloc(0), Buffer.from('{"version":3}'), javaClass, Buffer.alloc(100)]) {
      expect(() => listObjects(fileOf(other))).toThrow('no Mach-O, ELF or Breakpad file')
    }
  })
})

const BREAKPAD = `MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app
INFO CODE_ID 0123456789ABCDEF
FILE 0 /src/main.cc
FILE 1 /src/inner.h
INLINE_ORIGIN 0 inner(int)
INLINE_ORIGIN 1 innermost(int)
FUNC m 1000 20 0 outer name(int)
INLINE 0 10 0 0 1004 8
INLINE 1 20 1 1 1006 2
1000 4 9 0
1004 8 5 1
100c 14 11 0
PUBLIC 2000 0 exported
STACK CFI INIT 1000 20 .cfa: $rsp 8 +
`

it('reads Breakpad files', () => {
  const file = fileOf(Buffer.from(BREAKPAD))
  const [object] = listObjects(file).objects
  expect(object).toMatchObject({
    kind: 'breakpad',
    debugId: '01234567-89ab-cdef-0123-456789abcdef',
    codeId: '0123456789abcdef',
    name: 'app',
    features: { debug: true, unwind: true },
  })
  const index = wholeIndex(file, object!)
  const at = (address: number) => framesAt(index, address).map(({ rawName, file: path, line }) => [rawName, path, line])
  expect(at(0x1007)).toEqual([
    ['innermost(int)', '/src/inner.h', 5],
    ['inner(int)', '/src/inner.h', 20],
    ['outer name(int)', '/src/main.cc', 10],
  ])
  expect(at(0x1000)).toEqual([['outer name(int)', '/src/main.cc', 9]])
  expect(at(0x1010)).toEqual([['outer name(int)', '/src/main.cc', 11]])
  expect(at(0x1020)).toEqual([])
  expect(at(0x2004)).toEqual([['exported', null, null]])
  expect(nativeParts(index.directory, 0)).toEqual([])
})

it('reduces return addresses and removes signatures of pointers', () => {
  const at = (cpuName: string, instructionAddr: bigint, imageAddr: bigint, isReturnAddress = true) =>
    lookupAddress({ cpuName, instructionAddr, imageAddr, isReturnAddress })
  expect(at('arm64', 0x1_0000_4010n, 0x1_0000_0000n)).toBe(0x400c)
  expect(at('arm64e', 0x0012_3481_0000_4010n, 0x1_0000_0000n)).toBe(0x400c)
  expect(at('arm64', 0x00b4_ffff_8000_4010n, 0xffff_8000_0000n)).toBe(0x400c)
  expect(at('arm64', 0x1_0000_4010n, 0x1_0000_0000n, false)).toBe(0x4010)
  expect(at('armv7', 0x4011n, 0x4000n)).toBe(0xe)
  expect(at('armv7', 0x4011n, 0x4000n, false)).toBe(0x10)
  expect(at('x86_64', 0x4010n, 0x4000n)).toBe(0xf)
  expect(at('x86', 0x3fffn, 0x4000n)).toBeUndefined()
})

describe('damaged files', () => {
  const names = Object.keys(expected)
  const files = new Map(names.map((name) => [name, fixture(name)]))

  /** Reads everything that a file offers; only one kind of error may come out. */
  function readAll(bytes: Buffer): void {
    try {
      const file = fileOf(bytes)
      for (const object of listObjects(file).objects) {
        const index = wholeIndex(file, object)
        for (let address = 0; address < 0x5000; address += 64) framesAt(index, address)
      }
    } catch (error) {
      if (!(error instanceof SymbolFileError)) throw error
    }
  }

  it('are read as far as they go or refused with a sentence, in bounded time', () => {
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.nat({ max: 12 }))
    fc.assert(
      fc.property(
        fc.constantFrom(...names),
        fc.array(change, { maxLength: 30 }),
        fc.option(fc.nat(), { freq: 3 }),
        (name, changes, cut) => {
          const bytes = Buffer.from(files.get(name)!)
          for (const [at, value, length] of changes) {
            bytes
              .subarray(at % bytes.length)
              .subarray(0, length)
              .fill(value)
          }
          const before = process.cpuUsage()
          readAll(cut === null ? bytes : bytes.subarray(0, cut % bytes.length))
          const used = process.cpuUsage(before)
          expect((used.user + used.system) / 1000).toBeLessThan(2_000)
        },
      ),
      { numRuns: cases(300, 20_000) },
    )
  })

  it('refuses a Breakpad file with a line of a megabyte, and cuts a name of one', () => {
    readAll(Buffer.from(`${BREAKPAD}FUNC 3000 10 0 ${'x'.repeat(200_000)}\n`))
    const long = Buffer.from(`${BREAKPAD}FUNC 3000 10 0 ${'x'.repeat(1_500_000)}`)
    expect(() => indexOf(long)).toThrow('too long')
  })
})
