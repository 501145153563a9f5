import { randomBytes } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { utcDay, dayPlus } from '../../platform/kernel/day.ts'
import { partitionDays } from '../../platform/storage/day-partitions.ts'
import { keepTraces, purgeTraces, summariseTraces } from './keep-traces.ts'
import type { ProjectTrace, Trace, TraceItem, TraceOverview } from './traces.api.ts'

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
  /** The span of another project that called this one. */
  readonly below?: string
  readonly op?: string
  /** The clock of its sender is ahead by so much. */
  readonly aheadMs?: number
  readonly release?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly name?: string
  readonly ms?: number
  readonly spans?: readonly object[]
}

/** Sends a transaction that has just ended. */
async function transaction(
  project: TestProject,
  {
    trace,
    span = spanId(),
    below,
    op = 'http.server',
    aheadMs = 0,
    release,
    tags,
    name = '/checkout',
    ms = 100,
    spans = [],
  }: Sent,
): Promise<void> {
  const end = (clock.now().getTime() + aheadMs) / 1_000
  await envelope(project, 'transaction', {
    type: 'transaction',
    transaction: name,
    start_timestamp: end - ms / 1_000,
    timestamp: end,
    release,
    tags,
    contexts: { trace: { trace_id: trace, span_id: span, parent_span_id: below, op } },
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
const readWhole = async (trace: string) => founder.get(`/api/traces/${trace}`)
const list = async (query = '') =>
  (await founder.get(`/api/traces?${query}`)).as<{ items: TraceItem[]; total: number; next_cursor: string | null }>()
const overview = async (query = '') => (await founder.get(`/api/traces/overview?${query}`)).as<TraceOverview>()

/** Lets the parts settle and decides. */
async function decide(): Promise<void> {
  clock.advance(6 * 60_000)
  await keepTraces(app)
  await summariseTraces(app)
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
  expect((await read(project, without)).as<ProjectTrace>().kept_because).toBe('recent')

  await decide()
  const kept = (await read(project, before)).as<ProjectTrace>()
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
  expect((await read(project, after)).as<ProjectTrace>()).toMatchObject({ kept_because: 'error' })
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
  expect(
    (await read(project, slowest?.trace ?? '')).as<ProjectTrace>().spans.map(({ description }) => description),
  ).toEqual(['/checkout', 'late'])
  expect((await read(project, replaced?.trace ?? '')).status).toBe(404)
})

test('a transaction that arrives twice is stored once; of 1,201 spans 1,000 are kept, and the rest is counted', async () => {
  const project = await server.project(founder)
  const trace = traceId()
  const spans = Array.from({ length: 1_200 }, (_, n) => ({ op: 'db', description: `query ${n}` }))
  const span = spanId()
  await transaction(project, { trace, span, spans })
  await transaction(project, { trace, span, spans })
  const shown = (await read(project, trace)).as<ProjectTrace>()
  expect(shown.spans).toHaveLength(1_000)
  expect(shown.spans_left_out).toBe(201)
  expect((await read(project, trace.toUpperCase())).status).toBe(200)
})

test('a trace is one across the projects of an organisation: clocks, errors, logs and the critical path', async () => {
  const [web, api, worker, silent] = [
    await server.project(founder),
    await server.project(founder),
    await server.project(founder),
    await server.project(founder),
  ]
  const trace = traceId()
  const [page, fetched, served, job] = [spanId(), spanId(), spanId(), spanId()]
  await transaction(web, {
    trace,
    span: page,
    op: 'ui.load',
    name: '/checkout',
    ms: 500,
    release: 'shop@2.0.0',
    tags: { plan: 'gold', 'user.email': 'a@b.example' },
    spans: [{ span_id: fetched, op: 'http.client', description: 'POST /pay' }],
  })
  // The clock of the service is a day ahead.
  await transaction(api, { trace, span: served, below: fetched, name: 'POST /pay', ms: 200, aheadMs: 86_400_000 })
  await server.event({ project: api, error: 'Declined', contexts: { trace: { trace_id: trace, span_id: served } } })
  await transaction(worker, { trace, span: job, below: served, op: 'queue.process', name: 'mail', ms: 50 })
  // Without tracing, only its error says that it took part. Errors of one time have no order.
  clock.advance(1)
  await server.event({
    project: silent,
    error: 'No stock',
    contexts: { trace: { trace_id: trace, span_id: spanId() } },
  })
  const at = clock.now().getTime() / 1_000
  const line = { timestamp: at, trace_id: trace, level: 'warn', body: 'retry 1 of 2', attributes: {} }
  await envelope(
    worker,
    'log',
    { items: [line] },
    { item_count: 1, content_type: 'application/vnd.sentry.items.log+json' },
  )

  const whole = (await readWhole(trace)).as<Trace>()
  expect(whole).toMatchObject({
    name: '/checkout',
    op: 'ui.load',
    kept_because: 'recent',
    root_span_id: page,
    errors: [{ span_id: served, project_id: api.id }, { project_id: silent.id }],
    silent_projects: [{ project_id: silent.id }],
    logs: [{ body: 'retry 1 of 2', project_id: worker.id, level: 'warn' }],
    logs_capped: false,
    sampling: { transactions: 3, considered: 3, kept: 0 },
  })
  expect(whole.projects.map(({ project_id: id, spans, releases }) => [id, spans, releases])).toEqual([
    [web.id, 2, ['shop@2.0.0']],
    [api.id, 1, []],
    [worker.id, 1, []],
  ])
  expect(whole.projects[1]?.clock_shift_ms).toBeLessThan(-86_300_000)
  expect(whole.wait_ms).toBeCloseTo(500, 0)
  expect(whole.duration_ms).toBeLessThan(1_000)
  expect(whole.critical_path.reduce((sum, piece) => sum + piece.duration_ms, 0)).toBeCloseTo(whole.wait_ms, 3)
  expect(whole.critical_path.map((piece) => piece.span_id)).toContain(served)
  const [inApi, inWeb] = [(await read(api, trace)).as<ProjectTrace>(), (await read(web, trace)).as<ProjectTrace>()]
  expect([inApi.spans.length, inWeb.spans.length]).toEqual([1, 2])

  // The error is of one project: the trace is kept in all, though others are slower.
  for (let n = 0; n < 3; n++) await transaction(web, { trace: traceId(), op: 'ui.load', ms: 2_000 + n })
  await decide()
  expect((await readWhole(trace)).as<Trace>().spans).toHaveLength(4)
  const listed = await list(`projectId=${worker.id}`)
  expect(listed.total).toBe(1)
  expect(listed.items[0]).toMatchObject({
    trace_id: trace,
    status: 'error',
    errors: 1,
    spans: 4,
    kept_because: 'error',
  })
  expect(listed.items[0]?.duration_ms).toBeCloseTo(whole.duration_ms, 6)
  expect(listed.items[0]?.projects).toEqual(
    whole.projects.map(({ project_id, name, spans, path_ms }) => ({ project_id, name, spans, path_ms })),
  )

  const found = async (query: string) => (await list(`projectId=${api.id}&${query}`)).items.length
  for (const query of [
    'op=ui.load',
    'name=mail',
    'status=error',
    'min_ms=400&max_ms=1000',
    'release=shop%402.0.0',
    'tag=plan:gold',
    'q=CHECKOUT',
    `q=${trace.toUpperCase()}`,
  ])
    expect(await found(query), query).toBe(1)
  for (const query of [
    'op=queue.process',
    'status=ok',
    'min_ms=1000',
    'tag=plan:tin',
    'tag=user.email:a@b.example',
    'q=%25',
  ])
    expect(await found(query), query).toBe(0)
  const sums = await overview(`projectId=${api.id}&status=ok`)
  expect(sums).toMatchObject({ total: 0, facets: { status: [{ value: 'error', count: 1 }] } })
  expect(sums.facets.project.map(({ value }) => value)).not.toContain(api.id)
  expect(sums.points).toMatchObject([{ trace_id: trace, matches: false }])
  expect(sums.durations).toMatchObject([])
})

test('pages of traces follow each other by cursor, and refuse what makes no sense', async () => {
  const project = await server.project(founder)
  const sent = ['/cart', '/help', '/home', '/list', '/pay']
  for (const name of sent) await transaction(project, { trace: traceId(), name })
  await summariseTraces(app)
  const names: string[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page = await list(
      `projectId=${project.id}&limit=2${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    names.push(...page.items.map(({ name }) => name))
    expect(page.total).toBe(5)
    cursor = page.next_cursor
  }
  expect(names.sort()).toEqual(sent)
  for (const query of [
    'from=2026-11-20T05:00:00Z',
    'from=2026-11-20T05:00:00Z&to=2026-11-20T04:00:00Z',
    'min_ms=9&max_ms=3',
    'min_ms=-1',
    'status=slow',
    'range=2h',
    'cursor=x',
    'q=',
  ])
    expect((await founder.get(`/api/traces?${query}`)).status, query).toBe(400)
})

test('a trace of 12 projects with 12,000 spans in any order shows 10,000 of them', async () => {
  const projects = await Promise.all(Array.from({ length: 12 }, () => server.project(founder)))
  const trace = traceId()
  const [root, missing, self] = [spanId(), spanId(), spanId()]
  for (const [index, project] of projects.toReversed().entries())
    await transaction(project, {
      trace,
      span: index === 11 ? root : spanId(),
      ...(index === 11 ? {} : { below: index === 3 ? missing : root }),
      ms: 1_000 + index,
      spans: Array.from({ length: 999 }, (_, n) =>
        n === 7 ? { span_id: self, parent_span_id: self, op: 'db' } : { op: 'db', description: 'select 1' },
      ),
    })
  const answer = await readWhole(trace)
  const whole = answer.as<Trace>()
  expect(whole.spans).toHaveLength(10_000)
  expect(whole.projects).toHaveLength(12)
  // One span id was sent by all projects.
  expect(whole.spans_left_out).toBe(2_000 - 11)
  expect(whole.spans.filter(({ span_id: id }) => id === self)).toHaveLength(1)
})

test('a trace of another organisation or project, or a wrong id, is refused', async () => {
  const [project, other] = [await server.project(founder), await server.project(founder)]
  const trace = traceId()
  await transaction(project, { trace })
  await summariseTraces(app)
  expect((await read(other, trace)).status).toBe(404)
  expect((await read(project, 'not-a-trace')).status).toBe(404)
  expect((await read(project, '0'.repeat(32))).status).toBe(404)
  expect((await readWhole('not-a-trace')).status).toBe(404)
  const stranger = await server.founder()
  expect((await stranger.get(`/api/traces/${trace}`)).status).toBe(404)
  expect((await stranger.get('/api/traces')).as<{ items: TraceItem[] }>().items).toEqual([])
  expect((await stranger.get(`/api/traces?projectId=${project.id}`)).status).toBe(404)
  // The same id, sent to another organisation, is another trace.
  const own = await server.project(stranger)
  await transaction(own, { trace, name: '/theirs' })
  expect((await stranger.get(`/api/traces/${trace}`)).as<Trace>()).toMatchObject({ name: '/theirs', spans: [{}] })
  expect((await readWhole(trace)).as<Trace>()).toMatchObject({ name: '/checkout', spans: [{}] })
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
  expect((await list('range=30d')).items.map(({ trace_id: id }) => id)).not.toContain(trace)
})
