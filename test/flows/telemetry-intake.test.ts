import { beforeEach, expect, test } from 'vitest'
import type { Page } from '#server/platform/kernel/page.api.ts'
import type { LogItem, TraceMetricItem } from '#server/telemetry/logs/telemetry.api.ts'
import type { CheckInItem } from '#server/telemetry/monitors/monitors.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Check-ins by URL, network error reports, OTLP and malformed containers, through the service. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })

let ada: Client
let project: TestProject
let key: string
let base: string

beforeEach(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada)
  key = dsnParts(project.dsn).key
  base = `${server.url}/api/${project.number}`
})

const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  fetch(`${base}${path}`, {
    method: 'POST',
    body,
    headers: { 'x-sentry-auth': `Sentry sentry_key=${key}`, ...headers },
  })

async function list<T>(what: string): Promise<Page<T>> {
  await server.service.drain()
  const answer = await ada.get(`/api/projects/${project.id}/${what}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Page<T>>()
}

async function outcomes(): Promise<Record<string, number>> {
  await server.service.drain()
  const { rows } = await server.app.db.query<{ name: string; quantity: number }>(
    `select category || ':' || outcome || ':' || reason as name, sum(quantity)::int as quantity
     from outcomes_hourly where project_id = $1 group by 1`,
    [project.id],
  )
  return Object.fromEntries(rows.map(({ name, quantity }) => [name, quantity]))
}

const sendItem = (type: string, payload: unknown, headers: Record<string, unknown> = {}): Promise<Response> =>
  post(
    '/envelope/',
    `{}\n${JSON.stringify({ type, ...headers })}\n${typeof payload === 'string' ? payload : JSON.stringify(payload)}`,
  )

const logs = (...items: readonly unknown[]) => sendItem('log', { version: 2, items }, { item_count: items.length })

test('a curl in a crontab line creates a monitor', async () => {
  const started = await fetch(
    `${base}/cron/Nightly%20Backup/${key}/?status=in_progress&schedule=0+3+*+*+*&timezone=Europe/Berlin&max_runtime=30`,
  )
  expect(started.status).toBe(202)
  server.clock.advance(4_000)
  expect((await fetch(`${base}/cron/nightly-backup/${key}/`, { method: 'POST' })).status).toBe(202)
  expect((await list<CheckInItem>('check-ins')).items).toMatchObject([
    {
      status: 'ok',
      duration_ms: 4_000,
      monitor: {
        slug: 'nightly-backup',
        schedule: { type: 'crontab', value: '0 3 * * *' },
        timezone: 'Europe/Berlin',
        max_runtime_minutes: 30,
      },
    },
  ])
})

test('a check-in may be JSON or a form, with its key in a header or the query', async () => {
  const body = JSON.stringify({
    status: 'error',
    duration: 1.5,
    monitor_config: { schedule: { type: 'interval', value: 1, unit: 'hour' } },
  })
  expect((await post('/cron/sync/?environment=dev', body, { 'content-type': 'application/json' })).status).toBe(202)
  const form = await fetch(`${base}/cron/sync?sentry_key=${key}`, {
    method: 'POST',
    body: new URLSearchParams({
      status: 'ok',
      check_in_id: '391c33d6-9bc8-40bf-b25e-1f185440059f',
      schedule: '2 hours',
    }),
  })
  expect(form.status).toBe(202)
  const { items } = await list<CheckInItem>('check-ins')
  expect(items.map(({ status, environment, duration_ms: ms }) => `${status} ${environment} ${ms}`).sort()).toEqual([
    'error dev 1500',
    'ok production null',
  ])
  expect(items[0]?.monitor.schedule).toEqual({ type: 'interval', value: 2, unit: 'hour' })
})

test.each([
  ['another method', () => fetch(`${base}/cron/a/${key}/`, { method: 'PUT' }), 405],
  ['no key', () => fetch(`${base}/cron/a/`), 401],
  ['an unknown key', () => fetch(`${base}/cron/a/${'0'.repeat(32)}/`), 403],
  ['an invalid key', () => fetch(`${base}/cron/a/${key.slice(1)}/`), 400],
  ['two keys', () => fetch(`${base}/cron/a/${key}/?sentry_key=${'0'.repeat(32)}`), 400],
  ['a body of a megabyte', () => post('/cron/a/', 'x'.repeat(1_000_000)), 413],
])('a check-in by URL with %s is refused', async (_name, send, status) => {
  expect((await send()).status).toBe(status)
  expect(await outcomes()).toEqual({})
})

test.each([
  ['a slug of 1 kB', `/cron/${'a'.repeat(1_000)}/`, '', 'bad_slug'],
  ['an unknown status', '/cron/a/?status=fine', '', 'bad_status'],
  ['an invalid id', '/cron/a/?check_in_id=7', '', 'bad_check_in_id'],
  ['half a body', '/cron/a/', '{"status":', 'not_json'],
  ['a list', '/cron/a/', '[]', 'not_an_object'],
])('%s is answered 202 and ends as invalid', async (_name, path, body, reason) => {
  expect((await post(path, body)).status).toBe(202)
  expect(await outcomes()).toEqual({ [`monitor:invalid:${reason}`]: 1 })
})

test('an invalid crontab is ignored with a note, the check-in counts', async () => {
  expect((await post('/cron/a/?schedule=whenever', '')).status).toBe(202)
  expect((await list<CheckInItem>('check-ins')).items).toMatchObject([
    { status: 'ok', monitor: { schedule: null }, notes: [{ name: 'monitor_config.schedule' }] },
  ])
})

test('network error reports become log entries at the time of the error', async () => {
  const report = (age: number) => ({
    type: 'network-error',
    age,
    url: 'https://shop.example/pay?token=s3cret',
    body: { phase: 'dns', type: 'dns.name_not_resolved', elapsed_time: 3 },
  })
  const reports = JSON.stringify([report(60_000), report(0), { type: 'deprecation', body: {} }, 7])
  const answer = await post('/nel/', reports, { 'content-type': 'application/reports+json; charset=utf-8' })
  expect([answer.status, await answer.text()]).toEqual([200, ''])
  const { items } = await list<LogItem>('logs')
  const now = server.clock.now().getTime()
  expect(items).toMatchObject([
    {
      level: 'info',
      body: 'Network error dns.name_not_resolved in phase dns at shop.example',
      occurred_at: new Date(now).toISOString(),
    },
    { occurred_at: new Date(now - 60_000).toISOString() },
  ])
  expect(JSON.stringify(items)).not.toContain('s3cret')
  expect(await outcomes()).toEqual({ 'log_item:accepted:': 2, 'log_item:invalid:not_a_report': 2 })
  expect((await post('/nel/', reports, { 'content-type': 'text/plain' })).status).toBe(415)
  expect((await post('/nel/', 'null', { 'content-type': 'application/json' })).status).toBe(200)
  expect(await outcomes()).toMatchObject({ 'log_item:invalid:not_a_report': 3 })
})

test('of 100,000 entries 1,000 are stored and all have an outcome', async () => {
  const payload = `{"items":[${'{"body":"x"},'.repeat(99_999)}{"body":"x"}]}`
  expect((await sendItem('log', payload)).status).toBe(200)
  expect(await outcomes()).toEqual({ 'log_item:accepted:': 1_000, 'log_item:invalid:too_many': 99_000 })
})

test('a check-in with a slug of 10 kB, or a list as status, is invalid', async () => {
  await sendItem('check_in', { monitor_slug: 'a'.repeat(10_000), status: 'ok' })
  await sendItem('check_in', { monitor_slug: 'a', status: ['ok'] })
  await sendItem('check_in', '"'.repeat(90_000))
  expect(await outcomes()).toEqual({
    'monitor:invalid:bad_slug': 1,
    'monitor:invalid:bad_status': 1,
    'monitor:invalid:not_json': 1,
  })
})

test('one invalid entry does not affect the others', async () => {
  await logs({ body: 'good', level: 'warn' }, null, { level: 'info' }, [1], { body: 'good too', attributes: 'none' })
  await sendItem('trace_metric', {
    items: [
      { name: 'a', type: 'counter', value: 1 },
      { name: 'a', type: 'counter', value: 'NaN' },
      { name: '', type: 'gauge', value: 1 },
      { name: 'b', type: 'histogram', value: 1 },
    ],
  })
  expect(await outcomes()).toEqual({
    'log_item:accepted:': 2,
    'log_item:invalid:not_an_object': 2,
    'log_item:invalid:no_body': 1,
    'trace_metric:accepted:': 1,
    'trace_metric:invalid:bad_value': 1,
    'trace_metric:invalid:no_name': 1,
    'trace_metric:invalid:bad_type': 1,
  })
  expect((await list<TraceMetricItem>('trace-metrics')).items).toHaveLength(1)
})

test.each([
  ['half a container', '{"items":[{"body":"x"', 'not_json'],
  ['a container too deep', `{"items":${'['.repeat(200_000)}`, 'too_deep'],
  ['bare NaN', '{"items":[{"body":NaN}]}', 'not_json'],
  ['no container', '1234567', 'not_a_container'],
])('%s is answered 200 and ends as invalid', async (_name, payload, reason) => {
  for (const type of ['log', 'trace_metric'])
    expect((await sendItem(type, payload, { item_count: 3 })).status).toBe(200)
  expect(await outcomes()).toEqual({ [`log_item:invalid:${reason}`]: 3, [`trace_metric:invalid:${reason}`]: 3 })
})

test('characters that PostgreSQL refuses are replaced before they are stored', async () => {
  const attributes = String.raw`{"nul\u0000":"a\u0000b","half":"\ud800","__proto__":{"value":"x"},"big":1e999,"deep":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}`
  const payload = `{"items":[{"body":"\\u0000\\udfff","timestamp":"0000-99-99","trace_id":"\\u0000","attributes":${attributes}}]}`
  expect((await sendItem('log', payload)).status).toBe(200)
  const { items } = await list<LogItem>('logs')
  expect(items).toMatchObject([
    {
      body: '\ufffd',
      trace_id: null,
      attributes: { nul: { value: 'ab' }, half: { value: '\ufffd' }, big: { value: '1e999', type: 'string' } },
    },
  ])
  expect(Object.keys(items[0]?.attributes ?? {})).not.toContain('__proto__')
  expect((await server.app.db.query('select 1 from spool_quarantine')).rows).toHaveLength(0)
})

const AGENT = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36'

/** Two log entries of a browser, one with an own browser name; returns their stored attributes. */
async function inferredBy(ingest_settings: unknown): Promise<LogItem['attributes'][]> {
  const items = [{ body: 'own', attributes: { 'browser.name': 'Netscape' } }, { body: 'none' }]
  const payload = JSON.stringify({ ingest_settings, items })
  await post('/envelope/', `{}\n{"type":"log"}\n${payload}`, { 'user-agent': AGENT })
  return (await list<LogItem>('logs')).items
    .sort((a, b) => (a.body < b.body ? -1 : 1))
    .map(({ attributes }) => attributes)
}

test('browser and address are added where the container asks for them', async () => {
  expect(await inferredBy({ infer_ip: 'auto', infer_user_agent: 'auto' })).toMatchObject([
    { 'client.address': { value: '127.0.0.1' }, 'browser.name': { value: 'Chrome' }, 'os.name': { value: 'Linux' } },
    { 'browser.name': { value: 'Netscape' } },
  ])
})

test.each([{ infer_ip: 'never' }, 'auto', null])('a container with %j gets neither', async (settings) => {
  expect(await inferredBy(settings)).toEqual([{}, { 'browser.name': { value: 'Netscape', type: 'string' } }])
})

test('a project that scrubs addresses gets none', async () => {
  await ada.patch(`/api/projects/${project.id}/settings`, { scrub_ip_addresses: true })
  expect((await inferredBy({ infer_ip: 'auto' }))[0]).toEqual({})
})

test('no secret of a log, metric, check-in or OTLP record is stored', async () => {
  const secrets = ['4111 1111 1111 1111', 'hunter2hunter2', 'sk-canary-token']
  const attributes = {
    note: { value: `card ${secrets[0]}`, type: 'string' },
    'db.password': { value: secrets[1], type: 'string' },
    my_field: { value: secrets[2], type: 'string' },
    list: { value: [`card ${secrets[0]}`], type: 'array' },
  }
  await ada.patch(`/api/projects/${project.id}/settings`, { scrub_fields: ['my_field'] })
  await logs({ body: `paid with ${secrets[0]}`, attributes })
  await sendItem('trace_metric', { items: [{ name: 'auth.tokens', type: 'counter', value: 12_345_678, attributes }] })
  await sendItem('check_in', { monitor_slug: 'a', status: 'ok', release: `a@${secrets[0]}`, password: secrets[1] })
  const value = (stringValue: string | undefined) => ({ stringValue })
  const record = {
    body: value(`paid with ${secrets[0]}`),
    attributes: [
      { key: 'user.password', value: value(secrets[1]) },
      { key: 'my_field', value: value(secrets[2]) },
      { key: 'nested', value: { kvlistValue: { values: [{ key: 'password', value: value(secrets[1]) }] } } },
    ],
  }
  const otlp = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [record] }] }] })
  expect((await post('/otlp/v1/logs', otlp, { 'content-type': 'application/json' })).status).toBe(200)
  expect(await outcomes()).toEqual({ 'log_item:accepted:': 2, 'monitor:accepted:': 1, 'trace_metric:accepted:': 1 })
  const stored = await server.app.db.query(
    `select l::text from logs l union all select m::text from trace_metrics m union all select c::text from check_ins c`,
  )
  const text = JSON.stringify(stored.rows)
  for (const secret of secrets) expect(text).not.toContain(secret)
  const metric = (await list<TraceMetricItem>('trace-metrics')).items[0]
  expect(metric).toMatchObject({
    name: 'auth.tokens',
    value: 12_345_678,
    attributes: { 'db.password': { value: '[Filtered]' } },
  })
})

test('an export of more than 10,000 entries is accepted in part, and the response says so', async () => {
  const logRecords = Array.from({ length: 10_003 }, () => ({ body: { stringValue: 'x' } }))
  const body = JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] })
  const answer = await post('/integration/otlp/v1/logs', body, { 'content-type': 'application/json' })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ partialSuccess: { rejectedLogRecords: '3' } })
  expect(await outcomes()).toEqual({ 'log_item:accepted:': 10_000, 'log_item:invalid:too_many': 3 })
})

test('lists filter, page by cursor and refuse unknown parameters', async () => {
  const at = (minute: number) => new Date(server.clock.now().getTime() - minute * 60_000).toISOString()
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
  await logs(
    ...Array.from({ length: 60 }, (_, n) => ({
      body: `entry ${n} 100%_done`,
      level: levels[n % 6],
      timestamp: at(n),
      trace_id: n % 2 === 0 ? 'a'.repeat(32) : 'b'.repeat(32),
    })),
  )
  const bodies = async (query: string) => (await list<LogItem>(`logs?limit=100&${query}`)).items.map(({ body }) => body)
  expect(await bodies('level=error&level=fatal')).toHaveLength(20)
  expect(await bodies('level=debug')).toHaveLength(10)
  expect(await bodies('q=ENTRY%201')).toHaveLength(11)
  expect(await bodies('q=100%25_')).toHaveLength(60)
  expect(await bodies('q=100_')).toHaveLength(0)
  expect(await bodies(`trace_id=${'A'.repeat(32)}&level=error`)).toHaveLength(10)
  expect(await bodies(`from=${at(9)}&to=${at(4)}`)).toEqual([5, 6, 7, 8, 9].map((n) => `entry ${n} 100%_done`))

  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Page<LogItem> = await list(`logs?limit=7${cursor === null ? '' : `&cursor=${cursor}`}`)
    expect(page.total).toBe(60)
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.next_cursor
  } while (cursor !== null)
  expect(new Set(seen).size).toBe(60)
  expect((await list<LogItem>('logs?limit=7&offset=7')).items.map(({ id }) => id)).toEqual(seen.slice(7, 14))

  for (const query of [
    'cursor=x',
    `cursor=${Buffer.from('["a","b"]').toString('base64url')}`,
    'from=yesterday',
    'from=0000-01-01T00:00:00Z',
    `from=${at(1)}&to=${at(2)}`,
    'level=loud',
    'q=',
    `q=${'x'.repeat(201)}`,
    'trace_id=7',
    'q=%00',
  ]) {
    const answer = await ada.get(`/api/projects/${project.id}/logs?${query}`)
    expect(answer.status, query).toBe(400)
  }
  const stranger = await aFounder(server.url)
  for (const what of ['logs', 'trace-metrics', 'check-ins'])
    expect((await stranger.get(`/api/projects/${project.id}/${what}`)).status).toBe(404)
})
