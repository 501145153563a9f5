import { describe, expect, test } from 'vitest'
import { normalizeEvent } from './normalize.ts'
import { isCard } from './scrub-numbers.ts'
import { scrubEvent, type ScrubRules } from './scrub.ts'

/** The list of defaults (docs/privacy.md) and the rules about addresses (docs/protocol.md §15.3), line by line. */

const F = '[Filtered]'

function scrubbed<T extends Record<string, unknown>>(raw: T, rules?: ScrubRules): T {
  scrubEvent(raw, rules)
  return raw
}

describe('values of keys, anywhere in the key and case-insensitive', () => {
  test.each(
    'password secret passwd api_key apikey auth credentials mysql_pwd privatekey private_key token bearer csrftoken xsrf-token otp two-factor two_factor'.split(
      ' ',
    ),
  )('%s', (word) => {
    for (const key of [word, word.toUpperCase(), `my_${word}`, `${word}_2`]) {
      expect(scrubbed({ extra: { [key]: 'value-of-it' } }).extra[key], key).toBe(F)
      expect(scrubbed({ attributes: { [key]: { value: 'value-of-it', type: 'string' } } }).attributes[key]).toEqual({
        value: F,
        type: 'string',
      })
    }
  })
})

test('session cookies, by their names', () => {
  const cookies = 'sessionid=a1b2c3; PHPSESSID=a1b2c3; connect.sid=a1b2c3; csrftoken=a1b2c3; theme=dark'
  const clean = scrubbed({
    request: { headers: { Cookie: cookies }, cookies: { JSESSIONID: 'a1b2c3', theme: 'dark' } },
  })
  expect(JSON.stringify(clean)).not.toContain('a1b2c3')
  expect(clean.request.headers.Cookie).toContain('theme=dark')
  expect(clean.request.cookies.theme).toBe('dark')
})

describe('anywhere in text', () => {
  const places = (text: string): Record<string, unknown>[] => [
    { message: text },
    { logentry: { formatted: text, params: [text] } },
    { body: text, attributes: { note: { value: text, type: 'string' } } },
    { exception: { values: [{ type: 'E', value: text, stacktrace: { frames: [{ vars: { v: text } }] } }] } },
    { breadcrumbs: { values: [{ message: text, data: { list: [text] } }] } },
    { extra: { deep: { deeper: [{ x: text }] } }, tags: { t: text }, contexts: { c: { v: text } } },
    { request: { data: { field: text }, query_string: `q=${text}` } },
    { spans: [{ description: text, data: { v: text } }] },
  ]

  test.each([
    ['a card number', 'paid with 4111 1111 1111 1111 today', '4111 1111 1111 1111'],
    ['an IBAN', 'account DE89 3704 0044 0532 0130 00 closed', 'DE89 3704 0044 0532 0130 00'],
    ['a US social security number', 'person 078-05-1120 moved', '078-05-1120'],
    ['a private key', 'key -----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY----- end', 'MIIabc'],
    ['a password in a URL', 'at postgres://ada:hunter2@db.example.com/x', 'hunter2'],
    ['a bearer token', 'sent Bearer abcdefghij0123456789xyz now', 'abcdefghij0123456789xyz'],
    ['a name in a home directory', 'read /home/adalovelace/notes.txt twice', 'adalovelace'],
    ['a name in one of Windows', 'read C:\\Users\\adalovelace\\notes.txt twice', 'adalovelace'],
  ])('%s', (_, text, secret) => {
    for (const raw of places(text)) expect(JSON.stringify(scrubbed(raw)), JSON.stringify(raw)).not.toContain(secret)
  })

  test('removes only the secret from a message and the body of a log', () => {
    const text = 'ada paid with 4111111111111111 and Bearer abcdefghij0123456789xyz'
    const clean = `ada paid with ${F} and Bearer ${F}`
    expect(scrubbed({ message: text })).toEqual({ message: clean })
    expect(scrubbed({ logentry: { formatted: text, message: 'ada paid with %s' } })).toEqual({
      logentry: { formatted: clean, message: 'ada paid with %s' },
    })
    expect(scrubbed({ body: text, level: 'info' })).toEqual({ body: clean, level: 'info' })
    expect(scrubbed({ body: 'mail to ada@example.com' }, { removeEmails: true })).toEqual({ body: `mail to ${F}` })
    expect(scrubbed({ body: 'mail to ada@example.com' })).toEqual({ body: 'mail to ada@example.com' })
  })
})

test('a card number must have the right check digit', () => {
  const cards = '4111111111111111 5500005555555559 340000000000009 6011000000000004 30000000000004 3530111333300000'
  for (const card of cards.split(' ')) {
    expect(isCard(card), card).toBe(true)
    const wrong = card.slice(0, -1) + String((Number(card.at(-1)) + 1) % 10)
    expect(isCard(wrong), wrong).toBe(false)
    expect(scrubbed({ message: `n ${wrong}` }).message).toBe(`n ${wrong}`)
  }
})

test('does not change images, names and paths of files, types of exceptions, user agents', () => {
  const raw = () => ({
    debug_meta: { images: [{ code_file: '/home/ada/app', debug_file: '/Users/ada/app.pdb' }] },
    exception: {
      values: [
        {
          type: 'AuthTokenError',
          module: 'app.auth.token',
          stacktrace: {
            frames: [{ filename: '/home/ada/app.py', abs_path: '/home/ada/app.py', function: 'get_token' }],
          },
        },
      ],
    },
    request: { headers: { 'User-Agent': 'Mozilla/5.0 (token 4111111111111111)' } },
  })
  expect(scrubbed(raw())).toEqual(raw())
})

describe('addresses', () => {
  const raw = () => ({
    user: { id: 'u1', ip_address: '203.0.113.7' },
    request: {
      env: { REMOTE_ADDR: '203.0.113.7', HTTP_X_FORWARDED_FOR: '203.0.113.7' },
      headers: {
        'X-Forwarded-For': '203.0.113.7',
        'X-Real-IP': '203.0.113.7',
        'CF-Connecting-IP': '203.0.113.7',
        Forwarded: 'for=203.0.113.7',
      },
    },
    attrs: { ip_address: '203.0.113.7', release: 'a@1' },
    attributes: {
      'client.address': { value: '203.0.113.7', type: 'string' },
      'user.ip_address': { value: '203.0.113.7', type: 'string' },
      'net.peer.ip': { value: '203.0.113.7', type: 'string' },
      'server.address': { value: '198.51.100.1', type: 'string' },
    },
  })

  test('stay by default', () => {
    expect(scrubbed(raw())).toEqual(raw())
  })

  test('of users, environment, headers, sessions and attributes are removed by the setting', () => {
    const clean = scrubbed(raw(), { removeAddresses: true })
    expect(JSON.stringify(clean)).not.toContain('203.0.113.7')
    expect(clean.attrs.release).toBe('a@1')
    expect(clean.attributes['server.address'].value).toBe('198.51.100.1')
    expect(clean.user.id).toBe('u1')
  })

  test('are also removed in pairs, and with the defaults off', () => {
    const pairs = {
      request: {
        headers: [
          ['X-Forwarded-For', '203.0.113.7'],
          ['Accept', 'a/b'],
        ],
      },
    }
    expect(scrubbed(pairs, { removeAddresses: true, defaults: false })).toEqual({
      request: {
        headers: [
          ['X-Forwarded-For', null],
          ['Accept', 'a/b'],
        ],
      },
    })
  })
})

describe('the address of an event', () => {
  const CONNECTION = '198.51.100.9'
  const address = (fields: Record<string, unknown>, clientIp: string | null = CONNECTION) =>
    normalizeEvent(fields, {
      eventId: 'a'.repeat(32),
      receivedAt: new Date(),
      sentAt: null,
      clientIp,
      userAgent: null,
    }).user?.ip_address ?? null
  const sdk = (infer_ip: string) => ({ name: 'sentry.x', settings: { infer_ip } })
  const user = (ip_address: string) => ({ id: 'u', ip_address })
  const env = { env: { REMOTE_ADDR: '203.0.113.5' } }

  test.each<[string, Record<string, unknown>, string | null]>([
    ['given', { platform: 'python', user: user('203.0.113.7') }, '203.0.113.7'],
    [
      'given, in spite of infer_ip',
      { platform: 'python', sdk: sdk('never'), user: user('203.0.113.7') },
      '203.0.113.7',
    ],
    ['{{auto}}', { platform: 'python', user: user('{{auto}}') }, CONNECTION],
    ['{{ auto }} with spaces', { platform: 'python', user: user('{{ auto }}') }, CONNECTION],
    ['{{auto}} and never', { platform: 'javascript', sdk: sdk('never'), user: user('{{auto}}') }, null],
    ['missing, auto', { platform: 'python', sdk: sdk('auto') }, CONNECTION],
    ['missing, never', { platform: 'javascript', sdk: sdk('never') }, null],
    ['missing, never, with REMOTE_ADDR', { platform: 'python', sdk: sdk('never'), request: env }, null],
    ['missing, legacy, JavaScript', { platform: 'javascript' }, CONNECTION],
    ['missing, legacy, Cocoa', { platform: 'cocoa' }, CONNECTION],
    ['missing, legacy, named so', { platform: 'javascript', sdk: sdk('legacy') }, CONNECTION],
    ['missing, legacy, others', { platform: 'python' }, null],
    ['missing, legacy, node', { platform: 'node' }, null],
    ['missing, others, with REMOTE_ADDR', { platform: 'python', request: env }, '203.0.113.5'],
    ['invalid', { platform: 'python', user: user('not an address') }, null],
  ])('%s', (_, fields, expected) => {
    expect(address(fields)).toBe(expected)
  })

  test('is null without an address of the connection', () => {
    for (const fields of [{ platform: 'javascript' }, { user: user('{{auto}}') }, { sdk: sdk('auto') }])
      expect(address(fields, null)).toBeNull()
  })
})
