import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { partitionDays } from '../../platform/storage/day-partitions.ts'
import { keepTraces, purgeTraces } from './keep-traces.ts'
import type { Trace } from './traces.api.ts'

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app, clock } = server
clock.set('2026-11-20T05:00:00.000Z')
let founder = await server.founder()
// Sessions end while the clock moves.
beforeEach(async () => {
  founder = await server.founder()
})

const traceId = (): string => randomBytes(16).toString('hex')
const spanId = (): string => randomBytes(8).toString('hex')

type Sent = {
  readonly trace: string
  readonly span?: string
  readonly name?: string
  readonly ms?: number
  readonly spans?: readonly object[]
}

/** Sends a transaction that has just ended. */
async function transaction(
  project: TestProject,
  { trace, span = spanId(), name = '/checkout', ms = 100, spans = [] }: Sent,
): Promise<void> {
  const end = clock.now().getTime() / 1_000
  await envelope(project, 'transaction', {
    type: 'transaction',
    transaction: name,
    start_timestamp: end - ms / 1_000,
    timestamp: end,
    contexts: { trace: { trace_id: trace, span_id: span, op: 'http.server' } },
    spans: spans.map((one, index) => ({
      trace_id: trace,
      span_id: spanId(),
      parent_span_id: span,
      start_timestamp: end - ms / 1_000 + index / 100_000,
      timestamp: end,
      ...one,
    })),
  })
}

async function envelope(project: TestProject, type: string, payload: object, headers: object = {}): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
    method: 'POST',
    body: `{}\n${JSON.stringify({ type, ...headers })}\n${JSON.stringify(payload)}\n`,
  })
  expect(answer.status).toBe(200)
  await answer.text()
  await server.service.drain()
}

const read = async (project: TestProject, trace: string) => founder.get(`/api/projects/${project.id}/traces/${trace}`)

/** Lets the parts settle and decides. */
async function decide(): Promise<void> {
  clock.advance(6 * 60_000)
  await keepTraces(app)
}

test('a trace with an error is kept, with its spans and the issue, whichever came first', async () => {
  const project = await server.project(founder)
  const [before, after, without] = [traceId(), traceId(), traceId()]
  const error = (trace: string) =>
    server.event({ project, error: 'Card refused', contexts: { trace: { trace_id: trace, span_id: spanId() } } })
  await error(before)
  await transaction(project, {
    trace: before,
    ms: 20,
    spans: [
      {
        op: 'db.query',
        description: 'select * from carts',
        data: { 'db.system': 'postgresql', 'user.email': 'a@b.example' },
      },
      { op: 'http.client', description: 'POST /pay?password=hunter2hunter2', status: 'internal_error' },
    ],
  })
  await transaction(project, { trace: after, ms: 10 })
  await error(after)
  for (let n = 0; n < 3; n++) await transaction(project, { trace: traceId(), ms: 1_000 + n })
  await transaction(project, { trace: without, ms: 5 })
  expect((await read(project, without)).as<Trace>().kept_because).toBe('recent')

  await decide()
  const kept = (await read(project, before)).as<Trace>()
  expect(kept).toMatchObject({
    kept_because: 'error',
    name: '/checkout',
    spans_left_out: 0,
    sampling: { transactions: 6, considered: 6, kept: 5 },
    errors: [{ title: 'Card refusedError: Card refused failed', level: 'error' }],
  })
  expect(kept.duration_ms).toBeCloseTo(20, 0)
  const [root, query, call] = kept.spans
  expect(root).toMatchObject({ op: 'http.server', is_segment: true, parent_span_id: null, start_ms: 0 })
  expect(query).toMatchObject({ op: 'db.query', data: { 'db.system': 'postgresql' }, parent_span_id: root?.span_id })
  expect(query?.data).not.toHaveProperty('user.email')
  expect(call?.status).toBe('error')
  expect(JSON.stringify(kept)).not.toContain('hunter2')
  expect((await read(project, after)).as<Trace>()).toMatchObject({ kept_because: 'error' })
  const issue = await founder.get(`/api/issues/${kept.errors[0]?.issue_id}`)
  expect([before, after]).toContain(issue.as<{ kept_trace_id: string }>().kept_trace_id)
  expect((await read(project, without)).status).toBe(404)
})

test('the slowest of a transaction and hour are kept; later parts of a kept trace too', async () => {
  const project = await server.project(founder)
  const traces = [400, 100, 300, 200].map((ms) => ({ ms, trace: traceId() }))
  for (const one of traces) await transaction(project, one)
  await decide()
  const [slowest, fastest, , replaced] = traces
  const statuses = await Promise.all(traces.map(async ({ trace }) => (await read(project, trace)).status))
  expect(statuses).toEqual([200, 404, 200, 200])
  expect(fastest?.ms).toBe(100)

  await transaction(project, { trace: traceId(), ms: 900 })
  const late = {
    version: 2,
    items: [
      {
        trace_id: slowest?.trace,
        span_id: spanId(),
        parent_span_id: spanId(),
        name: 'late',
        status: 'ok',
        is_segment: false,
        start_timestamp: clock.now().getTime() / 1_000,
        end_timestamp: clock.now().getTime() / 1_000 + 1,
        attributes: {},
      },
    ],
  }
  await envelope(project, 'span', late, { item_count: 1, content_type: 'application/vnd.sentry.items.span.v2+json' })
  await decide()
  expect((await read(project, slowest?.trace ?? '')).as<Trace>().spans.map(({ description }) => description)).toEqual([
    '/checkout',
    'late',
  ])
  expect((await read(project, replaced?.trace ?? '')).status).toBe(404)
})

test('a transaction that arrives twice is stored once; of 1,201 spans 1,000 are kept, and the rest is counted', async () => {
  const project = await server.project(founder)
  const trace = traceId()
  const spans = Array.from({ length: 1_200 }, (_, n) => ({ op: 'db', description: `query ${n}` }))
  const span = spanId()
  await transaction(project, { trace, span, spans })
  await transaction(project, { trace, span, spans })
  const shown = (await read(project, trace)).as<Trace>()
  expect(shown.spans).toHaveLength(1_000)
  expect(shown.spans_left_out).toBe(201)
  expect((await read(project, trace.toUpperCase())).status).toBe(200)
})

test('a trace of another project, or a wrong id, is refused', async () => {
  const [project, other] = [await server.project(founder), await server.project(founder)]
  const trace = traceId()
  await transaction(project, { trace })
  expect((await read(other, trace)).status).toBe(404)
  expect((await read(project, 'not-a-trace')).status).toBe(404)
  expect((await read(project, '0'.repeat(32))).status).toBe(404)
})

test('traces are deleted after seven days, with their counts', async () => {
  const project = await server.project(founder)
  const trace = traceId()
  await transaction(project, { trace })
  await decide()
  const day = utcDay(clock.now())
  clock.advance(8 * 86_400_000)
  await purgeTraces(app)
  founder = await server.founder()
  expect(await partitionDays(app.db, 'trace_parts')).not.toContain(day)
  const { rows } = await app.db.query('select from trace_days where day <= $1::date', [dayPlus(day, 0)])
  expect(rows).toEqual([])
})
