import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { compactPerformance } from '../performance/compact-performance.ts'
import type { Performance, Transaction } from '../performance/performance.api.ts'
import type { SpanOperations, TransactionDetail } from './transaction.api.ts'

/** Figures of transactions against a recomputation from what was sent. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T12:00:00.000Z')
const founder = await server.founder()
const project = await server.project(founder)

const id = (bytes: number): string => randomBytes(bytes).toString('hex')
type Sent = {
  readonly ms: number
  readonly failed: boolean
  readonly release: string
  readonly trace: string
  readonly user?: Record<string, unknown>
}
const TRACE = id(16)
const SENT: readonly Sent[] = Array.from({ length: 40 }, (_, index) => ({
  ms: 10 * (index + 1),
  failed: index % 10 === 0,
  release: index < 25 ? 'api@1.0' : 'api@1.1',
  trace: index === 39 ? TRACE : id(16),
  // Ten name no user.
  ...(index < 30 && {
    user: index % 2 === 0 ? { id: index % 12 } : { id: null, email: `u${index % 12}@shop.example` },
  }),
}))

async function send(name: string, { ms, failed, release, trace, user }: Sent): Promise<void> {
  const end = server.clock.now().getTime() / 1_000 - 60
  const span = id(8)
  const child = (op: string, description: string, from: number, length: number, data = {}) => ({
    trace_id: trace,
    span_id: id(8),
    parent_span_id: span,
    op,
    description,
    data,
    start_timestamp: end - (ms - from) / 1_000,
    timestamp: end - (ms - from - length) / 1_000,
  })
  const payload = {
    type: 'transaction',
    transaction: name,
    release,
    user,
    environment: 'production',
    transaction_info: { source: 'route' },
    start_timestamp: end - ms / 1_000,
    timestamp: end,
    contexts: {
      trace: { trace_id: trace, span_id: span, op: 'http.server', status: failed ? 'internal_error' : 'ok' },
    },
    spans: [
      child('db', `SELECT * FROM orders WHERE id = ${ms}`, 1, 4),
      child('http.client', `GET https://pay.example/v1/${ms}`, 5, 2),
      child('cache.get', 'basket:1', 7, 1, { 'cache.hit': ms % 20 === 0 }),
    ],
  }
  const { key, projectNumber } = dsnParts(project.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
    method: 'POST',
    body: `{}\n${JSON.stringify({ type: 'transaction' })}\n${JSON.stringify(payload)}\n`,
  })
  expect(answer.status).toBe(200)
  await answer.text()
}

for (const one of SENT) await send('POST /checkout', one)
await send('GET /', { ms: 1_800, failed: false, release: 'api@1.1', trace: id(16) })
await server.service.drain()
await server.event({
  project,
  error: 'Stock is gone',
  contexts: { trace: { trace_id: TRACE, span_id: id(8) } },
})

const detail = async (query: string) => founder.get(`/api/performance/transaction?projectId=${project.id}&${query}`)
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0

test('a transaction has the figures of what was sent, and leads to traces and issues', async () => {
  const answer = await detail(`range=24h&name=${encodeURIComponent('POST /checkout')}`)
  expect(answer.status, answer.text).toBe(200)
  const found = answer.as<TransactionDetail>()
  const all = SENT.map(({ ms }) => ms)
  const total = all.reduce((sum, ms) => sum + ms, 0)
  expect(found).toMatchObject({ name: 'POST /checkout', op: 'http.server', count: 40, failures: 4, failure_rate: 0.1 })
  for (const [share, value] of [
    [0.5, found.p50_ms],
    [0.75, found.p75_ms],
    [0.95, found.p95_ms],
  ] as const)
    expect(Math.abs((value ?? 0) / percentile(all, share) - 1)).toBeLessThan(0.03)
  expect(found.share_of_time).toBeCloseTo(total / (total + 1_800), 3)
  expect(found.spread.reduce((sum, { count }) => sum + count, 0)).toBe(40)
  expect(found.series.reduce((sum, { count }) => sum + count, 0)).toBe(40)
  expect(found.by_release.map(({ name, count, failures }) => [name, count, failures])).toEqual([
    ['api@1.0', 25, 3],
    ['api@1.1', 15, 1],
  ])
  expect(found.by_environment.map(({ name, count }) => [name, count])).toEqual([['production', 40]])
  const time = new Map(found.time.map((part) => [part.name, part]))
  expect(time.get('Database')?.ms_per_request).toBeCloseTo(4, 1)
  expect(time.get('pay.example')?.ms_per_request).toBeCloseTo(2, 1)
  expect(time.get('Own code')?.ms_per_request).toBeCloseTo(total / 40 - 7, 1)
  expect(time.get('Database')?.share).toBeCloseTo(160 / total, 3)
  expect(found.samples.map(({ why }) => why)).toEqual(['p50', 'p75', 'p95', 'slowest', 'failed'])
  expect(found.samples.at(-1)).toMatchObject({ trace_id: TRACE })
  expect(found.samples.at(-1)?.duration_ms).toBeCloseTo(400, 1)
  expect(found.issues).toMatchObject([{ traces: 1, level: 'error' }])
})

test('users of a transaction are distinct, also after folding and of a release', async () => {
  const usersOf = async (query: string) => {
    const { users, previous_users: before } = (await detail(query)).as<TransactionDetail>()
    return [users, before]
  }
  const name = `name=${encodeURIComponent('POST /checkout')}`
  const read = async () => [
    await usersOf(`range=24h&${name}`),
    await usersOf(`range=24h&${name}&release=api@1.1`),
    await usersOf(`range=30d&${name}`),
    await usersOf(`range=24h&name=${encodeURIComponent('GET /')}`),
  ]
  const expected = [
    [12, null],
    [5, null],
    [12, null],
    [null, null],
  ]
  expect(await read()).toEqual(expected)
  await compactPerformance(server.app)
  expect(await read()).toEqual(expected)
})

test('the operations of all transactions add up', async () => {
  const answer = await founder.get(`/api/performance/operations?projectId=${project.id}&range=24h`)
  const found = answer.as<SpanOperations>()
  expect(found.queries).toMatchObject([
    { name: 'SELECT * FROM orders WHERE id = ?', count: 41, per_request: 1, transactions: 2 },
  ])
  expect(found.queries[0]?.trace_id).toMatch(/^[0-9a-f]{32}$/)
  expect(found.queries[0]?.total_ms).toBeCloseTo(164, 0)
  expect(found.outgoing).toMatchObject([{ name: 'pay.example', count: 41 }])
  // Half of the 40, and the one of 1,800 ms.
  expect(found.caches).toMatchObject([{ name: 'basket:*', count: 41, hit_rate: 0.512195 }])
  expect([found.queues, found.resources]).toEqual([[], []])
})

test('the performance of the project has the same requests in total', async () => {
  const found = (await founder.get(`/api/performance?projectId=${project.id}&range=24h`)).as<Performance>()
  expect(found.requests).toMatchObject({ count: 41, failures: 4, failure_rate: 0.097561 })
  expect(found.requests.previous).toMatchObject({ count: 0, failure_rate: null })
})

test('transactions are compared with the release before, where both have enough', async () => {
  const list = `/api/performance/transactions?projectId=${project.id}&range=24h`
  const few = (await founder.get(list)).as<{ items: Transaction[]; releases: unknown }>()
  expect([few.releases, few.items[0]?.compared]).toEqual([null, null])
  for (let index = 0; index < 20; index++)
    await send('POST /checkout', { ms: 500, failed: index < 5, release: 'api@1.2', trace: id(16) })
  await server.service.drain()
  const { items, releases } = (await founder.get(list)).as<{ items: Transaction[]; releases: unknown }>()
  expect(releases).toEqual({ release: 'api@1.2', previous: 'api@1.0' })
  expect(items.map(({ name }) => name)).toEqual(['POST /checkout', 'GET /'])
  expect(items[0]?.compared).toMatchObject({ release_count: 20, previous_count: 25, release_failure_rate: 0.25 })
  // 500 ms after the 24th of 25, 230 ms.
  expect(items[0]?.compared?.p95_change).toBeCloseTo(500 / 230 - 1, 1)
  expect(items[0]?.compared?.failure_rate_change).toBeCloseTo(0.25 - 3 / 25, 6)
  expect(items[1]?.compared).toMatchObject({ p95_change: null, failure_rate_change: null, release_p95_ms: null })
})

test('a release narrows the counted figures', async () => {
  const found = (
    await detail(`range=24h&name=${encodeURIComponent('POST /checkout')}&release=api@1.1`)
  ).as<TransactionDetail>()
  expect([found.count, found.failures]).toEqual([15, 1])
})

test('a transaction that did not run, and bad input, are refused', async () => {
  expect((await detail('range=24h&name=nothing')).status).toBe(404)
  expect((await detail(`range=24h&name=${encodeURIComponent('POST /checkout')}&op=task`)).status).toBe(404)
  expect((await detail('range=24h&name=')).status).toBe(400)
  expect((await detail('range=24h')).status).toBe(400)
  expect((await detail(`range=24h&name=${'x'.repeat(251)}`)).status).toBe(400)
})

test('limits of the project give the requests their words, but not those of one transaction', async () => {
  const read = async (query = '') =>
    (await founder.get(`/api/performance?projectId=${project.id}&range=24h${query}`)).as<Performance>().limits
  expect(await read()).toEqual({ p95_ms: null, failure_rate: null })
  const settings = `/api/projects/${project.id}/settings`
  const saved = await founder.patch(settings, { request_p95_limit_ms: 2_000, request_failure_limit: 0.05 })
  expect(saved).toMatchObject({ status: 200, body: { request_p95_limit_ms: 2_000, request_failure_limit: 0.05 } })
  expect(await read()).toEqual({
    p95_ms: { watch: 1_600, poor: 2_000, word: 'good' },
    failure_rate: { watch: 0.04, poor: 0.05, word: 'poor' },
  })
  expect(await read('&name=checkout')).toEqual({ p95_ms: null, failure_rate: null })
  for (const [field, value] of [
    ['request_p95_limit_ms', 0],
    ['request_p95_limit_ms', 1.5],
    ['request_failure_limit', 0],
    ['request_failure_limit', 1.1],
  ] as const) {
    const refused = await founder.patch(settings, { [field]: value })
    expect(refused.status).toBe(400)
    expect(refused.text).toContain(field)
  }
})
