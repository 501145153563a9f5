import { expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { purgeEvents } from '../../events/store/purge-events.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { IssueDetail } from '../triage/issues.api.ts'
import type { EventRow } from './issue-events.api.ts'

/** Events beyond the retention of their project: hidden immediately, deleted later. */

const server = await testServer()
const DAY_MS = 86_400_000

test('an event beyond the retention of its project is hidden everywhere before it is deleted; counts stay', async () => {
  const ada = await aFounder(server.url)
  const [short, long] = [await aProject(ada, { name: 'Short' }), await aProject(ada, { name: 'Long' })]
  const send = async (project: typeof short, id: string, user: string) => {
    const event = { event_id: id, release: `app@${user}`, user: { id: user } }
    await server.event({ project, ...event })
  }
  const [old, recent, kept] = [newEventId(), newEventId(), newEventId()]
  await send(short, old, '1')
  await send(long, kept, '1')
  server.clock.advance(10 * DAY_MS)
  await ada.post('/api/auth/login', { email: ada.email, password: ada.password })
  await send(short, recent, '2')

  const issueOf = async (project: typeof short) =>
    (await ada.get(`/api/projects/${project.id}/issues`)).as<{ items: Issue[] }>().items[0]!
  const previewsOf = async (project: typeof short) => {
    const preview = (what: string, body: object) => ada.post(`/api/projects/${project.id}/${what}/preview`, body)
    return [
      (await preview('filters', { inbound_filters: {} })).as<{ of: number }>().of,
      (await preview('scrubbing', { event_id: old })).status,
    ]
  }
  const look = async (project: typeof short) => {
    const { id } = await issueOf(project)
    const read = async <T>(path: string) => (await ada.get(`/api/issues/${id}${path}`)).as<T>()
    const events = await read<{ items: EventRow[]; total: number }>('/events')
    const detail = await read<IssueDetail>('?event=oldest')
    return {
      count: detail.event_count,
      listed: events.items.map((event) => event.event_id),
      total: events.total,
      oldest: detail.event?.event_id,
      older: detail.event_ids.older,
      users: (await read<{ total: number }>('/users')).total,
      releases: (await read<{ items: unknown[] }>('/releases')).items.length,
      shared: (await read<{ events: number }>('/tags')).events,
      raw: (await ada.get(`/api/issues/${id}/events/${old}`)).status,
      previews: await previewsOf(project),
    }
  }
  const both = {
    count: 2,
    listed: [recent, old],
    total: 2,
    oldest: old,
    older: null,
    users: 2,
    releases: 2,
    shared: 2,
    raw: 200,
    previews: [2, 200],
  }
  const one = {
    ...both,
    listed: [recent],
    total: 1,
    oldest: recent,
    users: 1,
    releases: 1,
    shared: 1,
    raw: 404,
    previews: [1, 404],
  }
  expect(await look(short)).toEqual(both)
  expect((await ada.patch(`/api/projects/${short.id}/settings`, { retention_days: 5 })).status).toBe(200)
  expect(await look(short)).toEqual(one)

  expect(await purgeEvents(server.app, new AbortController().signal)).toEqual({ days: 0, events: 1 })
  expect((await ada.patch(`/api/projects/${short.id}/settings`, { retention_days: 30 })).status).toBe(200)
  expect(await look(short)).toEqual(one)
  expect((await look(long)).listed).toEqual([kept])
})
