import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cpuMs } from '#test/kit/loop-watch.ts'
import { ScrubRule } from './scrub-rules.api.ts'
import { scrubConnection, scrubEvent, type ScrubRules } from './scrub.ts'

const KEY = Buffer.alloc(32, 7)
const ruleOf = (fields: Record<string, unknown>): ScrubRule =>
  ScrubRule.parse({ pattern: 'anything', action: 'replace', ...fields })
const rulesOf = (...rules: Record<string, unknown>[]): ScrubRules => ({ rules: rules.map(ruleOf), hashKey: KEY })

/** Applies rules to a payload; the result must be right about whether anything changed. */
function under<T extends Record<string, unknown>>(raw: T, ...rules: Record<string, unknown>[]): unknown {
  const before = JSON.stringify(raw)
  expect(scrubEvent(raw, rulesOf(...rules))).toBe(JSON.stringify(raw) !== before)
  return raw
}

const F = '[Filtered]'
const EMAIL = 'ada@example.com'
const HASHED = expect.stringMatching(/^hash:[0-9a-f]{24}$/) as unknown

test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty'])('an event may have a field %s', (name) => {
  const raw = JSON.parse(`{"user":{"id":"7"},"${name}":{"id":"8"}}`) as Record<string, unknown>
  expect(under(raw, { path: 'user.id' })).toMatchObject({ user: { id: F } })
})

describe('paths', () => {
  const event = () => ({
    user: { id: 7, email: EMAIL, data: { plan: 'gold' } },
    request: { headers: { 'X-Forwarded-Host': 'h', 'X-Trace': 't', Accept: 'a' } },
    extra: { order: { address: { street: 'Elm' } }, note: 'n' },
    tags: [
      ['cart', 'c1'],
      ['area', 'a1'],
    ],
    exception: {
      values: [{ type: 'E', value: 'v', stacktrace: { frames: [{ vars: { street: 'Elm' }, lineno: 1 }] } }],
    },
    breadcrumbs: { values: [{ data: { url: '/u' }, message: 'm' }] },
  })

  test.each<[string, (e: ReturnType<typeof event>) => void]>([
    ['user.email', (e) => void (e.user.email = F)],
    ['USER.Email', (e) => void (e.user.email = F)],
    ['user', (e) => void Object.assign(e.user, { id: F, email: F, data: { plan: F } })],
    ['user.data.*', (e) => void (e.user.data.plan = F)],
    ['request.headers.x-*', (e) => void Object.assign(e.request.headers, { 'X-Forwarded-Host': F, 'X-Trace': F })],
    ['extra.**.street', (e) => void (e.extra.order.address.street = F)],
    [
      '**.street',
      (e) => {
        e.extra.order.address.street = F
        const frame = e.exception.values[0]?.stacktrace.frames[0]
        if (frame !== undefined) frame.vars.street = F
      },
    ],
    ['extra.*.street', () => {}],
    ['extra.order', (e) => void (e.extra.order.address.street = F)],
    ['tags.cart', (e) => void (e.tags[0] = ['cart', F])],
    ['exception.value', (e) => void Object.assign(e.exception.values[0] ?? {}, { value: F })],
    ['exception.values.value', (e) => void Object.assign(e.exception.values[0] ?? {}, { value: F })],
    ['breadcrumbs.data.url', (e) => void Object.assign(e.breadcrumbs.values[0] ?? {}, { data: { url: F } })],
    ['exception.type', (e) => void Object.assign(e.exception.values[0] ?? {}, { type: F })],
    ['nothing.here', () => {}],
  ])('%s', (path, change) => {
    const expected = event()
    change(expected)
    expect(under(event(), { path })).toEqual(expected)
  })

  test('wildcards do not match fields that events need, names do; some fields are never changed', () => {
    const raw = () => ({
      event_id: 'a'.repeat(32),
      timestamp: 1,
      sdk: { name: 'x' },
      exception: { values: [{ type: 'E', stacktrace: { frames: [{ filename: 'f.js', abs_path: '/f.js' }] } }] },
      extra: { x: 'ada' },
    })
    expect(under(raw(), { path: '**', pattern: 'custom', regex: '.+' })).toEqual({ ...raw(), extra: { x: F } })
    expect(under(raw(), { path: 'exception.stacktrace.frames.filename' })).toMatchObject({
      exception: { values: [{ stacktrace: { frames: [{ filename: F, abs_path: '/f.js' }] } }] },
    })
    for (const path of ['event_id', 'timestamp', 'sdk', 'sdk.name']) expect(under(raw(), { path })).toEqual(raw())
  })

  test('attributes: names with dots match, and only the value changes', () => {
    const log = () => ({
      body: 'hello',
      attributes: {
        'user.email': { value: EMAIL, type: 'string' },
        'order.total': { value: 12, type: 'integer', unit: 'euro' },
      },
    })
    expect(under(log(), { path: 'attributes.user.email' }, { path: 'attributes.order.total' })).toEqual({
      body: 'hello',
      attributes: {
        'user.email': { value: F, type: 'string' },
        'order.total': { value: F, type: 'string', unit: 'euro' },
      },
    })
    expect(under(log(), { path: 'attributes.user.*', action: 'remove' })).toEqual({
      body: 'hello',
      attributes: { 'order.total': { value: 12, type: 'integer', unit: 'euro' } },
    })
  })

  test('old names of the parts, and both places of a message', () => {
    expect(under({ 'sentry.interfaces.User': { email: EMAIL } }, { path: 'user.email' })).toEqual({
      'sentry.interfaces.User': { email: F },
    })
    expect(
      under({ logentry: { formatted: `hi ${EMAIL}` }, message: `hi ${EMAIL}` }, { path: 'message', pattern: 'email' }),
    ).toEqual({ logentry: { formatted: 'hi [e-mail]' }, message: 'hi [e-mail]' })
  })

  test('a path continues into text that is JSON', () => {
    const data = JSON.stringify({ customer: { name: 'Ada', n: 1 } })
    expect(under({ request: { data } }, { path: 'request.data.customer.name' })).toEqual({
      request: { data: JSON.stringify({ customer: { name: F, n: 1 } }) },
    })
  })
})

describe('misleading JSON inside text', () => {
  test('repeated keys, forbidden ones, too deep', () => {
    const rule = { path: 'request.data.email' }
    const data = (text: string) => ({ request: { data: text } })
    expect(under(data(`{"email":"${EMAIL}","email":""}`), rule)).toEqual(data('{"email":""}'))
    expect(JSON.stringify(under(data(`{"__proto__":{"email":"${EMAIL}"},"email":"x"}`), rule))).not.toContain(EMAIL)
    const deep = `${'{"a":'.repeat(5_000)}{"email":"${EMAIL}"}${'}'.repeat(5_000)}`
    expect(under(data(deep), rule)).toEqual(data(F))
    expect(under(data('{"email": broken}'), rule)).toEqual(data('{"email": broken}'))
  })

  test('the same for the defaults', () => {
    const data = (text: string) => ({ request: { data: text } })
    expect(scrubEvent(data('{"password":"hunter2","password":null}'))).toBe(true)
    const raw = data('{"password":"hunter2","password":null}')
    scrubEvent(raw)
    expect(raw).toEqual(data('{"password":null}'))
    const deep = data(`{"sdk":${'['.repeat(9_000)}${']'.repeat(9_000)},"password":"hunter2"}`)
    scrubEvent(deep)
    expect(JSON.stringify(deep)).not.toContain('hunter2')
  })
})

describe('actions', () => {
  test('remove deletes the key, or the pair in lists of pairs and named values', () => {
    expect(
      under(
        {
          user: { email: EMAIL, id: 1 },
          tags: [
            ['cart', 'c'],
            ['area', 'a'],
          ],
          attributes: [{ key: 'cart', value: 'c' }],
        },
        { path: 'user.email', action: 'remove' },
        { path: '*.cart', action: 'remove' },
      ),
    ).toEqual({ user: { id: 1 }, tags: [['area', 'a']], attributes: [] })
    expect(under({ message: `to ${EMAIL}!` }, { path: 'message', pattern: 'email', action: 'remove' })).toEqual({
      message: 'to !',
    })
  })

  test('hash: equal values have equal hashes, and a hash is not hashed again', () => {
    const hashed = under(
      { user: { id: 'u1' }, extra: { a: 'u1', b: 'u2', c: 7 } },
      { path: 'user.id', action: 'hash' },
      { path: 'extra', action: 'hash' },
    ) as {
      user: { id: string }
      extra: { a: string; b: string; c: string }
    }
    expect(hashed).toEqual({ user: { id: HASHED }, extra: { a: HASHED, b: HASHED, c: HASHED } })
    expect(hashed.user.id).toBe(hashed.extra.a)
    expect(hashed.extra.b).not.toBe(hashed.extra.a)
    const again = structuredClone(hashed)
    expect(under(again, { path: 'user', action: 'hash' }, { path: 'extra', action: 'hash' })).toEqual(hashed)
    const other = { user: { id: 'u1' } }
    scrubEvent(other, { rules: [ruleOf({ path: 'user.id', action: 'hash' })], hashKey: Buffer.alloc(32, 8) })
    expect(other.user.id).not.toBe(hashed.user.id)
  })

  test('without a hash key the value is replaced', () => {
    const raw = { user: { id: 'u1' } }
    scrubEvent(raw, { rules: [ruleOf({ path: 'user.id', action: 'hash' })] })
    expect(raw).toEqual({ user: { id: F } })
  })

  test('null and replaced values stay', () => {
    expect(under({ user: { id: null, email: F } }, { path: 'user' })).toEqual({ user: { id: null, email: F } })
  })

  test('anything: lists, numbers, booleans', () => {
    expect(under({ extra: { a: [1, 'x', [true, 'y'], { z: 2 }] } }, { path: 'extra.a' })).toEqual({
      extra: { a: [F, F, [F, F], { z: F }] },
    })
  })

  test('defaults apply after rules', () => {
    expect(under({ extra: { token: 'abc', n: 'x' } }, { path: 'extra.*', action: 'hash' })).toEqual({
      extra: { token: F, n: HASHED },
    })
  })
})

describe('patterns', () => {
  test.each([
    ['email', `mail ${EMAIL}, b.c+d@sub.example.co.uk`, 'mail [e-mail], [e-mail]'],
    ['email', 'user%40 a@b not@', 'user%40 a@b not@'],
    ['email', 'x@163.com, to=ada%40example.com&x', '[e-mail], to=[e-mail]&x'],
    ['email', 'shop@1.0.0 shop@1.2.0-rc.final lodash@4.17.21', 'shop@1.0.0 shop@1.2.0-rc.final lodash@4.17.21'],
    ['ip_address', 'from 203.0.113.7 and 2001:db8::1, ::1', 'from [address] and [address], [address]'],
    ['ip_address', 'at 10:30:15, v1.2.3.4.5, C::D a::b', 'at 10:30:15, v1.2.3.4.5, C::D a::b'],
    ['credit_card', 'card 4111 1111 1111 1111 or 4111 1111 1111 1112', 'card [card number] or 4111 1111 1111 1112'],
    [
      'iban',
      'IBAN DE89 3704 0044 0532 0130 00 and DE00 3704 0044 0532 0130 00',
      'IBAN [IBAN] and DE00 3704 0044 0532 0130 00',
    ],
    ['ssn', '078-05-1120 and 000-05-1120', '[social security number] and 000-05-1120'],
    [
      'phone',
      'call +49 30 901820, (030) 901-820, 030/9018 20, 555-123-4567',
      'call [phone number], [phone number], [phone number], [phone number]',
    ],
    [
      'phone',
      'order 4711, 2026-11-20 10:30:15.123, 1795149268917, v 1.2.3',
      'order 4711, 2026-11-20 10:30:15.123, 1795149268917, v 1.2.3',
    ],
    ['uuid', 'id 0189f7a2-1c5e-7000-8000-000000000001.', 'id [UUID].'],
  ])('%s in %s', (pattern, text, clean) => {
    const raw = { extra: { t: text } }
    // Without the defaults, which would also remove cards.
    scrubEvent(raw, { ...rulesOf({ path: '**', pattern }), defaults: false })
    expect(raw.extra.t).toBe(clean)
  })

  test('bearer tokens, numbers as numbers, and names of fields', () => {
    expect(
      under(
        { a: 'Bearer abcdef123456', n: 4111111111111111, [EMAIL]: 1, pairs: [[EMAIL, 'x']] },
        { path: '**', pattern: 'bearer' },
        { path: '**', pattern: 'credit_card' },
        { path: '**', pattern: 'email' },
      ),
    ).toEqual({ a: '[bearer token]', n: '[card number]', '[e-mail]': 1, pairs: [['[e-mail]', 'x']] })
  })

  test('custom expressions', () => {
    expect(
      under({ m: 'order ORD-1234 of EMP7' }, { path: 'm', pattern: 'custom', regex: '(?i)ord-\\d+|emp\\d' }),
    ).toEqual({
      m: `order ${F} of ${F}`,
    })
  })

  test('an invalid expression removes the whole value', () => {
    expect(under({ m: 'order 1' }, { path: 'm', pattern: 'custom', regex: '(' })).toEqual({ m: F })
  })

  test('text above the limit of expressions is replaced completely', () => {
    const raw = { extra: { list: Array.from({ length: 30 }, () => `x SECRET-1 ${'y'.repeat(100_000)}`) } }
    const started = cpuMs()
    under(raw, { path: '**', pattern: 'custom', regex: 'SECRET-\\d' })
    expect(JSON.stringify(raw)).not.toContain('SECRET')
    expect(cpuMs() - started).toBeLessThan(3_000)
  })
})

describe('the connection', () => {
  const connection = { clientIp: '203.0.113.7', userAgent: 'Mozilla/5.0 x' }

  test.each<[Record<string, unknown>, { clientIp: string | null; userAgent: string | null }]>([
    [{ path: 'user.email' }, connection],
    [{ path: 'user.ip_address' }, { ...connection, clientIp: null }],
    [
      { path: 'user', action: 'remove' },
      { ...connection, clientIp: null },
    ],
    [
      { path: '**', pattern: 'ip_address', action: 'hash' },
      { ...connection, clientIp: null },
    ],
    [
      { path: 'request.headers.user-agent', action: 'remove' },
      { ...connection, userAgent: null },
    ],
    [{ path: 'request.headers.*' }, connection],
  ])('under %j', (rule, kept) => {
    expect(scrubConnection(connection, rulesOf(rule))).toEqual(kept)
  })

  test('without rules, and with addresses removed', () => {
    expect(scrubConnection(connection)).toEqual(connection)
    expect(scrubConnection(connection, { removeAddresses: true })).toEqual({ ...connection, clientIp: null })
  })
})

describe('validation', () => {
  test.each<[Record<string, unknown>, RegExp]>([
    [{ path: '' }, /path/],
    [{ path: 'a..b' }, /dot/],
    [{ path: '.a' }, /dot/],
    [{ path: 'a**' }, /\*\*/],
    [{ path: '**' }, /name/],
    [{ path: '*.*' }, /name/],
    [{ path: 'a'.repeat(201) }, /200/],
    [{ path: Array.from({ length: 17 }, () => 'a').join('.') }, /16/],
    [{ path: 'a\u0000' }, /control/],
    [{ path: 'a', pattern: 'custom' }, /regex is missing/],
    [{ path: 'a', pattern: 'email', regex: 'x' }, /only/],
    [{ path: 'a', pattern: 'nonsense' }, /pattern/],
    [{ path: 'a', action: 'shout' }, /action/],
    [{ path: 'a', extra: 1 }, /extra/],
  ])('%j is refused', (fields, reason) => {
    const parsed = ScrubRule.safeParse({ pattern: 'anything', action: 'replace', ...fields })
    expect(parsed.error?.message ?? '').toMatch(reason)
  })
})

test('a rule for all e-mail addresses removes them everywhere', () => {
  const name = fc.constantFrom('extra', 'a', 'list', 'message', 'data', 'x.y', 'values', 'user', 'tags', 'key', 'name')
  const text = fc.constantFrom(EMAIL, `mail ${EMAIL}!`, `{"to":"${EMAIL}"}`, `["${EMAIL}",1]`, `a=${EMAIL}&b`, 'x')
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      text,
      fc.dictionary(fc.oneof(name, text), tie('node'), { maxKeys: 4 }),
      fc.array(tie('node'), { maxLength: 3 }),
      fc.tuple(name, tie('node')),
      fc.record({ key: name, value: tie('node') }),
    ),
  })).node
  fc.assert(
    fc.property(tree, (value) => {
      const raw = { extra: value }
      scrubEvent(raw, rulesOf({ path: '**', pattern: 'email' }))
      expect(JSON.stringify(raw)).not.toContain(EMAIL)
    }),
    { numRuns: 1_000 },
  )
})
