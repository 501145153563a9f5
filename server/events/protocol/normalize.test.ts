import { describe, expect, test } from 'vitest'
import type { Event } from './event.api.ts'
import { type NormalizeContext, normalizeEvent } from './normalize.ts'

const RECEIVED = new Date('2026-11-20T05:00:00.000Z')

function normalised(raw: Record<string, unknown>, context: Partial<NormalizeContext> = {}): Event {
  return normalizeEvent(raw, {
    eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
    receivedAt: RECEIVED,
    sentAt: null,
    clientIp: null,
    userAgent: null,
    ...context,
  })
}

const oneFrame = (frame: object, platform = 'other') =>
  normalised({ platform, exception: { type: 'E', stacktrace: { frames: [frame] } } }).exceptions[0]?.stacktrace
    ?.frames[0]

describe('level', () => {
  test.each([
    ['fatal', 'fatal'],
    ['critical', 'fatal'],
    ['ERROR', 'error'],
    ['warn', 'warning'],
    ['log', 'info'],
    ['notice', 'info'],
    ['trace', 'debug'],
    [40, 'error'],
    [undefined, 'error'],
    [null, 'error'],
  ])('%s is %s', (sent, level) => {
    const event = normalised({ level: sent })
    expect(event.level).toBe(level)
    expect(event.errors).toEqual([])
  })

  test('an unknown level counts as error, with a note', () => {
    const event = normalised({ level: 'catastrophic' })
    expect(event.level).toBe('error')
    expect(event.errors).toEqual([{ name: 'level', reason: 'Unknown level; taken as error.' }])
  })
})

describe('time', () => {
  test.each([
    [1795149501.629, '2026-11-20T04:38:21.629Z'],
    [1795149501629, '2026-11-20T04:38:21.629Z'],
    ['1795149501.629', '2026-11-20T04:38:21.629Z'],
    ['2026-11-20T04:00:00', '2026-11-20T04:00:00.000Z'],
    ['2026-11-20T04:00:00.289124Z', '2026-11-20T04:00:00.289Z'],
    ['2026-11-20 06:00:00+02:00', '2026-11-20T04:00:00.000Z'],
    ['2026-11-20T04:00:00.5', '2026-11-20T04:00:00.500Z'],
    [null, RECEIVED.toISOString()],
    [undefined, RECEIVED.toISOString()],
  ])('%s is %s', (timestamp, at) => {
    const event = normalised({ timestamp })
    expect(event.occurred_at).toBe(at)
    expect(event.errors).toEqual([])
  })

  test.each([['soon'], [{}], [-5], ['2026-13-45T99:00:00Z'], [1e300], ['']])(
    '%s is no time: the time of receipt is used',
    (timestamp) => {
      const event = normalised({ timestamp })
      expect(event.occurred_at).toBe(RECEIVED.toISOString())
      expect(event.errors).toMatchObject([{ name: 'timestamp' }])
    },
  )

  test.each([
    ['1970-01-01T00:00:00Z', 'Older than 30 days'],
    ['2099-01-01T00:00:00Z', 'In the future'],
    ['2026-11-20T05:01:01Z', 'In the future'],
    ['2026-10-20T04:59:59Z', 'Older than 30 days'],
  ])('%s becomes the time of receipt', (timestamp, reason) => {
    const event = normalised({ timestamp, breadcrumbs: [{ timestamp, message: 'then' }] })
    expect(event.occurred_at).toBe(RECEIVED.toISOString())
    expect(event.errors[0]?.reason).toContain(reason)
    // Other times are shifted as well.
    expect(event.breadcrumbs[0]?.timestamp).toBe(RECEIVED.toISOString())
  })

  test('a minute ahead and thirty days back are accepted', () => {
    expect(normalised({ timestamp: '2026-11-20T05:01:00Z' }).occurred_at).toBe('2026-11-20T05:01:00.000Z')
    expect(normalised({ timestamp: '2026-10-21T05:00:00Z' }).occurred_at).toBe('2026-10-21T05:00:00.000Z')
  })

  test("all times are shifted when a sender's clock is a day off", () => {
    const event = normalised(
      {
        timestamp: '2026-11-19T04:58:00Z',
        breadcrumbs: [{ timestamp: '2026-11-19T04:57:00.000Z' }, { timestamp: 1795064220 }],
      },
      { sentAt: new Date('2026-11-19T05:00:00Z') },
    )
    expect(event.occurred_at).toBe('2026-11-20T04:58:00.000Z')
    expect(event.breadcrumbs.map(({ timestamp }) => timestamp)).toEqual([
      '2026-11-20T04:57:00.000Z',
      '2026-11-20T04:57:00.000Z',
    ])
  })

  test('a drift below 55 minutes is not corrected, and late sending is no drift', () => {
    const sentAt = new Date('2026-11-20T04:05:01Z')
    expect(normalised({ timestamp: '2026-11-20T04:00:00Z' }, { sentAt }).occurred_at).toBe('2026-11-20T04:00:00.000Z')
    expect(normalised({ timestamp: '2026-11-18T04:00:00Z' }, { sentAt: RECEIVED }).occurred_at).toBe(
      '2026-11-18T04:00:00.000Z',
    )
    expect(
      normalised({ timestamp: '2026-11-20T04:00:00Z' }, { sentAt: new Date('2026-11-20T04:05:00Z') }).occurred_at,
    ).toBe('2026-11-20T04:55:00.000Z')
  })
})

describe('release, environment, dist', () => {
  test.each(['a\nb', 'a\tb', 'a\u0007b', 'a\u2028b', '.', '..', 'Latest', 'x'.repeat(251)])(
    'release %j is refused',
    (release) => {
      const event = normalised({ release })
      expect(event.release).toBeNull()
      expect(event.errors).toMatchObject([{ name: 'release' }])
    },
  )

  test.each(['@acme/web@1.2.3', 'registry.example.com/shop/api:1.4.2', 'feature/cart@3f2a9c1', 'a\\b'])(
    'release %j is kept',
    (release) => {
      expect(normalised({ release })).toMatchObject({ release, errors: [] })
    },
  )

  test('a release keeps 200 characters', () => {
    expect(normalised({ release: `shop@${'1'.repeat(240)}` }).release).toHaveLength(200)
    expect(normalised({ release: ' shop@1.4.0+77 ' }).release).toBe('shop@1.4.0+77')
  })

  test.each([
    [undefined, 'production'],
    ['', 'production'],
    ['None', ''],
    ['a\nb', ''],
    [['staging'], ''],
    [' ', 'production'],
    ['eu/staging', 'eu/staging'],
    ['staging', 'staging'],
    ['e'.repeat(80), `${'e'.repeat(63)}…`],
  ])('environment %s is %s', (sent, environment) => {
    expect(normalised({ environment: sent }).environment).toBe(environment)
  })

  test("the project's default is used", () => {
    expect(normalised({}, { defaultEnvironment: 'live' }).environment).toBe('live')
  })

  test('dist takes letters, digits, dot, hyphen, underscore', () => {
    expect(normalised({ dist: 77 }).dist).toBe('77')
    expect(normalised({ dist: 'a b' }).dist).toBeNull()
    expect(normalised({ dist: 'd'.repeat(65) }).dist).toBeNull()
  })
})

describe('tags', () => {
  const tagsOf = (tags: unknown) => normalised({ tags }).tags.map(({ key, value }) => `${key}=${value}`)

  test('come as an object or as pairs', () => {
    expect(tagsOf({ a: 'x', n: 2, yes: true, no: false, none: null, empty: '' })).toEqual([
      'a=x',
      'n=2',
      'yes=True',
      'no=False',
    ])
    expect(tagsOf([['a', 'x'], ['b', 2], null, ['a', 'last']])).toEqual(['a=last', 'b=2'])
  })

  test('keys are corrected if possible, else refused', () => {
    const event = normalised({ tags: { 'two words': 1, ä: 2, ['k'.repeat(201)]: 3, 'feature.flag': 4, '': 5 } })
    expect(event.tags).toEqual([
      { key: 'two-words', value: '1' },
      { key: 'feature.flag', value: '4' },
    ])
    expect(event.errors).toHaveLength(3)
  })

  test('values are one line of 200 characters', () => {
    expect(tagsOf({ a: 'one\ntwo', b: 'x'.repeat(300) })).toEqual(['a=one two', `b=${'x'.repeat(199)}…`])
    expect(normalised({ tags: { a: {} } }).errors).toHaveLength(1)
  })

  test('reserved tags move to their field or are removed', () => {
    const event = normalised({
      tags: { release: 'r@1', environment: 'qa', dist: '7', user: 'u', filename: 'f', function: 'g' },
    })
    expect(event).toMatchObject({ release: 'r@1', environment: 'qa', dist: '7', tags: [] })
    expect(normalised({ release: 'own@1', tags: { release: 'tag@2' } }).release).toBe('own@1')
  })

  test('the server name becomes a tag', () => {
    expect(normalised({ server_name: 'web-1' }).tags).toEqual([{ key: 'server_name', value: 'web-1' }])
    expect(normalised({ server_name: 'web-1', tags: { server_name: 'set' } }).tags).toHaveLength(1)
  })
})

describe('user and address', () => {
  const client = { clientIp: '198.51.100.20' }
  const ipOf = (raw: Record<string, unknown>) => normalised(raw, client).user?.ip_address ?? null

  test('ids may be numbers, further keys become data', () => {
    expect(normalised({ user: { id: 42, email: 'a@b.c', plan: 'pro', data: { seats: 3 } } }).user).toEqual({
      id: '42',
      username: null,
      email: 'a@b.c',
      name: null,
      ip_address: null,
      geo: null,
      data: { plan: 'pro', seats: 3 },
    })
  })

  test('{{auto}} is the address of the connection', () => {
    expect(ipOf({ user: { ip_address: '{{auto}}' } })).toBe('198.51.100.20')
    expect(ipOf({ user: { ip_address: '{{ auto }}' } })).toBe('198.51.100.20')
  })

  test.each([
    ['auto', 'node', '198.51.100.20'],
    ['never', 'javascript', null],
    [undefined, 'javascript', '198.51.100.20'],
    [undefined, 'cocoa', '198.51.100.20'],
    [undefined, 'node', null],
    [undefined, 'java', null],
  ])('infer_ip %s on %s: %s', (infer_ip, platform, ip) => {
    expect(ipOf({ platform, sdk: { name: 's', settings: { infer_ip } } })).toBe(ip)
  })

  test('infer_ip never applies to {{auto}} as well', () => {
    expect(ipOf({ user: { ip_address: '{{auto}}' }, sdk: { settings: { infer_ip: 'never' } } })).toBeNull()
  })

  test('keeps a valid address of the client, and removes an invalid one', () => {
    expect(ipOf({ user: { ip_address: '203.0.113.7' } })).toBe('203.0.113.7')
    expect(ipOf({ user: { ip_address: '2001:db8::1' } })).toBe('2001:db8::1')
    expect(ipOf({ user: { ip_address: 'home' } })).toBeNull()
    expect(ipOf({ request: { env: { REMOTE_ADDR: '203.0.113.9' } } })).toBe('203.0.113.9')
  })

  test('an empty user is null', () => {
    expect(normalised({ user: {} }).user).toBeNull()
  })
})

describe('message and title', () => {
  test.each([
    [{ message: 'plain' }, 'plain', null],
    [{ message: { formatted: 'native hello' } }, 'native hello', null],
    [{ logentry: { message: 'hello %s', params: ['world'] } }, 'hello world', 'hello %s'],
    [{ logentry: { message: '%(who)s paid', params: { who: 'ada' } } }, 'ada paid', '%(who)s paid'],
    [{ logentry: { message: '{0} and {1}', params: ['a', 'b'] } }, 'a and b', '{0} and {1}'],
    [{ logentry: { message: '100%% of %d', params: [3] } }, '100% of 3', '100%% of %d'],
    [{ logentry: { message: 'only %s', params: [] } }, 'only %s', null],
    [{ logentry: { message: 't %s', formatted: 't 1' }, message: 'other' }, 't 1', 't %s'],
    [{ 'sentry.interfaces.Message': { message: 'm %s', params: ['x'] } }, 'm x', 'm %s'],
  ])('%j', (raw, message, template) => {
    const event = normalised(raw)
    expect(event).toMatchObject({
      message,
      message_template: template,
      title: message,
      error_type: null,
      error_value: null,
    })
  })

  test('a title is one line of at most 200 characters', () => {
    expect(normalised({ message: '\n\n  first\nsecond' }).title).toBe('first')
    const long = normalised({ message: 'x'.repeat(9_000) })
    expect(long.title).toHaveLength(200)
    expect(long.message).toHaveLength(8_192)
  })

  test('the title is from the newest exception', () => {
    const event = normalised({
      exception: {
        values: [
          { type: 'Cause', value: 'c' },
          { type: 'Top', value: 'line one\nline two' },
        ],
      },
    })
    expect(event).toMatchObject({ title: 'Top: line one', error_type: 'Top', error_value: 'line one\nline two' })
  })

  test('an exception with only a value is a message', () => {
    const event = normalised({ exception: { values: [{ value: 'Inventory low' }] } })
    expect(event).toMatchObject({ title: 'Inventory low', message: 'Inventory low', error_type: null })
  })

  test('values that are no text are shown as JSON', () => {
    expect(normalised({ exception: { type: 'E', value: { code: 5 } } }).title).toBe('E: {"code":5}')
    expect(normalised({ exception: { type: 'E', value: 0 } }).title).toBe('E: 0')
    expect(normalised({ exception: { type: 'E', value: ['a'] } }).title).toBe('E: ["a"]')
  })

  test('the title of a native signal is its function', () => {
    const mechanism = { type: 'signalhandler', synthetic: true, handled: false, meta: { signal: { number: 11 } } }
    const stacktrace = { frames: [{ function: 'main' }, { function: 'crash_here' }] }
    const event = normalised({
      platform: 'native',
      exception: { type: 'SIGSEGV', value: 'Segfault', mechanism, stacktrace },
    })
    expect(event.title).toBe('SIGSEGV / crash_here')
    expect(event.culprit).toBe('crash_here')
  })

  test('an empty event has a title', () => {
    expect(normalised({}).title).toBe('<untitled error>')
    expect(normalised({ type: 'csp' }).title).toBe('<untitled csp>')
  })

  test.each([
    [
      'javascript',
      { function: 'loadRoute', filename: 'https://x.example.com/src/router/lazy.ts?v=1' },
      'loadRoute in router/lazy.ts',
    ],
    [
      'java',
      { function: 'onPay', module: 'com.acme.shop.CheckoutFragment', filename: 'CheckoutFragment.kt' },
      'CheckoutFragment.onPay',
    ],
    [
      'cocoa',
      { function: 'ImageCache.evict(_:)', filename: 'ImageCache.swift' },
      'ImageCache.evict(_:) in ImageCache.swift',
    ],
    ['native', { function: 'render::Atlas::grow', package: '/app/libgame.so' }, 'render::Atlas::grow'],
    ['python', { function: '<module>', filename: 'py_main.py', module: '__main__' }, 'py_main.py'],
    ['node', { function: 'Object.<anonymous>', filename: '/srv/app/scripts/main.cjs' }, 'scripts/main.cjs'],
  ])('%s: the culprit is %3$s', (platform, frame, culprit) => {
    const event = normalised({
      platform,
      exception: { type: 'E', stacktrace: { frames: [{ ...frame, in_app: true }] } },
    })
    expect(event.culprit).toBe(culprit)
  })

  test('the transaction takes precedence as culprit', () => {
    expect(normalised({ transaction: 'POST /pay', exception: { type: 'E' } }).culprit).toBe('POST /pay')
  })

  test('the page of a browser is the culprit only where no function is known', () => {
    const on = (frames: object[]) =>
      normalised({ platform: 'javascript', transaction: '/', exception: { type: 'E', stacktrace: { frames } } }).culprit
    const filename = 'https://shop.example.com/app.js'
    expect(on([{ function: 'pay', filename }])).toBe('pay in app.js')
    expect(
      on([
        { function: 'pay', filename },
        { function: 'Array.forEach', filename: 'native code' },
      ]),
    ).toBe('pay in app.js')
    expect(on([{ function: 'Anonymous function', filename }])).toBe('/')
  })

  test('the SDK that took a panic is not the culprit, also where only its path tells', () => {
    const cargo = '/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f'
    const frames = [
      { function: 'shop::pay', abs_path: '/srv/shop/src/pay.rs', filename: 'pay.rs', in_app: true },
      { function: '/rustc/90b35a6239c3d8bdabc530a6a0816f7ff89a0aaf/library/core/src/ops/function.rs', in_app: true },
      { function: 'event_from_panic_info', abs_path: `${cargo}/sentry-panic-0.34.0/src/lib.rs`, in_app: true },
    ]
    const event = normalised({ platform: 'native', exception: { type: 'panic', stacktrace: { frames } } })
    expect(event.culprit).toBe('shop::pay in pay.rs')
  })

  test('a deferred function that recovers is not the culprit', () => {
    const frame = (name: string, more: object = {}) => ({ function: name, module: 'main', in_app: true, ...more })
    const culpritOf = (level: string, ...frames: object[]) =>
      normalised({ platform: 'go', level, exception: { type: 'E', stacktrace: { frames } } }).culprit
    const way = [frame('main'), frame('handle'), frame('pay')]
    const panic = { function: 'gopanic', module: 'runtime', in_app: false }
    expect(culpritOf('error', ...way, panic, frame('handle.func1'))).toBe('pay')
    expect(culpritOf('fatal', ...way, frame('handle.func1'))).toBe('pay')
    expect(culpritOf('error', ...way, frame('handle.func1', { context_line: 'hub.Recover(r)' }))).toBe('pay')
    expect(culpritOf('error', ...way, frame('handle.func1'))).toBe('handle.func1')
    expect(culpritOf('fatal', frame('main'), frame('main.func1'))).toBe('main.func1')
  })

  test('a placeholder of a symboliser is no function', () => {
    const event = normalised({
      platform: 'cocoa',
      exception: {
        type: 'EXC_BAD_ACCESS',
        stacktrace: { frames: [{ function: '<redacted>', package: '/app/Shop.app/Shop', in_app: true }] },
      },
    })
    expect(event.culprit).toBe('Shop')
  })

  test('the ids of exceptions say which one names the issue, the order where they do not', () => {
    const cause = { type: 'Cause', value: 'x' }
    const error = { type: 'Error', value: 'y' }
    const of = (...values: object[]) => normalised({ exception: { values } }).title
    const withIds = (one: object, exception_id: number, parent_id: number | null) => ({
      ...one,
      mechanism: { type: 'chained', exception_id, ...(parent_id === null ? {} : { parent_id }) },
    })
    expect(of(withIds(cause, 1, 0), withIds(error, 0, null))).toBe('Error: y')
    expect(of(withIds(error, 0, null), withIds(cause, 1, 0))).toBe('Error: y')
    // A circle, a parent that is missing, one id twice, two that are the newest, no ids.
    expect(of(withIds(error, 0, 1), withIds(cause, 1, 0))).toBe('Cause: x')
    expect(of(withIds(error, 0, null), withIds(cause, 1, 7))).toBe('Cause: x')
    expect(of(withIds(error, 0, null), withIds(cause, 0, 0))).toBe('Cause: x')
    expect(of(withIds(error, 0, null), withIds(cause, 1, null))).toBe('Cause: x')
    expect(of(error, cause)).toBe('Cause: x')
  })
})

describe('handled', () => {
  const unhandled = (mechanism: object, level = 'error') =>
    normalised({ level, exception: { type: 'E', mechanism } }).is_unhandled

  test('a panic of Go that Recover took is unhandled: it is fatal, and no mechanism says otherwise', () => {
    const go = (exception: unknown, level = 'fatal') =>
      normalised({ platform: 'go', level, message: 'boom', exception }).is_unhandled
    expect(go([{ type: '*errors.errorString', value: 'boom' }])).toBe(true)
    expect(go([{ type: 'a', mechanism: { type: 'chained', exception_id: 1, parent_id: 0 } }, { type: 'b' }])).toBe(true)
    expect(go([]), 'panic("boom") comes as a message').toBe(true)
    expect(go([{ type: 'E' }], 'error'), 'captured').toBe(false)
    expect(go([{ type: 'E', mechanism: { type: 'generic', handled: true } }])).toBe(false)
    expect(normalised({ platform: 'python', level: 'fatal', exception: [{ type: 'E' }] }).is_unhandled).toBe(false)
    expect(normalised({ platform: 'javascript', level: 'fatal', message: 'm' }).is_unhandled).toBe(false)
  })

  test('only handled: false is unhandled', () => {
    expect(unhandled({ type: 'onerror', handled: false })).toBe(true)
    expect(unhandled({ type: 'generic', handled: true })).toBe(false)
    expect(unhandled({ type: 'ANR' })).toBe(false)
  })

  test('a fatal native signal without the field is unhandled', () => {
    expect(unhandled({ type: 'signal', meta: { signal: { number: 6 } } }, 'fatal')).toBe(true)
    expect(unhandled({ type: 'signal', meta: { signal: { number: 6 } } }, 'error')).toBe(false)
  })
})

describe('lists and stacks', () => {
  test('lists may be plain, in {values}, or one object', () => {
    for (const exception of [[{ type: 'E' }], { values: [{ type: 'E' }] }, { type: 'E' }]) {
      expect(normalised({ exception }).exceptions).toHaveLength(1)
    }
    expect(normalised({ exception: { values: null } }).exceptions).toEqual([])
    expect(normalised({ breadcrumbs: { values: [{ message: 'm' }] } }).breadcrumbs).toHaveLength(1)
  })

  test('the newest hundred breadcrumbs are kept', () => {
    const event = normalised({
      breadcrumbs: Array.from({ length: 10_000 }, (_, index) => ({ message: String(index) })),
    })
    expect(event.breadcrumbs).toHaveLength(100)
    expect(event.breadcrumbs[0]?.message).toBe('9900')
    expect(event.errors).toMatchObject([{ name: 'breadcrumbs' }])
  })

  test('breadcrumbs sent newest first: the newest hundred are kept, oldest first', () => {
    const timeOf = (second: number): string => new Date(RECEIVED.getTime() - 1_000_000 + second * 1_000).toISOString()
    const sent = (order: (a: number, b: number) => number, count: number) =>
      normalised({
        timestamp: RECEIVED.toISOString(),
        breadcrumbs: Array.from({ length: count }, (_, second) => second)
          .sort(order)
          .map((second) => ({ message: String(second), timestamp: timeOf(second) })),
      }).breadcrumbs.map(({ message }) => Number(message))
    const newest = Array.from({ length: 100 }, (_, index) => 600 + index)
    expect(sent((a, b) => b - a, 700)).toEqual(newest)
    expect(sent((a, b) => a - b, 700)).toEqual(newest)
    expect(sent((a, b) => b - a, 3)).toEqual([0, 1, 2])
    const same = normalised({ breadcrumbs: ['a', 'b'].map((message) => ({ message, timestamp: timeOf(0) })) })
    expect(same.breadcrumbs.map(({ message }) => message)).toEqual(['a', 'b'])
    const mixed = normalised({ breadcrumbs: [{ message: 'a', timestamp: timeOf(2) }, { message: 'b' }] })
    expect(
      mixed.breadcrumbs.map(({ message }) => message),
      'without a time the order stays',
    ).toEqual(['a', 'b'])
  })

  test('a raw stack counts where there is no other', () => {
    const stackOf = (...names: string[]) => ({ frames: names.map((name) => ({ function: name })) })
    const event = normalised({
      exception: [
        { type: 'A', raw_stacktrace: stackOf('raw') },
        { type: 'B', stacktrace: stackOf('whole'), raw_stacktrace: stackOf('raw') },
        { type: 'C' },
      ],
      threads: [{ id: 1, raw_stacktrace: stackOf('raw') }],
    })
    const names = [...event.exceptions, ...event.threads].map(({ stacktrace }) => stacktrace?.frames[0]?.function)
    expect(names).toEqual(['raw', 'whole', undefined, 'raw'])
    expect(event.exceptions.map(({ stacktrace }) => stacktrace?.is_raw)).toEqual([true, undefined, undefined])
    const odd = normalised({ exception: [{ type: 'A', raw_stacktrace: 7 }] })
    expect(odd.exceptions[0]?.stacktrace).toBeNull()
    // The stack of the thread that crashed is a better one.
    const crashed = normalised({
      exception: [{ type: 'A', raw_stacktrace: stackOf('raw') }],
      threads: [{ id: 1, crashed: true, stacktrace: stackOf('thread') }],
    })
    expect(crashed.exceptions[0]?.stacktrace?.frames[0]?.function).toBe('thread')
  })

  test('the ends of a deep stack are kept', () => {
    const frames = Array.from({ length: 1_000 }, (_, index) => ({ function: `f${index}` }))
    const kept = normalised({ exception: { type: 'E', stacktrace: { frames } } }).exceptions[0]?.stacktrace?.frames
    expect(kept).toHaveLength(250)
    expect([kept?.[0]?.function, kept?.[49]?.function, kept?.[50]?.function, kept?.[249]?.function]).toEqual([
      'f0',
      'f49',
      'f800',
      'f999',
    ])
  })

  test('a legacy stack of the event is given to its exception, else to a thread', () => {
    const stacktrace = { frames: [{ function: 'old' }] }
    expect(normalised({ exception: { type: 'E' }, stacktrace }).exceptions[0]?.stacktrace?.frames).toHaveLength(1)
    expect(normalised({ message: 'm', stacktrace }).threads).toMatchObject([
      { current: true, stacktrace: { frames: [{ function: 'old' }] } },
    ])
  })

  test('an exception that only names its thread gets the stack of that thread', () => {
    const threads = [{ id: 1 }, { id: 7, crashed: true, stacktrace: { frames: [{ function: 'crash' }] } }]
    const named = normalised({ exception: { type: 'E', thread_id: 7 }, threads })
    expect(named.exceptions[0]?.stacktrace?.frames[0]?.function).toBe('crash')
    expect(normalised({ exception: { type: 'E' }, threads }).exceptions[0]?.stacktrace?.frames[0]?.function).toBe(
      'crash',
    )
  })
})

describe('frames', () => {
  test.each([
    ['java', { module: 'java.util.concurrent.FutureTask' }, false],
    ['java', { module: 'kotlin.coroutines.Continuation' }, false],
    ['java', { module: 'com.acme.Main' }, true],
    ['cocoa', { package: '/private/var/containers/Bundle/Application/1/Shop.app/Shop' }, true],
    [
      'cocoa',
      { package: '/private/var/containers/Bundle/Application/1/Shop.app/Frameworks/libswiftCore.dylib' },
      false,
    ],
    ['cocoa', { package: '/System/Library/Frameworks/UIKit.framework/UIKit' }, false],
    ['cocoa', { package: '/usr/lib/system/libsystem_kernel.dylib' }, false],
    ['native', { package: '/apex/com.android.runtime/lib64/bionic/libc.so' }, false],
    ['native', { package: '/data/app/lib/libgame.so' }, true],
    ['native', { package: 'linux-gate.so' }, false],
    ['native', { instruction_addr: '0x1000' }, false],
    ['javascript', { filename: 'https://x.example.com/app.js' }, true],
    ['javascript', { filename: 'chrome-extension://abc/a.js' }, false],
    ['node', { filename: '/srv/app/node_modules/express/index.js' }, false],
    ['node', { filename: 'node:events' }, false],
    ['dart', { abs_path: 'package:flutter/src/widgets.dart' }, false],
    ['dart', { abs_path: 'package:shop/main.dart' }, true],
    ['go', { module: 'net/http', abs_path: '/usr/local/go/src/net/http/server.go' }, false],
    ['go', { module: 'main', abs_path: '/srv/app/main.go' }, true],
    ['python', { abs_path: '/usr/lib/python3.11/site-packages/django/core.py' }, false],
    ['php', { abs_path: '/srv/vendor/x.php' }, false],
    ['ruby', { abs_path: '/usr/gems/rack.rb' }, false],
    ['csharp', { module: 'System.Linq' }, false],
  ])('%s %j: in-app is %s', (platform, frame, inApp) => {
    expect(
      oneFrame(
        {
          function: 'f',
          ...frame,
          ...(platform === 'native' && 'instruction_addr' in frame ? { function: null } : {}),
        },
        platform,
      )?.in_app,
    ).toBe(inApp)
  })

  test('in_app of the SDK takes precedence, but for SDKs and runtimes', () => {
    expect(oneFrame({ module: 'com.android.settings.Main', in_app: true }, 'java')?.in_app).toBe(true)
    expect(oneFrame({ module: 'com.acme.Main', in_app: false }, 'java')?.in_app).toBe(false)
    expect(oneFrame({ module: 'java.lang.Thread', in_app: true }, 'java')).toMatchObject({
      in_app: false,
      marked_in_app: true,
    })
    expect(oneFrame({ module: 'java.lang.Thread' }, 'java')).not.toHaveProperty('marked_in_app')
  })

  test("a frame's platform takes precedence over the event's", () => {
    expect(oneFrame({ module: 'java.lang.Thread', platform: 'java' }, 'native')?.in_app).toBe(false)
  })

  test('addresses are hexadecimal text, lines are positive', () => {
    expect(oneFrame({ instruction_addr: 4096, symbol_addr: '0xABC', lineno: '12', colno: 0 })).toMatchObject({
      instruction_addr: '0x1000',
      symbol_addr: '0xabc',
      lineno: 12,
      colno: null,
    })
  })

  test('a native frame finds its image', () => {
    const event = normalised({
      platform: 'native',
      debug_meta: {
        images: [
          { type: 'elf', code_file: '/app/b.so', image_addr: '0x3000', image_size: 4096 },
          { type: 'macho', uuid: 'AB', code_file: '/app/a', image_addr: 4096, image_size: 4096 },
        ],
      },
      exception: {
        type: 'E',
        stacktrace: {
          frames: [
            { instruction_addr: '0x1010' },
            { instruction_addr: '0x3fff' },
            { instruction_addr: '0x2800' },
            { instruction_addr: '0x8', addr_mode: 'rel:0' },
          ],
        },
      },
    })
    expect(event.exceptions[0]?.stacktrace?.frames.map(({ package: file, image_addr }) => [file, image_addr])).toEqual([
      ['/app/a', '0x1000'],
      ['/app/b.so', '0x3000'],
      [null, null],
      ['/app/b.so', null],
    ])
    expect(event.debug_images[1]).toMatchObject({ debug_id: 'AB', image_addr: '0x1000' })
  })
})

describe('request and contexts', () => {
  const CHROME =
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.7727.0 Safari/537.36'

  test('headers, query and cookies may be text, object or pairs', () => {
    const expected = {
      query_string: 'a=1&b=%26',
      headers: [
        ['Host', 'x'],
        ['Accept', 'a, b'],
      ],
      cookies: [['theme', 'dark']],
    }
    expect(
      normalised({
        request: {
          query_string: { a: 1, b: '&' },
          headers: { Host: 'x', Accept: ['a', 'b'] },
          cookies: { theme: 'dark' },
        },
      }).request,
    ).toMatchObject(expected)
    expect(
      normalised({
        request: {
          query_string: [
            ['a', '1'],
            ['b', '&'],
          ],
          headers: [
            ['Host', 'x'],
            ['Accept', 'a, b'],
          ],
          cookies: 'theme=dark',
        },
      }).request,
    ).toMatchObject(expected)
    expect(normalised({ request: { query_string: '?a=1' } }).request?.query_string).toBe('a=1')
    expect(normalised({ request: {} }).request).toBeNull()
  })

  test('the user agent of a page adds browser and system if they are missing', () => {
    const page = { platform: 'javascript', request: { headers: { 'user-agent': CHROME } } }
    expect(normalised(page).contexts).toMatchObject({
      browser: { name: 'Chrome', version: '147.0.7727.0' },
      os: { name: 'Linux' },
    })
    expect(normalised({ ...page, contexts: { browser: { name: 'Own' } } }).contexts['browser']).toEqual({ name: 'Own' })
    expect(normalised({ platform: 'javascript' }, { userAgent: CHROME }).contexts['browser']).toMatchObject({
      name: 'Chrome',
    })
  })

  test('for a server it adds only the browser', () => {
    const { contexts } = normalised({ platform: 'node', request: { headers: [['User-Agent', CHROME]] } })
    expect(Object.keys(contexts)).toEqual(['browser'])
    expect(normalised({ platform: 'node' }, { userAgent: CHROME }).contexts).toEqual({})
    expect(normalised({ platform: 'javascript' }, { userAgent: 'curl/8' }).contexts).toEqual({})
  })

  test('contexts lose empty values', () => {
    const event = normalised({
      contexts: { device: { model: 'X', battery_level: -1 }, os: { version: '12.11\n' }, gone: null, odd: 'text' },
    })
    expect(event.contexts).toEqual({ device: { model: 'X' }, os: { version: '12.11' } })
    expect(event.errors.map(({ name }) => name).toSorted()).toEqual(['contexts.device.battery_level', 'contexts.odd'])
  })
})

test('without a platform that of the SDK is used', () => {
  expect(normalised({ sdk: { name: 'sentry.dart.flutter' }, platform: '' }).platform).toBe('dart')
  expect(normalised({ sdk: { name: 'sentry.javascript.browser' } }).platform).toBe('javascript')
  expect(normalised({ sdk: { name: 'sentry.dotnet.maui' } }).platform).toBe('csharp')
  expect(normalised({}).platform).toBe('other')
})

test('the default fingerprint is null', () => {
  expect(normalised({ fingerprint: ['{{ default }}'] }).fingerprint).toBeNull()
  expect(normalised({ fingerprint: [] }).fingerprint).toBeNull()
  const long = normalised({ fingerprint: Array.from({ length: 1_000 }, (_, at) => `part ${at}`) })
  expect(long.fingerprint).toHaveLength(100)
  expect(long.errors).toEqual([{ name: 'fingerprint', reason: '1000 elements; the first 100 count.' }])
  expect(normalised({ fingerprint: ['a', null, 7, '{{default}}'] }).fingerprint).toEqual(['a', '7', '{{default}}'])
})

test('modules keep 8 KiB, extra 256 KiB', () => {
  const modules = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`module-${index}`, '1.0.0']))
  const event = normalised({ modules, extra: { blob: 'x'.repeat(400_000), small: 1 } })
  expect(JSON.stringify(event.modules).length).toBeLessThan(16_384)
  expect(event.extra['blob']).toHaveLength(256 * 1024 - 'blob'.length - 4)
  expect(event.errors.map(({ name }) => name).toSorted()).toEqual(['extra', 'modules'])
})
