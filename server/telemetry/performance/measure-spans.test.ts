import { expect, test } from 'vitest'
import type { Span } from '../../events/protocol/span.ts'
import { bySegment, countSpans, OWN_CODE, REST, selfTimes } from './measure-spans.ts'
import { SpanNames } from './span-names.ts'

const aSpan = (spanId: string, fields: Partial<Span> = {}): Span => ({
  traceId: 't',
  spanId,
  parentSpanId: null,
  name: '',
  status: 'ok',
  isSegment: false,
  startMs: 0,
  endMs: 0,
  attributes: {},
  measurements: {},
  ...fields,
})
const op = (text: string, more: Record<string, unknown> = {}) => ({ attributes: { 'sentry.op': text, ...more } })
const count = (spans: readonly Span[], segment: Span | null, scrubbing = {}) =>
  countSpans(
    spans,
    segment,
    { transaction: 'checkout', environment: 'production' },
    { scrubbing, names: new SpanNames() },
  )

test('the own time of a span is what its children do not cover, overlapping or longer than itself', () => {
  const spans = [
    aSpan('a', { endMs: 100 }),
    aSpan('b', { parentSpanId: 'a', startMs: 30, endMs: 60 }),
    aSpan('c', { parentSpanId: 'a', startMs: 10, endMs: 40 }),
    aSpan('d', { parentSpanId: 'a', startMs: 90, endMs: 130 }),
  ]
  expect(selfTimes(spans)).toEqual([40, 30, 30, 40])
})

test('spans with one id for all do not make it slow', () => {
  const same = Array.from({ length: 10_000 }, () => aSpan('a', { parentSpanId: 'a', endMs: 1 }))
  const started = process.cpuUsage()
  selfTimes(same)
  bySegment(same)
  expect(process.cpuUsage(started).user / 1_000).toBeLessThan(500)
})

test('operations add up by op and name; hits are those of spans that say so', () => {
  const segment = aSpan('a', { isSegment: true, endMs: 100, ...op('http.server') })
  const found = count(
    [
      segment,
      aSpan('b', { parentSpanId: 'a', name: 'SELECT 1', startMs: 10, endMs: 20, ...op('db') }),
      aSpan('c', { parentSpanId: 'a', name: 'SELECT 2', startMs: 20, endMs: 40, status: 'error', ...op('db') }),
      aSpan('d', {
        parentSpanId: 'a',
        name: 'basket:12',
        startMs: 40,
        endMs: 41,
        ...op('cache.get', { 'cache.hit': true }),
      }),
      aSpan('e', { parentSpanId: 'a', name: 'render', startMs: 41, endMs: 46, ...op('function') }),
      aSpan('f', {
        parentSpanId: 'a',
        name: 'GET https://pay.example/1',
        startMs: 50,
        endMs: 60,
        ...op('http.client'),
      }),
    ],
    segment,
  )
  expect(found).toEqual({
    transaction: 'checkout',
    environment: 'production',
    operations: [
      { op: 'db', name: 'SELECT ?', ms: [10, 20], failures: 1, hits: [] },
      { op: 'cache.get', name: 'basket:*', ms: [1], failures: 0, hits: [true] },
      { op: 'http.client', name: 'pay.example', ms: [10], failures: 0, hits: [] },
    ],
    parts: [
      { name: OWN_CODE, ms: [54] },
      { name: 'Database', ms: [10, 20] },
      { name: 'Cache', ms: [1] },
      { name: 'function', ms: [5] },
      { name: 'pay.example', ms: [10] },
    ],
  })
})

test('without their segment spans say nothing about the time', () => {
  expect(count([aSpan('b', { name: 'SELECT 1', endMs: 1, ...op('db') })], null).parts).toEqual([])
})

test('a transaction has a bounded number of parts', () => {
  const segment = aSpan('a', { isSegment: true, endMs: 100 })
  const others = Array.from({ length: 50 }, (_, index) =>
    aSpan(`b${index}`, { parentSpanId: 'a', endMs: 1, ...op(`step.${index}`) }),
  )
  const { parts } = count([segment, ...others], segment)
  expect(parts).toHaveLength(21)
  expect(parts.at(-1)).toMatchObject({ name: REST })
  expect(parts.reduce((sum, { ms }) => sum + ms.length, 0)).toBe(51)
})

test('names and ops are scrubbed', () => {
  const [found] = count([aSpan('b', { name: 'queue of jane@shop.example', endMs: 1, ...op('queue.publish') })], null, {
    sensitiveKeys: [],
    removeEmails: true,
  }).operations
  expect(found?.name).not.toContain('jane@')
})

test('spans belong to the nearest segment above them, by its id or their parents', () => {
  const one = aSpan('a', { isSegment: true })
  const two = aSpan('b', { isSegment: true, parentSpanId: 'c' })
  const inOne = aSpan('c', { parentSpanId: 'a' })
  const inTwo = aSpan('d', { parentSpanId: 'x', attributes: { 'sentry.segment.id': 'b' } })
  const deeper = aSpan('e', { parentSpanId: 'd' })
  const alone = aSpan('f', { parentSpanId: 'y' })
  const circle = [aSpan('g', { parentSpanId: 'h' }), aSpan('h', { parentSpanId: 'g' })]
  const groups = bySegment([deeper, one, two, inOne, inTwo, alone, ...circle])
  const idsOf = (key: Span | null) =>
    groups
      .get(key)
      ?.map(({ spanId }) => spanId)
      .sort()
  expect(idsOf(one)).toEqual(['a', 'c'])
  expect(idsOf(two)).toEqual(['b', 'd', 'e'])
  expect(idsOf(null)).toEqual(['f', 'g', 'h'])
})
