import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readAttributes } from './attributes.ts'
import { readContainer } from './container.ts'
import type { RawItem } from './envelope.ts'
import { toLogLevel, parseLogLevel } from './level.ts'
import { readLog, type EntryContext, type LogEntry } from './log.ts'
import { nelLog } from './nel.ts'
import { Notes } from './strings.ts'
import { readTraceMetric } from './trace-metric.ts'

const RECEIVED = new Date('2026-11-20T05:00:00.000Z')
const context: EntryContext = {
  receivedAt: RECEIVED,
  sentAt: null,
  defaultEnvironment: 'production',
  containerBytes: 1_000,
}

const itemOf = (payload: Buffer, headers: RawItem['headers'] = {}): RawItem => ({
  type: 'log',
  headers,
  headerStart: 0,
  start: 0,
  end: payload.length,
  surplus: false,
})
const containerOf = (text: string, headers: RawItem['headers'] = {}) => {
  const payload = Buffer.from(text)
  return readContainer(payload, itemOf(payload, headers))
}

const FIELDS = ['timestamp', 'level', 'severity_number', 'body', 'trace_id', 'span_id', 'attributes']
const ANY = fc.oneof(
  fc.jsonValue({ stringUnit: 'binary' }),
  fc.dictionary(fc.string({ unit: 'binary' }), fc.record({ value: fc.jsonValue(), type: fc.string() })),
)

function aLog(fields: Record<string, unknown> = {}): LogEntry {
  const log = readLog({ body: 'hello', level: 'info', timestamp: RECEIVED.getTime() / 1000, ...fields }, context)
  if ('invalid' in log) throw new Error(log.invalid)
  return log
}

describe('containers', () => {
  test('have their real number of entries, not the announced one', () => {
    expect(containerOf('{"items":[1,2,3]}', { item_count: 7 })).toMatchObject({ entries: [1, 2, 3], surplus: 0 })
    expect(containerOf('{"version":2,"items":[]}')).toMatchObject({ entries: [], surplus: 0 })
  })

  test('keep 1,000 entries and count the others', () => {
    const container = containerOf(`{"items":[${'{},'.repeat(99_999)}{}]}`)
    expect(container).toMatchObject({ surplus: 99_000 })
    expect('entries' in container && container.entries).toHaveLength(1_000)
  })

  test.each([
    ['not JSON', '{"items":[,,,,,,,', 'not_json'],
    ['no object', '[1,2,3,4,5,6,7]', 'not_a_container'],
    ['no list', '{"items":{"length":7}}', 'not_a_container'],
    ['too deep', `{"items":${'['.repeat(100_000)}`, 'too_deep'],
    ['too many values', `{"items":[${'1,'.repeat(1_000_001)}1]}`, 'too_many_values'],
  ])('%s: invalid, with the announced quantity', (_name, text, reason) => {
    expect(containerOf(text, { item_count: 7 })).toEqual({ invalid: reason, count: 7 })
  })

  test.each([0, -1, 1.5, '7', null])('an announced %s is ignored', (count) => {
    expect(containerOf('{', { item_count: count })).toMatchObject({ count: 1 })
  })

  test('an announced number above what fits is limited', () => {
    expect(containerOf('{"items":[', { item_count: 1e9 })).toMatchObject({ count: 5 })
    expect(containerOf('x'.repeat(1_000_000), { item_count: 1e9 })).toMatchObject({ count: 10_000 })
  })
})

describe('a log entry', () => {
  test.each([
    ['seconds', 1_795_149_265.857, '2026-11-20T04:34:25.857Z'],
    ['seconds as text', '1795149265.857', '2026-11-20T04:34:25.857Z'],
    ['RFC 3339', '2026-11-20T04:34:25.857+00:00', '2026-11-20T04:34:25.857Z'],
    ['nanoseconds', '1795149265857000000', '2026-11-20T04:34:25.857Z'],
  ])('has its time in %s', (_name, timestamp, expected) => {
    expect(aLog({ timestamp })).toMatchObject({ occurredAt: new Date(expected), notes: [] })
  })

  test.each([
    ['in the future', '2026-11-20T05:02:00Z'],
    ['over 30 days ago', '2026-10-01T00:00:00Z'],
    ['no time', 'yesterday'],
    ['beyond any calendar', 1e300],
  ])('%s counts as received now, with a note', (_name, timestamp) => {
    const log = aLog({ timestamp })
    expect(log.occurredAt).toEqual(RECEIVED)
    expect(log.notes).toHaveLength(1)
  })

  test('is shifted when the sender sent its time and its clock is off', () => {
    const day = 86_400_000
    const sentAt = new Date(RECEIVED.getTime() - day)
    const raw = { body: 'b', timestamp: new Date(sentAt.getTime() - 5_000).toISOString() }
    expect(readLog(raw, { ...context, sentAt })).toMatchObject({ occurredAt: new Date(RECEIVED.getTime() - 5_000) })
  })

  test.each([
    ['warning', undefined, 'warn', 13],
    ['CRITICAL', undefined, 'fatal', 21],
    [undefined, 18, 'error', 18],
    ['info', 10, 'info', 10],
    ['info', 18, 'info', 9],
    [undefined, undefined, 'info', 9],
    ['loud', undefined, 'info', 9],
    [17, Number.NaN, 'info', 9],
  ])('level %s with number %s is %s', (level, severity_number, expected, number) => {
    expect(aLog({ level, severity_number })).toMatchObject({ level: expected, severityNumber: number })
  })

  test.each([
    [12, '12'],
    [false, 'false'],
    [{ a: [1] }, '{"a":[1]}'],
    ['', ''],
    ['a\0b\ud800', 'ab\ufffd'],
  ])('body %j becomes text', (body, expected) => {
    expect(aLog({ body }).body).toBe(expected)
  })

  test('a long body is cut, with a note', () => {
    const log = aLog({ body: 'x'.repeat(100_000) })
    expect(log.body).toHaveLength(32_768)
    expect(log.notes).toMatchObject([{ name: 'body' }])
  })

  test('an invalid one has a reason', () => {
    for (const raw of [null, 1, 'text', [], [{}]]) expect(readLog(raw, context)).toEqual({ invalid: 'not_an_object' })
    expect(readLog({}, context)).toEqual({ invalid: 'no_body' })
    expect(readLog({ body: null }, context)).toEqual({ invalid: 'no_body' })
    const large = { body: 'x'.repeat(3_000_000) }
    expect(readLog(large, { ...context, containerBytes: 3_100_000 })).toEqual({ invalid: 'too_large' })
  })

  test('invalid ids are left out with a note, missing and zero ones without', () => {
    const good = aLog({ trace_id: '6ACDC2A5-952D-4aa6-b9d0-4bedba112c05', span_id: 'C27846BBDF4CD55D' })
    expect(good).toMatchObject({ traceId: '6acdc2a5952d4aa6b9d04bedba112c05', spanId: 'c27846bbdf4cd55d', notes: [] })
    expect(aLog({ trace_id: '0'.repeat(32), span_id: '' })).toMatchObject({ traceId: null, spanId: null, notes: [] })
    expect(aLog({ trace_id: 'x', span_id: 7 }).notes.map(({ name }) => name)).toEqual(['trace_id', 'span_id'])
  })

  test('release and environment are from its attributes', () => {
    const attributes = { 'sentry.release': { value: 'a@1', type: 'string' }, 'sentry.environment': 'dev' }
    expect(aLog({ attributes })).toMatchObject({ release: 'a@1', environment: 'dev' })
    expect(aLog({ attributes: { 'sentry.release': 'latest' } })).toMatchObject({
      release: null,
      environment: 'production',
    })
  })

  test('any input gives a result that PostgreSQL accepts', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...FIELDS), ANY), (raw) => {
        const parsed: unknown = JSON.parse(JSON.stringify({ body: 'b', ...raw }))
        const log = readLog(parsed, context)
        if ('invalid' in log) return
        const text = JSON.stringify(log)
        // The escape of a NUL: after an even number of backslashes it is one, after an odd number it is text.
        expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\\u0000/)
        expect(text.isWellFormed()).toBe(true)
        expect(log.occurredAt.getTime()).toBeLessThanOrEqual(RECEIVED.getTime() + 60_000)
      }),
    )
  })
})

test('levels by name and number agree', () => {
  expect([0, 1, 4, 5, 9, 13, 17, 21, 24, 25, 1.5, '9'].map(toLogLevel)).toEqual([
    null,
    'trace',
    'trace',
    'debug',
    'info',
    'warn',
    'error',
    'fatal',
    'fatal',
    null,
    null,
    null,
  ])
  expect(parseLogLevel('x'.repeat(1_000_000))).toBeNull()
})

describe('attributes', () => {
  const read = (raw: unknown) => {
    const notes = new Notes()
    return { attributes: readAttributes(raw, notes), notes: notes.list }
  }

  test('get the type of their value', () => {
    const { attributes, notes } = read({
      a: { value: 1, type: 'double' },
      b: { value: '12', type: 'integer' },
      c: { value: '9007199254740993', type: 'integer' },
      d: { value: true, type: 'string' },
      e: { value: [1, 'x', null, { y: 1 }], type: 'array' },
      f: 2.5,
      g: { nested: true },
      h: { value: 3, type: 'integer', unit: 'second' },
      i: null,
    })
    expect(attributes).toEqual({
      a: { value: 1, type: 'double' },
      b: { value: 12, type: 'integer' },
      c: { value: '9007199254740993', type: 'string' },
      d: { value: 'true', type: 'string' },
      e: { value: [1, 'x', '{"y":1}'], type: 'array' },
      f: { value: 2.5, type: 'double' },
      g: { value: '{"nested":true}', type: 'string' },
      h: { value: 3, type: 'integer', unit: 'second' },
    })
    expect(notes).toEqual([])
  })

  test('are limited in number, length and total size', () => {
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`k${n}`, n]))
    expect(Object.keys(read(many).attributes)).toHaveLength(200)
    const long = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`k${n}`, 'x'.repeat(100_000)]))
    expect(JSON.stringify(read(long).attributes).length).toBeLessThan(80_000)
    expect(read(long).notes).toHaveLength(1)
  })

  test('drop names of the object model and values that are no attributes', () => {
    const { attributes, notes } = read(JSON.parse('{"__proto__":{"value":1},"constructor":1,"":1,"ok":{"value":null}}'))
    expect(Object.keys(attributes)).toEqual([])
    expect(notes.length).toBeGreaterThan(0)
    expect(read([1]).notes).toMatchObject([{ reason: 'Expected an object.' }])
  })
})

describe('a trace metric', () => {
  test.each([
    [{ name: '', type: 'counter', value: 1 }, 'no_name'],
    [{ name: '\0', type: 'counter', value: 1 }, 'no_name'],
    [{ name: 'a', type: 'set', value: 1 }, 'bad_type'],
    [{ name: 'a', type: 'counter', value: '1' }, 'bad_value'],
    [{ name: 'a', type: 'counter', value: Number.POSITIVE_INFINITY }, 'bad_value'],
    [{ name: 'a', type: 'counter' }, 'bad_value'],
    [[], 'not_an_object'],
  ])('%j: %s', (raw, reason) => {
    expect(readTraceMetric(raw, context)).toEqual({ invalid: reason })
  })

  test('is stored with its unit, with numbers of any size', () => {
    const raw = { name: ' a ', type: 'gauge', value: -1e308, unit: 'euro', timestamp: RECEIVED.toISOString() }
    expect(readTraceMetric(raw, context)).toMatchObject({
      name: 'a',
      type: 'gauge',
      value: -1e308,
      unit: 'euro',
      notes: [],
    })
  })
})

describe('a network error report', () => {
  const report = {
    type: 'network-error',
    age: 60_000,
    url: 'https://shop.example/cart?card=4111',
    user_agent: 'Mozilla/5.0',
    body: {
      phase: 'connection',
      type: 'tcp.refused',
      elapsed_time: 12,
      method: 'GET',
      status_code: 0,
      server_ip: '192.0.2.1',
    },
  }

  test('becomes an entry with its own time, without the query', () => {
    const entry = nelLog(report, RECEIVED)
    expect(entry).toMatchObject({
      timestamp: '2026-11-20T04:59:00.000Z',
      level: 'info',
      body: 'Network error tcp.refused in phase connection at shop.example',
    })
    expect(JSON.stringify(entry)).not.toContain('4111')
    expect(aLog({ ...entry }).attributes).toMatchObject({
      'url.full': { value: 'https://shop.example/cart', type: 'string' },
      'nel.elapsed_time': { value: 12, type: 'integer', unit: 'millisecond' },
    })
  })

  test.each([null, 1, [], {}, { type: 'csp-violation', body: {} }, { type: 'network-error' }])(
    '%j is no report',
    (raw) => {
      expect(nelLog(raw, RECEIVED)).toBeNull()
    },
  )

  test.each([-1, 1e15, '5', Number.NaN, null])('an age of %s is ignored', (age) => {
    expect(nelLog({ ...report, age }, RECEIVED)).toMatchObject({ timestamp: RECEIVED.toISOString() })
  })
})
