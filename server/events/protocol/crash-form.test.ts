import { encode } from '@msgpack/msgpack'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crashEvent, crashEventId, readFormFields, type FormFields } from './crash-form.ts'

const nothing = { fields: [], event: null, breadcrumbs: [] }
const ofFields = (fields: FormFields) => crashEvent({ ...nothing, fields })

describe('form fields', () => {
  test('become extra when they are no part of the event', () => {
    expect(
      ofFields([
        ['guid', 'g'],
        ['prod', 'Game'],
        ['__proto__', 'x'],
        ['constructor', 'x'],
      ]),
    ).toEqual({
      extra: { guid: 'g', prod: 'Game' },
    })
  })

  test('chunks are ordered by number; ten comes after two', () => {
    const json = JSON.stringify({ message: 'x'.repeat(100) })
    const chunks = Array.from({ length: 11 }, (_, i): [string, string] => [
      `sentry__${i + 1}`,
      json.slice(i * 10, i * 10 + 10),
    ])
    expect(ofFields([...chunks.toReversed(), ['sentry__12', json.slice(110)]])).toEqual({ message: 'x'.repeat(100) })
  })

  test('broken chunks, broken JSON and names that are too long are left out', () => {
    expect(
      ofFields([
        ['sentry__1', '{"release":'],
        ['sentry', '{{'],
        ['sentry[]', 'x'],
        ['sentry[a', 'x'],
        [`sentry${'[a]'.repeat(50)}`, 'x'],
        ['sentry[__proto__][a]', 'x'],
        ['sentry[environment]', 'staging'],
      ]),
    ).toEqual({ environment: 'staging' })
  })

  test('extra has a maximum number of fields', () => {
    const fields = Array.from({ length: 200 }, (_, i): [string, string] => [`f${i}`, 'x'.repeat(64 * 1024)])
    expect(JSON.stringify(ofFields(fields)).length).toBeLessThan(300_000)
  })

  test('must be pairs of text', () => {
    expect(readFormFields(Buffer.from('[["a","b"],["a"],5,null,["c",1]]'))).toEqual([['a', 'b']])
    expect(() => readFormFields(Buffer.from('{}'))).toThrow('list')
    expect(() => readFormFields(Buffer.from('nope'))).toThrow('JSON')
  })
})

describe('files', () => {
  const crumb = (message: string, timestamp: unknown) => Buffer.from(encode({ message, timestamp }))

  test('integers of 64 bits in msgpack keep their digits, and small ones stay numbers', () => {
    const extra = { order: 608548899684111178n, delta: -9007199254740993n, small: 5n }
    const event = Buffer.from(encode({ extra }, { useBigInt64: true }))
    const crumbs = [2n, 1n].map((at) => Buffer.from(encode({ timestamp: at, data: extra }, { useBigInt64: true })))
    const kept = { order: '608548899684111178', delta: '-9007199254740993', small: 5 }
    expect(crashEvent({ ...nothing, event, breadcrumbs: crumbs })).toEqual({
      extra: kept,
      breadcrumbs: {
        values: [
          { timestamp: 1, data: kept },
          { timestamp: 2, data: kept },
        ],
      },
    })
  })

  test('the event in msgpack, without values that JSON cannot represent', () => {
    const event = encode({
      event_id: 'eb4d57de-a1d8-4988-59d9-31393f6fd0a2',
      release: 'game@1',
      blob: new Uint8Array([1, 2, 3]),
      at: new Date('2026-11-20T04:00:00Z'),
      big: Number.POSITIVE_INFINITY,
    })
    expect(crashEvent({ ...nothing, event: Buffer.from(event) })).toEqual({
      event_id: 'eb4d57de-a1d8-4988-59d9-31393f6fd0a2',
      release: 'game@1',
      blob: null,
      at: '2026-11-20T04:00:00.000Z',
      big: null,
    })
    expect(crashEventId([], Buffer.from(event))).toBe('eb4d57dea1d8498859d931393f6fd0a2')
    expect(crashEventId([['sentry[event_id]', 'A'.repeat(32)]], Buffer.from(event))).toBe('a'.repeat(32))
    expect(crashEventId([['guid', 'A'.repeat(32)]], null)).toBeNull()
  })

  test('breadcrumbs of both files by time; only those that a crash cut off are missing', () => {
    const first = Buffer.concat([crumb('three', 3), crumb('four', '1970-01-01T00:00:04Z')])
    const second = Buffer.concat([crumb('one', 1), crumb('two', 2), crumb('cut', 5).subarray(0, 6)])
    const event = crashEvent({ ...nothing, breadcrumbs: [first, second] })
    expect(event).toMatchObject({
      breadcrumbs: { values: [{ message: 'one' }, { message: 'two' }, { message: 'three' }, { message: 'four' }] },
    })
  })

  test('deep, huge, forbidden and random data gives an empty event, not an error', () => {
    const deep = Buffer.concat([Buffer.alloc(500_000, 0x91), Buffer.from([0xc0])])
    const hugeArray = Buffer.from('ddffffffff', 'hex')
    const forbidden = Buffer.concat([Buffer.from([0x81, 0xa9]), Buffer.from('__proto__'), Buffer.from([0x80])])
    for (const event of [deep, hugeArray, forbidden, Buffer.alloc(0), Buffer.alloc(2_000_000, 0x91)])
      expect(crashEvent({ ...nothing, event, breadcrumbs: [event] })).toEqual({})
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        crashEvent({ ...nothing, event: Buffer.from(bytes), breadcrumbs: [Buffer.from(bytes)] })
      }),
      { numRuns: 500 },
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})
