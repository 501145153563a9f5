import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Event } from '../../events/protocol/event.api.ts'
import { errorOf, eventOf } from './event.fixture.ts'
import { fingerprint } from './grouping.ts'
import { parameterise } from './v2-words.ts'
import { parameterise as parameteriseV3 } from './v3-words.ts'

/** Properties that all grouping versions share; differences are in frozen.test.ts and the recorded pairs. */
const VERSIONS = [
  { version: 2, parameterise, nameless: 'package: libgame.so' },
  { version: 3, parameterise: parameteriseV3, nameless: 'place in libgame.so: libgame.so+0x1119' },
]

describe.each(VERSIONS)('version $version', ({ version, parameterise, nameless }) => {
  const hashOf = (event: Event): string => fingerprint(event, { version }).hash.toString('hex')
  const readable = (event: Event): string[] =>
    fingerprint(event, { version }).parts.flatMap(({ variant, values }) => [
      variant,
      ...values.map(({ label, value }) => `${label}: ${value}`),
    ])

  describe('the rule that decides', () => {
    const frames = [{ function: 'pay', filename: 'pay.js', in_app: true }]

    test("the SDK's fingerprint takes precedence", () => {
      const event = errorOf('node', 'E', frames, { fingerprint: ['gateway', 7] })
      expect(readable(event)).toEqual(['sdk_fingerprint', 'fingerprint: gateway', 'fingerprint: 7'])
    })

    test('{{ default }} inside it stands for the computed fingerprint', () => {
      for (const spelling of ['{{ default }}', '{{default}}', '{{  default  }}']) {
        const event = errorOf('node', 'E', frames, { fingerprint: ['eu', spelling] })
        expect(readable(event)).toEqual([
          'sdk_fingerprint',
          'fingerprint: eu',
          'default: {{ default }}',
          'exception_stack',
          'type: E',
          'function in pay.js: pay',
        ])
      }
      const plain = errorOf('node', 'E', frames)
      expect(hashOf(errorOf('node', 'E', frames, { fingerprint: ['{{default}}'] }))).toBe(hashOf(plain))
      expect(hashOf(errorOf('node', 'E', frames, { fingerprint: [] }))).toBe(hashOf(plain))
    })

    test('a text that resembles the default part is not the default', () => {
      const literal = eventOf({ message: 'a', fingerprint: ['x', 'default'] })
      const real = eventOf({ message: 'a', fingerprint: ['x', '{{ default }}'] })
      expect(hashOf(literal)).not.toBe(hashOf(real))
    })

    test('the oldest cause with a usable stack decides, the newest gives the title', () => {
      const event = eventOf({
        platform: 'java',
        exception: {
          values: [
            { type: 'NoStack', value: 'root' },
            { type: 'SqlError', stacktrace: { frames: [{ module: 'com.acme.Db', function: 'query' }] } },
            { type: 'CheckoutError', stacktrace: { frames: [{ module: 'com.acme.Shop', function: 'pay' }] } },
          ],
        },
      })
      expect(event.title).toBe('CheckoutError')
      expect(readable(event)).toEqual(['exception_stack', 'type: SqlError', 'function in com.acme.Db: query'])
    })

    test('only in-app frames count, when there are any', () => {
      const system = { function: 'emit', filename: 'node:events', in_app: false }
      expect(hashOf(errorOf('node', 'E', [system, ...frames]))).toBe(hashOf(errorOf('node', 'E', frames)))
      expect(readable(errorOf('node', 'E', [system]))).toContain('function in node:events: emit')
    })

    test('the value is added to anonymous frames without source text', () => {
      const anonymous = [{ function: '?', filename: 'https://shop.example.com/app.js', in_app: true }]
      expect(readable(errorOf('javascript', 'Error', anonymous))).toEqual([
        'type_value',
        'type: Error',
        'value: it broke',
        'function in app.js: <anonymous>',
      ])
    })

    test('source text replaces the name of an anonymous function, unless the client cut it', () => {
      const at = (context_line: string): Event =>
        errorOf('node', 'E', [{ function: '<anonymous>', filename: 'a.js', in_app: true, context_line }, ...frames])
      expect(readable(at('  run(() => {'))).toContain('line in a.js: run(() => {')
      expect(hashOf(at('{snip} one'))).toBe(hashOf(at('two {snip}')))
    })

    test('a message event is grouped by its message, also with a thread', () => {
      const stack = { frames: [{ module: 'com.acme.Main', function: 'main', in_app: true }] }
      const said = (message: string): Event =>
        eventOf({ platform: 'java', message, threads: [{ id: 1, crashed: true, stacktrace: stack }] })
      expect(readable(said('drop'))).toEqual(['message', 'message: drop'])
      expect(hashOf(said('drop'))).not.toBe(hashOf(said('after drop')))
    })

    test('the template of a message counts, not its parameters', () => {
      const said = (params: unknown[]): Event => eventOf({ logentry: { message: 'user %s paid', params } })
      expect(hashOf(said(['ada']))).toBe(hashOf(said(['grace'])))
      expect(said(['ada']).title).toBe('user ada paid')
    })

    test('the crashed thread decides without exception and message', () => {
      const thread = { id: 1, crashed: true, stacktrace: { frames: [{ function: 'tick', package: '/app/game' }] } }
      const quiet = { id: 2, current: true, stacktrace: { frames: [{ function: 'other', package: '/app/game' }] } }
      expect(readable(eventOf({ platform: 'native', threads: [quiet, thread] }))).toEqual([
        'thread_stack',
        'function: tick',
      ])
    })

    test('events without any of these are one group per type and platform', () => {
      expect(readable(eventOf({ platform: 'php' }))).toEqual(['fallback', 'type: error', 'platform: php'])
    })
  })

  describe('without effect', () => {
    test('the mechanism, which SDKs rename from one major version to the next', () => {
      const by = (type: string): Event =>
        eventOf({ exception: { values: [{ type: 'E', value: 'v', mechanism: { type, handled: false } }] } })
      expect(hashOf(by('onerror'))).toBe(hashOf(by('auto.browser.global_handlers.onerror')))
    })

    test('recursion, also through several functions', () => {
      const frame = (name: string): object => ({ function: name, filename: 'a.js', in_app: true })
      const stack = (...names: string[]): string => hashOf(errorOf('node', 'E', names.map(frame)))
      expect(stack('main', 'a', 'a', 'a', 'end')).toBe(stack('main', 'a', 'end'))
      expect(stack('main', 'a', 'b', 'a', 'b', 'a', 'b', 'end')).toBe(stack('main', 'a', 'b', 'end'))
    })

    test('frames of SDKs, browser extensions and the async runtime', () => {
      const own = { function: 'pay', filename: 'pay.js', in_app: true }
      const noise = [
        { function: 'wrapped', filename: '/app/node_modules/@sentry/browser/helpers.js', in_app: true },
        { function: 'hook', filename: 'chrome-extension://abc/content.js', in_app: true },
        { function: 'process.processTicksAndRejections', filename: 'node:internal/process/task_queues', in_app: true },
        { function: 'JSON.parse', filename: '<anonymous>', in_app: true },
      ]
      expect(hashOf(errorOf('node', 'E', [...noise, own]))).toBe(hashOf(errorOf('node', 'E', [own])))
    })

    test.each([
      ['javascript', 'Object.<anonymous>', 'Object.?'],
      ['javascript', 'Timeout.tick [as _onTimeout]', 'Timeout.tick'],
      ['javascript', 'new Cart', 'Cart'],
      ['javascript', 'async load', 'load'],
      ['javascript', 'Cart.prototype.pay', 'Cart.pay'],
      ['javascript', 'async*pay', 'pay'],
      ['javascript', 'pay/<', '<anonymous>'],
      ['node', 'Object.pay', 'pay'],
      ['csharp', 'Cart.<PayAsync>d__12.MoveNext', 'Cart.PayAsync'],
      ['csharp', 'Cart.<Pay>b__3_0', 'Cart.<Pay>b__4_1'],
      ['php', '{closure:App\\Cart::pay():12}', '{closure:App\\Cart::pay():14}'],
      ['java', 'lambda$pay$3', 'lambda$pay$12'],
      ['java', 'access$100', 'access$200'],
      ['native', 'void render::Atlas::grow<int>(int, char const*)', 'render::Atlas::grow'],
      ['native', 'crash_here + 24', 'crash_here'],
      ['native', 'parse.cold.3', 'parse'],
      ['native', 'core::run::h0123456789abcdef', 'core::run'],
      ['cocoa', '__45-[Cart pay]_block_invoke_2', '__45-[Cart pay]_block_invoke'],
      ['cocoa', 'specialized ImageCache.evict(_:)', 'ImageCache.evict(_:)'],
      ['cocoa', 'closure #1 (Swift.Int) -> () in Cart.pay()', 'closure #2 in Cart.pay()'],
      ['go', 'main.handler.func1', 'main.handler.func2'],
      ['ruby', 'block in pay', 'pay'],
    ])('%s: %s is %s', (platform, one, other) => {
      const named = (name: string): string =>
        hashOf(
          errorOf(platform, 'E', [
            { function: name, module: 'm', package: '/app/m', in_app: true },
            { function: 'known', module: 'm', package: '/app/m', in_app: true },
          ]),
        )
      expect(named(one)).toBe(named(other))
    })

    test.each([
      ['com.acme.Pay$$Lambda$12/0x0000000800c03000', 'com.acme.Pay$$Lambda$99'],
      ['com.acme.Pay$$EnhancerBySpringCGLIB$$1a2b3c', 'com.acme.Pay$$EnhancerBySpringCGLIB$$4d5e6f'],
      ['jdk.internal.reflect.GeneratedMethodAccessor17', 'jdk.internal.reflect.GeneratedMethodAccessor3'],
      ['com.acme.Cart$1', 'com.acme.Cart$2'],
      ['com.sun.proxy.$Proxy12', 'com.sun.proxy.$Proxy7'],
    ])('class %s is %s', (one, other) => {
      const of = (module: string): string => hashOf(errorOf('java', 'E', [{ function: 'run', module, in_app: true }]))
      expect(of(one)).toBe(of(other))
    })

    test.each([
      ['https://cdn.example.com/assets/app-a1b2c3d4.js', 'https://cdn.example.com/assets/app-99ffee01.js?v=3'],
      ['https://cdn.example.com/app.3f2a9c1b.min.js', 'app.0011aabb.min.js'],
      ['/assets/index-BR-l9zjD.js', '/assets/index-C4xYz_1q.js'],
      ['App.js', 'app.js#top'],
    ])('file %s is %s', (one, other) => {
      const of = (filename: string): string =>
        hashOf(errorOf('javascript', 'E', [{ function: 'run', filename, in_app: true }]))
      expect(of(one)).toBe(of(other))
    })

    test('a native package is identified by its name, not by an address', () => {
      const crash = (base: number): Event =>
        eventOf({
          platform: 'native',
          debug_meta: {
            images: [
              {
                type: 'elf',
                code_file: '/data/app/libgame.so',
                image_addr: `0x${base.toString(16)}`,
                image_size: 65536,
              },
            ],
          },
          exception: {
            values: [
              {
                type: 'SIGSEGV',
                mechanism: { type: 'signalhandler', synthetic: true, handled: false },
                stacktrace: { frames: [{ instruction_addr: `0x${(base + 0x1119).toString(16)}` }] },
              },
            ],
          },
        })
      expect(readable(crash(0x7f915075e000))).toEqual(['exception_stack', 'type: SIGSEGV', nameless])
      expect(hashOf(crash(0x7f915075e000))).toBe(hashOf(crash(0x55ade9771000)))
    })
  })

  describe('with effect', () => {
    test('type, function, module', () => {
      const frame = { function: 'pay', module: 'shop', in_app: true }
      const base = hashOf(errorOf('python', 'E', [frame]))
      expect(hashOf(errorOf('python', 'F', [frame]))).not.toBe(base)
      expect(hashOf(errorOf('python', 'E', [{ ...frame, function: 'refund' }]))).not.toBe(base)
      expect(hashOf(errorOf('python', 'E', [{ ...frame, module: 'bank' }]))).not.toBe(base)
    })

    test('the encoding separates adjacent names', () => {
      const one = eventOf({ message: 'm', fingerprint: ['a', 'b'] })
      const other = eventOf({ message: 'm', fingerprint: ['a","b'] })
      expect(hashOf(one)).not.toBe(hashOf(other))
    })

    test('a synthetic type is left out when functions are known', () => {
      const crash = (type: string): Event =>
        eventOf({
          platform: 'native',
          exception: {
            values: [{ type, mechanism: { synthetic: true }, stacktrace: { frames: [{ function: 'crash_here' }] } }],
          },
        })
      expect(hashOf(crash('SIGSEGV'))).toBe(hashOf(crash('SIGBUS')))
    })
  })

  describe('application not responding', () => {
    const anr = (type: string, mechanism: string, frames: object[]): Event =>
      eventOf({
        platform: 'java',
        exception: {
          values: [
            { type, value: 'ANR for at least 5000 ms.', mechanism: { type: mechanism }, stacktrace: { frames } },
          ],
        },
      })
    const own = { module: 'com.acme.Cart', function: 'load', in_app: true }
    const idle = { module: 'android.os.MessageQueue', function: 'nativePollOnce', in_app: false }
    const looper = { module: 'android.os.Looper', function: 'loop', in_app: false }

    test('is grouped by in-app frames', () => {
      const one = anr('ApplicationNotResponding', 'ANR', [looper, own])
      expect(readable(one)).toEqual(['anr', 'kind: ANR', 'function in com.acme.Cart: load'])
      expect(hashOf(one)).toBe(hashOf(anr('Anr$ApplicationNotResponding', 'AppExitInfo', [own])))
    })

    test('is one group when the main thread only waits', () => {
      expect(readable(anr('ApplicationNotResponding', 'ANR', [looper, idle]))).toEqual(['anr', 'kind: ANR'])
      expect(readable(anr('ApplicationNotResponding', 'ANR', [own, looper, idle]))).toEqual(['anr', 'kind: ANR'])
    })

    test.each(['App Hanging', 'App Hang Fully Blocked'])('%s is one too', (type) => {
      expect(readable(anr(type, 'AppHang', [looper]))).toEqual(['anr', 'kind: ANR'])
    })
  })

  describe('words', () => {
    test.each([
      ['order 1234 failed after 12.5 s', 'order 99 failed after 3 s'],
      ['cannot reach 10.0.0.7:5432', 'cannot reach 192.168.1.9:5433'],
      ['no user 9ec79c33-ec99-42ab-8353-589fcb2e04dc', 'no user 11111111-2222-3333-4444-555555555555'],
      ['at 0x7f915075e000', 'at 0x55ade9771000'],
      ['expired 2026-11-20T04:41:01.289Z', 'expired 2025-01-02T03:04:05Z'],
      ['mail to ada@example.com bounced', 'mail to grace@example.org bounced'],
      ['GET https://a.example.com/x?y=1 failed', 'GET https://b.example.com/z failed'],
      ['cannot open /home/ada/notes.txt', 'cannot open /Users/grace/todo.txt'],
      ['blob d41d8cd98f00b204e9800998ecf8427e missing', 'blob 0cc175b9c0f1b6a831c399e269772661 missing'],
      ['unknown key "cart"', 'unknown key "basket"'],
      ['flag is true', 'flag is false'],
      ['since Thu Nov 20 2026 04:41:01 GMT+0000', 'since Mon Jan 05 2026 14:01:59 GMT+0200'],
      ['since Thu, 20 Nov 2026 04:41:01 GMT', 'since Mon, 5 Jan 2026 14:01:59 GMT'],
      ['waited 1h30m', 'waited 12m5s'],
      ['got 5GB', 'got 12GB'],
      ['peer fe80::1', 'peer 2001:db8::7'],
      ['commit a1b2c3d', 'commit 0f9e8d7'],
      [`ids ${'1234567 '.repeat(250)}end`, `ids ${'7 '.repeat(250)}end`],
    ])('%s = %s', (one, other) => {
      expect(parameterise(one)).toBe(parameterise(other))
    })

    test.each([
      ['Request failed with status code 404', 'Request failed with status code 500'],
      ['HTTP 502', 'HTTP 404'],
      ['404 Not Found', '500 Internal Server Error'],
      ['SQLSTATE[42S02]: missing', 'SQLSTATE[23505]: missing'],
      ['[Errno 2] open', '[Errno 13] open'],
      ['killed by signal 9', 'killed by signal 11'],
      ['server responded with 502', 'server responded with 404'],
      ['ORA-00942: missing', 'ORA-01017: missing'],
      ['io: No such file (os error 2)', 'io: No such file (os error 13)'],
    ])('%s ≠ %s', (one, other) => {
      expect(parameterise(one)).not.toBe(parameterise(other))
    })

    test('an apostrophe starts no quotation', () => {
      expect(parameterise("don't open what you can't close")).toBe("don't open what you can't close")
    })
  })

  describe('for any stack', () => {
    const name = fc.stringMatching(/^[a-z][a-zA-Z]{2,12}$/)
    const number = fc.integer({ min: 1, max: 1_000_000 })

    test('lines, columns and addresses never change the hash', () => {
      fc.assert(
        fc.property(
          fc.constantFrom(
            'javascript',
            'node',
            'python',
            'java',
            'native',
            'cocoa',
            'go',
            'php',
            'ruby',
            'dart',
            'csharp',
            'other',
          ),
          fc.array(fc.tuple(name, name), { minLength: 1, maxLength: 8 }),
          fc.array(number, { minLength: 3, maxLength: 3 }),
          fc.array(number, { minLength: 3, maxLength: 3 }),
          (platform, names, one, other) => {
            const event = (numbers: number[]): Event =>
              errorOf(
                platform,
                'E',
                names.map(([fn, file]) => ({
                  function: fn,
                  filename: `/srv/${file}.js`,
                  lineno: numbers[0],
                  colno: numbers[1],
                  instruction_addr: `0x${(numbers[2] ?? 0).toString(16)}`,
                  in_app: true,
                })),
              )
            expect(hashOf(event(one))).toBe(hashOf(event(other)))
          },
        ),
      )
    })

    test('another function is another issue', () => {
      fc.assert(
        fc.property(fc.constantFrom('node', 'python', 'java', 'native', 'go'), name, name, (platform, one, other) => {
          fc.pre(one !== other && !['eval', 'anonymous'].includes(one) && !['eval', 'anonymous'].includes(other))
          const of = (fn: string): string =>
            hashOf(errorOf(platform, 'E', [{ function: fn, filename: 'a.x', in_app: true }]))
          expect(of(one)).not.toBe(of(other))
        }),
      )
    })

    test('numbers, ids and addresses in a value never change the hash', () => {
      const fleeting = fc.oneof(
        fc.nat().map(String),
        fc.uuid(),
        fc.integer({ min: 0x1000, max: 0x7fffffff }).map((value) => `0x${value.toString(16)}`),
      )
      fc.assert(
        fc.property(fc.nat(), fc.nat(), fc.uuid(), fc.uuid(), fleeting, (a, b, c, d, e) => {
          const of = (one: number, two: string): string =>
            hashOf(eventOf({ exception: { type: 'E', value: `order ${one} of ${two} at ${e}` } }))
          expect(of(a, c)).toBe(of(b, d))
        }),
      )
    })

    test('any JSON gets a fingerprint, and the same one twice', () => {
      fc.assert(
        fc.property(
          fc.dictionary(
            fc.constantFrom(
              'exception',
              'threads',
              'message',
              'logentry',
              'fingerprint',
              'platform',
              'stacktrace',
              'type',
            ),
            fc.jsonValue(),
          ),
          (raw) => {
            const event = eventOf(raw)
            expect(hashOf(event)).toBe(hashOf(eventOf(raw)))
            expect(fingerprint(event, { version }).hash).toHaveLength(32)
          },
        ),
        { numRuns: 500 },
      )
    })
  })
})
