import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { cases } from '#test/kit/properties.ts'
import { anEvent, anException } from '#test/kit/sdk.ts'
import { readIntakeSamples } from '#test/kit/samples.ts'
import { floodGrouping } from '../../issues/grouping/flood-grouping.ts'
import { contentEncodingFrom, decodeBodySync } from '../../events/protocol/decode.ts'
import { parseEnvelope } from '../../events/protocol/envelope.ts'
import { normalizeEvent } from '../../events/protocol/normalize.ts'
import { GroupingRules, LATEST_GROUPING_VERSION } from '../../issues/grouping/grouping-rules.api.ts'
import { groupingSettings } from '../../issues/grouping/grouping-settings.ts'
import { eventPrint } from './event-print.ts'
import { createFloodSampling, type EventBytes } from './flood-sampling.ts'

const bytesOf = (event: Record<string, unknown>): EventBytes => {
  const decoded = Buffer.from(JSON.stringify(event))
  return { decoded, start: 0, end: decoded.length }
}
const groupingWith = (rules: unknown = {}) =>
  floodGrouping({
    ...groupingSettings({ grouping_version: LATEST_GROUPING_VERSION }),
    grouping_rules: GroupingRules.parse({ fingerprint: [], stack: [], ...(rules as object) }),
  })
const PLAIN = groupingWith()

const printOf = (event: Record<string, unknown>, grouping = PLAIN): string => {
  const { decoded, start, end } = bytesOf(event)
  return eventPrint(decoded, start, end, grouping.reads)
}
const fingerprintOf = (event: Record<string, unknown>, grouping = PLAIN): string =>
  grouping.fingerprintOf(
    normalizeEvent(event, {
      eventId: 'a'.repeat(32),
      receivedAt: new Date(0),
      sentAt: null,
      clientIp: null,
      userAgent: null,
    }),
  )

describe('the cheap print', () => {
  test('is equal when only ids, times, lines, variables and numbers in the text differ', () => {
    const make = (n: number) =>
      anEvent({
        timestamp: 1_700_000_000 + n,
        extra: { order: n },
        breadcrumbs: { values: [{ message: `step ${n}`, type: 'default' }] },
        exception: {
          values: [
            anException({
              value: `order ${471_100 + n} failed`,
              stacktrace: { frames: [{ function: 'pay', filename: 'src/pay.ts', lineno: n, vars: { order: n } }] },
            }),
          ],
        },
      })
    expect(printOf(make(1))).toBe(printOf(make(22)))
  })

  test('tells threads and bare stacks apart unless exceptions with types and frames decide alone', () => {
    const stack = (name: string) => ({ frames: [{ function: name, filename: 'src/pay.ts' }] })
    const untyped = [{ stacktrace: { frames: [] } }, { stacktrace: stack('pay') }]
    const typed = [
      { type: 'Error' },
      { type: 'Error', stacktrace: { frames: [] } },
      { type: 'Error', stacktrace: null },
    ]
    for (const exception of [...untyped, ...typed]) {
      const make = (name: string) => ({
        exception: { values: [exception] },
        threads: { values: [{ crashed: true, stacktrace: stack(name) }] },
        message: 'boom',
      })
      expect(fingerprintOf(make('pay')), JSON.stringify(exception)).not.toBe(fingerprintOf(make('load')))
      expect(printOf(make('pay')), JSON.stringify(exception)).not.toBe(printOf(make('load')))
    }
    // One of two exceptions has no stack: it takes its thread's stack.
    const chain = (name: string) => ({
      exception: {
        values: [
          { type: 'Cause', thread_id: 1 },
          { type: 'Error', stacktrace: stack('pay') },
        ],
      },
      threads: { values: [{ id: 1, stacktrace: stack(name) }] },
    })
    expect(fingerprintOf(chain('pay'))).not.toBe(fingerprintOf(chain('load')))
    expect(printOf(chain('pay'))).not.toBe(printOf(chain('load')))
    const alone = (name: string) => ({
      exception: { values: [{ type: 'Error', value: 'boom', stacktrace: stack('pay') }] },
      threads: { values: [{ crashed: true, stacktrace: stack(name) }] },
      message: 'boom',
    })
    expect(fingerprintOf(alone('pay'))).toBe(fingerprintOf(alone('load')))
    expect(printOf(alone('pay'))).toBe(printOf(alone('load')))
  })

  const word = fc.constantFrom('pay', 'load', 'save1', 'save2', 'a"b', 'ü')
  const frame = fc.record(
    {
      function: word,
      module: word,
      filename: fc.constantFrom('src/a.ts', 'node_modules/b.js', '<anonymous>'),
      in_app: fc.boolean(),
      lineno: fc.nat(99),
      abs_path: fc.constantFrom('/srv/lib/a.ts', '/srv/app/a.ts'),
      context_line: fc.constantFrom('  pay()', '  load()'),
    },
    { requiredKeys: [] },
  )
  const nativeFrame = fc.record(
    {
      function: fc.constantFrom('<redacted>', '_mh_execute_header + 16', 'pay', 'main'),
      package: fc.constantFrom('/app/Shop', 'UIKitCore'),
      in_app: fc.boolean(),
      instruction_addr: fc.constantFrom('0x1010', '0x1020', '0x9010'),
    },
    { requiredKeys: ['package'] },
  )
  const image = fc.record({
    debug_id: fc.constantFrom('a'.repeat(32), 'b'.repeat(32)),
    code_file: fc.constant('/app/Shop'),
    image_addr: fc.constantFrom('0x1000', '0x9000'),
    image_size: fc.constant(0x800),
  })
  const text = fc.constantFrom(
    'Maximum call stack size exceeded',
    'HTTP 404',
    'HTTP 500',
    'order 4711 failed',
    'order 4712 failed',
    '',
    'boom',
  )
  const exception = fc.record(
    {
      type: fc.constantFrom('TypeError', 'HttpError', 'SIGSEGV'),
      value: text,
      mechanism: fc.record({
        type: fc.constantFrom('generic', 'anr', 'suppressed'),
        synthetic: fc.boolean(),
        is_exception_group: fc.boolean(),
        exception_id: fc.constantFrom(0, 1),
        parent_id: fc.constantFrom(0, 1, null),
        meta: fc.record({ signal: fc.record({ number: fc.constantFrom(6, 11) }) }),
      }),
      stacktrace: fc.record({ frames: fc.array(fc.oneof(frame, nativeFrame), { maxLength: 4 }) }),
    },
    { requiredKeys: [] },
  )
  const anyEvent = fc.record(
    {
      platform: fc.constantFrom('javascript', 'python', 'native'),
      exception: fc.record({ values: fc.array(exception, { maxLength: 2 }) }),
      threads: fc.record({
        values: fc.array(
          fc.record({
            crashed: fc.boolean(),
            current: fc.boolean(),
            stacktrace: fc.record({ frames: fc.array(frame, { maxLength: 2 }) }),
          }),
          { maxLength: 2 },
        ),
      }),
      debug_meta: fc.record({ images: fc.array(image, { maxLength: 1 }) }),
      message: text,
      logentry: fc.record({ message: text, formatted: text }, { requiredKeys: [] }),
      fingerprint: fc.array(fc.constantFrom('{{ default }}', 'a', 'b'), { maxLength: 2 }),
      tags: fc.record({ shop: text, release: fc.constantFrom('1', '2') }, { requiredKeys: [] }),
      level: fc.constantFrom('error', 'warning'),
      transaction: fc.constantFrom('/a', '/b'),
      logger: fc.constantFrom('x', 'y'),
      environment: fc.constantFrom('live', 'test'),
      server_name: fc.constantFrom('one', 'two'),
    },
    { requiredKeys: [] },
  )

  const match = [{ key: 'type', glob: '*' }]
  const GROUPINGS = {
    'no rules': PLAIN,
    'the level': groupingWith({
      fingerprint: [{ match: [{ key: 'level', glob: 'w*' }], fingerprint: ['{{ default }}', 'w'] }],
    }),
    'the path': groupingWith({ stack: [{ match: [{ key: 'path', glob: '*/lib/*' }], action: 'not_in_app' }] }),
    'the value': groupingWith({
      fingerprint: [{ match: [{ key: 'value', glob: '*4711*' }], fingerprint: ['{{ value }}'] }],
    }),
    ...Object.fromEntries(
      ['tag.shop', 'tag.server_name', 'release', 'environment', 'transaction', 'logger', 'function', 'message'].map(
        (name) => [name, groupingWith({ fingerprint: [{ match, fingerprint: ['{{ default }}', `{{ ${name} }}`] }] })],
      ),
    ),
  }
  test.each(Object.entries(GROUPINGS))('differs when the fingerprint differs: rules read %s', (_name, grouping) => {
    const byPrint = new Map<string, string>()
    fc.assert(
      fc.property(anyEvent, (event) => {
        const print = printOf(event, grouping)
        const known = byPrint.get(print)
        const real = fingerprintOf(event, grouping)
        byPrint.set(print, real)
        if (known !== undefined) expect(real).toBe(known)
      }),
      { numRuns: cases(700, 6_000) },
    )
    expect(byPrint.size).toBeGreaterThan(300)
  })

  test('differs for different recorded events, and accepts any bytes', () => {
    const seen = new Map<string, string>()
    for (const sample of readIntakeSamples()) {
      if (!sample.url.includes('envelope')) continue
      const encoding = Object.entries(sample.headers).find(([name]) => name.toLowerCase() === 'content-encoding')?.[1]
      const decoded = decodeBodySync(sample.body, contentEncodingFrom(encoding))
      for (const item of parseEnvelope(decoded).items) {
        if (item.type !== 'event') continue
        const real = fingerprintOf(
          JSON.parse(decoded.toString('utf8', item.start, item.end)) as Record<string, unknown>,
        )
        const print = eventPrint(decoded, item.start, item.end)
        expect(seen.get(print) ?? real, sample.name).toBe(real)
        seen.set(print, real)
      }
    }
    expect(seen.size).toBeGreaterThan(5)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(eventPrint(Buffer.from(bytes), 0, bytes.length)).toMatch(/^[\w+/=]{28}$/)
      }),
    )
  })
})

describe('flood sampling', () => {
  const subject = { projectId: 'p', grouping: PLAIN, perMinute: 3_000 }
  const kind = (name: string) => bytesOf(anEvent({ error: { type: name } }))
  const at = () => {
    let ms = 0
    return { floods: createFloodSampling(() => ms), advance: (by: number) => (ms += by) }
  }

  test('a flood of one kind does not hide a single event of another kind', () => {
    const { floods, advance } = at()
    const flood = kind('Flood')
    floods.observe(subject, flood)
    for (let i = 0; i < 3_000; i++) {
      if (i % 100 === 0) advance(100)
      expect(floods.decide(subject, flood)).toBe('known')
    }
    expect(floods.decide(subject, kind('Other'))).toBe('first')
  })

  test('bounds the accepted events and the work of a flood of new kinds', () => {
    const { floods, advance } = at()
    let through = 0
    const started = process.cpuUsage().user
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 300; i++) {
        const decision = floods.decide(subject, kind(`Kind${second}x${i}`))
        if (decision === 'first') through++
      }
      advance(1_000)
    }
    // A tenth of the limit a minute.
    expect(through).toBe(300)
    expect(process.cpuUsage().user - started).toBeLessThan(30_000_000)
    advance(1_000)
    expect(floods.decide(subject, kind('Later'))).toBe('first')
  })

  test('uses the grouping rules of the project', () => {
    const { floods } = at()
    const byShop = {
      ...subject,
      grouping: groupingWith({
        fingerprint: [{ match: [{ key: 'type', glob: '*' }], fingerprint: ['{{ tag.shop }}'] }],
      }),
    }
    const of = (type: string, shop: string) => bytesOf(anEvent({ error: { type }, tags: { shop } }))
    floods.observe(byShop, of('Flood', 'a'))
    // By the rule, the shop decides about the issue, not the type.
    expect(floods.decide(byShop, of('Other', 'a'))).toBe('known')
    expect(floods.decide(byShop, of('Flood', 'b'))).toBe('first')
    // The rules changed: kinds start from the beginning.
    expect(floods.decide(subject, of('Flood', 'a'))).toBe('first')
    expect(floods.decide(subject, of('Flood', 'c'))).toBe('again')
  })

  test('inspects large events within the budget, and leaves half of it to other projects', () => {
    const { floods, advance } = at()
    const large = (name: string) =>
      bytesOf({
        ...anEvent({ error: { type: name } }),
        extra: { blob: 'x'.repeat(900_000) },
      })
    const decisions = Array.from({ length: 12 }, (_, i) => floods.decide(subject, large(`Large${i}`)))
    expect(decisions.filter((decision) => decision === 'first')).toHaveLength(10)
    expect(decisions.at(-1)).toBe('uninspected')
    expect(floods.decide({ ...subject, projectId: 'q' }, kind('Other'))).toBe('first')
    advance(1_000)
    expect(floods.decide(subject, large('LargeLater'))).toBe('first')
  })

  test('bytes that are no event are not accepted, and kinds are dropped ten minutes after a flood', () => {
    const { floods, advance } = at()
    for (const bytes of ['nope', '[]', '"x"', '{', '['.repeat(100)]) {
      const decoded = Buffer.from(bytes)
      expect(floods.decide(subject, { decoded, start: 0, end: decoded.length })).toBe('uninspected')
    }
    floods.observe(subject, kind('Old'))
    expect(floods.decide(subject, kind('Old'))).toBe('known')
    advance(11 * 60_000)
    expect(floods.decide(subject, kind('Old'))).toBe('first')
  })
})
