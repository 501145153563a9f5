import { type BenchEvent, makeEvents, random } from '#bench/payloads.ts'
import { z } from 'zod'
import { mutateJson } from './mutate.ts'
import type { Target } from './target.ts'

export type JsonCase = {
  readonly name: string
  /** Path and query. */
  readonly path: string
  readonly body: Buffer
}

const KINDS = {
  /** Text in place of a value: valid or not, on purpose. */
  values: [
    ...[10, 63, 64, 65, 1_000, 100_000].flatMap((depth): [string, string][] => [
      [`${depth} arrays deep`, '['.repeat(depth) + ']'.repeat(depth)],
      [`${depth} objects deep`, '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)],
      [`${depth} arrays deep, never closed`, '['.repeat(depth)],
    ]),
    ['500,000 arrays deep', '['.repeat(500_000) + ']'.repeat(500_000)],
    ['10^6 arrays deep', '['.repeat(1_000_000) + ']'.repeat(1_000_000)],
    ['10^6 objects deep, never closed', '{"":'.repeat(1_000_000)],
    ['brackets inside a string', `"${'['.repeat(100_000)}"`],
    ['10^6 keys', `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(',')}}`],
    ['10^5 keys', `{${Array.from({ length: 100_000 }, (_, i) => `"${i.toString(36)}":0`).join(',')}}`],
    ['99,000 values', `[${'0,'.repeat(98_999)}0]`],
    ['10^5 empty arrays', `[${'[],'.repeat(100_000)}[]]`],
    ['one key 90,000 times', `{${'"a":0,'.repeat(90_000)}"a":1}`],
    ['a key of 900,000 characters', `{"${'k'.repeat(900_000)}":1}`],
    ['a string of 900,000 characters', `"${'x'.repeat(900_000)}"`],
    ['900,000 escapes', `"${'\\u0041'.repeat(150_000)}"`],
    ['a number of 900,000 digits', '9'.repeat(900_000)],
    ['1e308', '1e308'],
    ['1e400', '1e400'],
    ['-1e400', '-1e400'],
    ['1e-400', '1e-400'],
    ['10^308 as digits', `1${'0'.repeat(308)}`],
    ['an exponent of a hundred digits', `1e${'9'.repeat(100)}`],
    ['2^53+1', '9007199254740993'],
    ['-0', '-0'],
    ['a leading zero', '007'],
    ['a fraction without digits', '1.'],
    ['NaN', 'NaN'],
    ['-Infinity', '-Infinity'],
    ['hexadecimal', '0x10'],
    ['a half surrogate, high', '"\\ud800"'],
    ['a half surrogate, low', '"\\udfff and more"'],
    ['surrogates in the wrong order', '"\\udc00\\ud800"'],
    ['a half surrogate as key', '{"\\ud83d":"\\ude00"}'],
    ['NUL escaped', '"a\\u0000b"'],
    ['NUL escaped as key', '{"a\\u0000b":1,"\\u0000":2}'],
    ['a raw NUL', '"a\0b"'],
    ['a raw control character', '"a\x01b"'],
    ['a raw tab', '"a\tb"'],
    ['line separators', '"\u2028\u2029\u0085"'],
    ['a byte order mark', '\ufeff{}'],
    ['an unknown escape', '"\\x41"'],
    ['half an escape', '"\\u00"'],
    ['a trailing comma', '{"a":1,}'],
    ['a comment', '{/* */"a":1}'],
    ['single quotes', "{'a':1}"],
    ['no value', '{"a":}'],
    ['never closed string', '"abc'],
    ['__proto__', '{"__proto__":{"polluted":true}}'],
    ['__proto__ spelled with escapes', '{"\\u005f_proto\\u005F_":{"polluted":true}}'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":{"polluted":true}}'],
    ['__proto__ null', '{"__proto__":null}'],
    ['__proto__ as array', '{"__proto__":["polluted"]}'],
    ['constructor', '{"constructor":{"prototype":{"polluted":true}}}'],
    ['prototype', '{"prototype":{"polluted":true}}'],
    ['toString', '{"toString":null,"valueOf":1,"hasOwnProperty":0,"then":"x","toJSON":{}}'],
    ['length', '{"length":4294967295,"0":"x"}'],
    ['a list with __proto__', '[["__proto__","x"],["constructor","y"]]'],
    ['duplicate keys', '{"a":1,"a":{"b":[]},"a":"x"}'],
    ['null', 'null'],
    ['nothing', ''],
  ] as [string, string][],
  /** Keys that lead to the place in an event; '' for the whole event. */
  places: [
    '',
    'event_id',
    'timestamp',
    'level',
    'message',
    'logentry',
    'release',
    'environment',
    'tags',
    'extra',
    'contexts',
    'user',
    'request',
    'breadcrumbs',
    'exception',
    'stacktrace',
    'threads',
    'debug_meta',
    'sdk',
    'modules',
    'fingerprint',
    '__proto__',
  ],
}

/** Bytes that are invalid UTF-8 for every decoder. */
const BAD_BYTES: [string, Buffer][] = [
  ['a lone continuation byte', Buffer.from([0x22, 0x80, 0x22])],
  ['an overlong slash', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
  ['an overlong NUL', Buffer.from([0x22, 0xc0, 0x80, 0x22])],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
  ['beyond U+10FFFF', Buffer.from([0x22, 0xf5, 0x80, 0x80, 0x80, 0x22])],
  ['0xff', Buffer.from([0x22, 0xff, 0xfe, 0x22])],
  ['UTF-16', Buffer.from('{"message":"x"}', 'utf16le')],
  ['half a character at the end', Buffer.from([0x22, 0xe2, 0x82])],
]

/**
 * JSON that no serializer writes (T-11): each value at a place of an event, of an envelope's headers and of an API
 * body; then events with changed values until there are `count`.
 */
export function jsonCases({ project }: Target, seed: number, count: number): JsonCase[] {
  const rand = random(seed)
  const envelope = `/api/${project.number}/envelope/?sentry_key=${project.publicKey}`
  const store = `/api/${project.number}/store/?sentry_key=${project.publicKey}`
  const cases: JsonCase[] = []
  const add = (name: string, path: string, ...parts: (string | Buffer)[]): void =>
    void cases.push({
      name,
      path,
      body: Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part))),
    })

  for (const [what, value] of KINDS.values) {
    const place = KINDS.places[Math.floor(rand() * KINDS.places.length)] ?? ''
    const event = place === '' ? value : `{"platform":"other","${place}":${value}}`
    add(`${what} as ${place || 'an event'}`, envelope, '{}\n{"type":"event"}\n', event)
    add(
      `${what} as extra`,
      envelope,
      `{}\n{"type":"event","length":${Buffer.byteLength(value) + 11}}\n{"extra":`,
      value,
      '}\n',
    )
    add(`${what} in /store/`, store, '{"message":"m","tags":', value, '}')
    add(`${what} in the envelope header`, envelope, '{"trace":', value, '}\n{"type":"event"}\n{}')
    add(`${what} in the item header`, envelope, '{}\n{"type":"event","x":', value, '}\n{}')
    add(`${what} as type`, envelope, '{}\n{"type":', value, '}\n{}')
    add(`${what} as length`, envelope, '{}\n{"type":"event","length":', value, '}\n{}')
    add(`${what} in the API`, '/api/auth/login', '{"email":"a@b.co","password":', value, '}')
  }
  for (const [what, bytes] of BAD_BYTES) {
    add(`${what} in an event`, envelope, '{}\n{"type":"event"}\n{"message":', bytes, '}')
    add(`${what} in /store/`, store, '{"message":', bytes, '}')
    add(`${what} in the header`, envelope, '{"sdk":{"name":', bytes, '}}\n{"type":"event"}\n{}')
    add(`${what} in the API`, '/api/auth/login', '{"email":', bytes, '}')
  }
  const events = makeEvents({ sizeBytes: 3_000, issues: 5, variantsPerIssue: 1, seed })
  while (cases.length < count) cases.push(mutated(events, envelope, rand))
  return cases
}

function mutated(events: readonly BenchEvent[], path: string, rand: () => number): JsonCase {
  const { json } = events[Math.floor(rand() * events.length)] ?? { json: Buffer.from('{}') }
  let value: unknown = z.record(z.string(), z.unknown()).parse(JSON.parse(json.toString()))
  for (let edits = 0; edits < 4; edits++) value = mutateJson(value, rand)
  return {
    name: 'an event of odd values',
    path,
    body: Buffer.from(`{}\n{"type":"event"}\n${JSON.stringify(value) ?? ''}`),
  }
}
