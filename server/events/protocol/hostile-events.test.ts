import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fingerprint } from '../../issues/grouping/grouping.ts'
import { Event } from './event.api.ts'
import { isRecord } from './json.ts'
import { normalizeEvent } from './normalize.ts'
import { decisive } from './decisive.fixture.ts'
import { scrubEvent } from './scrub.ts'

/** Hostile payloads. The result is always an Event that PostgreSQL can store, in a short time. */

const CONTEXT = {
  eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
  receivedAt: new Date('2026-11-20T05:00:00Z'),
  sentAt: new Date('2026-11-20T05:00:00Z'),
  clientIp: '198.51.100.20',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/147.0',
}

/** All steps of digestion in their order. */
function digested(raw: Record<string, unknown>): Event {
  scrubEvent(raw)
  const event = normalizeEvent(raw, CONTEXT)
  expect(fingerprint(event).hash).toHaveLength(32)
  return event
}

function parsed(text: string): Record<string, unknown> {
  const value: unknown = JSON.parse(text)
  if (!isRecord(value)) throw new Error('no object')
  return value
}

/** All texts of a value at any depth; `key` is true for keys. */
function* textsOf(value: unknown): Generator<{ text: string; key: boolean }> {
  if (typeof value === 'string') yield { text: value, key: false }
  else if (typeof value === 'object' && value !== null) {
    for (const [key, element] of Object.entries(value)) {
      yield { text: key, key: true }
      yield* textsOf(element)
    }
  }
}

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype'])

function expectStorable(event: Event): void {
  expect(Event.safeParse(event).error?.issues ?? []).toEqual([])
  for (const { text, key } of textsOf(event)) {
    if (text.includes('\0') || !text.isWellFormed()) throw new Error(`not storable: ${JSON.stringify(text)}`)
    if (key && FORBIDDEN.has(text)) throw new Error(`forbidden key ${text}`)
  }
  for (const { key } of event.tags) expect(FORBIDDEN).not.toContain(key)
}

const FIELDS = [
  'timestamp',
  'platform',
  'level',
  'logger',
  'transaction',
  'server_name',
  'release',
  'dist',
  'environment',
  'tags',
  'extra',
  'modules',
  'fingerprint',
  'message',
  'logentry',
  'exception',
  'threads',
  'breadcrumbs',
  'stacktrace',
  'request',
  'user',
  'contexts',
  'sdk',
  'debug_meta',
  'type',
  'culprit',
  'errors',
  '_meta',
  'event_id',
]

/** Text of any UTF-16 units, NUL and lone surrogates among them. */
const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  maxLength: 12,
})
const anyKey = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'values',
    'frames',
    'stacktrace',
    'mechanism',
    'type',
    'value',
    'data',
    'key',
    'id',
    'thread_id',
    'headers',
    'cookies',
    'images',
    'password',
    'timestamp',
    'level',
    'meta',
    'params',
    'message',
    'url',
    'settings',
  ),
  anyText,
)
const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      -1,
      1e308,
      4111111111111111,
      '',
      'password=x',
      'Bearer abcdefgh12345678',
      '/home/ada/x',
    ),
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(anyKey, tie('value')), { maxLength: 4 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value

describe('any JSON in any field', () => {
  test('becomes an Event that can be stored', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...FIELDS), anyJson), { maxLength: 6 }), (entries) => {
        expectStorable(digested(Object.fromEntries(entries)))
      }),
      { numRuns: 1_500 },
    )
  })

  test.each(FIELDS)('%s alone, of every type', (field) => {
    fc.assert(
      fc.property(anyJson, (value) => {
        expectStorable(digested({ message: 'm', [field]: value }))
      }),
      { numRuns: 150 },
    )
  })

  test('does not modify its input, and is deterministic', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...FIELDS), anyJson), { maxLength: 6 }), (entries) => {
        const text = JSON.stringify(Object.fromEntries(entries))
        const raw = parsed(text)
        const event = normalizeEvent(raw, CONTEXT)
        expect(JSON.stringify(raw)).toBe(text)
        expect(normalizeEvent(parsed(text), CONTEXT)).toEqual(event)
      }),
      { numRuns: 300 },
    )
  })

  test('with onlyDecisive the result differs only in fields for display', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.constantFrom(...FIELDS), anyJson), { maxLength: 6 }), (entries) => {
        const raw = parsed(JSON.stringify(Object.fromEntries(entries)))
        expect(normalizeEvent(raw, { ...CONTEXT, onlyDecisive: true })).toEqual(decisive(normalizeEvent(raw, CONTEXT)))
      }),
      { numRuns: 300 },
    )
  })

  test('dropped values are listed in errors', () => {
    const event = digested({
      tags: 5,
      user: 'ada',
      contexts: [],
      exception: 'E',
      breadcrumbs: 7,
      request: true,
      sdk: 1,
      extra: [],
      debug_meta: { images: 3 },
    })
    const names = new Set(event.errors.map(({ name }) => name))
    expect([...names].toSorted()).toEqual([
      'breadcrumbs',
      'contexts',
      'debug_meta.images',
      'exception',
      'extra',
      'request',
      'sdk',
      'tags',
      'user',
    ])
  })
})

describe('text PostgreSQL refuses', () => {
  test('loses NUL and half surrogates everywhere', () => {
    const bad = 'a\0b\ud800c\udc00d'
    const event = digested({
      message: bad,
      release: bad,
      tags: { [bad]: bad, good: bad },
      extra: { [bad]: [bad, { [bad]: bad }] },
      user: { id: bad, [bad]: bad },
      breadcrumbs: [{ message: bad, data: { [bad]: bad } }],
      exception: {
        type: bad,
        value: bad,
        stacktrace: { frames: [{ function: bad, context_line: bad, vars: { v: bad } }] },
      },
      request: { url: bad, headers: { [bad]: bad }, data: bad },
      contexts: { [bad]: { [bad]: bad } },
      modules: { [bad]: bad },
    })
    expectStorable(event)
    expect(event.message).toBe('ab\ufffdc\ufffdd')
    expect(event.tags).toContainEqual({ key: 'good', value: 'ab\ufffdc\ufffdd' })
  })

  test('a cut never leaves half a character', () => {
    const event = digested({ message: '😀'.repeat(10_000), tags: { a: '😀'.repeat(200) }, release: '😀'.repeat(110) })
    expectStorable(event)
    expect(event.message?.length).toBeLessThanOrEqual(8_192)
    expect(event.tags[0]?.value.length).toBeLessThanOrEqual(200)
  })

  test('a forbidden key with a NUL is not accepted', () => {
    const event = digested(
      parsed(String.raw`{"extra":{"__pro\u0000to__":{"x":1},"ok":1},"contexts":{"con\u0000structor":{"y":1}}}`),
    )
    expectStorable(event)
    expect(event.extra).toEqual({ ok: 1 })
  })
})

test('keys of the object model have no effect', () => {
  const event = digested(
    parsed(
      '{"__proto__":{"message":"polluted"},"extra":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"kept":1},"tags":{"__proto__":"x","a":"b"},"contexts":{"__proto__":{"polluted":1},"os":{"__proto__":{"polluted":1},"name":"L"}},"modules":{"__proto__":"1"},"user":{"__proto__":{"id":"u"},"id":"7"},"breadcrumbs":[{"data":{"__proto__":{"polluted":1}}}],"exception":{"type":"E","mechanism":{"type":"x","data":{"__proto__":{"p":1}}},"stacktrace":{"frames":[{"vars":{"__proto__":{"p":1}}}],"registers":{"__proto__":"1"}}}}',
    ),
  )
  expectStorable(event)
  expect(event.extra).toEqual({ kept: 1 })
  expect(event.contexts).toEqual({ os: { name: 'L' } })
  expect(event.user?.id).toBe('7')
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

describe('size', () => {
  const MEGABYTE = 1024 * 1024
  /** Together they take less than a second; quadratic work would exceed the test's time limit. */
  const monsters: [string, () => Record<string, unknown>][] = [
    ['a message of 1 MiB', () => ({ message: 'x'.repeat(MEGABYTE) })],
    ['a message of digits', () => ({ message: '4'.repeat(MEGABYTE) })],
    ['digits with gaps', () => ({ message: '4 '.repeat(MEGABYTE / 2) })],
    ['equals signs', () => ({ message: 'a='.repeat(MEGABYTE / 2) })],
    ['password assignments', () => ({ message: 'password=a&'.repeat(MEGABYTE / 11) })],
    ['quotes and colons', () => ({ message: '":'.repeat(MEGABYTE / 2) })],
    ['open quotes', () => ({ message: `"password":"${'\\"'.repeat(MEGABYTE / 2)}` })],
    ['schemes', () => ({ message: '://'.repeat(MEGABYTE / 3) })],
    ['schemes with users', () => ({ message: 'http://a:b@c '.repeat(MEGABYTE / 13) })],
    ['key heads without end', () => ({ message: '-----BEGIN '.repeat(MEGABYTE / 11) })],
    ['private keys without end', () => ({ message: '-----BEGIN PRIVATE KEY-----'.repeat(MEGABYTE / 27) })],
    ['bearers', () => ({ message: 'bearer '.repeat(MEGABYTE / 7) })],
    ['one bearer and spaces', () => ({ message: `bearer ${' '.repeat(MEGABYTE)}` })],
    ['homes', () => ({ message: '/home/'.repeat(MEGABYTE / 6) })],
    ['capitals', () => ({ message: 'GB82 '.repeat(MEGABYTE / 5) })],
    ['backslashes', () => ({ message: '\\'.repeat(MEGABYTE) })],
    ['an unclosed JSON text', () => ({ message: '['.repeat(MEGABYTE) })],
    [
      'JSON text in JSON text',
      () => ({ extra: { a: JSON.stringify({ b: JSON.stringify({ c: 'x'.repeat(MEGABYTE / 2) }) }) } }),
    ],
    [
      'a function of 1 MiB',
      () => ({
        exception: { type: 'E', stacktrace: { frames: [{ function: '<('.repeat(MEGABYTE / 2), platform: 'native' }] } },
      }),
    ],
    [
      'a type and value of 1 MiB',
      () => ({ exception: { type: 'T'.repeat(MEGABYTE / 2), value: "'".repeat(MEGABYTE / 2) } }),
    ],
    [
      '10,000 breadcrumbs',
      () => ({
        breadcrumbs: Array.from({ length: 10_000 }, (_, index) => ({
          message: `m${index}`,
          timestamp: 1795149501,
          data: { i: index },
        })),
      }),
    ],
    [
      '100,000 values',
      () => ({
        extra: Array.from({ length: 100_000 }, (_, index) => index),
        contexts: { a: { list: Array.from({ length: 100_000 }, () => 1) } },
      }),
    ],
    [
      '100,000 keys',
      () => ({ extra: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, index])) }),
    ],
    ['100,000 tags', () => ({ tags: Array.from({ length: 100_000 }, (_, index) => [`k${index}`, 'v']) })],
    ['100,000 bad tags', () => ({ tags: Array.from({ length: 100_000 }, () => 'v') })],
    [
      '100,000 headers',
      () => ({ request: { headers: Array.from({ length: 100_000 }, (_, index) => [`h${index}`, 'v']) } }),
    ],
    ['a cookie of 1 MiB', () => ({ request: { cookies: 'a=b;'.repeat(MEGABYTE / 4) } })],
    [
      '50,000 frames',
      () => ({
        exception: {
          type: 'E',
          stacktrace: { frames: Array.from({ length: 50_000 }, (_, index) => ({ function: `f${index % 7}` })) },
        },
      }),
    ],
    [
      '20,000 threads',
      () => ({
        threads: Array.from({ length: 20_000 }, (_, index) => ({
          id: index,
          stacktrace: { frames: [{ function: 'f' }] },
        })),
      }),
    ],
    [
      '10,000 exceptions',
      () => ({ exception: Array.from({ length: 10_000 }, () => ({ type: 'E', value: 'v', thread_id: 9 })) }),
    ],
    [
      '20,000 images',
      () => ({
        platform: 'native',
        debug_meta: {
          images: Array.from({ length: 20_000 }, (_, index) => ({
            code_file: 'x',
            image_addr: index * 4096,
            image_size: 4096,
          })),
        },
        exception: {
          type: 'E',
          stacktrace: { frames: Array.from({ length: 10_000 }, (_, index) => ({ instruction_addr: index * 4096 })) },
        },
      }),
    ],
    [
      'a template of placeholders',
      () => ({ logentry: { message: '%s{}'.repeat(MEGABYTE / 4), params: ['x'.repeat(1_000), 'y'] } }),
    ],
    ['a fingerprint of 100,000', () => ({ fingerprint: Array.from({ length: 100_000 }, () => '{{ default }}') })],
    [
      'a user agent of 1 MiB',
      () => ({ platform: 'javascript', request: { headers: { 'user-agent': `Mozilla/5.0 ${'('.repeat(MEGABYTE)}` } } }),
    ],
    [
      'a release of 1 MiB',
      () => ({ release: '@'.repeat(MEGABYTE), environment: ' '.repeat(MEGABYTE), dist: '-'.repeat(MEGABYTE) }),
    ],
    ['a timestamp of 1 MiB', () => ({ timestamp: '2'.repeat(MEGABYTE) })],
  ]

  test.each(monsters)(
    '%s',
    (_, make) => {
      const event = digested(make())
      expectStorable(event)
      expect(JSON.stringify(event).length).toBeLessThan(4 * MEGABYTE)
    },
    10_000,
  )

  test('nesting above the limits is cut', () => {
    const depth = 100_000
    const event = digested(
      parsed(
        `{"message":"m","extra":{"deep":${'['.repeat(depth)}${']'.repeat(depth)}},"exception":{"type":"E","value":${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}}}`,
      ),
    )
    expect(event.title.startsWith('E')).toBe(true)
  })
})
