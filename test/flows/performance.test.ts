import { expect, test } from 'vitest'
import {
  readPerformanceByName,
  readPerformanceTotals,
  type MetricSummary,
} from '#server/telemetry/performance/read-performance.ts'
import { compactPerformance } from '#server/telemetry/performance/compact-performance.ts'
import { readSeries } from '#server/telemetry/performance/performance.fixture.ts'
import { METRICS, type Metric } from '#server/events/protocol/span-values.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY, type Sample } from '#test/kit/samples.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Every recorded transaction and span through the running service, read back by the functions behind the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')
const samples = new Map(readSamples(/^\/api\/4501\//).map((sample) => [sample.name, sample]))

let founder: Client | null = null
async function newProject(): Promise<TestProject> {
  founder ??= await aFounder(server.url)
  return aProject(founder)
}

/** Sends a recording to a project, with that project's DSN. */
async function replay(sample: Sample, project: TestProject): Promise<number> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const mine = (text: string): string => text.replaceAll(SAMPLE_KEY, key)
  const response = await fetch(server.url + mine(sample.url).replace('/api/4501/', `/api/${projectNumber}/`), {
    method: sample.method,
    headers: Object.fromEntries(Object.entries(sample.headers).map(([name, value]) => [name, mine(value)])),
    body: new Uint8Array(sample.body),
  })
  await response.arrayBuffer()
  return response.status
}

/** Sends recordings of one project in this order, each digested separately. */
async function replayed(...names: string[]): Promise<TestProject> {
  const project = await newProject()
  for (const name of names) {
    const sample = samples.get(name)
    if (sample === undefined) throw new Error(`no recording ${name}`)
    expect(await replay(sample, project), name).toBe(200)
    await server.service.drain()
  }
  return project
}

const scopeOf = (project: TestProject) => ({
  projectIds: [project.id],
  metrics: METRICS,
  from: new Date('2026-11-20T00:00:00Z'),
  to: new Date('2026-11-21T00:00:00Z'),
  filter: {},
})

type Row = Record<string, Record<string, unknown>>
/**
 * `name (op)` → the metrics: one value as it is, several as [count, sum]; with failures and omissions where there are
 * any.
 */
async function measuredIn(project: TestProject): Promise<Row> {
  const rows = await readPerformanceByName(server.app.db, scopeOf(project), 50)
  // Pages that did not load in the measured time have values and no duration.
  const others = []
  for (const metric of ['inp', 'low_memory', 'thermal_serious'] as const)
    others.push(...(await readPerformanceByName(server.app.db, { ...scopeOf(project), metrics: [metric] }, 50)))
  const byName: Row = {}
  for (const { name, op, metrics } of [...rows, ...others]) {
    const entries = [...metrics].filter(([, one]) => one.count > 0 || leftOutOf(one) > 0)
    const found = Object.fromEntries(entries.map(([metric, one]) => [metric, shortOf(one)]))
    byName[`${name} (${op})`] = { ...found, ...byName[`${name} (${op})`] }
  }
  return byName
}

const leftOutOf = ({ leftOut }: MetricSummary): number => leftOut.too_long + leftOut.prewarmed + leftOut.invalid

function shortOf(one: MetricSummary): unknown {
  const rounded = Math.round(one.sum * 100) / 100
  const value = one.count === 1 ? rounded : [one.count, rounded]
  if (one.failures === 0 && leftOutOf(one) === 0) return value
  return {
    value,
    ...(one.failures > 0 && { failures: one.failures }),
    ...(leftOutOf(one) > 0 && { leftOut: one.leftOut }),
  }
}

const outcomesOf = async (project: TestProject): Promise<string[]> => {
  const { rows } = await server.app.db.query<{ line: string }>(
    `select category || ' ' || outcome || ' ' || reason || sum(quantity) as line from outcomes_hourly
     where project_id = $1 and category in ('transaction', 'span') group by category, outcome, reason order by 1`,
    [project.id],
  )
  return rows.map(({ line }) => line)
}

const CART_10 = { duration: 146.9, ttfb: 48.1, fp: 144, fcp: 144, lcp: 144, cls: 0.02, ttfb_request_time: 42.2 }
const CART_11 = { duration: 189.2, ttfb: 52.4, fp: 156, fcp: 156, ttfb_request_time: 43.3 }
const LATE_11 = { lcp: 156, cls: 0.02, inp: 328 }

const PAGE_10 = 'browser-10.78.0/002-static-envelope-transaction'
const PAGE_11 = 'browser-11.12.0/002-stream-envelope-span'
const VITALS_11 = 'browser-11.12.0/009-stream-envelope-span'

test.each<[string, string[], Row]>([
  [
    'browser 10: a page, a navigation, an interaction',
    [PAGE_10, 'browser-10.78.0/010-static-envelope-transaction', 'browser-10.78.0/011-static-envelope-span'],
    {
      '/cart (pageload)': CART_10,
      '/orders/* (navigation)': { duration: 1000.7 },
      '/orders/* (pageload)': { inp: 328 },
    },
  ],
  [
    'browser 11: the vitals of a page come later, apart from it',
    [PAGE_11, 'browser-11.12.0/008-stream-envelope-span', VITALS_11],
    { '/cart (pageload)': { ...CART_11, ...LATE_11 }, '/orders/* (navigation)': { duration: 1000.9 } },
  ],
  ['browser 11: before it', [VITALS_11, PAGE_11], { '/cart (pageload)': { ...CART_11, ...LATE_11 } }],
  [
    'browser 11: everything twice',
    [PAGE_11, VITALS_11, VITALS_11, PAGE_11],
    { '/cart (pageload)': { ...CART_11, ...LATE_11 } },
  ],
  [
    'browser 11 with transactions',
    ['012-static-envelope-transaction', '013-static-envelope-transaction', '014-static-envelope-span'].map(
      (name) => `browser-11.12.0/${name}`,
    ),
    {
      '/cart (pageload)': {
        duration: 219.1,
        ttfb: 87.5,
        fp: 196,
        fcp: 196,
        lcp: 196,
        cls: 0.02,
        ttfb_request_time: 41.8,
      },
      '/orders/* (navigation)': { duration: 1000.7 },
      '/orders/* (pageload)': { inp: 328 },
    },
  ],
  [
    'react native: frames of the transaction and of its children',
    ['react-native-8.28.0/001-main-envelope-transaction', 'react-native-8.28.0/002-main-envelope-transaction'],
    {
      'CartScreen (ui.load)': {
        duration: 1442,
        app_start_cold: 1214.98,
        ttid: 1442,
        ttfd: 1442,
        frames_total: 180,
        frames_slow: 9,
        frames_frozen: 3,
        frames_delay: 310,
        stall_count: 0,
        stall_total_time: 0,
        stall_longest_time: 0,
        stall_duration: 1442,
      },
      'CartScreen (device)': { thermal_serious: 1 },
      'screen.render (ui.load)': {
        duration: 231.13,
        ttid: 231.13,
        ttfd: 231.13,
        frames_total: 180,
        frames_slow: 9,
        frames_frozen: 3,
        frames_delay: 310,
        stall_count: 0,
        stall_total_time: 0,
        stall_longest_time: 0,
        stall_duration: 231.13,
      },
    },
  ],
  [
    'java: a screen and the cold start before it',
    ['java-8.53.0/005-main-envelope-transaction'],
    {
      'CartActivity (ui.load)': {
        duration: 9.46,
        app_start_cold: 812.4,
        ttid: 640,
        ttfd: 1210,
        frames_total: 120,
        frames_slow: 4,
        frames_frozen: 1,
      },
      'CartActivity (device)': { low_memory: 1 },
    },
  ],
  [
    'node 7, 10 and 11: the same checkout in three formats',
    [
      'node-7.120.4/005-main-envelope-transaction',
      'node-10.78.0/003-main-envelope-transaction',
      'node-11.12.0/005-main-envelope-span',
      'node-11.12.0/029-static-envelope-transaction',
      'node-11.12.0/026-ratelimited-envelope-transaction',
    ],
    {
      'POST /checkout (http.server)': {
        duration: [4, 53.13],
        app_start_cold: [2, 1624.8],
        frames_slow: [2, 6],
      },
      'tx (t)': { duration: 0.61 },
      'POST /checkout (device)': { low_memory: 1, thermal_serious: 1 },
    },
  ],
  [
    'node 10 and 11: requests without a route',
    [
      'node-10.78.0/007-httpserver-envelope-transaction',
      'node-10.78.0/008-httpserver-envelope-transaction',
      'node-10.78.0/009-httpserver-envelope-transaction',
      'node-11.12.0/020-httpserver-envelope-span',
    ],
    {
      'GET /a (http.server)': { duration: [2, 4.17] },
      'GET /b (http.server)': { duration: [2, 0.74] },
      'GET /err (http.server)': { duration: { value: [2, 7.69], failures: 2 } },
      'GET /crash (http.server)': { duration: { value: 0.95, failures: 1 } },
      'GET /c (http.server)': { duration: 0.31 },
    },
  ],
  [
    'python: tasks in both formats, requests',
    [
      'python-2.68.0/004-main-envelope-transaction',
      'python-2.68.0/012-wsgi-envelope-transaction',
      'python-2.68.0/013-wsgi-envelope-transaction',
      'python-2.68.0/015-wsgi-envelope-transaction',
      'python-2.68.0/017-wsgi-envelope-transaction',
      'python-2.68.0/019-stream-envelope-span',
    ],
    {
      'send_emails (queue.task)': { duration: 11.6 },
      'generic WSGI request (http.server)': { duration: { value: [4, 2.63], failures: 1 } },
      'nightly sync (queue.task)': { duration: 12.12 },
    },
  ],
])('%s', async (_what, names, expected) => {
  const project = await replayed(...names)
  expect(await measuredIn(project)).toEqual(expected)
  // The same after folding.
  await compactPerformance(server.app)
  expect(await measuredIn(project)).toEqual(expected)
})

test('a page load of SDK 10 and one of SDK 11 are counted as the same', async () => {
  const project = await replayed(PAGE_10, VITALS_11, PAGE_11)
  const scope = { ...scopeOf(project), filter: { name: '/cart', release: 'shop-web@2.3.0', os: 'Linux' } }
  const totals = await readPerformanceTotals(server.app.db, {
    ...scope,
    filter: { ...scope.filter, deviceClass: 'high' },
  })
  expect(['duration', 'lcp', 'fcp', 'fp', 'ttfb', 'cls'].map((metric) => totals.get(metric as Metric)?.count)).toEqual([
    2, 2, 2, 2, 2, 2,
  ])
  expect(totals.get('lcp')).toMatchObject({ count: 2, sum: 300, max: 156 })
  const { rows } = await server.app.db.query('select 1 from performance_series where project_id = $1 and grain = 0', [
    project.id,
  ])
  expect(rows).toHaveLength(1)
  expect(await outcomesOf(project)).toEqual(['span accepted 16', 'transaction accepted 1'])
})

test('OpenTelemetry spans are counted the same way', async () => {
  const project = await replayed(
    'otlp-js-0.223.1/001-otlp-post-integration-otlp-v1-traces',
    'otlp-js-0.223.1/002-otlp-post-integration-otlp-v1-traces',
  )
  expect(Object.keys(await measuredIn(project))).toContain('GET /cart (http.server)')
  const totals = await readPerformanceTotals(server.app.db, scopeOf(project))
  expect(totals.get('duration')?.failures).toBeGreaterThan(0)
})

/** An envelope with one item. */
async function post(project: TestProject, headers: Record<string, unknown>, payload: Buffer | string): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const bytes = Buffer.from(payload)
  const head = `{}\n${JSON.stringify({ ...headers, length: bytes.length })}\n`
  const response = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: new Uint8Array(Buffer.concat([Buffer.from(head), bytes])),
  })
  await response.arrayBuffer()
  expect(response.status).toBe(200)
  await server.service.drain()
}

const V2 = { type: 'span', content_type: 'application/vnd.sentry.items.span.v2+json' }
const TRACE = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16) }
const TIMES = { start_timestamp: 1_795_149_000, timestamp: 1_795_149_001, end_timestamp: 1_795_149_001 }
const transaction = (fields: Record<string, unknown>): string =>
  JSON.stringify({ type: 'transaction', transaction: 'x', contexts: { trace: TRACE }, ...TIMES, ...fields })

test.each<[string, Record<string, unknown>, Buffer | string, string[]]>([
  ['no JSON', { type: 'transaction' }, '{"type":', ['transaction invalid not_json1']],
  ['no text', { type: 'transaction' }, Buffer.alloc(64, 0xff), ['transaction invalid not_json1']],
  ['nothing', { type: 'transaction' }, '', ['transaction invalid not_json1']],
  ['a list', { type: 'transaction' }, '[]', ['transaction invalid not_an_object1']],
  ['no trace', { type: 'transaction' }, '{}', ['transaction invalid bad_trace_id1']],
  [
    'an end before the start',
    { type: 'transaction' },
    transaction({ timestamp: 1 }),
    ['transaction invalid ends_before_start1'],
  ],
  ['deep', { type: 'transaction' }, `${'['.repeat(1_000)}${']'.repeat(1_000)}`, ['transaction invalid too_deep1']],
  [
    '100,000 spans',
    { type: 'transaction' },
    transaction({ spans: Array.from({ length: 100_000 }, () => 0) }),
    ['transaction invalid too_many_values1'],
  ],
  [
    'spans of wrong types',
    { type: 'transaction' },
    transaction({ spans: [0, null, {}, [[]], 'x'], measurements: [7] }),
    ['transaction accepted 1'],
  ],
  [
    '1e999 and friends',
    { type: 'transaction' },
    transaction({}).replace(
      '"x"',
      '"x","measurements":{"lcp":{"value":1e999},"fcp":{"value":1e308},"cls":{"value":-1}}',
    ),
    ['transaction accepted 1'],
  ],
  [
    'forbidden keys',
    { type: 'transaction' },
    transaction({}).replace('"x"', '"x","__proto__":{"measurements":{"lcp":{"value":5}}},"constructor":1'),
    ['transaction accepted 1'],
  ],
  ['a v1 span without ids', { type: 'span' }, '{"op":"x"}', ['span invalid bad_trace_id1']],
  ['a v1 span that is text', { type: 'span' }, '"span"', ['span invalid not_an_object1']],
  ['an invalid container', { ...V2, item_count: 7 }, '{"version":2,"entries":[]}', ['span invalid not_a_container7']],
  ['a truncated container', { ...V2, item_count: 3 }, '{"version":2,"items":[{', ['span invalid not_json3']],
  ['an empty container', V2, '{"version":2,"items":[]}', []],
  [
    'a container sent as v1',
    { type: 'span' },
    JSON.stringify({ items: [{ ...TRACE, ...TIMES, name: 'q' }] }),
    ['span accepted 1'],
  ],
  [
    'single bad entries',
    V2,
    JSON.stringify({
      items: [
        { ...TRACE, ...TIMES, name: 'good', is_segment: true },
        { ...TRACE, ...TIMES, span_id: 'c'.repeat(16), attributes: 'none' },
        { ...TRACE, ...TIMES, end_timestamp: 5 },
        { ...TRACE, ...TIMES, end_timestamp: 'soon' },
        { ...TRACE, name: 'timeless' },
        7,
        null,
      ],
    }),
    [
      'span accepted 2',
      'span invalid bad_timestamp2',
      'span invalid ends_before_start1',
      'span invalid not_an_object2',
    ],
  ],
  [
    '1,500 entries',
    V2,
    JSON.stringify({
      items: Array.from({ length: 1_500 }, (_, i) => ({
        ...TRACE,
        ...TIMES,
        span_id: i.toString(16).padStart(16, 'd'),
      })),
    }),
    ['span accepted 1000', 'span invalid too_many500'],
  ],
  [
    'an entry of 10 MiB',
    V2,
    JSON.stringify({
      items: [
        { ...TRACE, ...TIMES, attributes: { blob: 'x'.repeat(10 * 1024 * 1024) } },
        { ...TRACE, ...TIMES, span_id: 'c'.repeat(16) },
      ],
    }),
    ['span accepted 1', 'span invalid too_large1'],
  ],
])('%s', async (_what, headers, payload, outcomes) => {
  const project = await newProject()
  await post(project, headers, payload)
  expect(await outcomesOf(project)).toEqual(outcomes)
  const { rows } = await server.app.db.query('select 1 from spool_quarantine')
  expect(rows).toEqual([])
  // Invalid values are left out, and the rest is readable.
  const totals = await readPerformanceTotals(server.app.db, scopeOf(project))
  for (const one of totals.values()) expect(Number.isFinite(one.sum)).toBe(true)
})

test('a clock that is a day off is corrected; old data that is sent late counts at its own time', async () => {
  const project = await newProject()
  const { key, projectNumber } = dsnParts(project.dsn)
  const send = async (header: Record<string, unknown>, spanId: string, end: number): Promise<void> => {
    const body = `${JSON.stringify(header)}\n{"type":"transaction"}\n${transaction({
      contexts: { trace: { ...TRACE, span_id: spanId } },
      start_timestamp: end - 1,
      timestamp: end,
    })}`
    const url = `${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`
    expect((await fetch(url, { method: 'POST', body })).status).toBe(200)
  }
  const now = server.clock.now().getTime() / 1_000
  const day = 86_400
  await send({ sent_at: new Date((now - day) * 1_000).toISOString() }, '1'.repeat(16), now - day - 600)
  await send({ sent_at: new Date(now * 1_000).toISOString() }, '2'.repeat(16), now - 3 * day)
  await send({}, '3'.repeat(16), now + day)
  await server.service.drain()
  const series = await readSeries(server.app.db, {
    projectIds: [project.id],
    metric: 'duration',
    from: new Date((now - 4 * day) * 1_000),
    to: new Date((now + 60) * 1_000),
    intervalMs: 60_000,
    filter: {},
  })
  const agesInSeconds = series.flatMap(({ t, count }) => Array.from({ length: count }, () => now - t.getTime() / 1_000))
  expect(agesInSeconds).toEqual([3 * day, 600, 0])
})

test('health checks are filtered where a project enables it', async () => {
  const project = await newProject()
  await server.app.db.query(
    `update projects set settings = jsonb_set(settings, '{inbound_filters}', '{"health_checks": true}') where id = $1`,
    [project.id],
  )
  await post(project, { type: 'transaction' }, transaction({ transaction: 'GET /healthz' }))
  await post(project, { type: 'transaction' }, transaction({ transaction: 'GET /cart' }))
  const entry = { ...TRACE, ...TIMES, span_id: 'c'.repeat(16), name: 'GET /healthz', is_segment: true }
  await post(project, V2, JSON.stringify({ items: [entry] }))
  expect(await outcomesOf(project)).toEqual([
    'span filtered health_check1',
    'transaction accepted 1',
    'transaction filtered health_check1',
  ])
  expect(Object.keys(await measuredIn(project))).toEqual(['GET /cart (default)'])
})

test('pages on localhost are filtered with all their metrics', async () => {
  const project = await newProject()
  await server.app.db.query(
    `update projects set settings = jsonb_set(settings, '{inbound_filters}', '{"localhost": true}') where id = $1`,
    [project.id],
  )
  for (const name of [PAGE_10, PAGE_11, VITALS_11]) {
    const sample = samples.get(name)
    if (sample !== undefined) await replay(sample, project)
  }
  await server.service.drain()
  expect(await outcomesOf(project)).toEqual(['span filtered localhost16', 'transaction filtered localhost1'])
  expect(await measuredIn(project)).toEqual({})
})
