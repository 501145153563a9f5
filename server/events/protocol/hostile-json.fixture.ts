import fc from 'fast-check'

/** Documents of events that try to hide something from a reader of bytes. */

const SECRETS = [
  'password',
  'pass_word',
  'PassWd',
  'p.a.s.s.w.d',
  'pass phrase',
  'client_secret',
  'api-key',
  'apiKey',
  'x.api_key',
  'credentials',
  'MYSQL_PWD',
  'private key',
  'PRIVATE KEY',
  'token',
  'to_ken',
  'input_tokens',
  'bearer',
  'Bearer abcdef1234567',
  'two-factor',
  'csrf',
  'xsrf',
  'auth',
  'author',
  'authorized',
  'authored',
  'AUTHORISED',
  'auth_or',
  'au_thor',
  'oauth',
  'otp',
  'totp',
  'rootPath',
  'otpcode',
  'footprint',
  'hotp',
  'sessionid',
  'session_id',
  'JSESSIONID',
  'PHPSESSID',
  'connect.sid',
  'sentrysid',
  'symfony',
  'my_session',
  'mysession',
  '__session',
  'user_session',
  'usersession',
  'laravel_session',
  'irclogsession',
  'cookie',
  'Set-Cookie',
  'to\u212Aen',
  'to\u00A0ken',
  'pass\u200Aword',
  'İotp',
  '/home/ann/x',
  'C:\\Users\\ann\\x',
  '/Users/ann',
  '\\home\\ann',
  '/Documents and Settings/ann',
  '/homes/x',
  'https://ann:pw@host/',
  'https:\\/\\/ann:pw@h',
  'a@b.example',
  'https://h/a@b',
  '4111111111111111',
  '4111 1111 1111 1111',
  '1795000000000',
  '20261129235737',
  '078-05-1120',
  '2026-11-29 10:20:30',
  'GB82 WEST 1234 5698 7654 32',
  'xGB82WEST12345698765432',
  'DE89370400440532013000',
  '{"password":"x"}',
  '[1,{"token":"a"}]',
  '-----BEGIN PRIVATE KEY-----',
  'device.event',
  'app_memory',
  'password=hunter2',
  "'token': 'abc'",
  'a=b',
  'x'.repeat(70),
  // Names that are cut at 80 characters.
  `xotp${'a'.repeat(77)}=hunter2`,
  `xtotp${'a'.repeat(76)}=hunter2`,
]
const KEYS = [
  'a',
  'b',
  'id',
  'value',
  'type',
  'key',
  'name',
  'values',
  'frames',
  'vars',
  'pre_context',
  'post_context',
  'context_line',
  'stacktrace',
  'raw_stacktrace',
  'exception',
  'threads',
  'breadcrumbs',
  'extra',
  'modules',
  'registers',
  'data',
  'category',
  'message',
  'timestamp',
  '__proto__',
  'prototype',
  'constructor',
  'url',
  'cookies',
  'headers',
  'é',
  '',
]

const secret = fc.constantFrom(...SECRETS)
const letters = fc.string({
  unit: fc.constantFrom(...Array.from('aksopwrdeniu_-. /\\"\n\t\b:=@#{[?é\u2028\ud83d\ude00\ud83d0159')),
  maxLength: 24,
})
const content = fc.oneof(
  { weight: 3, arbitrary: letters },
  { weight: 1, arbitrary: secret },
  { weight: 2, arbitrary: fc.tuple(letters, secret, letters).map((all) => all.join('')) },
  // Names that are cut by something in the middle.
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        secret,
        fc.nat(20),
        fc.constantFrom(
          '_',
          '-',
          ' ',
          '\n',
          '\t',
          '\f',
          '\\',
          '"',
          '/',
          '\b',
          '.',
          'é',
          '\u00a0',
          '\ufeff',
          '1',
          '\\n',
          '\\t',
          "'",
        ),
      )
      .map(([word, place, between]) => word.slice(0, place) + between + word.slice(place)),
  },
  // Its name stands at every edge of a vector.
  { weight: 2, arbitrary: fc.tuple(fc.nat(70), secret).map(([count, word]) => 'x'.repeat(count) + word) },
)

/** Writes a string with escapes that nothing asks for. */
const string = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(text, fc.nat(60), fc.nat(40)).map(([value, place, kind]) => {
    const json = JSON.stringify(value)
    if (kind > 3) return json
    if (kind === 3) return json.replaceAll('/', '\\/')
    const at = value.length === 0 ? 0 : place % value.length
    const escaped = `\\u${value.charCodeAt(at).toString(16).padStart(4, '0')}`
    if (kind < 2 && value.length > 0)
      return `${JSON.stringify(value.slice(0, at)).slice(0, -1)}${escaped}${JSON.stringify(value.slice(at + 1)).slice(1)}`
    // Not valid, most of them.
    return kind === 2 && place === 1 ? `"${value}"` : json
  })

const number = fc.oneof(
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom(
    '0',
    '-0',
    '1e5',
    '1E400',
    '9007199254740993',
    '4111111111111111',
    '1795000000.1234567',
    '0.30000000000000004',
    '1795000000000',
  ),
)
const scalar = fc.oneof(
  { weight: 40, arbitrary: string(content) },
  { weight: 20, arbitrary: number },
  { weight: 20, arbitrary: fc.constantFrom('true', 'false', 'null', '{}', '[]', '""', '"plain text, long enough"') },
  { weight: 1, arbitrary: fc.constantFrom('tru', 'nul', '"a', '[,]', '{,}', '\u0001', '01', '1.', '-', '"\u0007"') },
)
const gap = fc.constantFrom(...Array.from({ length: 40 }, (_, i) => ['', '', ' ', '\n\t'][i % 4] ?? ''), '\u00a0')
const key = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...KEYS) }, { weight: 1, arbitrary: content })

const listOf = (element: fc.Arbitrary<string>, maxLength = 4): fc.Arbitrary<string> =>
  fc.tuple(gap, fc.array(element, { maxLength })).map(([space, all]) => `[${space}${all.join(`,${space}`)}]`)
const objectOf = (members: fc.Arbitrary<readonly [string, string]>, maxLength = 4): fc.Arbitrary<string> =>
  fc
    .tuple(gap, fc.array(members, { maxLength }))
    .map(([space, all]) => `{${all.map(([name, value]) => `${space}${name}${space}:${value}`).join(',')}}`)
const member = (names: fc.Arbitrary<string>, value: fc.Arbitrary<string>) => fc.tuple(string(names), value)
const named = (name: string, value: fc.Arbitrary<string>) => fc.tuple(fc.constant(`"${name}"`), value)

const free = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    { weight: 4, arbitrary: scalar },
    { weight: 1, arbitrary: listOf(tie('value')) },
    { weight: 2, arbitrary: objectOf(member(key, tie('value'))) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.integer({ min: 55, max: 70 }), scalar)
        .map(([n, one]) => '['.repeat(n) + one + ']'.repeat(n)),
    },
  ),
})).value

const plainLine = fc.constantFrom(
  '"const total = items.reduce(sum, 0)"',
  '"  return this.mapper.toView(current)"',
  '"}"',
)
const lines = fc.oneof(listOf(fc.oneof({ weight: 4, arbitrary: plainLine }, string(content)), 6), free)
const frame = objectOf(
  fc.oneof(
    named('function', scalar),
    named('pre_context', lines),
    named('post_context', lines),
    named('vars', free),
    named('context_line', string(content)),
    member(key, free),
  ),
  6,
)
const stack = fc.oneof(objectOf(fc.oneof(named('frames', listOf(frame)), member(key, free))), listOf(frame))
const holder = objectOf(
  fc.oneof(named('stacktrace', stack), named('raw_stacktrace', stack), named('type', scalar), member(key, free)),
)
const holders = fc.oneof(
  objectOf(fc.oneof(named('values', listOf(holder)), member(key, free)), 2),
  listOf(holder),
  listOf(fc.tuple(string(content), holder).map(([name, value]) => `[${name},${value}]`)),
  holder,
)
const crumb = fc.oneof(
  {
    weight: 3,
    arbitrary: objectOf(
      fc.oneof(
        named('message', string(content)),
        named('data', free),
        named('category', string(content)),
        member(key, free),
      ),
    ),
  },
  { weight: 1, arbitrary: free },
)
const crumbs = fc.oneof(listOf(crumb, 6), objectOf(named('values', listOf(crumb, 6)), 2))

/** The bytes of one event; a few are cut or have bytes that are no UTF-8. */
export const hostileEvents: fc.Arbitrary<Buffer> = fc
  .tuple(
    objectOf(
      fc.oneof(
        named('exception', holders),
        named('threads', holders),
        named('stacktrace', stack),
        named('breadcrumbs', crumbs),
        named('extra', free),
        named('modules', free),
        member(key, free),
      ),
      7,
    ),
    fc.nat(30),
    fc.nat(),
  )
  .map(([text, kind, place]) => {
    const bytes = Buffer.from(text)
    if (kind === 0) return bytes.subarray(0, place % bytes.length)
    if (kind === 1) bytes[place % bytes.length] = 0x80 + (place % 128)
    if (kind === 2) bytes[place % bytes.length] = place % 128
    return bytes
  })

const PLAIN_FRAME = '{"vars":{"a":"some text, long enough"},"pre_context":["some text, long enough"]}'

/** An event in which one text or key may hide something, in a part that the pass may leave out. */
export const smallEvents: fc.Arbitrary<Buffer> = fc
  .tuple(string(content), string(content), fc.nat(9), fc.nat(7))
  .map(([text, other, place, kind]) => {
    const inside =
      [
        `{"message":${text},"level":"info"}`,
        `{${text}:"some text","level":"info"}`,
        `[["level","info"],[${text},${other}]]`,
        `{"key":${text},"value":"some text"}`,
        `{${text}:{"a":["some text",1]}}`,
        `["some text, long enough",${text}]`,
        `{"a":${text},"b":${other}}`,
        `{"a":[{"name":${text},"value":${other}}]}`,
      ][kind] ?? ''
    const part =
      [
        `"breadcrumbs":[${inside},${inside}]`,
        `"breadcrumbs":{"values":[${inside}]}`,
        `"extra":${inside}`,
        `"exception":{"values":[{"stacktrace":{"frames":[{"vars":${inside}}]}}]}`,
        `"threads":[{"stacktrace":[{"pre_context":${inside},"post_context":["some other text"]}]}]`,
        // A name beside or above a part that is harmless by itself.
        `"exception":[[${text},{"stacktrace":{"frames":[${PLAIN_FRAME}]}}],${text}]`,
        `"exception":{"values":[[${text},[{"raw_stacktrace":[${PLAIN_FRAME}]}]]]}`,
        `"stacktrace":{"frames":[${text},${PLAIN_FRAME}],${text}:1,"value":${text}}`,
        `"threads":{${text}:1,"values":[{"name":${text},"key":${text},"stacktrace":[[${text},${PLAIN_FRAME}]]}]}`,
        `"breadcrumbs":{"values":[${text},${PLAIN_FRAME}]},${text}:{"extra":${PLAIN_FRAME}}`,
      ][place] ?? ''
    return Buffer.from(`{"message":"failed",${part}}`)
  })
