import { gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { readSamples } from '#test/kit/samples.ts'
import { addMinidump } from './minidump-event.ts'
import { crashReason } from './minidump-reasons.ts'
import { readMinidump } from './minidump.ts'
import { normalizeEvent } from './normalize.ts'

const recorded = gunzipSync(readSamples(/minidump/).at(-1)?.body ?? Buffer.alloc(0))

/** Little-endian pieces of a synthetic dump. */
const u16 = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer)
const u32 = (...values: number[]): Buffer => Buffer.from(Uint32Array.from(values).buffer)
const u64 = (...values: bigint[]): Buffer => Buffer.from(BigUint64Array.from(values).buffer)

/** A dump of the given streams; their data follows at `tail`. */
function aDump(streams: Readonly<Record<number, (tailAt: number) => Buffer>>, tail = Buffer.alloc(0)): Buffer {
  const types = Object.keys(streams).map(Number)
  const sizes = types.map((type) => streams[type]?.(0).length ?? 0)
  let at = 32 + types.length * 12
  const tailAt = at + sizes.reduce((a, b) => a + b, 0)
  const directory = types.map((type, index) => {
    const entry = u32(type, sizes[index] ?? 0, at)
    at += sizes[index] ?? 0
    return entry
  })
  const header = Buffer.concat([Buffer.from('MDMP'), u32(0xa793, types.length, 32, 0, 1_700_000_000), u64(0n)])
  return Buffer.concat([header, ...directory, ...types.map((type) => streams[type]?.(tailAt) ?? u32()), tail])
}

const systemStream = (platform: number, cpu: number): Buffer =>
  Buffer.concat([u16(cpu, 0, 0, 0), u32(10, 0, 19045, platform, 0), Buffer.alloc(28)])

const utf16 = (text: string): Buffer => Buffer.concat([u32(text.length * 2), Buffer.from(`${text}\0`, 'utf16le')])

test('a recorded dump: system, crash, threads and modules with their ids', () => {
  const dump = readMinidump(recorded)
  expect(dump).toMatchObject({
    os: 'linux',
    arch: 'x86_64',
    osVersion: '6.18.44',
    writtenAtS: Date.parse('2026-11-20T04:57:42Z') / 1000,
    crash: {
      type: 'SIGSEGV',
      text: 'Segmentation fault, address not mapped (SEGV_MAPERR)',
      threadId: 20626,
      address: 0x10n,
    },
    problems: [],
  })
  expect(dump?.threads.map(({ name }) => name)).toEqual([
    'gameapp2n',
    'sentry-tele-0',
    'sentry-tele-1',
    'sentry-logs',
    'sentry-metrics',
  ])
  // The fault lies at 0x1119 in libgame.so (see the samples' README).
  const game = dump?.modules.find(({ codeFile }) => codeFile.endsWith('libgame.so'))
  expect((dump?.crash?.registers?.ip ?? 0n) - (game?.address ?? 0n)).toBe(0x1119n)
  expect(game?.debugId).toBe('47e097d5-0c96-92d5-cd45-1f9874e73dd7')
})

test('a dump of Windows: versions, PDB ids, accessed address', () => {
  const name = utf16('C:\\Game\\game.exe')
  const pdb = Buffer.concat([
    Buffer.from('RSDS'),
    Buffer.from('00112233445566778899aabbccddeeff', 'hex'),
    u32(3),
    Buffer.from('C:\\build\\game.pdb\0'),
  ])
  const dump = readMinidump(
    aDump(
      {
        7: () => systemStream(2, 9),
        6: () =>
          Buffer.concat([
            u32(7, 0, 0xc0000005, 0),
            u64(0n, 0x140001234n),
            u32(2, 0),
            u64(1n, 0x18n),
            Buffer.alloc(104),
            u32(0, 0),
          ]),
        4: (tail) =>
          Buffer.concat([
            u32(1),
            u64(0x140000000n),
            u32(0x5000, 0, 0x5f000001, tail),
            u32(0xfeef04bd, 0, 0x00020005, 0x00010007, ...Array.from({ length: 9 }, () => 0)),
            u32(pdb.length, tail + name.length, 0, 0),
            u64(0n, 0n),
          ]),
      },
      Buffer.concat([name, pdb]),
    ),
  )
  expect(dump?.crash).toMatchObject({
    type: 'EXCEPTION_ACCESS_VIOLATION',
    text: 'Access violation writing',
    address: 0x18n,
    threadId: 7,
  })
  expect(dump?.modules).toEqual([
    {
      codeFile: 'C:\\Game\\game.exe',
      debugFile: 'C:\\build\\game.pdb',
      version: '2.5.1.7',
      address: 0x140000000n,
      sizeBytes: 0x5000,
      codeId: '5f0000015000',
      debugId: '33221100-5544-7766-8899-aabbccddeeff-3',
      type: 'pe',
    },
  ])
  expect(dump?.problems).toEqual(['no list of threads'])
})

describe('crash reasons', () => {
  test.each([
    ['linux', 6, 0xfffffffa, 'SIGABRT', 'Abort (SI_TKILL)'],
    ['android', 8, 1, 'SIGFPE', 'Arithmetic error, integer division by zero (FPE_INTDIV)'],
    ['linux', 0xffffffff, 0, 'DUMP_REQUESTED', 'Dump requested'],
    ['linux', 77, 0, 'Signal 77', 'Signal 77 (SI_USER)'],
    ['macos', 1, 2, 'EXC_BAD_ACCESS', 'Bad memory access (KERN_PROTECTION_FAILURE)'],
    ['ios', 6, 1, 'EXC_BREAKPOINT', 'Breakpoint or trap (code 0x00000001)'],
    ['windows', 0xc0000374, 0, 'STATUS_HEAP_CORRUPTION', 'Heap corruption'],
    ['windows', 0x12345678, 0, '0x12345678', 'Exception 0x12345678'],
    ['unknown', 5, 0, '0x00000005', 'Exception 0x00000005'],
  ] as const)('%s %d/%d is %s', (os, code, flags, type, text) => {
    expect(crashReason(os, code, flags, [])).toMatchObject({ type, text })
  })
})

describe('false files', () => {
  test('no minidump, or less than a header, is null', () => {
    for (const bytes of ['', 'MDM', 'MDMP', 'ELF', `MDMP${'\0'.repeat(27)}`])
      expect(readMinidump(Buffer.from(bytes))).toBeNull()
    expect(readMinidump(Buffer.from(`MDMP${'\0'.repeat(28)}`))).toMatchObject({ crash: null, threads: [], modules: [] })
  })

  test('a claim of 10^9 threads, modules and streams costs nothing', () => {
    const many = () => u32(1_000_000_000)
    const dump = readMinidump(aDump({ 3: many, 4: many, 24: many, 7: () => systemStream(0x8201, 9) }))
    expect(dump).toMatchObject({ threads: [], modules: [] })
    expect(dump?.problems).toEqual(['1000000000 threads; 0 are read', '1000000000 modules; 0 are read'])
    const streams = Buffer.from(recorded)
    streams.writeUInt32LE(0xffffffff, 8)
    expect(readMinidump(streams)?.problems[0]).toBe('4294967295 streams; the first 1000 are read')
  })

  test('streams that point at themselves and at the directory are read once', () => {
    const dump = aDump({ 3: () => u32(2), 4: () => u32(2), 6: () => u32(0), 7: () => u32(0) })
    // Every stream starts at the header, and claims all of the file and more.
    for (let entry = 32; entry < 32 + 4 * 12; entry += 12) {
      dump.writeUInt32LE(0xffffffff, entry + 4)
      dump.writeUInt32LE(0, entry + 8)
    }
    expect(() => readMinidump(dump)).not.toThrow()
  })

  test('a dump cut at any length is read up to its end', () => {
    for (let length = 0; length < recorded.length; length += 997) {
      const dump = readMinidump(recorded.subarray(0, length))
      if (dump !== null) expectSound(dump)
    }
  })

  test('10,000 mutations give an event, never an error', () => {
    // xorshift with a fixed seed: the same files every time.
    let state = 0x2545f491
    const random = (most: number): number => {
      state ^= state << 13
      state ^= state >>> 17
      state ^= state << 5
      return (state >>> 0) % most
    }
    const interesting = [0, 1, 0x7f, 0xff, 0x80]
    // Names, threads, modules and the directory are in the first and last few KiB; the stacks between are not read.
    const small = Buffer.concat([recorded.subarray(0, 16_384), recorded.subarray(recorded.length - 16_384)])
    const starts = [recorded, small]
    for (let round = 0; round < 10_000; round++) {
      const mutant = Buffer.from(starts[round % 50 === 0 ? 0 : 1] ?? small)
      for (let change = random(8) + 1; change > 0; change--) {
        const at = random(4) === 0 ? random(200) : random(mutant.length - 4)
        if (random(3) === 0) mutant.writeUInt32LE([0xffffffff, 0x7fffffff, mutant.length, 0][random(4)] ?? 0, at)
        else mutant[at] = random(2) === 0 ? random(256) : (interesting[random(interesting.length)] ?? 0)
      }
      const dump = readMinidump(mutant)
      if (round % 10 === 0) expectSound(dump)
    }
  })
})

function expectSound(dump: ReturnType<typeof readMinidump>): void {
  const event: Record<string, unknown> = {}
  addMinidump(event, dump)
  const json = JSON.stringify(event)
  expect(json.length).toBeLessThan(700_000)
  const parsed: unknown = JSON.parse(json)
  const { title, exceptions, errors } = normalizeEvent(parsed as Record<string, unknown>, {
    eventId: '0123456789abcdef0123456789abcdef',
    receivedAt: new Date('2026-11-20T05:00:00Z'),
    sentAt: null,
    clientIp: null,
    userAgent: null,
  })
  expect(title).not.toBe('')
  expect(exceptions[0]?.mechanism).toMatchObject({ type: 'minidump', handled: false })
  expect(errors.filter(({ name }) => name !== 'timestamp')).toEqual([])
}

test('data of the SDK is kept', () => {
  const event: Record<string, unknown> = {
    platform: 'native',
    level: 'error',
    timestamp: 5,
    exception: { values: [{ type: 'Mine' }] },
    threads: [{ id: 1 }],
    contexts: { os: { name: 'SteamOS' } },
    debug_meta: { sdk_info: { a: 1 }, images: [{ type: 'elf' }] },
  }
  addMinidump(event, readMinidump(recorded))
  expect(event).toMatchObject({
    level: 'error',
    timestamp: 5,
    exception: { values: [{ type: 'Mine' }] },
    threads: [{ id: 1 }],
    contexts: { os: { name: 'SteamOS' }, minidump: { crash_reason: 'SIGSEGV' } },
    debug_meta: { sdk_info: { a: 1 }, images: [{ type: 'elf' }] },
  })
})
