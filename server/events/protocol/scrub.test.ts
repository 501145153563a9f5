import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { scrubEvent, type ScrubRules } from './scrub.ts'

/** Scrubs a payload; `changed` must be right about whether it changed. */
function scrubbed<T extends Record<string, unknown>>(raw: T, rules?: ScrubRules): T {
  const before = JSON.stringify(raw)
  const changed = scrubEvent(raw, rules)
  expect(changed).toBe(JSON.stringify(raw) !== before)
  return raw
}

const inText = (text: string): string => scrubbed({ message: text }).message
const F = '[Filtered]'

describe('keys', () => {
  test.each([
    'password',
    'PASSWORD',
    'userPassword',
    'new_password_2',
    'passwd',
    'secret',
    'client_secret',
    'api_key',
    'apiKey',
    'api-key',
    'X-Api-Key',
    'apikey',
    'auth',
    'Authorization',
    'proxy-authorization',
    'x-auth-header',
    'oauth',
    'credentials',
    'aws_credentials',
    'mysql_pwd',
    'privatekey',
    'private_key',
    'private-key',
    'token',
    'accessToken',
    'csrfmiddlewaretoken',
    'bearer',
    'otp',
    'totp',
    'otp_code',
    'user-otp',
    'two-factor',
    'twoFactorCode',
    'two_factor',
    'csrf',
    'XSRF-TOKEN',
    'sessionid',
    'PHPSESSID',
    'JSESSIONID',
    'connect.sid',
  ])('the value of %s is removed anywhere', (key) => {
    expect(scrubbed({ extra: { deep: [{ [key]: 'hunter2' }] } })).toEqual({ extra: { deep: [{ [key]: F }] } })
    expect(scrubbed({ contexts: { c: { [key]: 4711 } } })).toEqual({ contexts: { c: { [key]: F } } })
  })

  test.each([
    'author',
    'authority',
    'authored_by',
    'hotpath',
    'rootPath',
    'footprint',
    'session_id',
    'side',
    'key',
    'pass_count',
    'monkey',
    'keyboard',
    'username',
    'email',
  ])('%s does not', (key) => {
    expect(scrubEvent({ extra: { [key]: 'hunter2' } })).toBe(false)
  })

  test('null, booleans, empty text and counts of tokens stay', () => {
    expect(scrubEvent({ extra: { password: null, has_token: true, secret: '', input_tokens: 812, auth: {} } })).toBe(
      false,
    )
  })

  test('all values below a sensitive key are removed, the structure stays', () => {
    expect(scrubbed({ extra: { credentials: { user: 'ada', codes: [1, 'two', { n: null }] } } })).toEqual({
      extra: { credentials: { user: F, codes: [F, F, { n: null }] } },
    })
  })

  test('pairs count as keys with values', () => {
    expect(
      scrubbed({
        request: {
          headers: [
            ['Authorization', 'Basic Zm9v'],
            ['Accept', 'a/b'],
          ],
        },
      }),
    ).toEqual({
      request: {
        headers: [
          ['Authorization', F],
          ['Accept', 'a/b'],
        ],
      },
    })
    expect(
      scrubbed({
        tags: [
          { key: 'api_key', value: 'x' },
          { key: 'area', value: 'y' },
        ],
      }),
    ).toEqual({
      tags: [
        { key: 'api_key', value: F },
        { key: 'area', value: 'y' },
      ],
    })
  })

  test('a list of two other texts is no pair', () => {
    expect(scrubEvent({ fingerprint: ['auth', 'checkout'], extra: { argv: ['token', 'x'] } })).toBe(false)
  })

  test('only the value of an attribute is removed', () => {
    expect(
      scrubbed({ attributes: { 'http.request.header.authorization': { value: 'Basic x', type: 'string' } } }),
    ).toEqual({
      attributes: { 'http.request.header.authorization': { value: F, type: 'string' } },
    })
  })
})

describe('cookies', () => {
  test('in a header only session cookies', () => {
    expect(scrubbed({ request: { headers: { Cookie: 'sid=abc; theme=dark; csrftoken=x; remember_me=1' } } })).toEqual({
      request: { headers: { Cookie: `sid=${F}; theme=dark; csrftoken=${F}; remember_me=${F}` } },
    })
    expect(scrubbed({ h: [['Set-Cookie', 'session=abc; Path=/']] })).toEqual({
      h: [['Set-Cookie', `session=${F}; Path=/`]],
    })
  })

  test('as an object, as pairs, as an environment variable', () => {
    expect(scrubbed({ request: { cookies: { sid: 'abc', theme: 'dark' } } })).toEqual({
      request: { cookies: { sid: F, theme: 'dark' } },
    })
    expect(
      scrubbed({
        request: {
          cookies: [
            ['sid', 'abc'],
            ['theme', 'dark'],
          ],
        },
      }),
    ).toEqual({
      request: {
        cookies: [
          ['sid', F],
          ['theme', 'dark'],
        ],
      },
    })
    expect(scrubbed({ request: { env: { HTTP_COOKIE: 'sid=abc' } } })).toEqual({
      request: { env: { HTTP_COOKIE: `sid=${F}` } },
    })
  })
})

describe('text', () => {
  test.each([
    ['card 4111111111111111 declined', `card ${F} declined`],
    ['card 4111 1111 1111 1111 declined', `card ${F} declined`],
    ['5555-5555-5555-4444', F],
    ['paid with 4111 1111 1111 1111 12/27', `paid with ${F} 12/27`],
    ['4111111111111111 12/27 123', `${F} 12/27 123`],
    ['2026-11-20 4111111111111111 and 5555-5555-5555-4444 1', `2026-11-20 ${F} and ${F} 1`],
    ['order 12 4111 1111 1111 1111', `order 12 ${F}`],
    ['5555555555554444 4111111111111111', `${F} ${F}`],
    ['amex 3782 822463 10005', `amex ${F}`],
    ['iban DE89370400440532013000 wrong', `iban ${F} wrong`],
    ['iban GB82 WEST 1234 5698 7654 32 IS WRONG', `iban ${F} IS WRONG`],
    ['ssn 536-90-4399.', `ssn ${F}.`],
    ['redis://ada:hunter2@db.example.com:6379/0', `redis://${F}@db.example.com:6379/0`],
    ['a http://u:p@x and https://u:p@y', `a http://${F}@x and https://${F}@y`],
    ['Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.e30.abc', `Authorization: Bearer ${F}`],
    ['bearer 0123456789abcdef', `bearer ${F}`],
    ['cannot open /home/ada/notes.txt', `cannot open /home/${F}/notes.txt`],
    ['at /Users/grace/app/main.swift', `at /Users/${F}/app/main.swift`],
    [String.raw`at C:\Users\Ada Lovelace\app\x.cs`, String.raw`at C:\Users\[Filtered]\app\x.cs`],
    ['file:///home/ada', `file:///home/${F}`],
    ['GET /items?token=secret123&page=2', `GET /items?token=${F}&page=2`],
    ['password=hunter2&user=ada', `password=${F}&user=ada`],
    ['run --api-key=xyz --verbose', `run --api-key=${F} --verbose`],
    ['{"user":"ada","password":"hun\\"ter2"}', `{"user":"ada","password":"${F}"}`],
    ['sent {"password": "hunter2", "pin": 1} twice', `sent {"password": "${F}", "pin": 1} twice`],
    [String.raw`body {\"password\":\"hunter2\",\"a\":1}`, String.raw`body {\"password\":\"[Filtered]\",\"a\":1}`],
    ["{'api_key': 'xyz', 'n': 3}", `{'api_key': '${F}', 'n': 3}`],
    ['{"otp": 123456}', `{"otp":"${F}"}`],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- rest', `${F} rest`],
    ['-----BEGIN PRIVATE KEY-----\nMIIE cut off', F],
  ])('%s', (text, clean) => {
    expect(inText(text)).toBe(clean)
  })

  test.each([
    ['a wrong check digit', '4111 1111 1111 1112'],
    ['a time in milliseconds', '1795149268917'],
    ['a trace id', 'd07271e6b4104a43a5565470e3315fa3'],
    ['a long fraction', '0.4111111111111111'],
    ['a digit run that is no card', '41111111111111110000000000000'],
    ['numbers in a row', '4111 1111 1111 1112 4111 1111 12 1111 1111'],
    ['a date', '2026-11-20T04:41:01.289124Z'],
    ['a phone number', 'call 555-12-34567'],
    ['an impossible SSN', '000-12-3456'],
    ['a wrong IBAN', 'DE89370400440532013001'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----'],
    ['a DSN without password', 'http://0123456789abcdef0123456789abcdef@127.0.0.1:9981/4501'],
    ['a scoped package', 'https://cdn.example.com/npm/@sentry/browser:1'],
    ['talk of bearers', 'Bearer authentication is required'],
    ['an URL with home in it', 'https://example.com/home/feed'],
    ['a comparison', 'token == other'],
    ['a sentence', 'Unexpected token: expected ) but got ='],
    ['a filtered value', 'token=[Filtered]&a=1'],
    ['JSON without secrets', '{"a": 1, "list": ["x"]}'],
  ])('%s stays', (_, text) => {
    expect(scrubEvent({ message: text })).toBe(false)
  })

  test('an object of an app with the name of an event field is scrubbed', () => {
    const given = {
      sdk: { name: 'x', settings: { token: 'kept' } },
      extra: { sdk: { password: 'p' }, package: [{ api_key: 'k' }], modules: { a: 'token=b' }, module: 'm' },
      tags: [['function', { secret: 's' }]],
    }
    expect(scrubbed(given)).toEqual({
      sdk: given.sdk,
      extra: { sdk: { password: F }, package: [{ api_key: F }], modules: { a: `token=${F}` }, module: 'm' },
      tags: [['function', { secret: F }]],
    })
  })

  test('a card number may be a JSON number', () => {
    expect(scrubbed({ extra: { n: 4111111111111111, m: 1795149268917 } })).toEqual({
      extra: { n: F, m: 1795149268917 },
    })
  })

  test('in source text only literals are secrets', () => {
    const frame = {
      context_line: "password = 'hunter2'",
      pre_context: ['const token = req.token', "url = 'token=abc&q=1'"],
    }
    expect(scrubbed({ exception: { values: [{ stacktrace: { frames: [frame] } }] } })).toEqual({
      exception: {
        values: [
          {
            stacktrace: {
              frames: [
                { context_line: `password = ${F}`, pre_context: ['const token = req.token', `url = 'token=${F}&q=1'`] },
              ],
            },
          },
        ],
      },
    })
  })

  test('JSON text inside JSON text is scrubbed', () => {
    const inner = JSON.stringify({ a: JSON.stringify({ password: 'hunter2', n: 1 }) })
    const clean = scrubbed({ request: { data: inner } }).request.data
    expect(clean).toBe(JSON.stringify({ a: JSON.stringify({ password: F, n: 1 }) }))
  })
})

describe('exempt parts', () => {
  test('debug images, file names and paths of frames, exception types, user agents', () => {
    expect(
      scrubEvent({
        debug_meta: { images: [{ code_file: '/Users/ada/lib.so', password: 'x' }] },
        exception: {
          values: [
            {
              type: 'Bearer 0123456789abcdef',
              stacktrace: {
                frames: [{ filename: '/home/ada/app.js', abs_path: '/Users/ada/app.js', function: 'at /home/ada/x' }],
              },
            },
          ],
        },
        request: { headers: { 'User-Agent': 'x 4111111111111111', 'user-agent': [['a', '/home/ada/']] } },
      }),
    ).toBe(false)
  })

  test('routes that resemble a home directory', () => {
    expect(
      scrubEvent({
        transaction: '/home/feed',
        breadcrumbs: [{ data: { from: '/home/x', to: '/home/y', url: '/home/z' } }],
      }),
    ).toBe(false)
  })

  test('the user name of a home directory in other text is removed', () => {
    expect(scrubbed({ extra: { argv: ['/home/ada/bin/x'] } })).toEqual({ extra: { argv: [`/home/${F}/bin/x`] } })
  })
})

describe('rules of a project', () => {
  test('further keys and safe keys', () => {
    const rules = { sensitiveKeys: ['Badge'], safeKeys: ['auth_method'] }
    expect(scrubbed({ extra: { badge_no: 7, auth_method: 'oauth', token: 't' } }, rules)).toEqual({
      extra: { badge_no: F, auth_method: 'oauth', token: F },
    })
  })

  test('with defaults off only the other settings apply', () => {
    expect(
      scrubbed({ password: 'x', m: '4111111111111111', badge: 'y' }, { defaults: false, sensitiveKeys: ['badge'] }),
    ).toEqual({
      password: 'x',
      m: '4111111111111111',
      badge: F,
    })
  })

  test('IP and e-mail addresses by settings', () => {
    const raw = (): Record<string, unknown> => ({
      user: { id: 1, ip_address: '203.0.113.7', email: 'ada@example.com' },
      request: { env: { REMOTE_ADDR: '203.0.113.7' }, headers: { 'X-Forwarded-For': '203.0.113.7' } },
      message: 'mail to ada@example.com failed',
    })
    expect(scrubEvent(raw())).toBe(false)
    expect(scrubbed(raw(), { removeAddresses: true, removeEmails: true })).toEqual({
      user: { id: 1, ip_address: null, email: F },
      request: { env: { REMOTE_ADDR: null }, headers: { 'X-Forwarded-For': null } },
      message: `mail to ${F} failed`,
    })
  })
})

describe('for anything', () => {
  test('no secret survives in any carrier, position and context', () => {
    const carriers: ((secret: string) => string)[] = [
      (secret) => `password=${secret}`,
      (secret) => `?access_token=${secret}&a=1`,
      (secret) => `"client_secret": "${secret}"`,
      (secret) => `{'api_key': '${secret}'}`,
      (secret) => `https://ada:${secret}@db.example.com/x`,
      (secret) => `Bearer ${secret}0`,
      (secret) => `/home/${secret}/app`,
      (secret) => `-----BEGIN PRIVATE KEY-----\n${secret}`,
    ]
    const words = fc.stringMatching(/^[a-zé ,.!]{0,20}$/)
    const path = fc.array(fc.constantFrom('extra', 'a', 'list', 'message', 'data', 'vars'), {
      minLength: 1,
      maxLength: 4,
    })
    fc.assert(
      fc.property(
        fc.constantFrom(...carriers),
        fc.stringMatching(/^[A-Z][a-z0-9]{11}$/),
        words,
        words,
        path,
        fc.boolean(),
        (carry, secret, before, after, keys, inList) => {
          const text = `${before} ${carry(secret)} ${after}`
          let raw: Record<string, unknown> = { last: inList ? ['x', text] : text }
          for (const key of keys) raw = { [key]: raw }
          expect(JSON.stringify(scrubbed(raw))).not.toContain(secret)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('a generated card number never survives in a sentence', () => {
    const card = fc
      .tuple(fc.constantFrom('4', '51', '55', '2221', '6011'), fc.array(fc.nat(9), { minLength: 15, maxLength: 15 }))
      .map(([head, digits]) => {
        const body = (head + digits.join('')).slice(0, 15)
        let sum = 0
        for (let index = 0; index < 15; index += 1) {
          const digit = Number(body[14 - index]) * (index % 2 === 0 ? 2 : 1)
          sum += digit > 9 ? digit - 9 : digit
        }
        return body + String((10 - (sum % 10)) % 10)
      })
    fc.assert(
      fc.property(card, fc.constantFrom('', ' ', '-'), (number, gap) => {
        const written = number.match(/.{4}/g)!.join(gap)
        expect(inText(`paid with ${written} today`)).toBe(`paid with ${F} today`)
      }),
    )
  })
})
