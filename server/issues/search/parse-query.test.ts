import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { AppError } from '../../platform/kernel/errors.ts'
import { parseQuery } from './parse-query.ts'
import { tagKey } from './facts.ts'
import { ALIASES, knowsKey } from './query-keys.ts'
import { SUGGESTED_KEYS } from './suggested-keys.ts'
import { printQuery } from './print-query.ts'
import type { Hint, Span } from './query-error.ts'
import type { Query } from './query.ts'

/** Positions are only for error messages. */
const placeless = (query: unknown): unknown =>
  JSON.parse(JSON.stringify(query, (key, value: unknown) => (key === 'at' ? undefined : value)) ?? 'null')

const errorOf = (text: string): AppError | null => {
  try {
    parseQuery(text)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  return null
}
const refusalOf = (text: string): string => errorOf(text)?.message ?? ''

describe('parsing', () => {
  test.each<[string, Query | null]>([
    ['', null],
    ['  -- ; ->', null],
    ['checkout', { kind: 'text', text: 'checkout', whole: false }],
    ['"on pay"', { kind: 'text', text: 'on pay', whole: true }],
    ['--verbose', { kind: 'text', text: '--verbose', whole: false }],
    ['https://x.example/a', { kind: 'text', text: 'https://x.example/a', whole: false }],
    ['std::vector', { kind: 'text', text: 'std::vector', whole: false }],
    ['is:resolved', { kind: 'status', values: ['resolved'] }],
    ['is:Unassigned', { kind: 'assigned', values: ['none'], at: { start: 0, end: 13 } }],
    ['-is:assigned', { kind: 'not', part: { kind: 'has', key: 'assigned' } }],
    ['is:unhandled', { kind: 'unhandled', value: true }],
    ['LEVEL:[Error, fatal,error]', { kind: 'level', values: ['error', 'fatal'] }],
    ['release:1.2.*', { kind: 'facet', key: 'release', values: [{ text: '1.2.*', glob: true }] }],
    ['release:"1.2.*"', { kind: 'facet', key: 'release', values: [{ text: '1.2.*', glob: false }] }],
    ['release:*', { kind: 'has', key: 'release' }],
    ['first_release:*', { kind: 'has', key: 'first_release' }],
    ['user:*', { kind: 'has', key: 'user.id' }],
    ['-𠀀', { kind: 'not', part: { kind: 'text', text: '𠀀', whole: false } }],
    ['-🔥', { kind: 'not', part: { kind: 'text', text: '🔥', whole: false } }],
    ['device.model:"SM-A125F"', { kind: 'facet', key: 'device.model', values: [{ text: 'SM-A125F', glob: false }] }],
    ['path:"C:\\new\\"x\\""', { kind: 'facet', key: 'path', values: [{ text: 'C:\\new"x"', glob: false }] }],
    ['constructor:x', { kind: 'facet', key: 'constructor', values: [{ text: 'x', glob: false }] }],
    ['has:__proto__', { kind: 'has', key: '__proto__' }],
    ['user.id:7', { kind: 'user', values: ['7'] }],
    ['user:7', { kind: 'identity', key: 'user', values: [{ text: '7', glob: false }], at: { start: 0, end: 6 } }],
    ['user:id:7', { kind: 'user', values: ['7'] }],
    [
      'user:email:a@b',
      { kind: 'identity', key: 'user.email', values: [{ text: 'a@b', glob: false }], at: { start: 0, end: 14 } },
    ],
    ['env:prod', { kind: 'facet', key: 'environment', values: [{ text: 'prod', glob: false }] }],
    ['browser:Chrome', { kind: 'facet', key: 'browser.name', values: [{ text: 'Chrome', glob: false }] }],
    [
      'os:[Android, iOS]',
      { kind: 'facet', key: 'os.name', values: ['Android', 'iOS'].map((text) => ({ text, glob: false })) },
    ],
    ['timesSeen:>100', { kind: 'count', field: 'events', op: '>', value: 100 }],
    ['userCount:<5', { kind: 'count', field: 'users', op: '<', value: 5 }],
    ['is:[archived, escalating]', { kind: 'status', values: ['ignored', 'escalated'] }],
    ['!error.handled:false', { kind: 'not', part: { kind: 'unhandled', value: true } }],
    [
      'release:*beta',
      { kind: 'facet', key: 'release', values: [{ text: '*beta', glob: true }], at: { start: 0, end: 13 } },
    ],
    ['release:***', { kind: 'has', key: 'release' }],
    ['issue:[shop-1, SHOP-2]', { kind: 'issue', values: ['SHOP-1', 'SHOP-2'] }],
    [
      'error.value:*x*',
      { kind: 'field', field: 'message', values: [{ text: '*x*', glob: true }], at: { start: 0, end: 15 } },
    ],
    [
      'location:"a b"',
      { kind: 'field', field: 'culprit', values: [{ text: 'a b', glob: false }], at: { start: 0, end: 14 } },
    ],
    [
      'user.email:a*@b',
      { kind: 'identity', key: 'user.email', values: [{ text: 'a*@b', glob: true }], at: { start: 0, end: 15 } },
    ],
    [
      'user.name:"k*"',
      { kind: 'identity', key: 'user.username', values: [{ text: 'k*', glob: false }], at: { start: 0, end: 14 } },
    ],
    ['user.ip:*', { kind: 'has', key: 'user.ip' }],
    ['!handled:yes', { kind: 'not', part: { kind: 'unhandled', value: false } }],
    ['handled:no', { kind: 'unhandled', value: true }],
    ['events:>100', { kind: 'count', field: 'events', op: '>', value: 100 }],
    ['users:5', { kind: 'count', field: 'users', op: '=', value: 5 }],
    ['first_seen:>2026-11-01', { kind: 'time', field: 'first_seen', side: 'since', time: { day: '2026-11-02' } }],
    ['first_seen:<=2026-12-31', { kind: 'time', field: 'first_seen', side: 'before', time: { day: '2027-01-01' } }],
    ['lastSeen:2026-11-01', { kind: 'time', field: 'last_seen', side: 'on', time: { day: '2026-11-01' } }],
    [
      'last_seen:>=2026-11-01T12:30+01:00',
      { kind: 'time', field: 'last_seen', side: 'since', time: { instant: '2026-11-01T11:30:00.000Z' } },
    ],
    ['last_seen:-24h', { kind: 'time', field: 'last_seen', side: 'since', time: { ago: 24, unit: 'h' } }],
    ['last_seen:+7d', { kind: 'time', field: 'last_seen', side: 'before', time: { ago: 7, unit: 'd' } }],
    ['age:<24h', { kind: 'time', field: 'first_seen', side: 'since', time: { ago: 24, unit: 'h' } }],
    ['age:+2w', { kind: 'time', field: 'first_seen', side: 'before', time: { ago: 2, unit: 'w' } }],
  ])('%s', (text, query) => {
    expect(parseQuery(text)).toEqual(query)
  })

  test('AND binds before OR, parentheses bind before both, and a sign negates the next term', () => {
    const a = { kind: 'text', text: 'a', whole: false }
    const b = { kind: 'text', text: 'b', whole: false }
    const c = { kind: 'text', text: 'c', whole: false }
    expect(parseQuery('a OR b c')).toEqual({ kind: 'or', parts: [a, { kind: 'and', parts: [b, c] }] })
    expect(parseQuery('(a OR b) AND c')).toEqual({ kind: 'and', parts: [{ kind: 'or', parts: [a, b] }, c] })
    expect(parseQuery('-(a b) NOT c')).toEqual({
      kind: 'and',
      parts: [
        { kind: 'not', part: { kind: 'and', parts: [a, b] } },
        { kind: 'not', part: c },
      ],
    })
    expect(parseQuery('-(-a)')).toEqual(a)
  })
})

test.each([
  ['is:open', 'q: is takes unresolved, resolved, ignored, regressed, escalated (character 4).'],
  ['is:[resolved, Unhandled]', 'q: unhandled stands alone, as in is:unhandled OR is:unresolved (character 15).'],
  ['checkout level:eror', 'q: level takes fatal, error, warning, info, debug (character 16).'],
  ['"open', 'q: the quote is not closed (character 1).'],
  ['a (b', 'q: the parenthesis is not closed (character 3).'],
  ['a) b', 'q: a parenthesis is closed that was not opened (character 2).'],
  ['pay()', 'q: the parentheses hold nothing; quote text that has parentheses in it (character 4).'],
  ['OR a', 'q: OR needs a term on both sides (character 1).'],
  ['a OR', 'q: OR has nothing after it (character 3).'],
  ['a OR OR b', 'q: OR needs a term on both sides (character 6).'],
  ['a AND', 'q: AND has nothing after it (character 3).'],
  ['a AND OR b', 'q: AND has nothing after it (character 3).'],
  ['(a AND AND b)', 'q: AND has nothing after it (character 4).'],
  ['level:', 'q: level needs a value (character 6).'],
  ['release: 1.2', 'q: release needs a value (character 9).'],
  ['a user.email:', 'q: user.email needs a value (character 13).'],
  ['age:>999999h', 'q: age takes <24h (younger) or >7d (older), with m, h, d or w (character 6).'],
  ['level:[error', 'q: the list is not closed (character 7).'],
  ['level:[]', 'q: level has an empty value (character 8).'],
  ['events:many', 'q: events takes a number, as in events:>100 (character 8).'],
  [
    'first_seen:2026-02-31',
    'q: first_seen takes a day or time, as in first_seen:>2026-11-01, or first_seen:-24h (character 12).',
  ],
  [
    'last_seen:2026-11-20T12:00Z',
    'q: last_seen takes > or < before a time of a day, as in last_seen:>2026-11-01T12:00Z (character 11).',
  ],
  ['age:7d', 'q: age takes <24h (younger) or >7d (older), with m, h, d or w (character 5).'],
  ['unhandled:maybe', 'q: unhandled takes true or false (character 11).'],
  ['user.id:7*', 'q: user.id takes whole ids, without * (character 9).'],
])('%s is refused with the position', (text, message) => {
  expect(refusalOf(text)).toBe(message)
})

test.each([
  [
    'checkout level:eror -b',
    'eror',
    { start: 15, end: 19, replacement: 'error', sentence: 'No level "eror". Did you mean error?' },
  ],
  [
    'is:unasigned',
    'unasigned',
    { start: 3, end: 12, replacement: 'unassigned', sentence: 'No is "unasigned". Did you mean unassigned?' },
  ],
  [
    'is:[resolved, "ignord"] a',
    '"ignord"',
    { start: 14, end: 22, replacement: 'ignored', sentence: 'No is "ignord". Did you mean ignored?' },
  ],
  ['level:cheese', 'cheese', null],
  ['a release: 1.2', 'release:', null],
  ['level:[error, fatal', '[error, fatal', null],
  ['a "b c', '"b c', null],
  ['a (b c', '(', null],
  ['a b) c', ')', null],
  ['a AND OR b', 'AND', null],
  ['events:many a', 'many', null],
  ['user.id:[7, 7*]', '7*', null],
  ['has:[a, b] c', 'has:[a, b]', null],
])('%s is refused with the marked part and what may be meant', (text, marked, hint) => {
  const { position, hints } = mistakeOf(errorOf(text))
  expect(text.slice(position.start, position.end)).toBe(marked)
  expect(hints).toEqual(hint === null ? undefined : [hint])
})

test('every name of a key is known, and no tag takes it', () => {
  const keys = [...Object.keys(ALIASES), ...Object.keys(SUGGESTED_KEYS)]
  expect(keys.filter((key) => !knowsKey(key))).toEqual([])
  expect(keys.filter((key) => tagKey(key) !== `tag.${key}`)).toEqual([])
})

const BITS = (
  'is:resolved|level:[error, fatal]|release:1.*|"a b"|tag:"x \\" y"|has:user|first_seen:-2d|AND|OR|NOT|(|)|-|!|[|]|,|"|*|:|\\| |  ' +
  '|foo|ünï|漢字|😀|𠀀|e\u0301|İ|🇩🇪|release:|first_release:*|first_seen:>2998-12-31|events:>=3|user.id:[a, "b c"]|assigned:me|project:shop|x.y:z|first_release:"v 1"|platform:a*b|user:kim|user:id:7|title:*x|message:"->"|issue:[A-1, b-2]|SHOP-3|a:*b|release:*'
).split('|')
const almostQuery = fc.oneof(
  fc.string({ maxLength: 60, unit: 'binary' }),
  fc.array(fc.constantFrom(...BITS), { maxLength: 25 }).map((bits) => bits.join('')),
  fc.array(fc.constantFrom(...BITS), { maxLength: 15 }).map((bits) => bits.join(' ')),
)

test('any text is parsed, and prints to the same query, or is refused with a position', () => {
  let parsed = 0
  fc.assert(
    fc.property(almostQuery, (text) => {
      let query: Query | null
      try {
        query = parseQuery(text)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
        const [, place] = /^q: .+ \(character (\d+)\)\.$/s.exec((error as AppError).message) ?? []
        expect(Number(place)).toBeGreaterThan(0)
        expect(Number(place)).toBeLessThanOrEqual(text.length)
        const { position } = mistakeOf(error)
        expect(position.start).toBeGreaterThanOrEqual(0)
        expect(position.end).toBeGreaterThan(position.start)
        expect(position.end).toBeLessThanOrEqual(text.length)
        return
      }
      parsed++
      const printed = printQuery(query)
      expect(placeless(parseQuery(printed)), printed).toEqual(placeless(query))
    }),
    { numRuns: 5_000 },
  )
  expect(parsed).toBeGreaterThan(1_000)
})

describe('size', () => {
  const times = (n: number, text: string) => text.repeat(n)
  test.each([
    [
      '10 kB with 500 parentheses',
      `${times(500, '(')}${'a '.repeat(4_500)}${times(500, ')')}`,
      'q: groups go at most 20 deep (character 21).',
    ],
    [
      '10 kB with 500 parentheses side by side',
      times(250, '(release:1.2.3 OR is:unresolved tenant:b) '),
      'q must be at most 10,000 characters.',
    ],
    [
      '230 of these parentheses',
      times(230, '(release:1.2.3 OR is:unresolved tenant:b) '),
      'q: at most 200 terms, their words and values counted (character 2805).',
    ],
    ['10,000 terms', times(10_000, 'a '), 'q must be at most 10,000 characters.'],
    [
      'one text of many words',
      `a ${Array.from({ length: 2_000 }, (_, n) => n).join('.')}`,
      'q: at most 200 terms, their words and values counted (character 3).',
    ],
    [
      'one text without spaces',
      Array.from({ length: 9_000 }, (_, n) => String.fromCodePoint(0x4e00 + (n % 5_000))).join(''),
      'q: at most 200 terms, their words and values counted (character 1).',
    ],
    [
      '900 parentheses within the maximum length',
      `${times(900, '(')}a${times(900, ')')}`,
      'q: groups go at most 20 deep (character 21).',
    ],
    ['2,000 opening parentheses', times(2_000, '('), 'q: groups go at most 20 deep (character 21).'],
    [
      'six patterns that scan',
      'a:*b title:*c message:"->" d:1*2 user.email:*@b e:*f culprit:*g h:*i',
      'q: at most 5 values in terms that have a * before the end of a value (character 54).',
    ],
    [
      'six infix patterns',
      'a:1* b:2* c:[1.*.0, 2.*.1] d:x*y e:x*y f:x*y g:x*y h:x*y',
      'q: at most 5 values in terms that have a * before the end of a value (character 46).',
    ],
    [
      'a list of one infix pattern and five other values',
      'a:[b*c, d, e, f*] title:[*g, h]',
      'q: at most 5 values in terms that have a * before the end of a value (character 19).',
    ],
    [
      'a title of many words',
      `title:"a b" culprit:"${Array.from({ length: 199 }, (_, n) => `a${n}`).join(' ')}"`,
      'q: at most 200 terms, their words and values counted (character 13).',
    ],
    ['a chain of NOTs', times(400, 'NOT '), 'q: groups go at most 20 deep (character 81).'],
    [
      '5,000 terms within the maximum length',
      times(5_000, 'a '),
      'q: at most 200 terms, their words and values counted (character 401).',
    ],
    [
      'a list of 900 values',
      `a:[${times(899, 'b,')}b]`,
      'q: at most 200 terms, their words and values counted (character 1).',
    ],
  ])('%s is refused within 200 ms of processor time', (_name, text, message) => {
    const started = cpuMs()
    expect(refusalOf(text)).toBe(message)
    expect(cpuMs() - started).toBeLessThan(200)
  })

  test('parsing takes linear time', () => {
    for (const bit of ['a"b" ', '\\\\"', 'x:"\\', '-!', 'a:[b,', '*', 'AND ', 'https://']) {
      const started = cpuMs()
      for (let i = 0; i < 10; i++) refusalOf(bit.repeat(10_000 / bit.length))
      expect(cpuMs() - started).toBeLessThan(1_000)
    }
  })
})

const mistakeOf = (error: unknown) =>
  JSON.parse((error as AppError).details.headers?.['x-query-mistake'] ?? '') as { position: Span; hints?: Hint[] }

test('the mistake is a header of ASCII characters, with hints of moderate length', () => {
  const header = (text: string) => (errorOf(text) as AppError).details.headers?.['x-query-mistake'] ?? ''
  for (const text of ['levél:x level:漢字', `is:"${'é'.repeat(9)}"`, 'level:a\u{1f600}b']) {
    expect(header(text)).toMatch(/^[\x20-\x7e]+$/)
    const { start, end } = mistakeOf(errorOf(text)).position
    expect(text.slice(start, end)).not.toBe('')
  }
  expect(header(`is:unresolved${'x'.repeat(6_000)}`).length).toBeLessThan(2_000)
})
