import { expect, test } from 'vitest'
import { chooseSamples } from './choose-samples.ts'
import { operationKind, operationName, rankOperations, selfTimes, timeParts, withoutLiterals } from './spans-by-time.ts'
import type { StoredSpan } from './stored-span.ts'

const aSpan = (fields: Partial<StoredSpan>): StoredSpan => ({
  span_id: 'a',
  parent_span_id: null,
  op: 'http.server',
  description: '',
  status: 'ok',
  is_segment: false,
  start_ms: 0,
  end_ms: 0,
  data: {},
  ...fields,
})

test.each([
  ["select * from t where a = 1 and b = 'x''y'", 'select * from t where a = ? and b = ?'],
  ['select a1 from t2 where id in ($1, $2,\n $3)', 'select a1 from t2 where id in (?)'],
  ['', ''],
])('a statement loses its values: %j', (given, shown) => {
  expect(withoutLiterals(given)).toBe(shown)
})

test.each([
  ['db.sql.query', 'queries', { description: 'SELECT 1' }, 'SELECT ?'],
  ['db', 'queries', {}, '(unknown)'],
  [
    'http.client',
    'outgoing',
    { description: 'GET https://user:pw@API.pay.example:8443/v1/1?key=2' },
    'api.pay.example:8443',
  ],
  ['http.client', 'outgoing', { description: 'GET', data: { 'server.address': 'id.example' } }, 'id.example'],
  ['http.client', 'outgoing', { description: 'GET /v2/slots' }, '(same origin)'],
  ['http.client', 'outgoing', { description: 'GET //cdn' }, '(unknown)'],
  ['queue.process', 'queues', { description: 'x', data: { 'messaging.destination.name': 'mails' } }, 'mails'],
  ['cache.get', 'caches', { description: 'user:4711' }, 'user:*'],
  ['resource.script', 'resources', { description: 'https://cdn.example/app.js?v=1' }, 'cdn.example/app.js'],
] as const)('an operation %s is one of %s', (op, kind, fields, name) => {
  const span = aSpan({ op, ...fields })
  expect(operationKind(span)).toBe(kind)
  expect(operationName(kind, span)).toBe(name)
})

test('the own time of a span is what its children do not cover, overlapping or longer than itself', () => {
  const spans = [
    aSpan({ is_segment: true, end_ms: 100 }),
    aSpan({ span_id: 'b', parent_span_id: 'a', op: 'db', start_ms: 10, end_ms: 40 }),
    aSpan({ span_id: 'c', parent_span_id: 'a', op: 'db', start_ms: 30, end_ms: 60 }),
    aSpan({
      span_id: 'd',
      parent_span_id: 'a',
      op: 'http.client',
      description: 'GET https://x.example/',
      start_ms: 90,
      end_ms: 130,
    }),
  ]
  expect(selfTimes(spans)).toEqual([40, 30, 30, 40])
  const parts = timeParts([
    { traceId: 't', transaction: 'x', spans },
    { traceId: 'u', transaction: 'x', spans: [] },
  ])
  expect(parts.map(({ name, ms_per_request: ms, spans_per_request: many }) => [name, ms, many])).toEqual([
    ['Database', 30, 1],
    ['Own code', 20, 0.5],
    ['x.example', 20, 0.5],
  ])
  expect(parts.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1)
})

test('operations add up; percentiles need 20 spans', () => {
  const spans = Array.from({ length: 20 }, (_, index) =>
    aSpan({ op: 'db', description: `SELECT ${index}`, end_ms: index + 1, status: index === 0 ? 'error' : 'ok' }),
  )
  const gets = [true, false, true].map((hit) =>
    aSpan({ op: 'cache.get', description: 'k', data: { 'cache.hit': hit } }),
  )
  const { queries, caches, queues } = rankOperations([
    { traceId: 't', transaction: 'one', spans: spans.slice(0, 5) },
    { traceId: 'u', transaction: 'two', spans: [...spans.slice(5), ...gets] },
  ])
  expect(queries).toEqual([
    {
      name: 'SELECT ?',
      op: 'db',
      count: 20,
      traces: 2,
      per_trace: 10,
      p50_ms: 10,
      p95_ms: 19,
      total_ms: 210,
      failures: 1,
      hit_rate: null,
      transaction: 'two',
      transactions: 2,
      trace_id: 'u',
    },
  ])
  expect(caches[0]).toMatchObject({ count: 3, p50_ms: null, hit_rate: 2 / 3 })
  expect(queues).toEqual([])
})

test('sample traces are one for each reason, none twice', () => {
  const part = (traceId: string, durationMs: number, hasError = false) => ({
    traceId,
    durationMs,
    hasError,
    at: new Date(durationMs),
  })
  const given = [part('a', 50), part('b', 70), part('c', 90), part('d', 500), part('e', 40, true)]
  const chosen = chooseSamples(given, { p50_ms: 55, p75_ms: 72, p95_ms: 95 })
  expect(chosen.map(({ why, trace_id: id }) => [why, id])).toEqual([
    ['p50', 'a'],
    ['p75', 'b'],
    ['p95', 'c'],
    ['slowest', 'd'],
    ['failed', 'e'],
  ])
  expect(chooseSamples([], { p50_ms: 1, p75_ms: null, p95_ms: null })).toEqual([])
})
