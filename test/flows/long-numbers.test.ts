import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Erasure } from '#server/service/erasure/privacy.api.ts'
import type { LogItem, TraceMetricItem } from '#server/telemetry/logs/telemetry.api.ts'
import type { Trace } from '#server/telemetry/traces/traces.api.ts'
import { exactJson } from '#shared/exact-json.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Client } from '#test/kit/client.ts'

/** Numbers with more digits than a JavaScript number holds, from the SDK's bytes to every answer of the API. */

const t = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
let ada: Client & { email: string }
let project: TestProject

beforeAll(async () => {
  ada = await aFounder(t.url)
})

const newProject = async (): Promise<void> => {
  project = await aProject(ada)
}

/** Sends items `[header, payload]`; payloads are bytes, because JSON.stringify would write other digits. */
async function send(items: readonly [Record<string, unknown>, string][], header = '{}'): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const lines = items.map(([item, payload]) => `${JSON.stringify(item)}\n${payload}\n`)
  const response = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
    method: 'POST',
    body: `${header}\n${lines.join('')}`,
  })
  expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
  await t.service.drain()
}

const sendEvent = (json: string): Promise<void> => send([[{ type: 'event' }, json]])

const issues = async (query: string): Promise<Issue[]> =>
  (await ada.get(`/api/projects/${project.id}/issues?q=${encodeURIComponent(query)}`)).as<{ items: Issue[] }>().items

async function theIssue(): Promise<IssueDetail> {
  const [issue, ...others] = await issues('')
  expect(others).toEqual([])
  return (await ada.get(`/api/issues/${issue?.id}`)).as<IssueDetail>()
}

/** The bytes of the answer that holds an event as it is stored. */
async function storedText(issue: IssueDetail): Promise<string> {
  return (await ada.get(`/api/issues/${issue.id}/events/${issue.event?.event_id}`)).text
}

const erase = async (userId: string): Promise<Erasure> =>
  (await ada.delete(`/api/projects/${project.id}/users/${encodeURIComponent(userId)}/data`)).as<Erasure>()

const FRAME = '"function":"load","module":"shop.orders","filename":"shop/orders.py","in_app":true,"lineno":7'
const error = (fields: string, vars = ''): string =>
  `{"platform":"python","exception":{"values":[{"type":"OrderError","value":"no order","stacktrace":{"frames":[{${FRAME}${vars}}]}}]}${fields}}`

describe('an event', () => {
  const FIELDS =
    ',"extra":{"order":608548899684111178,"delta":-9007199254740993,"price":999.9999999999999999999,"far":1e400,"list":[[18446744073709551615]],"held":[0.1,1e21,9007199254740991]},' +
    '"contexts":{"arguments":{"age":959743134293274624}},"tags":{"order":608548899684111178},' +
    '"breadcrumbs":[{"message":"paid","data":{"cart":608548899684111179}}],' +
    '"request":{"url":"https://shop.example/pay","data":{"account":608548899684111180},"query_string":[["page",608548899684111181]],"env":{"REQUEST_ID":608548899684111182}},' +
    '"logentry":{"message":"order %s","params":[608548899684111183]}'
  const VARS = ',"vars":{"org":999000167639035123}'

  const expectDigits = async (issue: IssueDetail): Promise<void> => {
    const { event } = issue
    expect(event?.extra).toEqual({
      order: '608548899684111178',
      delta: '-9007199254740993',
      price: '999.9999999999999999999',
      far: '1e400',
      list: [['18446744073709551615']],
      held: [0.1, 1e21, 9_007_199_254_740_991],
    })
    expect(event?.contexts['arguments']).toEqual({ age: '959743134293274624' })
    expect(event?.tags).toContainEqual({ key: 'order', value: '608548899684111178' })
    expect(event?.breadcrumbs[0]?.data).toEqual({ cart: '608548899684111179' })
    expect(event?.request).toMatchObject({
      data: { account: '608548899684111180' },
      query_string: 'page=608548899684111181',
      env: { REQUEST_ID: '608548899684111182' },
    })
    expect(event?.message).toBe('order 608548899684111183')
    expect(event?.exceptions[0]?.stacktrace?.frames[0]?.vars).toEqual({ org: '999000167639035123' })
    const { key, value } = { key: 'order', value: '608548899684111178' }
    expect((await issues(`${key}:${value}`)).map(({ id }) => id)).toEqual([issue.id])
    expect(await issues(`${key}:608548899684111200`)).toEqual([])
    const shared = await ada.get(`/api/issues/${issue.id}/tags`)
    expect(shared.body['items']).toContainEqual(expect.objectContaining({ key, value }))
    const events = await ada.get(`/api/issues/${issue.id}/events?tag=${key}:${value}`)
    expect(events.body['items']).toHaveLength(1)
    const suggested = await ada.get(`/api/issues/suggestions?key=order&prefix=6085&projectId=${project.id}`)
    expect(suggested.text).toContain(value)
  }

  test('is shown, searched and stored with every digit', async () => {
    await newProject()
    await sendEvent(error(FIELDS, VARS))
    const issue = await theIssue()
    await expectDigits(issue)
    const stored = await storedText(issue)
    expect(stored).toContain(
      '"order":608548899684111178,"delta":-9007199254740993,"price":999.9999999999999999999,"far":1e400',
    )
    // As the dashboard reads it.
    expect(JSON.stringify(exactJson(stored))).toContain('"vars":{"org":999000167639035123}')
  })

  test('keeps every digit when something beside the number is scrubbed', async () => {
    await newProject()
    const body = JSON.stringify('{"account":608548899684111180,"password":"hunter2"}')
    await sendEvent(error(`${FIELDS},"user":{"id":"u1","data":{"password":"hunter2","body":${body}}}`, VARS))
    const issue = await theIssue()
    await expectDigits(issue)
    const stored = await storedText(issue)
    expect(stored).not.toContain('hunter2')
    expect(stored).toContain(
      '"order":608548899684111178,"delta":-9007199254740993,"price":999.9999999999999999999,"far":1e400',
    )
    expect(issue.event?.user?.data?.['body']).toBe('{"account":608548899684111180,"password":"[Filtered]"}')
  })

  test('has the digits of a card scrubbed in a number as in a text', async () => {
    await newProject()
    // 19 digits with a right check digit, and the next number.
    await sendEvent(
      error(',"extra":{"card":4111111111111111110,"no_card":4111111111111111111,"text":"4111111111111111110"}'),
    )
    const issue = await theIssue()
    expect(issue.event?.extra).toEqual({ card: '[Filtered]', no_card: '4111111111111111111', text: '[Filtered]' })
    expect(await storedText(issue)).not.toContain('4111111111111111110')
  })

  test('obeys the rules of the project for the digits that were sent', async () => {
    await newProject()
    const rules = [
      { path: 'extra.**', pattern: 'custom', regex: '^60854889968411117[78]$', action: 'replace' },
      { path: 'extra.secret', pattern: 'anything', action: 'remove' },
    ]
    const changed = await ada.patch(`/api/projects/${project.id}/settings`, { scrub_rules: rules })
    expect([changed.status, changed.text]).toEqual([200, expect.any(String)])
    await sendEvent(error(',"extra":{"a":608548899684111178,"b":608548899684111179,"secret":608548899684111180}'))
    const issue = await theIssue()
    expect(issue.event?.extra).toEqual({ a: '[Filtered]', b: '608548899684111179' })
    expect(await storedText(issue)).toContain('"extra":{"a":"[Filtered]","b":608548899684111179}')
  })

  test('is read in the same way from the store endpoint, compressed or not', async () => {
    await newProject()
    const { key, projectNumber } = dsnParts(project.dsn)
    const json = error(FIELDS, VARS)
    for (const [body, encoding] of [
      [Buffer.from(json), 'identity'],
      [gzipSync(json), 'gzip'],
    ] as const) {
      const response = await fetch(`${t.url}/api/${projectNumber}/store/?sentry_key=${key}&sentry_version=7`, {
        method: 'POST',
        headers: { 'content-encoding': encoding },
        body,
      })
      expect(response.status).toBe(200)
    }
    await t.service.drain()
    const issue = await theIssue()
    expect(issue.event?.extra['order']).toBe('608548899684111178')
    expect(await storedText(issue)).toContain('"order":608548899684111178')
  })

  test('has an issue of its own for each fingerprint', async () => {
    await newProject()
    for (const last of [7, 8]) await sendEvent(error(`,"fingerprint":["order",115292150460684697${last}]`))
    expect(await issues('')).toHaveLength(2)
  })

  test('takes its time, numbers of frames and addresses from long numbers as before', async () => {
    await newProject()
    const seconds = Math.floor(Date.now() / 1_000)
    await sendEvent(
      `{"timestamp":${seconds}.12345678901234567890,"exception":{"values":[{"type":"E","value":"v","stacktrace":{"frames":[{"function":"f","instruction_addr":18446744073709551615,"lineno":7.00000000000000000001}]}}]}}`,
    )
    const { event } = await theIssue()
    expect(event?.occurred_at).toBe(new Date(seconds * 1_000 + 123).toISOString())
    expect(event?.exceptions[0]?.stacktrace?.frames[0]).toMatchObject({
      instruction_addr: '0xffffffffffffffff',
      lineno: 7,
    })
  })
})

describe('users with 64-bit ids', () => {
  const [SEVEN, EIGHT] = ['1152921504606846977', '1152921504606846978'] as const

  test('are two users, each found, shown and erased by its own id', async () => {
    await newProject()
    await ada.patch(`/api/projects/${project.id}/settings`, { store_replays: true, store_profiles: true })
    for (const id of [SEVEN, EIGHT]) {
      await sendEvent(error(`,"user":{"id":${id}}`))
      // SDKs of browsers have the same id only as text.
      await sendEvent(error(`,"user":{"id":"${id}"}`))
      await send([
        [{ type: 'feedback' }, `{"user":{"id":${id}},"contexts":{"feedback":{"message":"It broke for ${id}."}}}`],
      ])
      await send([
        [
          { type: 'log', item_count: 1 },
          `{"items":[{"timestamp":${Date.now() / 1_000},"level":"info","body":"paid","trace_id":"${'a'.repeat(32)}","attributes":{"user.id":{"value":${id},"type":"integer"}}}]}`,
        ],
      ])
      await send(
        [
          [{ type: 'replay_event' }, `{"replay_id":"${id.padStart(32, '0')}","user":{"id":${id}}}`],
          [{ type: 'profile' }, `{"version":"1","transaction":{"user":{"id":${id}}}}`],
        ],
        `{"event_id":"${id.padStart(32, '0')}"}`,
      )
    }
    const issue = await theIssue()
    expect([issue.user_count, issue.event_count]).toEqual([2, 4])
    const users = (await ada.get(`/api/issues/${issue.id}/users`)).body['items']
    expect(users).toHaveLength(2)
    for (const key of [SEVEN, EIGHT]) {
      expect(users).toContainEqual(expect.objectContaining({ key, label: key, events: 2 }))
      expect((await issues(`user.id:${key}`)).map(({ id }) => id)).toEqual([issue.id])
      expect((await ada.get(`/api/issues/${issue.id}/events?user=${key}`)).body['items']).toHaveLength(2)
      expect((await ada.get(`/api/issues/${issue.id}/events?q=user.id:${key}`)).body['items']).toHaveLength(2)
    }
    expect(await issues('user.id:1152921504606847000')).toEqual([])

    const gone = { state: 'done', erased: { events: 2, feedback: 1, logs: 1, recordings: 2 } }
    expect(await erase('1152921504606847000')).toMatchObject({ state: 'done', erased: {} })
    expect((await theIssue()).event_count).toBe(4)
    expect(await erase(SEVEN)).toMatchObject(gone)
    const left = (await ada.get(`/api/issues/${issue.id}/users`)).body['items']
    expect(left).toEqual([expect.objectContaining({ key: EIGHT, events: 2 })])
    expect((await ada.get(`/api/projects/${project.id}/feedback`)).text).toContain(`It broke for ${EIGHT}.`)
    expect(await erase(EIGHT)).toMatchObject(gone)
    // Data that arrives after an erasure was asked for is not of the erased time.
    expect((await ada.get(`/api/issues/${issue.id}/events`)).body['items']).toEqual([])
  })

  test('are counted as two users of sessions, the same as those of events', async () => {
    await newProject()
    const started = new Date().toISOString()
    for (const id of [SEVEN, EIGHT])
      await send([
        [
          { type: 'session' },
          `{"sid":"${id.padStart(32, '0')}","did":${id},"init":true,"status":"exited","started":"${started}","attrs":{"release":"shop@1.0.0"}}`,
        ],
      ])
    const { rows } = await t.app.db.query<{ n: number }>(
      'select count(distinct user_hash)::int as n from app_sessions where project_id = $1',
      [project.id],
    )
    expect(rows[0]?.n).toBe(2)
    expect(await erase(SEVEN)).toMatchObject({ erased: { sessions: 1 } })
  })
})

describe('telemetry', () => {
  const TRACE = 'b'.repeat(32)
  const now = Date.now() / 1_000

  test('logs keep the digits of attributes and bodies; metrics keep their values', async () => {
    await newProject()
    await send([
      [
        { type: 'log', item_count: 1 },
        `{"items":[{"timestamp":${now},"level":"info","trace_id":"${TRACE}","body":{"order":608548899684111178},"attributes":{"order":{"value":608548899684111178,"type":"integer"},"ratio":{"value":999.9999999999999999999,"type":"double"},"plain":-608548899684111178,"list":{"value":[18446744073709551615,1],"type":"array"},"wide":{"value":0.10000000000000001,"type":"double"}}}]}`,
      ],
    ])
    await send([
      [
        { type: 'trace_metric', item_count: 2 },
        `{"items":[{"timestamp":${now},"name":"paid","type":"counter","value":12.3400000000000000001,"trace_id":"${TRACE}","attributes":{"order":{"value":608548899684111178,"type":"integer"}}},{"timestamp":${now},"name":"far","type":"gauge","value":18446744073709551615,"trace_id":"${TRACE}"}]}`,
      ],
    ])
    const logs = (await ada.get(`/api/projects/${project.id}/logs`)).as<{ items: LogItem[] }>().items
    expect(logs[0]).toMatchObject({
      body: '{"order":"608548899684111178"}',
      attributes: {
        order: { value: '608548899684111178', type: 'string' },
        ratio: { value: '999.9999999999999999999', type: 'string' },
        plain: { value: '-608548899684111178', type: 'string' },
        list: { value: ['18446744073709551615', 1], type: 'array' },
        wide: { value: 0.1, type: 'double' },
      },
    })
    const metrics = (await ada.get(`/api/projects/${project.id}/trace-metrics`)).as<{ items: TraceMetricItem[] }>()
    expect(Object.fromEntries(metrics.items.map(({ name, value }) => [name, value]))).toEqual({
      far: 2 ** 64,
      paid: 12.34,
    })
    expect(metrics.items.find(({ name }) => name === 'paid')?.attributes).toMatchObject({
      order: { value: '608548899684111178' },
    })
  })

  test('check-ins keep their durations, and profiles are the bytes that were sent', async () => {
    await newProject()
    await ada.patch(`/api/projects/${project.id}/settings`, { store_profiles: true })
    const profile = '{"version":"1","transaction":{"active_thread_id":18446744073709551615}}'
    await send([
      [{ type: 'check_in' }, `{"monitor_slug":"nightly","status":"ok","duration":12.3400000000000000001}`],
      [{ type: 'profile' }, profile],
    ])
    const checkIns = (await ada.get(`/api/projects/${project.id}/check-ins`)).body['items']
    expect(checkIns).toEqual([expect.objectContaining({ duration_ms: 12_340, notes: [] })])
    const { rows } = await t.app.db.query<{ id: string }>('select id from attachments where project_id = $1', [
      project.id,
    ])
    expect((await ada.get(`/api/projects/${project.id}/attachments/${rows[0]?.id}`)).text).toBe(profile)
  })

  test('OTLP keeps the digits of integers, which JSON may have as numbers', async () => {
    await newProject()
    const { key, projectNumber } = dsnParts(project.dsn)
    const response = await fetch(`${t.url}/api/${projectNumber}/integration/otlp/v1/logs`, {
      method: 'POST',
      headers: { 'x-sentry-auth': `Sentry sentry_key=${key}`, 'content-type': 'application/json' },
      body: `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"timeUnixNano":${Math.floor(now)}123456789,"body":{"stringValue":"paid"},"attributes":[{"key":"order","value":{"intValue":608548899684111178}}]}]}]}]}`,
    })
    expect(response.status).toBe(200)
    await t.service.drain()
    const [log] = (await ada.get(`/api/projects/${project.id}/logs`)).as<{ items: LogItem[] }>().items
    expect(log?.attributes).toMatchObject({ order: { value: '608548899684111178' } })
    expect(log?.occurred_at).toBe(new Date(Math.floor(now) * 1_000 + 123).toISOString())
  })

  test('transactions keep their times and measurements; data of their spans keeps its digits', async () => {
    await newProject()
    const span = `"trace_id":"${TRACE}","span_id":"${'c'.repeat(16)}"`
    const start = Math.floor(now) - 2
    await send([
      [
        { type: 'transaction' },
        `{"event_id":"${'d'.repeat(32)}","type":"transaction","transaction":"/pay","start_timestamp":${start}.00000000000000000001,"timestamp":${start}.50000000000000000001,` +
          `"contexts":{"trace":{${span},"op":"http.server","data":{"order":608548899684111178}}},"measurements":{"lcp":{"value":250.00000000000000000001,"unit":"millisecond"}},` +
          `"spans":[{"trace_id":"${TRACE}","span_id":"${'e'.repeat(16)}","parent_span_id":"${'c'.repeat(16)}","op":"db","description":"select","start_timestamp":${start},"timestamp":${start}.25,"data":{"row":18446744073709551615}}]}`,
      ],
    ])
    const trace = (await ada.get(`/api/projects/${project.id}/traces/${TRACE}`)).as<Trace>()
    expect(trace.duration_ms).toBe(500)
    expect(trace.spans.map(({ data }) => data)).toEqual([
      { order: '608548899684111178' },
      { row: '18446744073709551615' },
    ])
  })
})
