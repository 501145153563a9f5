import { describe, expect, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { PerformanceFact } from './fact.ts'
import { measureTransaction } from './measure.ts'
import {
  aSpan,
  aTransaction,
  contextOf,
  everythingOf,
  newSpanId,
  NOW,
  record,
  spanFact,
  TRACE,
  transactionFact,
} from './performance.fixture.ts'
import { readUsers } from './read.queries.ts'
import { readPerformanceTotals } from './read-performance.ts'
import { countExpiredPending } from './record-performance.ts'
import { MAX_NAMES, OTHER } from './series.ts'

const { app } = await testApp()
const later = (ms: number): Date => new Date(NOW.getTime() + ms)
const DAY_MS = 86_400_000

const all = (projectId: string) => everythingOf(app.db, projectId)
const send = (...facts: PerformanceFact[]): Promise<boolean[]> => record(app.db, facts)
const rowsIn = async (table: string, projectId: string): Promise<number> =>
  (await app.db.query<{ n: number }>(`select count(*) as n from ${table} where project_id = $1`, [projectId])).rows[0]
    ?.n ?? 0

describe('a duplicate', () => {
  test('is a transaction with the same id, in one batch and later', async () => {
    const projectId = newId()
    const fact = transactionFact(projectId)
    expect(await send(fact, fact)).toEqual([true, false])
    expect(await send(fact)).toEqual([false])
    expect(await all(projectId)).toEqual({ 'checkout (http.server) duration': [1, 100] })
  })

  test('is the same event id with another span', async () => {
    const projectId = newId()
    const [one, two] = [aTransaction(), aTransaction()].map((raw) =>
      measureTransaction(raw, 'e'.repeat(32), contextOf(projectId)),
    )
    if (one === undefined || two === undefined || 'invalid' in one || 'invalid' in two) throw new Error('unsound')
    expect(await send(one)).toEqual([true])
    expect(await send(two)).toEqual([false])
  })

  test('is a segment sent as transaction and as span', async () => {
    const projectId = newId()
    const spanId = newSpanId()
    const trace = { contexts: { trace: { trace_id: TRACE, span_id: spanId, op: 'http.server' } } }
    expect(await send(transactionFact(projectId, trace))).toEqual([true])
    expect(await send(spanFact(projectId, aSpan({ span_id: spanId }, { 'sentry.op': 'http.server' })))).toEqual([false])
    expect(await all(projectId)).toEqual({ 'checkout (http.server) duration': [1, 100] })
  })

  test('is not the same id in another project', async () => {
    const [one, two] = [newId(), newId()]
    const span = aSpan()
    expect(await send(spanFact(one, span), spanFact(two, span))).toEqual([true, true])
  })

  test('is recognised for three days', async () => {
    const projectId = newId()
    const fact = transactionFact(projectId)
    await send(fact)
    expect(await record(app.db, [fact], later(2 * DAY_MS))).toEqual([false])
    expect(await record(app.db, [fact], later(3 * DAY_MS))).toEqual([true])
  })

  test('spans without values are not recorded', async () => {
    const projectId = newId()
    const plain = spanFact(projectId, aSpan({ is_segment: false }, { 'sentry.op': 'db.query' }))
    expect(plain.role).toBe('plain')
    expect(await send(plain, plain)).toEqual([true, true])
    expect(await all(projectId)).toEqual({})
    for (const table of ['performance_deltas', 'performance_series']) expect(await rowsIn(table, projectId)).toBe(0)
  })

  test('is counted once by parallel connections', async () => {
    const projectId = newId()
    const fact = transactionFact(projectId)
    const results = await Promise.all(Array.from({ length: 4 }, () => send(fact, transactionFact(projectId))))
    expect(results.filter(([isNew]) => isNew === true)).toHaveLength(1)
    expect(await all(projectId)).toEqual({ 'checkout (http.server) duration': [5, 500] })
  })
})

describe('values that arrive separately from their segment', () => {
  const pageload = (spanId: string) =>
    aSpan(
      { span_id: spanId, name: 'Pageload' },
      { 'sentry.op': 'pageload', 'url.path': '/cart', 'device.processor_count': 8 },
    )
  const lcp = (segmentId: string, value = 156, fields: Record<string, unknown> = {}) =>
    aSpan(
      { name: 'Largest contentful paint', is_segment: false, ...fields },
      {
        'sentry.op': 'ui.webvital.lcp',
        'browser.web_vital.lcp.value': value,
        'sentry.segment.id': segmentId,
        'sentry.segment.name': 'Pageload',
      },
    )
  const CART = { '/cart (pageload) duration': [1, 100], '/cart (pageload) lcp': [1, 156] }

  test.each<[string, (page: PerformanceFact, vital: PerformanceFact) => PerformanceFact[][]]>([
    ['in the same batch, before it', (page, vital) => [[vital, page]]],
    ['in the same batch, after it', (page, vital) => [[page, vital]]],
    ['in an earlier batch', (page, vital) => [[vital], [page]]],
    ['in a later batch', (page, vital) => [[page], [vital]]],
    ['before, with and after it, repeatedly', (page, vital) => [[vital], [vital, page], [page, vital], [vital]]],
  ])('%s', async (_when, batches) => {
    const projectId = newId()
    const spanId = newSpanId()
    for (const batch of batches(spanFact(projectId, pageload(spanId)), spanFact(projectId, lcp(spanId))))
      await send(...batch)
    expect(await all(projectId)).toEqual(CART)
    // Counted under all attributes of the page, which the vital does not have.
    const scope = { projectIds: [projectId], metrics: ['lcp'] as const, from: new Date(0), to: NOW }
    expect((await readPerformanceTotals(app.db, { ...scope, filter: { deviceClass: 'high' } })).get('lcp')?.count).toBe(
      1,
    )
    expect(await rowsIn('performance_pending', projectId)).toBe(0)
  })

  test('are counted after an hour under their own name when it never arrives', async () => {
    const projectId = newId()
    await send(spanFact(projectId, lcp(newSpanId())))
    expect(await all(projectId)).toEqual({})
    const settle = (now: Date) => app.tx((tx) => countExpiredPending(tx, now, 100))
    expect(await settle(later(3_599_000))).toBe(0)
    expect(await settle(later(3_601_000))).toBe(1)
    expect(await all(projectId)).toEqual({ 'Pageload (pageload) lcp': [1, 156] })
    expect(await settle(later(3_602_000))).toBe(0)
  })

  test('do not wait when they name their segment', async () => {
    const projectId = newId()
    const start = aSpan(
      { is_segment: false, name: 'Cold Start' },
      { 'sentry.op': 'app.start.cold', 'sentry.segment.id': newSpanId(), 'sentry.segment.name': 'HomeScreen' },
    )
    await send(spanFact(projectId, start))
    expect(await all(projectId)).toEqual({ 'HomeScreen (ui.load) app_start_cold': [1, 100] })
  })

  test('wait when they do not name their segment', async () => {
    const projectId = newId()
    const spanId = newSpanId()
    const start = aSpan({ is_segment: false, name: '' }, { 'sentry.op': 'app.start.cold', 'sentry.segment.id': spanId })
    await send(spanFact(projectId, start))
    expect(await all(projectId)).toEqual({})
    await send(spanFact(projectId, aSpan({ span_id: spanId, name: 'HomeScreen' }, { 'sentry.op': 'ui.load' })))
    expect(await all(projectId)).toEqual({
      'HomeScreen (ui.load) duration': [1, 100],
      'HomeScreen (ui.load) app_start_cold': [1, 100],
    })
  })

  test('one app start, sent by the segment and by several spans, counts once', async () => {
    const projectId = newId()
    const spanId = newSpanId()
    const segment = aSpan(
      { span_id: spanId, name: 'HomeScreen' },
      { 'sentry.op': 'ui.load', 'app.vitals.start.cold.value': 90 },
    )
    const start = (seconds: number) =>
      aSpan(
        { is_segment: false, start_timestamp: NOW.getTime() / 1_000 - 60 - seconds },
        { 'sentry.op': 'app.start.cold', 'sentry.segment.id': spanId, 'sentry.segment.name': 'HomeScreen' },
      )
    const facts = [start(0.02), start(0.1), segment].map((span) => spanFact(projectId, span))
    // The attribute takes precedence; every span was accepted.
    expect(await send(...facts)).toEqual([true, true, true])
    expect(await send(spanFact(projectId, start(0.03)))).toEqual([true])
    expect(await all(projectId)).toEqual({
      'HomeScreen (ui.load) duration': [1, 100],
      'HomeScreen (ui.load) app_start_cold': [1, 90],
    })
  })

  test('every interaction counts', async () => {
    const projectId = newId()
    const inp = () =>
      aSpan(
        {},
        {
          'sentry.op': 'ui.interaction.click',
          'browser.web_vital.inp.value': 200,
          'sentry.segment.name': '/orders/7',
        },
      )
    await send(spanFact(projectId, inp()), spanFact(projectId, inp()))
    expect(await all(projectId)).toEqual({ '/orders/* (pageload) inp': [2, 400] })
  })
})

describe('limits', () => {
  const named = (projectId: string, names: readonly string[], now = NOW) =>
    names.map((transaction) => transactionFact(projectId, { transaction }, now))
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => `name ${from + index}`)

  test('more than a thousand names a day are counted together, until the next day', async () => {
    const projectId = newId()
    await record(app.db, named(projectId, names(0, MAX_NAMES - 1)))
    await record(app.db, named(projectId, [...names(MAX_NAMES - 1, MAX_NAMES + 2), 'name 0']))
    await record(app.db, named(projectId, names(MAX_NAMES + 2, MAX_NAMES + 4)))
    const found = await all(projectId)
    expect(Object.keys(found)).toHaveLength(MAX_NAMES + 1)
    expect(found[`${OTHER} (http.server) duration`]).toEqual([4, 400])
    expect(found['name 0 (http.server) duration']).toEqual([2, 200])
    await record(app.db, named(projectId, ['fresh'], later(DAY_MS)), later(DAY_MS))
    expect((await all(projectId))['fresh (http.server) duration']).toEqual([1, 100])
  })

  test('the same for combinations of attributes', async () => {
    const projectId = newId()
    await send(transactionFact(projectId))
    await app.db.query('update performance_days set series = 10000 where project_id = $1', [projectId])
    const releases = ['a', 'b', 'c'].map((release) => transactionFact(projectId, { release }))
    expect(await send(...releases, transactionFact(projectId))).toEqual([true, true, true, true])
    expect(await send(transactionFact(projectId, { release: 'd', transaction: 'other' }))).toEqual([true])
    expect(await all(projectId)).toEqual({
      'checkout (http.server) duration': [2, 200],
      [`${OTHER} (default) duration`]: [4, 400],
    })
    // With the time of both transactions.
    expect(await rowsIn('performance_series', projectId)).toBe(4)
  })

  test('a batch writes one row per series and metric, not per value', async () => {
    const projectId = newId()
    await send(...Array.from({ length: 2_000 }, () => transactionFact(projectId)))
    // The duration, and the time by part.
    expect(await rowsIn('performance_deltas', projectId)).toBe(2)
    expect(await all(projectId)).toEqual({ 'checkout (http.server) duration': [2_000, 200_000] })
  })
})

test('secrets in dimensions are not stored', async () => {
  const projectId = newId()
  const secret = {
    transaction: 'pay 4111 1111 1111 1111',
    release: 'app@password=hunter2',
    environment: 'token=canary',
  }
  const span = aSpan(
    { name: 'pay with 4111111111111111' },
    {
      'sentry.op': 'Bearer canary-0123456789abcdef',
      'os.name': 'postgres://me:canary@db',
      'sentry.environment': 'token=canary',
    },
  )
  const url = aSpan({ name: 'Pageload' }, { 'url.full': 'https://me:canary@shop.example.com/cart?token=canary' })
  const query = {
    trace_id: TRACE,
    span_id: newSpanId(),
    op: 'db',
    description: 'SELECT canary_token /* password=hunter2 */',
  }
  const spans = [{ ...query, start_timestamp: NOW.getTime() / 1_000 - 61, timestamp: NOW.getTime() / 1_000 - 60 }]
  await send(transactionFact(projectId, { ...secret, spans }), spanFact(projectId, span), spanFact(projectId, url))
  const { rows } = await app.db.query('select * from performance_series where project_id = $1', [projectId])
  expect(rows).toHaveLength(6)
  expect(JSON.stringify(rows)).not.toMatch(/4111 ?1111|hunter2|canary(?!_token)/)
})

test('users are counted once, of transactions and of segments, by what is left of them after scrubbing', async () => {
  const projectId = newId()
  const usersOf = () =>
    readUsers(app.db, { projectIds: [projectId], from: new Date(0), to: later(1), filter: { name: 'checkout' } }, [])
  await send(transactionFact(projectId), transactionFact(projectId, { user: { ip_address: '10.0.0.1' } }))
  expect(await usersOf()).toEqual([null])
  await send(
    transactionFact(projectId, { user: { id: 7, email: 'kim@example.com' } }),
    transactionFact(projectId, { user: { id: '7' } }),
    transactionFact(projectId, { user: { username: 'kim' } }),
    spanFact(projectId, aSpan({}, { 'user.id': '7' })),
    spanFact(projectId, aSpan({}, { 'enduser.id': 'lee' })),
    spanFact(projectId, aSpan({ is_segment: false }, { 'user.id': 'not a transaction', 'sentry.op': 'db' })),
  )
  expect(await usersOf()).toEqual([3])
  const scrubbed = measureTransaction(aTransaction({ user: { email: 'kim@example.com' } }), null, {
    ...contextOf(projectId),
    scrubbing: { sensitiveKeys: ['email'] },
  })
  expect('user' in scrubbed).toBe(false)
})
