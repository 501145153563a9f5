import { gunzipSync } from 'node:zlib'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { expect, test } from 'vitest'
import type { LogItem, TraceMetricItem } from '#server/telemetry/logs/telemetry.api.ts'
import type { CheckInItem } from '#server/telemetry/monitors/monitors.api.ts'
import type { Page } from '#server/platform/kernel/page.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY, SAMPLE_PROJECT, type Sample } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Recorded logs, metrics, check-ins and OTLP requests through the running service, read back through the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')

const samples = readSamples(/^\/api\/4501\//).filter(({ name }) => /-(?:log|trace-metric|check_in)$|otlp-js/.test(name))

async function replay(sample: Sample): Promise<Response> {
  return fetch(server.url + sample.url, {
    method: sample.method,
    headers: sample.headers,
    body: new Uint8Array(sample.body),
  })
}

let projectId = ''

/** The project that the recordings name. */
async function theProject(): Promise<Client> {
  const ada = await aFounder(server.url)
  const project = await aProject(ada, { name: 'Recorded' })
  projectId = project.id
  await server.app.db.query('update projects set number = $2 where id = $1', [project.id, SAMPLE_PROJECT])
  await server.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
  return ada
}

const ada = await theProject()

const list = async <T>(what: string): Promise<Page<T>> => {
  const answer = await ada.get(`/api/projects/${projectId}/${what}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Page<T>>()
}

test('all recordings are accepted, and digestion refuses none', async () => {
  expect(samples.length).toBeGreaterThan(20)
  for (const sample of samples) {
    const response = await replay(sample)
    expect(response.status, sample.name).toBe(200)
    const isProtobuf = sample.headers['Content-Type'] === 'application/x-protobuf'
    if (sample.name.startsWith('otlp')) {
      expect(response.headers.get('content-type')).toBe(sample.headers['Content-Type'])
      expect(await response.text()).toBe(isProtobuf ? '' : '{}')
    }
  }
  await server.service.drain()
  const { rows } = await server.app.db.query<{ category: string; outcome: string; reason: string; quantity: number }>(
    `select category, outcome, reason, sum(quantity)::int as quantity from outcomes_hourly
     where project_id = $1 group by 1, 2, 3 order by 1, 2, 3`,
    [projectId],
  )
  expect(rows.filter(({ outcome }) => outcome !== 'accepted')).toEqual([])
  const accepted = Object.fromEntries(rows.map(({ category, quantity }) => [category, quantity]))
  // Counted in the recordings' headers; OTLP adds two logs and four spans.
  expect(accepted).toEqual({ log_item: 16, monitor: 13, span: 4, trace_metric: 13 })
})

test('log entries are listed as the programs wrote them', async () => {
  const { items, total } = await list<LogItem>('logs?limit=100')
  expect(total).toBe(items.length)
  const times = items.map(({ occurred_at }) => occurred_at)
  expect(times).toEqual([...times].sort().reverse())
  const node = items.find(
    ({ body, trace_id: id }) => body === 'user ada paid 12.5' && id === '6acdc2a5952d4aa6b9d04bedba112c05',
  )
  expect(node).toMatchObject({
    level: 'info',
    severity_number: 9,
    body: 'user ada paid 12.5',
    occurred_at: '2026-11-20T04:34:25.857Z',
    trace_id: '6acdc2a5952d4aa6b9d04bedba112c05',
    release: 'shop-api@1.4.0+77',
    environment: 'production',
    attributes: {
      order: { value: 1234, type: 'integer' },
      vip: { value: true, type: 'boolean' },
      'sentry.message.parameter.1': { value: 12.5, type: 'double' },
    },
    notes: [],
  })
  // Three entries of one program within a millisecond keep its order.
  const three = items.filter(({ trace_id: id }) => id === '6acdc2a5952d4aa6b9d04bedba112c05')
  expect(three.map(({ level }) => level)).toEqual(['trace', 'error', 'info'])
})

test('an OTLP log is the same in JSON and in protobuf', async () => {
  const { items } = await list<LogItem>('logs?q=cart%20failed')
  expect(items).toHaveLength(2)
  const [a, b] = items
  expect({ ...a, id: '', occurred_at: '' }).toEqual({ ...b, id: '', occurred_at: '' })
  expect(a).toMatchObject({
    level: 'error',
    severity_number: 17,
    body: 'cart failed',
    trace_id: null,
    attributes: {
      'service.name': { value: 'cart-svc', type: 'string' },
      'otel.scope.name': { value: 'demo', type: 'string' },
      order: { value: 12, type: 'integer' },
      vip: { value: true, type: 'boolean' },
    },
  })
})

test('OTLP spans are measured like those of SDKs', async () => {
  const { rows } = await server.app.db.query<{ name: string; op: string; release: string; environment: string }>(
    `select distinct name, op, release, environment from performance_series where project_id = $1 and grain = 0`,
    [projectId],
  )
  expect(rows).toContainEqual({ name: 'GET /cart', op: 'http.server', release: '1.2.3', environment: 'production' })
})

test('trace metrics keep their type, unit and value', async () => {
  const { items } = await list<TraceMetricItem>(
    'trace-metrics?name=cart.value&trace_id=6acdc2a5952d4aa6b9d04bedba112c05',
  )
  expect(items).toMatchObject([
    { name: 'cart.value', type: 'distribution', unit: 'euro', value: 12.5, release: 'shop-api@1.4.0+77' },
  ])
  const counters = await list<TraceMetricItem>('trace-metrics?type=counter&limit=100')
  expect(new Set(counters.items.map(({ name }) => name))).toEqual(
    new Set(['orders.created', 'orders', 'clicks', 'taps']),
  )
})

test('start and end of a job are one run; the last configuration applies', async () => {
  const report = await list<CheckInItem>('check-ins?monitor=nightly-report')
  const items = report.items.filter(({ id }) => id === '391c33d69bc840bfb25e1f185440059f')
  expect(items).toMatchObject([
    {
      id: '391c33d69bc840bfb25e1f185440059f',
      status: 'ok',
      duration_ms: 3200,
      release: 'shop-api@1.4.0+77',
      environment: 'production',
      monitor: {
        slug: 'nightly-report',
        schedule: { type: 'interval', value: 1, unit: 'day' },
        timezone: 'Etc/UTC',
        checkin_margin_minutes: 5,
        max_runtime_minutes: 30,
      },
      notes: [],
    },
  ])
  const nightly = await list<CheckInItem>('check-ins?monitor=nightly')
  expect(nightly.items.map(({ id, status }) => `${id} ${status}`).sort()).toEqual([
    '22ec31c36cec40618263ec04e65f713a ok',
    '34594dea56834855963b96dca34769fa error',
    expect.stringMatching(/ ok$/),
  ])
  expect(nightly.items[0]?.monitor.schedule).toEqual({ type: 'crontab', value: '0 3 * * *', unit: null })
  const running = await list<CheckInItem>('check-ins?status=in_progress')
  expect(running.items.map(({ monitor }) => monitor.slug)).toEqual(['jvm-cron'])
})

test('an invalid export gets a Status in its own media type', async () => {
  const url = `${server.url}/api/4501/integration/otlp/v1/traces`
  const auth = { 'x-sentry-auth': `sentry%20sentry_key%3D${SAMPLE_KEY}` }
  const proto = { ...auth, 'content-type': 'application/x-protobuf' }
  const sample = samples.find(({ name }) => name.startsWith('otlp-js-0.223.1/002'))
  const whole = gunzipSync(sample?.body ?? Buffer.alloc(0))

  const half = await fetch(url, { method: 'POST', headers: proto, body: whole.subarray(0, whole.length >> 1) })
  expect(half.status).toBe(400)
  expect(half.headers.get('content-type')).toBe('application/x-protobuf')
  const status = new BinaryReader(new Uint8Array(await half.arrayBuffer()))
  expect([status.tag()[0], status.int32(), status.tag()[0], status.string()]).toEqual([
    1,
    3,
    2,
    'The body is not a valid protobuf message.',
  ])

  const json = { ...auth, 'content-type': 'application/json' }
  const cut = await fetch(url, { method: 'POST', headers: json, body: '{"resourceSpans":[{"scopeSpans":[' })
  expect(cut.status).toBe(400)
  expect(await cut.json()).toMatchObject({ code: 3, message: 'The body is not valid JSON.' })

  const other = await fetch(url, { method: 'POST', headers: { ...auth, 'content-type': 'text/xml' }, body: '<a/>' })
  expect(other.status).toBe(415)
  const metrics = await fetch(url.replace('traces', 'metrics'), { method: 'POST', headers: proto, body: whole })
  expect(metrics.status).toBe(404)
  const unknown = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' })
  expect(unknown.status).toBe(401)
  expect(await unknown.json()).toMatchObject({ code: 16 })
  const empty = await fetch(url.replace('integration/', ''), { method: 'POST', headers: proto, body: '' })
  expect(empty.status).toBe(200)
})
