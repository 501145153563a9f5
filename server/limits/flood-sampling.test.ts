import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { anEvent, anException } from '#test/kit/sdk.ts'
import { readIntakeSamples } from '#test/kit/samples.ts'
import { floodGrouping } from '../grouping/flood-grouping.ts'
import { contentEncodingFrom, decodeBodySync } from '../protocol/decode.ts'
import { parseEnvelope } from '../protocol/envelope.ts'
import { normalizeEvent } from '../protocol/normalize.ts'
import { GroupingRules } from '../grouping/grouping-rules.api.ts'
import { groupingSettings } from '../grouping/grouping-settings.ts'
import { eventPrint } from './event-print.ts'
import { createFloodSampling, type EventBytes } from './flood-sampling.ts'

const bytesOf = (event: Record<string, unknown>): EventBytes => {
  const decoded = Buffer.from(JSON.stringify(event))
  return { decoded, start: 0, end: decoded.length }
}
const groupingWith = (rules: unknown = {}) =>
  floodGrouping({
    ...groupingSettings({ grouping_version: 2 }),
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
  test('is the same where only ids, times, lines, variables and numbers in the text differ', () => {
    const make = (n: number) =>
      anEvent({
        timestamp: 1_700_000_000 + n,
        extra: { order: n },
        breadcrumbs: { values: [{ message: `step ${n}`, type: 'default' }] },
        exception: {
          values: [
            anException({
              value: `order ${n} failed`,
              stacktrace: { frames: [{ function: 'pay', filename: 'src/pay.ts', lineno: n, vars: { order: n } }] },
            }),
          ],
        },
      })
    expect(printOf(make(1))).toBe(printOf(make(22)))
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
      }),
      stacktrace: fc.record({ frames: fc.array(frame, { maxLength: 4 }) }),
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
  test.each(Object.entries(GROUPINGS))('differs where the fingerprint does: rules ask for %s', (_name, grouping) => {
    const byPrint = new Map<string, string>()
    fc.assert(
      fc.property(anyEvent, (event) => {
        const print = printOf(event, grouping)
        const known = byPrint.get(print)
        const real = fingerprintOf(event, grouping)
        byPrint.set(print, real)
        if (known !== undefined) expect(real).toBe(known)
      }),
      { numRuns: 2_000 },
    )
    expect(byPrint.size).toBeGreaterThan(300)
  })

  test('tells recorded events apart, and takes anything', () => {
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

describe('a storm', () => {
  const subject = { projectId: 'p', grouping: PLAIN, perMinute: 3_000 }
  const kind = (name: string) => bytesOf(anEvent({ error: { type: name } }))
  const at = () => {
    let ms = 0
    return { floods: createFloodSampling(() => ms), advance: (by: number) => (ms += by) }
  }

  test('of the same over and over does not hide a single event of another kind', () => {
    const { floods, advance } = at()
    const flood = kind('Flood')
    floods.note(subject, flood)
    for (let i = 0; i < 3_000; i++) {
      if (i % 100 === 0) advance(100)
      expect(floods.judge(subject, flood)).toBe('known')
    }
    expect(floods.judge(subject, kind('News'))).toBe('first')
  })

  test('of nothing but new kinds is bounded, and so is the work it makes', () => {
    const { floods, advance } = at()
    let through = 0
    const started = process.cpuUsage().user
    for (let second = 0; second < 60; second++) {
      for (let i = 0; i < 300; i++) {
        const verdict = floods.judge(subject, kind(`Kind${second}x${i}`))
        if (verdict === 'first') through++
      }
      advance(1_000)
    }
    // A tenth of the limit a minute.
    expect(through).toBe(300)
    expect(process.cpuUsage().user - started).toBeLessThan(30_000_000)
    advance(1_000)
    expect(floods.judge(subject, kind('Later'))).toBe('first')
  })

  test('is told apart by the rules of its project', () => {
    const { floods } = at()
    const byShop = {
      ...subject,
      grouping: groupingWith({
        fingerprint: [{ match: [{ key: 'type', glob: '*' }], fingerprint: ['{{ tag.shop }}'] }],
      }),
    }
    const of = (type: string, shop: string) => bytesOf(anEvent({ error: { type }, tags: { shop } }))
    floods.note(byShop, of('Flood', 'a'))
    // One issue by the rule, whatever their types; another one, whatever its type.
    expect(floods.judge(byShop, of('Other', 'a'))).toBe('known')
    expect(floods.judge(byShop, of('Flood', 'b'))).toBe('first')
    // Somebody changed the rules: what was known is not known any more.
    expect(floods.judge(subject, of('Flood', 'a'))).toBe('first')
    expect(floods.judge(subject, of('Flood', 'c'))).toBe('again')
  })

  test('of large events is looked at as far as the budget goes, and leaves half to other projects', () => {
    const { floods, advance } = at()
    const large = (name: string) =>
      bytesOf({
        ...anEvent({ error: { type: name } }),
        extra: { blob: 'x'.repeat(900_000) },
      })
    const verdicts = Array.from({ length: 12 }, (_, i) => floods.judge(subject, large(`Large${i}`)))
    expect(verdicts.filter((verdict) => verdict === 'first')).toHaveLength(10)
    expect(verdicts.at(-1)).toBe('unseen')
    expect(floods.judge({ ...subject, projectId: 'q' }, kind('News'))).toBe('first')
    advance(1_000)
    expect(floods.judge(subject, large('LargeLater'))).toBe('first')
  })

  test('what is no event is not let through, and a storm of ten minutes ago is forgotten', () => {
    const { floods, advance } = at()
    for (const bytes of ['nope', '[]', '"x"', '{', '['.repeat(100)]) {
      const decoded = Buffer.from(bytes)
      expect(floods.judge(subject, { decoded, start: 0, end: decoded.length })).toBe('unseen')
    }
    floods.note(subject, kind('Old'))
    expect(floods.judge(subject, kind('Old'))).toBe('known')
    advance(11 * 60_000)
    expect(floods.judge(subject, kind('Old'))).toBe('first')
  })
})
