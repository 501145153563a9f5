import { beforeAll, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { shortestHold } from '#test/kit/loop-watch.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { IssueDetail } from '../triage/issues.api.ts'

/** Unusual and hostile requests to the lists. */

const server = await testServer({ realTime: true, env: { RATE_LIMIT_SCALE: '0' } })
let ada: Client
let project: TestProject
let issue: Issue

const only = async (): Promise<Issue> => {
  const { items } = (await ada.get('/api/issues')).as<{ items: Issue[] }>()
  expect(items).toHaveLength(1)
  return items[0]!
}

beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada)
  await server.event({ project })
  issue = await only()
})

test.each([
  'q=is:resolved&status=unresolved',
  'q=is:resolved%20-is:resolved',
  'q=level:error%20-level:error',
  'q=severity:high&severity=low',
  'q=assigned:me&assignee_id=none',
  'q=type:*no*such*%20title:*error*',
  `q=title:*${'%25_*'.repeat(1_000)}`,
  `q=message:*${'a*'.repeat(3_000)}b`,
  'q=user:*no*such*&projectId=00000000-0000-4000-8000-000000000000',
  'q=SHOP-999999999%20OR%20issue:%27;--%20OR%20issue:00000000-0000-4000-8000-000000000000',
])('filters that exclude each other, and hostile patterns, find nothing: %.80s', async (query) => {
  const answer = await ada.get(`/api/issues/search?${query}`)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toMatchObject({ items: [], total: 0 })
})

test.each([
  ['q=tenant:a%00', 'q must not hold the NUL character (character 9).'],
  ['platform=web&platform=%00', 'platform.1 must not hold the NUL character (character 1).'],
])('NUL is refused with its position: %s', async (query, error) => {
  expect(await ada.get(`/api/issues?${query}`)).toMatchObject({ status: 400, body: { error } })
})

test.each([
  '1',
  'Fri Nov 20 2026 (x)',
  '+275760-09-13T00:00:00.000Z',
  '2026-11-20',
  '0000-01-01T00:00:00Z',
  'now',
  'infinity',
  '',
])('a cursor with %j in it is refused', async (value) => {
  const cursor = Buffer.from(JSON.stringify(['-last_seen', value, issue.id])).toString('base64url')
  expect(await ada.get(`/api/issues?cursor=${cursor}`)).toMatchObject({
    status: 400,
    body: { error: 'cursor is not valid for this list. Use next_cursor of its previous page.' },
  })
})

test('an unpinned severity follows the events, not the former pin', async () => {
  const change = async (severity: string | null): Promise<unknown> =>
    (await ada.patch(`/api/issues/${issue.id}`, { severity })).as<Issue>().severity
  expect(await change('critical')).toBe('critical')
  expect(await change(null)).toBe('medium')
  expect(await change('low')).toBe('low')
  expect(await change(null)).toBe('medium')
})

test('an event with a damaged body does not hide the issue', async () => {
  await server.app.db.query(`update events set body = 'damaged' where issue_id = $1`, [issue.id])
  const answer = await ada.get(`/api/issues/${issue.id}`)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body).toMatchObject({ id: issue.id, event: null, activity: [{}, {}, {}, {}, {}] })
})

test('opening an issue of large events does not block other requests', async () => {
  const filler = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`key${i}`, `value ${i} `.repeat(12)]))
  for (let i = 0; i < 70; i++) {
    const event = anEvent({ extra: filler, tags: { turn: `${i}` } })
    expect((await sendEvent(server.url, project.dsn, event)).status).toBe(200)
  }
  await server.service.drain()
  const { result, longestHoldMs } = await shortestHold(3, () => ada.get(`/api/issues/${issue.id}`))
  const detail = result.as<IssueDetail>()
  expect(detail.event_count).toBe(71)
  expect(detail.tag_distribution.find(({ key }) => key === 'turn')?.total).toBeGreaterThan(1)
  expect(longestHoldMs).toBeLessThan(200)
})
