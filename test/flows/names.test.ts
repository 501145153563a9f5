import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Event } from '#server/events/protocol/event.api.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Names of environments and releases as apps send them, in everything that is counted, filtered and shown. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app, clock } = server
const owner = await server.founder()
const NOW = app.clock.now()
const ago = (seconds: number): string => new Date(NOW.getTime() - seconds * 1_000).toISOString()

type Items = readonly (readonly [type: string, payload: unknown])[]

async function send(dsn: string, items: Items, header: Record<string, unknown> = {}): Promise<void> {
  const { key, projectNumber } = dsnParts(dsn)
  const lines = [JSON.stringify(header)]
  for (const [type, payload] of items) {
    const isContainer = type === 'log' || type === 'trace_metric' || type === 'span'
    lines.push(
      JSON.stringify({
        type,
        ...(isContainer
          ? { item_count: 1, content_type: `application/vnd.sentry.items.${type === 'span' ? 'span.v2' : type}+json` }
          : {}),
      }),
      JSON.stringify(payload),
    )
  }
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `${lines.join('\n')}\n`,
  })
  expect(answer.status, await answer.text()).toBe(200)
  await server.service.drain()
}

/** An envelope holds one event, transaction or feedback; the others have their own. */
async function sendEach(dsn: string, all: Items): Promise<void> {
  for (const one of all) await send(dsn, [one])
}

const exception = (name: string) => ({
  values: [
    {
      type: 'TypeError',
      value: 'x is undefined',
      mechanism: { type: 'onerror', handled: false },
      stacktrace: {
        frames: [{ function: name, filename: 'https://shop.example/app.js', in_app: true, lineno: 3 }],
      },
    },
  ],
})

/** Everything that has an environment and a release, one item of each kind. */
function everything(environment: unknown, release: unknown): Items {
  const eventId = newEventId()
  const attributes = { 'sentry.environment': { value: environment }, 'sentry.release': { value: release } }
  const at = NOW.getTime() / 1_000
  return [
    ['event', { event_id: eventId, platform: 'javascript', environment, release, exception: exception('open') }],
    [
      'session',
      {
        sid: crypto.randomUUID(),
        did: 'device-1',
        init: true,
        started: ago(30),
        timestamp: ago(0),
        status: 'crashed',
        errors: 1,
        attrs: { release, environment },
      },
    ],
    ['sessions', { aggregates: [{ started: ago(60), exited: 2 }], attrs: { release, environment } }],
    [
      'transaction',
      {
        type: 'transaction',
        transaction: 'GET /cart',
        environment,
        release,
        start_timestamp: at - 1,
        timestamp: at,
        contexts: { trace: { trace_id: newEventId(), span_id: '00f067aa0ba902b7', op: 'http.server' } },
      },
    ],
    ['log', { items: [{ timestamp: at, level: 'info', body: 'paid', attributes }] }],
    ['trace_metric', { items: [{ timestamp: at, name: 'carts', type: 'counter', value: 1, attributes }] }],
    ['check_in', { check_in_id: newEventId(), monitor_slug: 'nightly', status: 'ok', environment, release }],
    [
      'feedback',
      {
        type: 'feedback',
        event_id: newEventId(),
        environment,
        release,
        contexts: { feedback: { message: 'It hangs.' } },
      },
    ],
  ]
}

async function ask(path: string): Promise<Record<string, unknown>> {
  const answer = await owner.get(path)
  expect(answer.status, `${path}: ${answer.text}`).toBe(200)
  return answer.body
}

const items = async <T>(path: string): Promise<readonly T[]> => (await ask(path))['items'] as readonly T[]

type Named = { readonly environment: string | null; readonly release: string | null }

async function eventOf(projectId: string): Promise<Event> {
  const [issue] = await server.issues(owner, `projectId=${projectId}`)
  const [event] = await items<{ event_id: string }>(`/api/issues/${issue?.id}/events`)
  const { event: whole } = await ask(`/api/issues/${issue?.id}/events/${event?.event_id}`)
  return whole as Event
}

/** Environment and release of each kind in the API. */
async function namesIn(projectId: string): Promise<Record<string, readonly [unknown, unknown]>> {
  const event = await eventOf(projectId)
  const pair = ({ environment, release }: Named): readonly [unknown, unknown] => [environment, release]
  const first = async (path: string) => {
    const [one] = await items<Named>(`/api/projects/${projectId}/${path}`)
    return one === undefined ? (['missing', 'missing'] as const) : pair(one)
  }
  return {
    event: pair(event),
    log: await first('logs'),
    metric: await first('trace-metrics'),
    'check-in': await first('check-ins'),
    feedback: await first('feedback'),
  }
}

const Breakdown = z.looseObject({
  rows: z.array(z.looseObject({ name: z.string(), sessions: z.number() })),
  unknown: z.looseObject({ sessions: z.number() }).nullable(),
})

async function sessionsBy(projectId: string, dimension: string): Promise<Record<string, number>> {
  const { rows, unknown } = Breakdown.parse(
    await ask(`/api/metrics/breakdown?projectId=${projectId}&range=24h&dimension=${dimension}`),
  )
  return {
    ...Object.fromEntries(rows.map(({ name, sessions }) => [name, sessions])),
    ...(unknown === null ? {} : { unknown: unknown.sessions }),
  }
}

const NAMES = [
  ['eu/staging', '@acme/web@1.2.3'],
  ['eu\\staging', 'registry.example.com/shop/api:1.4.2'],
  ['prod eu-1 (blue)', 'feature/cart@3f2a9c1'],
  ['../production', '../../etc@1.0'],
  ['production/', '/'],
  ['生产/欧洲 %2F?&#', 'магазин/веб@1.2.3 %2F?&#+7'],
] as const

describe.each(NAMES)('environment %s, release %s', (environment, release) => {
  test('everything has both names, and they filter', async () => {
    const project = await server.project(owner)
    await sendEach(project.dsn, everything(environment, release))
    expect(await namesIn(project.id)).toEqual(
      Object.fromEntries(
        ['event', 'log', 'metric', 'check-in', 'feedback'].map((kind) => [kind, [environment, release]]),
      ),
    )
    expect((await eventOf(project.id)).errors).toEqual([])
    expect(await sessionsBy(project.id, 'environment')).toEqual({ [environment]: 3 })
    expect(await sessionsBy(project.id, 'release')).toEqual({ [release]: 3 })

    const [env, rel] = [encodeURIComponent(environment), encodeURIComponent(release)]
    for (const query of [`environment:"${environment}"`, `release:"${release}"`])
      expect(await server.issues(owner, `projectId=${project.id}&q=${encodeURIComponent(query)}`), query).toHaveLength(
        1,
      )
    for (const path of ['check-ins', 'feedback'])
      expect(await items(`/api/projects/${project.id}/${path}?environment=${env}`), path).toHaveLength(1)
    const figures = (await ask(
      `/api/performance/transactions?projectId=${project.id}&range=24h&environment=${env}&release=${rel}`,
    )) as { items: readonly unknown[] }
    expect(figures.items).toHaveLength(1)
    const other = (await ask(
      `/api/performance/transactions?projectId=${project.id}&range=24h&environment=production`,
    )) as { items: readonly unknown[] }
    expect(other.items).toHaveLength(0)

    const listed = await items<{ id: string; version: string }>(
      `/api/releases?projectId=${project.id}&environment=${env}`,
    )
    expect(listed.map(({ version }) => version)).toEqual([release])
    const one = await ask(`/api/releases/${listed[0]?.id}?environment=${env}`)
    expect(one).toMatchObject({ version: release, environments: [environment] })
    const posted = await owner.post(`/api/releases/${listed[0]?.id}/deploys`, { environment })
    expect(posted.status, posted.text).toBe(201)
  })

  test('a release of this name can be created, and an issue resolved in it', async () => {
    const project = await server.project(owner)
    const made = await owner.post('/api/releases', { projectId: project.id, version: release })
    expect(made.status, made.text).toBe(201)
    const issue = await server.issue({ project, by: owner, release: '0.1' })
    const resolved = await owner.patch(`/api/issues/${issue.id}`, {
      status: 'resolved',
      resolution: { in_release: release },
    })
    expect(resolved.status, resolved.text).toBe(200)
    clock.advance(1_000)
    await server.event({ project, release })
    expect((await ask(`/api/issues/${issue.id}`))['status']).toBe('regressed')
  })

  test('a rule can be limited to this environment, and the project can have it as its default', async () => {
    const project = await server.project(owner)
    const settings = await owner.patch(`/api/projects/${project.id}/settings`, { default_environment: environment })
    expect(settings.status, settings.text).toBe(200)
    const rule = await owner.post('/api/alerts', {
      projectId: project.id,
      name: 'Crashes here',
      trigger_type: 'new_issue',
      conditions: { environment },
      actions: [{ type: 'chat', webhook_url: 'https://hooks.example.com/services/T0/B0/X' }],
    })
    expect(rule.status, rule.text).toBe(201)
    await send(project.dsn, [
      ['event', { event_id: newEventId(), platform: 'javascript', exception: exception('byDefault') }],
    ])
    await send(project.dsn, [
      ['event', { event_id: newEventId(), environment: 'production', exception: exception('elsewhere') }],
    ])
    const fired = await items<{ rule_id: string }>(`/api/alerts/fired?projectId=${project.id}`)
    expect(fired).toHaveLength(1)
  })
})

describe.each([
  ['None'],
  ['eu\nstaging'],
  ['eu\tstaging'],
  ['eu\u0007staging'],
  ['eu\u2028staging'],
  [{ name: 'staging' }],
  [['staging']],
])('a refused environment %j', (environment) => {
  test('is no environment, and never the default', async () => {
    const project = await server.project(owner)
    await sendEach(project.dsn, everything(environment, 'shop@1.0.0'))
    const event = await eventOf(project.id)
    expect(event.environment).toBe('')
    expect(event.errors.map((one) => one.name)).toContain('environment')
    expect(await sessionsBy(project.id, 'environment')).toEqual({ unknown: 3 })
    const names = await namesIn(project.id)
    for (const kind of ['check-in', 'feedback', ...(typeof environment === 'string' ? ['log', 'metric'] : [])])
      expect(names[kind]?.[0], kind).toBe(kind === 'feedback' ? null : '')
    for (const term of ['environment:production', 'has:environment'])
      expect(await server.issues(owner, `projectId=${project.id}&q=${encodeURIComponent(term)}`), term).toHaveLength(0)
  })
})

test.each([[undefined], [null], [''], ['   '], ['\n']])(
  'environment %j is missing: the default of the project',
  async (environment) => {
    const project = await server.project(owner)
    await sendEach(project.dsn, everything(environment, 'shop@1.0.0'))
    expect(await eventOf(project.id)).toMatchObject({ environment: 'production', errors: [] })
    expect(await sessionsBy(project.id, 'environment')).toEqual({ production: 3 })
  },
)

test.each([['latest'], ['.'], ['..'], ['LATEST'], ['1.0\n2'], ['1\t0'], ['x'.repeat(251)]])(
  'release %j is refused: no release on the event, and no session of it',
  async (release) => {
    const project = await server.project(owner)
    await sendEach(project.dsn, everything('production', release))
    const event = await eventOf(project.id)
    expect(event.release).toBeNull()
    expect(event.errors.map((one) => one.name)).toContain('release')
    expect(await sessionsBy(project.id, 'release')).toEqual({})
  },
)

test('long names are cut, with an error that says so', async () => {
  const project = await server.project(owner)
  await sendEach(project.dsn, everything('e'.repeat(65), 'r'.repeat(201)))
  const event = await eventOf(project.id)
  expect(event).toMatchObject({ environment: `${'e'.repeat(63)}…`, release: `${'r'.repeat(199)}…` })
  expect(event.errors.map((one) => one.name).sort()).toEqual(['environment', 'release'])
  expect(await sessionsBy(project.id, 'environment')).toEqual({ [`${'e'.repeat(63)}…`]: 3 })
})

test('the trace header names the origin of spans without attributes of their own', async () => {
  const project = await server.project(owner)
  const at = NOW.getTime() / 1_000
  const span = {
    trace_id: newEventId(),
    span_id: '00f067aa0ba902b8',
    name: 'GET /cart',
    status: 'ok',
    is_segment: true,
    start_timestamp: at - 1,
    end_timestamp: at,
    attributes: { 'sentry.op': { type: 'string', value: 'http.server' } },
  }
  const trace = { trace_id: span.trace_id, release: '@acme/web@1.2.3', environment: 'eu/staging' }
  await send(project.dsn, [['span', { items: [span] }]], { trace })
  const found = (await ask(
    `/api/performance/transactions?projectId=${project.id}&range=24h&environment=eu%2Fstaging&release=%40acme%2Fweb%401.2.3`,
  )) as { items: readonly unknown[] }
  expect(found.items).toHaveLength(1)
})

test('a tag names the environment where the field is refused', async () => {
  const project = await server.project(owner)
  await send(project.dsn, [
    [
      'event',
      { event_id: newEventId(), environment: 'None', tags: { environment: 'eu/qa' }, exception: exception('tagged') },
    ],
  ])
  expect((await eventOf(project.id)).environment).toBe('eu/qa')
})

test('monitors have names of up to 128 characters, from SDKs and in paths', async () => {
  const project = await server.project(owner)
  const { key, projectNumber } = dsnParts(project.dsn)
  const long = 'a'.repeat(125)
  const names = [
    'letter-send-not-signed-or-declined-reminder-notifications-0700',
    'letter-send-not-signed-or-declined-reminder-notifications-0800',
    'Office: Send Daily Reminder Email (8:00 am)',
    'Office: Send Daily Reminder Email (8:30 am)',
    `${long}-x1`,
    `${long}-x2`,
  ]
  for (const name of names)
    await send(project.dsn, [['check_in', { check_in_id: newEventId(), monitor_slug: name, status: 'ok' }]])
  const runs = () => items<{ monitor: { slug: string } }>(`/api/projects/${project.id}/check-ins?limit=100`)
  expect(new Set((await runs()).map(({ monitor }) => monitor.slug)).size).toBe(6)

  for (const name of [...names, 'shop/nightly', `${long}-y3`]) {
    const answer = await fetch(
      `${server.url}/api/${projectNumber}/cron/${encodeURIComponent(name)}/${key}/?status=error`,
    )
    expect(answer.status).toBe(202)
    await server.service.drain()
    const found = await items<{ status: string }>(
      `/api/projects/${project.id}/check-ins?monitor=${encodeURIComponent(name)}&status=error`,
    )
    expect(found, name).toHaveLength(1)
  }
  expect(new Set((await runs()).map(({ monitor }) => monitor.slug)).size).toBe(8)
  await fetch(`${server.url}/api/${projectNumber}/cron/${'a'.repeat(129)}/${key}/`)
  await server.service.drain()
  expect(new Set((await runs()).map(({ monitor }) => monitor.slug)).size).toBe(8)
})
