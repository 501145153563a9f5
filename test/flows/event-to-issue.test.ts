import { describe, expect, test } from 'vitest'
import { anEvent, newEventId, sendEvent } from '#test/kit/sdk.ts'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'

/** The main story: a user signs up, an app sends, the user reads and decides, and the app sends again. */

const server = await testServer({ realTime: true })

test('an event becomes an issue that a member reads, resolves and sees regress', async () => {
  const ada = await aFounder(server.url)
  expect((await ada.get('/api/onboarding/status')).body).toEqual({
    steps: { project_created: false, sdk_installed: false, first_event: false, team_invited: false },
    completed: false,
    regions: [],
    default_region: 'us-east-1',
  })
  const project = await aProject(ada, { name: 'Shop' })

  const eventId = newEventId()
  const event = anEvent({
    event_id: eventId,
    tags: { cart: 'big' },
    user: { id: '7', email: 'ann@example.com' },
    breadcrumbs: { values: [{ timestamp: Date.now() / 1000 - 3, category: 'ui.click', message: 'Pay' }] },
    contexts: { device: { name: 'Pixel 7a', type: 'device' } },
  })
  expect(await sendEvent(server.url, project.dsn, event)).toEqual({ status: 200, id: eventId })
  await server.service.drain()

  const list = await ada.get('/api/issues')
  expect(list.body).toMatchObject({
    total: 1,
    next_cursor: null,
    status_counts: { unresolved: 1, resolved: 0 },
    items: [
      {
        short_id: 'SHOP-1',
        project_id: project.id,
        title: 'PaymentError: card declined',
        type: 'PaymentError',
        value: 'card declined',
        status: 'unresolved',
        severity: 'medium',
        event_count: 1,
        user_count: 1,
        first_release: 'shop@1.0.0',
      },
    ],
  })
  const issueId = list.as<{ items: [{ id: string }] }>().items[0].id

  const detail = await ada.get(`/api/issues/${issueId}`)
  expect(detail.status).toBe(200)
  expect(detail.body).toMatchObject({
    project: { name: 'Shop' },
    event: {
      event_id: eventId,
      user: { id: '7' },
      breadcrumbs: [{ category: 'ui.click', message: 'Pay' }],
      exceptions: [
        {
          type: 'PaymentError',
          stacktrace: {
            frames: [{}, { function: 'confirmPayment', in_app: true, context_line: '  throw new PaymentError()' }],
          },
        },
      ],
    },
    event_ids: { latest: eventId, oldest: eventId, newer: null, older: null },
    activity: [{ kind: 'created', actor: null }],
  })
  expect(detail.as<{ tag_distribution: { key: string }[] }>().tag_distribution.map((tag) => tag.key)).toContain('cart')

  const resolved = await ada.patch(`/api/issues/${issueId}`, { status: 'resolved' })
  expect(resolved.body).toMatchObject({ status: 'resolved' })

  // Late: it happened before the resolution. Counted, but no regression.
  await server.event({ project, timestamp: Date.now() / 1000 - 600, user: { id: '8' } })
  expect((await ada.get(`/api/issues/${issueId}`)).body).toMatchObject({
    status: 'resolved',
    event_count: 2,
    user_count: 2,
  })

  await server.event({ project, timestamp: Date.now() / 1000 + 1 })
  const back = await ada.get(`/api/issues/${issueId}`)
  expect(back.body).toMatchObject({ status: 'regressed', event_count: 3 })
  expect(back.as<{ status_reason: string }>().status_reason).toMatch(
    /^Regressed: event [0-9a-f]{8} from release shop@1.0.0 happened after it was resolved on /,
  )

  expect((await ada.get('/api/onboarding/status')).body).toMatchObject({
    steps: { sdk_installed: true, first_event: true },
  })
})

describe('what must not happen', () => {
  test('the same event id counts once, also when it is sent often and concurrently', async () => {
    const ada = await aFounder(server.url)
    const project = await aProject(ada)
    const event = anEvent()
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendEvent(server.url, project.dsn, event)))
    expect(answers.every((answer) => answer.status === 200)).toBe(true)
    await server.service.drain()
    await sendEvent(server.url, project.dsn, event)
    await server.service.drain()
    expect((await ada.get('/api/issues')).body).toMatchObject({ total: 1, items: [{ event_count: 1 }] })
    const { rows } = await server.app.db.query(
      `select outcome, quantity from outcomes_hourly where project_id = $1 order by outcome`,
      [project.id],
    )
    expect(rows).toEqual([
      { outcome: 'accepted', quantity: 1 },
      { outcome: 'duplicate', quantity: 50 },
    ])
  })

  test('another organisation sees none of it', async () => {
    const ada = await aFounder(server.url)
    const eve = await aFounder(server.url)
    const project = await aProject(ada)
    await server.event({ project })
    const issueId = (await ada.get('/api/issues')).as<{ items: [{ id: string }] }>().items[0].id
    for (const answer of [
      await eve.get(`/api/issues/${issueId}`),
      await eve.patch(`/api/issues/${issueId}`, { status: 'resolved' }),
      await eve.delete(`/api/issues/${issueId}`),
      await eve.get(`/api/projects/${project.id}/settings`),
      await eve.get(`/api/projects/${project.id}/issues`),
    ]) {
      expect(answer.status).toBe(404)
      expect(answer.body).toHaveProperty('error')
    }
    expect((await eve.get('/api/issues')).body).toMatchObject({ total: 0, items: [] })
  })

  test('what the default rules remove is not in storage', async () => {
    const ada = await aFounder(server.url)
    const project = await aProject(ada)
    const secret = 'hunter2-canary-value'
    await server.event({
      project,
      extra: { password: secret },
      request: { url: 'https://shop.example.com/', headers: { Authorization: `Bearer ${secret}` } },
      error: { value: `cannot open https://ann:${secret}@db.example.com/` },
    })
    const detail = await ada.get(
      `/api/issues/${(await ada.get('/api/issues')).as<{ items: [{ id: string }] }>().items[0].id}`,
    )
    expect(detail.text).toContain('[Filtered]')
    expect(detail.text).not.toContain(secret)
    expect(JSON.stringify(server.logLines)).not.toContain(secret)
  })
})

test('a panic of Go that Recover took is a crash, one that was captured is not', async () => {
  const ada = await aFounder(server.url)
  const project = await aProject(ada, { name: 'Gopher' })
  const frames = [
    { function: 'main', module: 'main', in_app: true },
    { function: 'gopanic', module: 'runtime', abs_path: '/usr/local/go/src/runtime/panic.go', in_app: true },
    { function: '(*Hub).Recover', module: 'github.com/getsentry/sentry-go', in_app: true },
  ]
  const go = (type: string, level: string) => ({
    event_id: newEventId(),
    platform: 'go',
    level,
    exception: [{ type, value: 'boom', stacktrace: { frames } }],
  })
  await sendEvent(server.url, project.dsn, go('*errors.errorString', 'fatal'))
  await sendEvent(server.url, project.dsn, go('*fs.PathError', 'error'))
  await server.service.drain()
  const { body } = await ada.get(`/api/issues?projectId=${project.id}&sort=-severity`)
  expect(body).toMatchObject({
    items: [
      { type: '*errors.errorString', severity: 'high', is_unhandled: true, culprit: 'main' },
      { type: '*fs.PathError', severity: 'medium', is_unhandled: false, culprit: 'main' },
    ],
  })
})
