import { expect, test } from 'vitest'
import type { Event } from '../../../../../server/events/protocol/event.api.ts'
import { crashFacts, pathFileName, imageRows } from './native-crash-model.ts'

const frame = (fields: object) => ({
  package: '/srv/app/libgame.so',
  instruction_addr: '0x1119',
  image_addr: '0x1000',
  ...fields,
})

const crash = (fields: object = {}): Event =>
  ({
    contexts: {
      minidump: { crash_reason: 'SIGSEGV', crash_address: '0x10', crashed_thread: 7, process_id: 42 },
      device: { arch: 'arm64' },
    },
    threads: [{ id: '7', name: 'main', crashed: true, stacktrace: { frames: [frame({})] } }],
    exceptions: [],
    ...fields,
  }) as unknown as Event

const factsOf = (event: Event) => Object.fromEntries(crashFacts(event).map(({ label, value }) => [label, value]))

test('reason, address, place, thread, processor, process', () => {
  expect(factsOf(crash())).toEqual({
    Reason: 'SIGSEGV',
    Address: '0x10',
    Module: 'libgame.so + 0x119',
    Thread: 'main (7)',
    Processor: 'arm64',
    Process: '42',
  })
})

test('missing facts are left out; an invalid address has no offset', () => {
  expect(factsOf(crash({ contexts: { minidump: { readable: false } }, threads: [] }))).toEqual({})
  for (const odd of [{ instruction_addr: null }, { instruction_addr: 'x' }, { image_addr: '0x2000' }]) {
    const threads = [{ id: '7', name: null, crashed: true, stacktrace: { frames: [frame(odd)] } }]
    expect(factsOf(crash({ threads }))).toMatchObject({ Module: 'libgame.so', Thread: '7' })
  }
})

test('images are rows, with the fields of any platform', () => {
  expect(
    imageRows([
      { type: 'elf', code_file: '/lib/libc.so', debug_id: 'a', image_addr: '0x1' },
      { type: 'pe', code_file: 'C:\\Game\\game.exe', version: '1.2', debug_id: 'b' },
      { type: 'macho', uuid: 'c', code_file: 5 },
      {},
    ]),
  ).toEqual([
    { name: 'libc.so', path: '/lib/libc.so', version: '', debugId: 'a', address: '0x1' },
    { name: 'game.exe', path: 'C:\\Game\\game.exe', version: '1.2', debugId: 'b', address: '' },
    { name: '5', path: '5', version: '', debugId: 'c', address: '' },
    { name: '', path: '', version: '', debugId: '', address: '' },
  ])
  expect(pathFileName('')).toBe('')
})
