import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Feedback } from '#server/issues/feedback/feedback.api.ts'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { readSamples, SAMPLE_KEY } from '#test/kit/samples.ts'
import { anEvent, dsnParts, newEventId, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'

/** Feedback from users of apps, sent to the running service and read back through the API. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')

let ada: Client
let project: TestProject

beforeAll(async () => {
  ada = await aFounder(server.url)
})
beforeEach(async () => {
  project = await aProject(ada)
})

type Item = { readonly type: string; readonly headers?: object; readonly payload: string }

async function send(eventId: string | null, items: readonly Item[]): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const lines = items.map(
    ({ type, headers, payload }) =>
      `${JSON.stringify({ type, length: Buffer.byteLength(payload), ...headers })}\n${payload}\n`,
  )
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `${JSON.stringify(eventId === null ? {} : { event_id: eventId })}\n${lines.join('')}`,
  })
  expect(answer.status).toBe(200)
  await server.service.drain()
}

const userReport = (eventId: string, comments = 'It broke.'): Item => ({
  type: 'user_report',
  payload: JSON.stringify({ event_id: eventId, name: 'Ada', email: 'ada@example.com', comments }),
})

const feedback = (fields: Record<string, unknown>, event: Record<string, unknown> = {}): Item => ({
  type: 'feedback',
  payload: JSON.stringify({ ...event, contexts: { feedback: { message: 'It froze.', ...fields } } }),
})

const list = async (query = '') =>
  (await ada.get(`/api/projects/${project.id}/feedback${query}`)).as<{
    items: Feedback[]
    total: number
    next_cursor: string | null
  }>()

const outcomes = async (): Promise<string[]> =>
  (
    await server.app.db.query<{ line: string }>(
      `select outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 and category = 'feedback' order by 1`,
      [project.id],
    )
  ).rows.map((row) => row.line)

async function issueOf(eventId: string): Promise<IssueDetail> {
  const { items } = (await ada.get(`/api/projects/${project.id}/issues`)).as<{ items: Issue[] }>()
  const detail = (await ada.get(`/api/issues/${items[0]?.id}?event=${eventId}`)).as<IssueDetail>()
  expect(detail.event?.event_id).toBe(eventId)
  return detail
}

async function issueWith(type: string): Promise<string> {
  const { items } = (await ada.get(`/api/projects/${project.id}/issues`)).as<{ items: Issue[] }>()
  return items.find((issue) => issue.type === type)?.id ?? ''
}

test('recorded feedback of every SDK is listed', async () => {
  await server.app.db.query('update projects set number = 4501 where id = $1', [project.id])
  await server.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, SAMPLE_KEY])
  const samples = readSamples(/\/envelope\//).filter(({ name }) => /feedback|user_report/.test(name))
  expect(samples.length).toBeGreaterThanOrEqual(7)
  for (const sample of samples) {
    const answer = await fetch(server.url + sample.url, {
      method: 'POST',
      headers: sample.headers,
      body: new Uint8Array(sample.body),
    })
    expect(answer.status, sample.name).toBe(200)
  }
  await server.service.drain()
  const { items, total } = await list('?limit=100')
  expect(total).toBe(samples.length)
  expect(items.map(({ message }) => message).sort()).toEqual(
    expect.arrayContaining(['The pay button froze', 'legacy report', 'App froze on pay', 'Pay button does nothing']),
  )
  expect(items.find(({ message }) => message === 'The pay button froze')).toMatchObject({
    name: 'Ada',
    email: 'ada@example.com',
    release: 'shop-web@2.3.0',
    environment: 'production',
  })
})

describe('the issue it is about', () => {
  test.each(['before', 'after'])('a report that arrives %s its event', async (when) => {
    const event = anEvent()
    const eventId = String(event['event_id'])
    const sendBoth = [
      () => send(eventId, [userReport(eventId)]),
      async () => {
        await sendEvent(server.url, project.dsn, event)
        await server.service.drain()
      },
    ]
    for (const one of when === 'before' ? sendBoth : sendBoth.toReversed()) await one()
    const issue = await issueOf(eventId)
    expect(issue.feedback).toMatchObject([
      { message: 'It broke.', name: 'Ada', email: 'ada@example.com', event_id: eventId, issue_id: issue.id },
    ])
    expect((await list(`?issue_id=${issue.id}`)).total).toBe(1)
    expect((await list('?linked=false')).total).toBe(0)
  })

  test('a report in one envelope with its event, and one about another event', async () => {
    const [event, eventId] = [anEvent(), newEventId()]
    const id = String(event['event_id'])
    await send(id, [userReport(id), { type: 'event', payload: JSON.stringify(event) }])
    await send(eventId, [feedback({ associated_event_id: id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') })])
    expect((await issueOf(id)).feedback.map(({ message }) => message).sort()).toEqual(['It broke.', 'It froze.'])
  })

  test('is the merge target, when the issue of its event was merged', async () => {
    const events = ['One', 'Two'].map((type) => anEvent({ exception: { values: [{ type, value: 'x' }] } }))
    const ids = events.map((event) => String(event['event_id']))
    await server.events(project, events)
    const [one, two] = [await issueWith('One'), await issueWith('Two')]
    const published: string[] = []
    const stop = server.app.bus.on('live', (payload) => published.push(JSON.stringify(payload)))
    expect((await ada.post(`/api/issues/${one}/merge`, { issue_ids: [two] })).status).toBe(200)
    // Messages arrive in the order of the commits: those after the message of the merge are of the report.
    const ofMerge = (message: string) => message.includes(one) && message.includes(two)
    await waitFor('the live message of the merge', () => published.some(ofMerge))
    const before = published.findLastIndex(ofMerge) + 1
    await send(ids[1] ?? '', [userReport(ids[1] ?? '')])
    const ofReport = () => published.slice(before).filter((message) => message.includes(project.id))
    await waitFor('the live message of the report', () => ofReport().length > 0)
    stop()
    expect(ofReport().join()).toContain(one)
    expect(ofReport().join()).not.toContain(two)
    for (const id of [one, two]) {
      expect((await list(`?issue_id=${id}`)).items).toMatchObject([{ event_id: ids[1], issue_id: one }])
    }
    await ada.post(`/api/issues/${one}/unmerge`, { issue_ids: [two] })
    expect((await list(`?issue_id=${one}`)).items).toEqual([])
    expect((await list(`?issue_id=${two}`)).items).toMatchObject([{ issue_id: two }])
  })

  test('feedback is deleted with its issue', async () => {
    const event = anEvent()
    const id = String(event['event_id'])
    const feedbackId = newEventId()
    await send(id, [userReport(id), { type: 'event', payload: JSON.stringify(event) }])
    await send(feedbackId, [
      feedback({ associated_event_id: id }),
      { type: 'attachment', headers: { filename: 'screenshot.png' }, payload: 'x' },
    ])
    const issue = await issueOf(id)
    expect(issue.feedback.flatMap(({ attachments }) => attachments)).toHaveLength(1)
    await ada.delete(`/api/issues/${issue.id}`)
    expect((await list()).total).toBe(0)
    const { rows } = await server.app.db.query('select 1 from attachments where project_id = $1', [project.id])
    expect(rows).toEqual([])
  })

  test('an event of another project is another event', async () => {
    const event = anEvent()
    await sendEvent(server.url, project.dsn, event)
    await server.service.drain()
    project = await aProject(ada)
    await send(null, [userReport(String(event['event_id']))])
    expect((await list()).items).toMatchObject([{ issue_id: null }])
  })
})

test('feedback that is sent twice counts once', async () => {
  const eventId = newEventId()
  const about = newEventId()
  await send(eventId, [feedback({}, { event_id: eventId }), userReport(about), userReport(about)])
  await send(eventId, [feedback({}, { event_id: eventId }), userReport(about)])
  expect((await list()).total).toBe(2)
  expect(await outcomes()).toEqual(['accepted  2', 'duplicate  3'])
})

test('its screenshot is listed with it', async () => {
  const eventId = newEventId()
  await send(eventId, [feedback({})])
  await send(eventId, [
    { type: 'attachment', headers: { filename: 'screenshot.png', content_type: 'image/png' }, payload: '\u0089PNG' },
  ])
  expect((await list()).items[0]?.attachments).toMatchObject([{ filename: 'screenshot.png', is_image: true }])
})

test('secrets are removed, length is bounded, empty feedback is invalid', async () => {
  await send(newEventId(), [
    feedback({
      message: `my card is 4111 1111 1111 1111 ${'x'.repeat(10_000)}`,
      name: 'n'.repeat(1_000),
      contact_email: 5,
    }),
  ])
  const { items } = await list()
  expect(items[0]?.message).toHaveLength(4_096)
  expect(items[0]?.message).toContain('[Filtered]')
  expect(items[0]?.name).toHaveLength(256)
  const bad = [
    '',
    '{',
    '[]',
    '5',
    '{}',
    '{"contexts":5}',
    '{"contexts":{"feedback":{"message":" "}}}',
    '['.repeat(1_000),
  ]
  for (const payload of bad) await send(newEventId(), [{ type: 'feedback', payload }])
  for (const payload of ['', '{}', '{"comments":"x","event_id":"no"}', '{"comments":7}'])
    await send(null, [{ type: 'user_report', payload }])
  const lines = (await outcomes()).filter((line) => line.startsWith('invalid'))
  expect(lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)).toBe(12)
  expect((await list()).total).toBe(1)
})

test('lists newest first by cursor, with filters', async () => {
  for (let i = 0; i < 5; i++) {
    server.clock.advance(1_000)
    await send(newEventId(), [feedback({ message: `number ${i}` }, { release: `r@${i % 2}`, environment: 'staging' })])
  }
  const first = await list('?limit=2')
  expect(first.items.map(({ message }) => message)).toEqual(['number 4', 'number 3'])
  const second = await list(`?limit=2&cursor=${first.next_cursor}`)
  expect(second.items.map(({ message }) => message)).toEqual(['number 2', 'number 1'])
  expect((await list(`?limit=2&cursor=${second.next_cursor}`)).next_cursor).toBeNull()
  expect((await list('?release=r@1')).total).toBe(2)
  expect((await list('?environment=production')).total).toBe(0)
  expect((await list('?sort=received_at&limit=1')).items[0]?.message).toBe('number 0')
  const refused = await ada.get(`/api/projects/${project.id}/feedback?sort=received_at&cursor=${first.next_cursor}`)
  expect(refused.status).toBe(400)
})

test('profiles and replays are stored only when the project enables it', async () => {
  const items: Item[] = [
    { type: 'profile', payload: '{}' },
    { type: 'profile_chunk', payload: '{}' },
    { type: 'replay_event', payload: '{"user":{"email":"a@b.example"},"password":"hunter2hunter2"}' },
    { type: 'replay_recording', payload: '{"segment_id":0}\nabc' },
  ]
  const kept = async () =>
    (
      await server.app.db.query<{ attachment_type: string }>(
        'select attachment_type from attachments where project_id = $1 order by 1',
        [project.id],
      )
    ).rows.map((row) => row.attachment_type)
  const eventId = newEventId()
  await send(eventId, items)
  expect(await kept()).toEqual([])
  await ada.patch(`/api/projects/${project.id}/settings`, { store_profiles: true, store_replays: true })
  await send(eventId, items)
  expect(await kept()).toEqual(['profile', 'profile_chunk', 'replay_event', 'replay_recording'])
  const { rows } = await server.app.db.query<{ line: string }>(
    `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
    [project.id],
  )
  expect(rows.map((row) => row.line)).toEqual([
    'profile accepted  1',
    'profile discarded unsupported 1',
    'profile_chunk accepted  1',
    'profile_chunk discarded unsupported 1',
    'replay accepted  2',
    'replay discarded unsupported 2',
  ])
  const stored = await server.app.db.query<{ bytes: Buffer }>(
    `select p.bytes from blob_pieces p join blob_uses u using (blob_id) join attachments a on a.id = u.holder_id where a.attachment_type = 'replay_event' and a.project_id = $1`,
    [project.id],
  )
  expect(stored.rows[0]?.bytes.toString()).toContain('[Filtered]')
})

test('files are dropped with an event that a filter drops', async () => {
  await ada.patch(`/api/projects/${project.id}/settings`, { inbound_filters: { releases: ['bad@*'] } })
  const file = { type: 'attachment', headers: { filename: 'a.log' }, payload: 'x' }
  const event = (release: string): Item => ({
    type: 'event',
    payload: JSON.stringify({ ...anEvent({ release }), event_id: undefined }),
  })
  await send(newEventId(), [file, event('bad@1')])
  await send(newEventId(), [file, event('good@1')])
  const { rows } = await server.app.db.query<{ line: string }>(
    `select category || ' ' || outcome || ' ' || reason || ' ' || quantity as line from outcomes_hourly where project_id = $1 order by 1`,
    [project.id],
  )
  expect(rows.map((row) => row.line)).toEqual([
    'attachment accepted  1',
    expect.stringMatching(/^attachment filtered release\S* 1$/),
    'error accepted  1',
    expect.stringMatching(/^error filtered release\S* 1$/),
  ])
})
