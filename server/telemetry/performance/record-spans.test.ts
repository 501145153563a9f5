import { expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { dayPlus, utcDay } from '../../platform/kernel/day.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { compactPerformance } from './compact-performance.ts'
import { measureSpansOfTrace } from './measure.ts'
import { aSpan, contextOf, newSpanId, NOW, record, spanFact, TRACE, transactionFact } from './performance.fixture.ts'
import { readOperations, readTimeShares } from './read-operations.ts'
import { MAX_SPANS, OTHER } from './series.ts'

/** Spans counted from every transaction, against what was sent. */

const { app, clock } = await testApp()
clock.set(NOW)

const DAY_MS = 86_400_000
const scopeOf = (projectId: string, filter = {}) => ({
  projectIds: [projectId],
  from: new Date(NOW.getTime() - DAY_MS),
  to: new Date(NOW.getTime() + DAY_MS),
  filter,
})
const end = NOW.getTime() / 1_000 - 60

/** A child of `ms`, which ends with its transaction. */
const child = (op: string, description: string, ms: number, fields: object = {}) => ({
  trace_id: TRACE,
  span_id: newSpanId(),
  op,
  description,
  start_timestamp: end - ms / 1_000,
  timestamp: end,
  ...fields,
})

test('every transaction counts, before and after folding, and a repeated one counts once', async () => {
  const projectId = newId()
  const trace = { trace_id: TRACE, span_id: newSpanId(), op: 'http.server' }
  const facts = Array.from({ length: 30 }, (_, index) => {
    const root = { ...trace, span_id: newSpanId() }
    const spans = [
      child('db', `SELECT * FROM carts WHERE id = ${index}`, 20, {
        parent_span_id: root.span_id,
        status: index === 0 ? 'internal_error' : 'ok',
      }),
      child('cache.get', `basket:${index}`, 10, { data: { 'cache.hit': index % 3 === 0 } }),
    ]
    return transactionFact(projectId, {
      contexts: { trace: root },
      spans,
      transaction: index < 20 ? 'checkout' : 'home',
      environment: index < 25 ? 'production' : 'staging',
    })
  })
  await record(app.db, facts.slice(0, 10))
  await record(app.db, facts.slice(5))
  for (const folded of [false, true]) {
    if (folded) await compactPerformance(app)
    const { queries, caches, outgoing } = await readOperations(app, scopeOf(projectId))
    expect(queries).toMatchObject([
      {
        name: 'SELECT * FROM carts WHERE id = ?',
        op: 'db',
        count: 30,
        per_request: 1,
        failures: 1,
        transaction: 'checkout',
        transactions: 2,
      },
    ])
    expect(queries[0]?.total_ms).toBeCloseTo(600, 0)
    expect(queries[0]?.p95_ms).toBeCloseTo(20, 0)
    expect(caches).toMatchObject([{ name: 'basket:*', count: 30, hit_rate: 1 / 3 }])
    expect(outgoing).toEqual([])
    const staging = await readOperations(app, scopeOf(projectId, { environment: ['staging'] }))
    expect(staging.queries).toMatchObject([{ count: 5, transaction: 'home', transactions: 1 }])
    const time = await readTimeShares(app, scopeOf(projectId, { name: 'checkout' }))
    // The cache span is no child of the transaction, which lasts 100 ms.
    expect(time.map(({ name, ms_per_request: ms, spans_per_request: spans }) => [name, Math.round(ms), spans])).toEqual(
      [
        ['Own code', 80, 1],
        ['Database', 20, 1],
        ['Cache', 10, 1],
      ],
    )
  }
})

test('series that were written last before the range are not looked at', async () => {
  const projectId = newId()
  await record(app.db, [transactionFact(projectId, { spans: [child('db', 'SELECT 1', 20)] })])
  await compactPerformance(app)
  const countOn = async (lastDay: string): Promise<number> => {
    await app.db.query('update performance_series set last_day = $2::date where project_id = $1', [projectId, lastDay])
    return (await readOperations(app, scopeOf(projectId))).queries.length
  }
  const today = utcDay(NOW)
  // The range begins a day ago.
  expect(await countOn(dayPlus(today, -2))).toBe(1)
  expect(await countOn(dayPlus(today, -3))).toBe(0)
})

test('streamed spans count once, with the transaction of their segment or the one they name', async () => {
  const projectId = newId()
  const segment = aSpan({}, { 'sentry.op': 'http.server' })
  const inside = aSpan({ is_segment: false, parent_span_id: segment.spanId, name: 'SELECT 1' }, { 'sentry.op': 'db' })
  const alone = aSpan(
    { is_segment: false, parent_span_id: newSpanId(), name: 'SELECT 2' },
    { 'sentry.op': 'db', 'sentry.segment.name': 'nightly' },
  )
  const factOf = (spans: readonly (typeof segment)[]) => {
    const facts = new Map(spans.map((span) => [span, spanFact(projectId, span)]))
    const counted = measureSpansOfTrace(spans, facts, contextOf(projectId))
    return [...facts.values(), ...(counted === null ? [] : [counted])]
  }
  const [first, second] = [factOf([segment, inside]), factOf([alone])]
  expect(await record(app.db, [...first, ...second])).toEqual([true, true, true, true, true])
  expect((await record(app.db, first)).at(-1)).toBe(false)
  const { queries } = await readOperations(app, scopeOf(projectId))
  expect(queries).toMatchObject([{ name: 'SELECT ?', count: 2, per_request: 1, transactions: 2 }])
  const time = await readTimeShares(app, scopeOf(projectId, { name: 'checkout' }))
  expect(time.map(({ name }) => name)).toEqual(['Database', 'Own code'])
})

test('children of two segments that have not arrived count with the transaction that each names', () => {
  const child = (segment: string, name: string) =>
    aSpan(
      { is_segment: false, parent_span_id: newSpanId(), name: 'SELECT 1' },
      { 'sentry.op': 'db', 'sentry.segment.id': segment, 'sentry.segment.name': name },
    )
  const [one, other] = [newSpanId(), newSpanId()]
  const spans = [child(one, 'GET /cart'), child(other, 'GET /user'), child(one, 'GET /cart')]
  const counted = measureSpansOfTrace(spans, new Map(), contextOf(newId()))
  expect(counted?.spans?.map(({ transaction, operations }) => [transaction, operations[0]?.ms.length])).toEqual([
    ['GET /cart', 2],
    ['GET /user', 1],
  ])
})

test('operations and parts above the limit of a day are counted together', async () => {
  const projectId = newId()
  const day = NOW.toISOString().slice(0, 10)
  await app.db.query(
    'insert into performance_days (project_id, day, names, series, operations, parts) values ($1, $2::date, 0, 0, $3, $4)',
    [projectId, day, MAX_SPANS.operations - 1, MAX_SPANS.parts],
  )
  const spans = ['one', 'two', 'three'].map((table, index) => child('db.sql', `SELECT * FROM ${table}`, 30 - index))
  await record(app.db, [transactionFact(projectId, { spans })])
  await record(app.db, [transactionFact(projectId, { spans })])
  const { queries } = await readOperations(app, scopeOf(projectId))
  expect(queries.map(({ name, op, count, transaction }) => [name, op, count, transaction])).toEqual([
    [OTHER, 'db', 4, null],
    ['SELECT * FROM one', 'db.sql', 2, 'checkout'],
  ])
  expect(await readTimeShares(app, scopeOf(projectId, { name: 'checkout' }))).toEqual([])
  expect((await readTimeShares(app, scopeOf(projectId, { name: OTHER }))).map(({ name }) => name)).toEqual([OTHER])
})
