import { expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { foldHealth } from './fold-health.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { AGING_HEALTH } from './fold.queries.ts'
import { readHealthBy, readHealthTotals } from './read-health.ts'

/** Sessions of phones, which name no device, through the running service. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app, clock } = server
const owner = await aFounder(server.url)

const PHONE = {
  os: { name: 'Android', version: '14' },
  device: { model: 'Pixel 8', family: 'Pixel', memory_size: 8e9, processor_count: 8 },
}

async function send(project: { dsn: string }, items: readonly (readonly [type: string, payload: object])[]) {
  const { key, projectNumber } = dsnParts(project.dsn)
  const lines = items.flatMap(([type, payload]) => [JSON.stringify({ type }), JSON.stringify(payload)])
  const response = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n${lines.join('\n')}\n`,
  })
  expect(response.status).toBe(200)
  await server.service.drain()
}

const aSession = (sid: string, did: string, status = 'ok') =>
  [
    'session',
    {
      sid: sid.repeat(32),
      did,
      status,
      init: status === 'ok',
      started: new Date(clock.now().getTime() - 60_000).toISOString(),
      attrs: { release: '1.0', environment: 'production' },
    },
  ] as const

const anEvent = (id: string, user: string, contexts: object = PHONE, more: object = {}) =>
  [
    'event',
    {
      event_id: id.repeat(32),
      user: { id: user },
      contexts,
      release: '1.0',
      exception: { values: [{ type: 'Broken', mechanism: { type: 'x', handled: false } }] },
      ...more,
    },
  ] as const

async function read(projectId: string, source: 'sessions' | 'events' = 'sessions') {
  const now = clock.now()
  const query = {
    projectIds: [projectId],
    source,
    from: new Date(now.getTime() - 3_600_000),
    to: new Date(now.getTime() + 60_000),
    now,
    filter: {},
  }
  const by = async () => {
    const { rows, unknown } = await readHealthBy(app.db, query, 'device', { max: 10, sets: ['users', 'crashed_users'] })
    return { rows, unknown }
  }
  const before = await by()
  await foldHealth(app)
  expect(await by()).toEqual(before)
  const totals = await readHealthTotals(app.db, { ...query, filter: { os: ['Android'], device_class: ['high'] } }, [])
  return { ...before, androids: totals.total }
}

test('are counted under the device that an event of their user named, also of the same envelope', async () => {
  const project = await aProject(owner)
  await send(project, [aSession('1', 'ada')])
  expect(await read(project.id)).toMatchObject({ rows: [], unknown: { total: 1, users: 1 }, androids: 0 })
  // The crash of the session names the device: the session moves there.
  await send(project, [
    aSession('1', 'ada', 'crashed'),
    anEvent('a', 'ada'),
    aSession('2', 'ada'),
    aSession('3', 'bob'),
  ])
  expect(await read(project.id)).toMatchObject({
    rows: [{ name: 'Pixel 8', total: 2, crashed: 1, users: 1, crashed_users: 1 }],
    unknown: { total: 1, crashed: 0 },
    androids: 2,
  })
  expect(await read(project.id, 'events')).toMatchObject({
    rows: [{ name: 'Pixel 8', total: 1, unhandled: 1, crashed: 1, critical: 1, users: 1, crashed_users: 1 }],
    unknown: { total: 0 },
  })
})

test('learn it from transactions, and not from browsers', async () => {
  const project = await aProject(owner)
  const at = clock.now().getTime() / 1000
  const transaction = (user: string, contexts: object) =>
    [
      'transaction',
      {
        type: 'transaction',
        transaction: 'Home',
        start_timestamp: at - 2,
        timestamp: at - 1,
        user: { id: user },
        contexts: {
          ...contexts,
          trace: { trace_id: crypto.randomUUID().replaceAll('-', ''), span_id: 'b'.repeat(16) },
        },
      },
    ] as const
  await send(project, [
    aSession('1', 'ada'),
    aSession('2', 'bob'),
    transaction('ada', PHONE),
    transaction('bob', { ...PHONE, browser: { name: 'Chrome' } }),
  ])
  expect(await read(project.id)).toMatchObject({ rows: [{ name: 'Pixel 8', total: 1 }], unknown: { total: 1 } })
})

test('an ANR counts as in the foreground unless the event says otherwise; duplicates do not count', async () => {
  const project = await aProject(owner)
  const hang = {
    exception: { values: [{ type: 'ApplicationNotResponding', mechanism: { type: 'ANR', handled: false } }] },
  }
  const away = { ...PHONE, app: { in_foreground: false } }
  await send(project, [
    anEvent('a', 'ada', PHONE, hang),
    anEvent('a', 'ada', PHONE, hang),
    anEvent('b', 'bob', away, hang),
  ])
  await send(project, [anEvent('b', 'bob', away, hang)])
  expect(await read(project.id, 'events')).toMatchObject({
    rows: [{ total: 2, crashed: 0, critical: 2, anr_foreground: 1, anr_background: 1, users: 2, crashed_users: 0 }],
  })
})

test('a device is forgotten with its user, and when it was not seen for 90 days', async () => {
  const project = await aProject(owner)
  const devices = async () =>
    (await app.db.query('select device from user_devices where project_id = $1', [project.id])).rows.length
  await send(project, [anEvent('a', 'ada')])
  await send(project, [anEvent('b', 'bob')])
  expect(await devices()).toBe(2)
  expect((await owner.delete(`/api/projects/${project.id}/users/ada/data`)).status).toBe(200)
  expect(await devices()).toBe(1)
  const start = clock.now()
  clock.advance(91 * 86_400_000)
  await purgeRows(app, AGING_HEALTH)
  clock.set(start)
  expect(await devices()).toBe(0)
})
