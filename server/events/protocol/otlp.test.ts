import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { otlpLogs, otlpSpans } from './otlp.ts'
import { countOtlpJson } from './otlp-json.ts'
import { countOtlp, decodeOtlp } from './otlp-wire.ts'

const { LengthDelimited, Varint, Bit64, StartGroup } = WireType

/** A message with these length-delimited fields. */
const message = (...fields: readonly (readonly [number, Uint8Array | string])[]): Uint8Array => {
  const writer = new BinaryWriter()
  for (const [number, value] of fields) {
    writer.tag(number, LengthDelimited)
    if (typeof value === 'string') writer.string(value)
    else writer.bytes(value)
  }
  return writer.finish()
}

const traces = (...spans: readonly Uint8Array[]): Uint8Array =>
  message([1, message([2, message(...spans.map((span): [number, Uint8Array] => [2, span]))])])

const refused = (bytes: Uint8Array): string => {
  try {
    decodeOtlp(bytes, 'traces')
    return 'taken'
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : 'thrown'
  }
}

describe('protobuf', () => {
  test('64-bit numbers keep every digit', () => {
    const attribute = (key: string, write: (writer: BinaryWriter) => BinaryWriter): [number, Uint8Array] => [
      9,
      message([1, key], [2, write(new BinaryWriter()).finish()]),
    ]
    const span = new BinaryWriter()
      .raw(
        message(
          attribute('min', (w) => w.tag(3, Varint).int64(-9223372036854775808n)),
          attribute('nan', (w) => w.tag(4, Bit64).double(Number.NaN)),
          attribute('list', (w) => w.tag(5, LengthDelimited).bytes(message([1, message([1, 'x'])]))),
        ),
      )
      .tag(7, Bit64)
      .fixed64(18446744073709551615n)
      .finish()
    const decoded = decodeOtlp(traces(span), 'traces')
    expect(decoded).toMatchObject({
      resourceSpans: [{ scopeSpans: [{ spans: [{ startTimeUnixNano: '18446744073709551615' }] }] }],
    })
    expect(otlpSpans(decoded).entries).toMatchObject([
      {
        attributes: {
          min: { value: '-9223372036854775808', type: 'integer' },
          nan: { value: 'NaN', type: 'double' },
          list: { value: ['x'], type: 'array' },
        },
      },
    ])
  })

  test('unknown fields and fields of another wire type are skipped', () => {
    const span = new BinaryWriter()
      .tag(5, Varint)
      .uint32(7)
      .tag(99, Bit64)
      .fixed64(1)
      .tag(5, LengthDelimited)
      .string('x')
    expect(decodeOtlp(traces(span.finish()), 'traces')).toEqual({
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'x' }] }] }],
    })
  })

  test.each([
    ['a length beyond the end', Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0x7f)],
    ['a length of 2^64', Uint8Array.of(0x0a, ...Array<number>(9).fill(0xff), 0x01)],
    ['a varint without end', new Uint8Array(1_000_000).fill(0xff)],
    ['field number 0', Uint8Array.of(0x00, 0x00)],
    ['wire type 6', Uint8Array.of(0x0e, 0x00)],
    ['JSON', Buffer.from('{"resourceSpans":[]}')],
  ])('%s: refused as invalid', (_name, bytes) => {
    expect(refused(bytes)).toMatch(/^AppError/)
    expect(() => countOtlp(bytes)).toThrow(/valid protobuf|groups/)
  })

  test('groups a million deep do not overflow the stack', () => {
    const bytes = new Uint8Array(1_000_000).fill((15 << 3) | StartGroup)
    expect(refused(bytes)).toBe('AppError: The message holds groups.')
  })

  test('values nested deeper than 64 levels are refused, a million levels too', () => {
    const nested = (levels: number): Uint8Array => {
      let value: Uint8Array = message([1, 'x'])
      for (let level = 0; level < levels; level++) value = message([5, message([1, value])])
      return traces(message([9, message([1, 'k'], [2, value])]))
    }
    expect(refused(nested(20))).toBe('taken')
    expect(refused(nested(40))).toMatch(/deeper than 64/)
    expect(refused(nested(2_000))).toMatch(/deeper than 64/)
  })

  test('more values than a container may have are refused before they fill the memory', () => {
    const span = message([9, message()])
    const many = Buffer.concat(Array.from({ length: 1_000_001 }, () => span))
    expect(refused(traces(many))).toMatch(/more than 1,000,000 values/)
  })

  test('a cut message is refused or has fewer entries', () => {
    const whole = traces(message([5, 'GET /cart'], [9, message([1, 'k'], [2, message([1, 'v'])])]), message([5, 'b']))
    for (let length = 0; length < whole.length; length++) {
      const verdict = refused(whole.subarray(0, length))
      if (length > 0) expect(verdict).toMatch(/^AppError/)
    }
  })

  test('random bytes throw only the expected error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(refused(bytes)).toMatch(/^(?:taken|AppError)/)
        expect(refused(traces(bytes))).toMatch(/^(?:taken|AppError)/)
      }),
    )
  })

  test('counts as many entries as it decodes', () => {
    expect(countOtlp(new Uint8Array())).toBe(0)
    expect(countOtlp(traces(message(), message(), message()))).toBe(3)
  })
})

describe('JSON', () => {
  test('entries are counted without being parsed', () => {
    const text = JSON.stringify({
      other: { spans: [{}, {}] },
      resourceSpans: [
        { resource: { attributes: [{ key: 'spans', value: { arrayValue: { values: [{}, {}] } } }] }, scopeSpans: [] },
        { scopeSpans: [{ spans: [{ a: [{}, {}] }, { b: '"}]{[' }] }, { scope: {}, spans: [{}] }] },
        { scopeLogs: [{ logRecords: [{}] }] },
      ],
      resourceLogs: [{ scopeLogs: [{ logRecords: [{}] }] }],
    })
    expect(countOtlpJson(text, 'traces')).toBe(3)
    expect(countOtlpJson(text, 'logs')).toBe(1)
    expect(countOtlpJson(JSON.stringify(JSON.parse(text), null, 2), 'traces')).toBe(3)
  })

  test('agrees with the parser on any request', () => {
    const spans = fc.array(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { maxLength: 4 })
    const scopes = fc.array(fc.record({ scope: fc.jsonValue(), spans }), { maxLength: 3 })
    const requests = fc.record({ resourceSpans: fc.array(fc.record({ scopeSpans: scopes }), { maxLength: 3 }) })
    fc.assert(
      fc.property(requests, (request) => {
        expect(countOtlpJson(JSON.stringify(request), 'traces')).toBe(otlpSpans(request).entries.length)
      }),
    )
  })

  test.each(['', 'x', '[]', '{"a":"', '{"a":[', '{}}', '{"a":"\\"}'])('%j is refused', (text) => {
    expect(() => countOtlpJson(text, 'traces')).toThrow(/JSON/)
  })

  test('a million brackets are counted without recursion', () => {
    expect(() => countOtlpJson(`{"a":${'['.repeat(5_000_000)}`, 'traces')).toThrow('not valid JSON')
  })
})

describe('spans and logs', () => {
  const spanOf = (span: Record<string, unknown>, resource?: unknown) =>
    otlpSpans({ resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] }).entries[0]

  test.each([
    ['a root', { kind: 1 }, true],
    ['a server called from elsewhere', { kind: 2, parentSpanId: 'c27846bbdf4cd55d', flags: 0x300 }, true],
    ['a server called from here', { kind: 2, parentSpanId: 'c27846bbdf4cd55d', flags: 0x100 }, false],
    ['a consumer without flags', { kind: 5, parentSpanId: 'c27846bbdf4cd55d' }, true],
    ['a client', { kind: 3, parentSpanId: 'c27846bbdf4cd55d', flags: 0x300 }, false],
    ['an empty parent', { parentSpanId: '' }, true],
  ])('%s: segment %s', (_name, span, expected) => {
    expect(spanOf(span)).toMatchObject({ is_segment: expected })
  })

  test('release and environment are from the resource; times keep their microseconds', () => {
    const attributes = [
      { key: 'service.version', value: { stringValue: '1.2.3' } },
      { key: 'deployment.environment', value: { stringValue: 'staging' } },
      { key: '__proto__', value: { stringValue: 'x' } },
    ]
    const span = {
      startTimeUnixNano: '1795149935497000123',
      endTimeUnixNano: '1795149935497038428',
      status: { code: 2 },
    }
    expect(spanOf(span, { attributes })).toMatchObject({
      status: 'error',
      start_timestamp: 1795149935.497,
      end_timestamp: 1795149935.497038,
      attributes: {
        'sentry.release': { value: '1.2.3', type: 'string' },
        'sentry.environment': { value: 'staging', type: 'string' },
      },
    })
    expect(Object.getPrototypeOf(spanOf(span, { attributes }))).toBe(Object.prototype)
  })

  test('a log without a body has its event name as text, a structured one its JSON', () => {
    const logs = otlpLogs({
      resourceLogs: [
        {
          scopeLogs: [
            {
              logRecords: [
                { eventName: 'login', observedTimeUnixNano: '1795149935497000000', timeUnixNano: '0' },
                { body: { kvlistValue: { values: [{ key: 'a', value: { intValue: '1' } }] } }, severityNumber: 13 },
                'no record',
              ],
            },
          ],
        },
      ],
    })
    expect(logs.entries).toMatchObject([
      { body: 'login', timestamp: 1795149935.497, level: 'info' },
      { body: { a: '1' }, level: 'warn', severity_number: 13 },
      'no record',
    ])
  })

  test('entries above 10,000 are counted and left out', () => {
    const spans = Array.from({ length: 10_005 }, () => ({}))
    const { entries, surplus } = otlpSpans({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    expect([entries.length, surplus]).toEqual([10_000, 5])
  })

  test('values of any type cause no error', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        otlpSpans({
          resourceSpans: [
            { resource: a, scopeSpans: [{ scope: b, spans: [a, { attributes: b, status: a, kind: b }] }] },
            a,
          ],
        })
        otlpLogs({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: a, attributes: b }, b] }], resource: a }, b] })
      }),
    )
  })
})
