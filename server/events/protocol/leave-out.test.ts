import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { hostileEvents, smallEvents } from './hostile-json.fixture.ts'
import { leavesOutAlike } from './leave-out.fixture.ts'
import { leaveOutShown } from './leave-out.ts'
import { parseDecisive, scrubEvent } from './scrub.ts'
import { SECRET_WORDS, SESSION_COOKIES } from './scrub-text.ts'

const left = (text: string): string | null => leaveOutShown(Buffer.from(text))?.toString() ?? null
const LONG = '"some text, long enough"'
const inVars = (vars: string): string =>
  `{"exception":{"values":[{"stacktrace":{"frames":[{"function":"f","vars":${vars}}]}}]}}`

describe('leaving out what only pages show', () => {
  test('breadcrumbs one by one, extra, modules, and what belongs to a frame', () => {
    expect(
      left(
        `{"message":"x","breadcrumbs":{"values":[{"message":${LONG}},{"message":"token=abc"}, {"message":${LONG}}]},` +
          `"extra":{"a":[1,2.5,-0,true,false,null,${LONG}]},"modules":{"oauthlib":"1.2","b":"3"}}`,
      ),
    ).toBe('{"message":"x","breadcrumbs":{"values":[null,{"message":"token=abc"}, null]},"extra":null,"modules":null}')
    expect(
      left(
        `{"threads":[{"stacktrace":{"frames":[{"pre_context":[${LONG}],"context_line":"a","post_context":[ ${LONG} ] }],"registers":{"rip":"0x1"}}}]}`,
      ),
    ).toBe(
      '{"threads":[{"stacktrace":{"frames":[{"pre_context":null,"context_line":"a","post_context":null }],"registers":{"rip":"0x1"}}}]}',
    )
  })

  test.each([
    ['a context with such a name', `{"contexts":{"extra":{"a":${LONG}},"vars":{"a":${LONG}}}}`],
    ['the data of a mechanism', `{"exception":[{"mechanism":{"data":{"vars":{"a":${LONG}}}}}]}`],
    ['what stands beside a name', `{"exception":[["password",{"stacktrace":[{"vars":{"a":${LONG}}}]}]]}`],
    ['a key with escapes', `{"extr\\u0061":{"a":${LONG}}}`],
    ['text', `{"extra":${LONG}}`],
  ])('not %s', (_, text) => {
    expect(left(text)).toBeNull()
  })

  test.each([
    ['a repeated key', `{"a":${LONG},"a":1}`],
    ['a repeated key deep inside', `{"a":{"b":[{"c":1,"d":${LONG},"c":2}]}}`],
    ['a key with an escape', `{"\\u0061":${LONG}}`],
    ['a key that is no UTF-8 for sure', `{"é":${LONG}}`],
    ['a forbidden key', `{"__proto__":${LONG}}`],
    ['another forbidden key', `{"constructor":${LONG}}`],
    ['a long number', `{"a":9007199254740993}`],
    ['an exponent', `{"a":1.5e1,"b":${LONG}}`],
    ['text that may be JSON', `{"a":"{\\"b\\":1}","c":${LONG}}`],
    ['an escaped character', `{"a":"\\u0070assword=${LONG.slice(1)}}`],
  ])('keeps %s for the guard', (_, vars) => {
    expect(left(inVars(vars))).toBeNull()
    expect(left(inVars(`{"a":${LONG}}`))).toBe(inVars('null'))
  })

  test.each([...SECRET_WORDS.source.split('|'), ...SESSION_COOKIES, 'auth', 'otp', 'cookie'])(
    'keeps what may be a secret by its name: %s',
    (word) => {
      expect(left(inVars(`{"${word}":${LONG}}`))).toBeNull()
      expect(left(inVars(`{"a":"some text, ${word.toUpperCase()}=abc"}`))).toBeNull()
    },
  )

  // The start of a part moves through a vector.
  const finds = (extra: object): boolean =>
    Array.from({ length: 16 }, (_, place) => `{"level":"${'x'.repeat(place)}","extra":${JSON.stringify(extra)}}`).every(
      (text) => left(text) === null && left(text.replaceAll('/', String.raw`\/`)) === null,
    )

  test.each([
    ...SECRET_WORDS.source.split('|'),
    ...SESSION_COOKIES,
    'auth',
    'authoris',
    'authoriz',
    'autho',
    'otp',
    'totp',
  ])('finds a name at every place, with every separator: %s', (word) => {
    const names = [word, word.toUpperCase(), word.replaceAll('k', '\u212a')].flatMap((name) => [
      name,
      `İ${name}`,
      ...Array.from({ length: word.length - 1 }, (_, at) =>
        ['-', '_', '.', ' ', '\n', '\f', '\u00a0', '\ufeff', '.\u2028-'].map(
          (gap) => name.slice(0, at + 1) + gap + name.slice(at + 1),
        ),
      ).flat(),
    ])
    const secrets = names.filter((name) => scrubEvent({ extra: [[name, 'some text']] }))
    expect(secrets.length).toBeGreaterThan(1)
    expect(secrets.filter((name) => !finds([[name, 'some text']]))).toEqual([])
  })

  test.each([
    '36000000000008',
    '4111-1111-1111-1111',
    '3400 000000 00009',
    '078-05-1120',
    'NO93 8601 1117 947',
    'é\nNO9386011117947',
    '-----BEGIN PRIVATE KEY-----',
    'Bearer abcdef1234567',
    'https://ada:hunter2@db.example.com',
    'a@b: https://@ada:hunter2@db.example.com',
    '/home/ada/x',
    'C:\\Users\\ada\\x',
    '\\Documents and Settings\\ada',
    '"auth" : 12345',
    // The name before `=` is cut at 80 characters.
    'totpcode=hunter2',
    'some text\ntotpcode=hunter2',
    'some text\notpcode=hunter2',
    `xotp${'a'.repeat(77)}=hunter2`,
    `xtotp${'a'.repeat(76)}=hunter2`,
    `xotp$${'%[].-_0'.repeat(10)}123456=hunter2`,
  ])('finds a form at every place: %s', (text) => {
    expect(scrubEvent({ extra: { a: text } })).toBe(true)
    expect(finds({ a: text })).toBe(true)
    expect(finds([`some text ${text}`])).toBe(true)
  })

  test.each([
    '{"a":01,"b":"some text"}',
    '{"a":"some text",}',
    '{"a":"some\ttext"}',
    '{"a":"some \\x text"}',
    '{"a":truee,"b":"some text"}',
    '["some text" "text"]',
    '{"a":"some text"',
  ])('refuses what JSON.parse refuses: %s', (vars) => {
    expect(left(inVars(vars))).toBeNull()
  })

  test('counts depth as the guard does', () => {
    const deep = (levels: number): string => `{"extra":${'['.repeat(levels - 1)}${LONG}${']'.repeat(levels - 1)}}`
    expect(left(deep(64))).toBe('{"extra":null}')
    expect(left(deep(65))).toBeNull()
  })

  test.each([
    { sensitiveKeys: ['x'] },
    { removeEmails: true },
    { removeAddresses: true },
    { defaults: false },
    { safeKeys: ['x'] },
  ])('is not asked under the rules %j', (rules) => {
    const bytes = Buffer.from(inVars(`{"a":${LONG}}`))
    expect(parseDecisive(bytes, 0, bytes.length, {})).not.toBeNull()
    expect(parseDecisive(bytes, 0, bytes.length, rules)).toBeNull()
  })

  test('is tried less often where events had to be parsed whole', () => {
    const rules = {}
    const isTaken = (vars: string): boolean => {
      const bytes = Buffer.from(`{"user":{"data":{"password":"${vars}"}},"extra":{"a":${LONG}}}`)
      return parseDecisive(bytes, 0, bytes.length, rules) !== null
    }
    expect([isTaken('x'), isTaken(''), isTaken('x'), isTaken('x')]).toEqual([false, true, false, false])
    expect(Array.from({ length: 6 }, () => isTaken(''))).toEqual([false, false, false, false, true, true])
  })

  test('takes time in proportion to a hostile text', () => {
    const pieces = [
      '@',
      '//@',
      '\\\\',
      '_',
      'k_',
      'a\\\\u',
      '1 ',
      '1111 ',
      'AB12',
      'otp',
      'e.e',
      '\\nk',
      's_s',
      '\\\\\\f',
      '\\\\\\r',
      '"},{"a":"',
      '"],["',
    ]
    const documents = pieces.map((piece) => Buffer.from(`{"extra":[{"a":"${piece.repeat(190_000 / piece.length)}"}]}`))
    const keys = Buffer.from(`{"extra":{${Array.from({ length: 12_000 }, (_, i) => `"${i}":${i}`).join(',')}}}`)
    const before = cpuMs()
    for (const document of [...documents, keys]) leaveOutShown(document)
    expect(cpuMs() - before).toBeLessThan(500)
  })
})

test('answers as the same pass by other means, and finds what scrubber and guard find', () => {
  fc.assert(fc.property(hostileEvents, leavesOutAlike), { numRuns: 250 })
  fc.assert(fc.property(smallEvents, leavesOutAlike), { numRuns: 1_000 })
})
