import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { Comment } from './issues.api.ts'

/** Lists, search, changes and comments through the API, on a real database. */

const server = await testServer({ realTime: true })

type List = { items: Issue[]; total: number; next_cursor: string | null; status_counts: Record<string, number> }
const list = async (member: Client, query = ''): Promise<List> => (await member.get(`/api/issues${query}`)).as<List>()

async function fill(member: Client, project: TestProject): Promise<void> {
  const now = Date.now() / 1000
  const plan = [
    { name: 'alpha', times: 3, users: 3, level: 'error', ago: 50 },
    { name: 'beta', times: 1, users: 1, level: 'fatal', ago: 40 },
    { name: 'gamma', times: 5, users: 2, level: 'warning', ago: 30 },
    { name: 'delta', times: 2, users: 1, level: 'info', ago: 20 },
    { name: 'epsilon', times: 4, users: 4, level: 'error', ago: 10 },
  ]
  const events = plan.flatMap(({ name, times, users, level, ago }) =>
    Array.from({ length: times }, (_, i) => ({
      error: name,
      level,
      timestamp: now - ago - i,
      user: { id: `${name}${i % users}` },
    })),
  )
  await server.events(project, events)
  expect((await list(member)).total).toBe(plan.length)
}

const names = (page: { items: Issue[] }): string[] => page.items.map((issue) => (issue.type ?? '').replace('Error', ''))

describe('lists', () => {
  let ada: Client
  let project: TestProject
  beforeAll(async () => {
    ada = await aFounder(server.url)
    project = await aProject(ada, { name: 'Lists' })
    await fill(ada, project)
  })

  test.each([
    ['', ['epsilon', 'delta', 'gamma', 'beta', 'alpha']],
    ['?sort=-last_seen', ['epsilon', 'delta', 'gamma', 'beta', 'alpha']],
    ['?sort=last_seen', ['alpha', 'beta', 'gamma', 'delta', 'epsilon']],
    ['?sort=first_seen', ['alpha', 'beta', 'gamma', 'delta', 'epsilon']],
    ['?sort=-event_count', ['gamma', 'epsilon', 'alpha', 'delta', 'beta']],
    ['?sort=-user_count&limit=2', ['epsilon', 'alpha']],
    ['?severity=low', ['delta']],
    ['?severity=medium&severity=low&sort=-event_count', ['gamma', 'epsilon', 'alpha', 'delta', 'beta']],
  ])('GET /api/issues%s', async (query, expected) => {
    expect(names(await list(ada, query))).toEqual(expected)
  })

  test('cursors return each issue once, in every sort order', async () => {
    for (const key of ['last_seen', 'first_seen', 'event_count', 'user_count', 'severity']) {
      for (const sort of [key, `-${key}`]) {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const page: List = await list(ada, `?sort=${sort}&limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
          seen.push(...names(page))
          cursor = page.next_cursor
        } while (cursor !== null)
        expect(seen.toSorted(), sort).toEqual(['alpha', 'beta', 'delta', 'epsilon', 'gamma'])
      }
    }
  })

  test('offset and limit page, total counts all', async () => {
    const page = await list(ada, '?limit=2&offset=4')
    expect(page).toMatchObject({ total: 5, limit: 2, offset: 4, next_cursor: null })
    expect(names(page)).toEqual(['alpha'])
  })

  test('the list of a project has the issues of that project', async () => {
    const page = (await ada.get(`/api/projects/${project.id}/issues?sort=-event_count`)).as<List>()
    expect(names(page)).toEqual(['gamma', 'epsilon', 'alpha', 'delta', 'beta'])
    expect(names(await list(ada, `?projectId=${project.id}`))).toHaveLength(5)
    expect(names(await list(ada, '?projectId=01890000-0000-7000-8000-000000000000'))).toHaveLength(0)
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['offset=10001', 'cursor'],
    ['offset=-1', 'offset'],
    ['sort=title', 'sort'],
    ['status=open', 'status'],
    ['severity=urgent', 'severity'],
    ['projectId=7', 'projectId'],
    ['cursor=zzz', 'cursor'],
    ['unknown=1', 'unknown'],
    ['limit=5&limit=6', 'limit'],
  ])('GET /api/issues?%s is refused with an error that names the field', async (query, field) => {
    const answer = await ada.get(`/api/issues?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.as<{ error: string }>().error).toContain(field)
  })

  test('a cursor of another sort order is refused', async () => {
    const { next_cursor: cursor } = await list(ada, '?limit=1')
    expect((await ada.get(`/api/issues?sort=-event_count&cursor=${cursor}`)).status).toBe(400)
  })

  test('search matches the beginnings of words, also in names, and combines terms', async () => {
    const search = async (q: string): Promise<string[]> =>
      names((await ada.get(`/api/issues/search?q=${encodeURIComponent(q)}`)).as<List>())
    expect(await search('gamma')).toEqual(['gamma'])
    expect(await search('src/gam')).toEqual(['gamma'])
    expect((await search('failed')).toSorted()).toEqual(['alpha', 'beta', 'delta', 'epsilon', 'gamma'])
    expect((await search('failed -gamma -beta')).toSorted()).toEqual(['alpha', 'delta', 'epsilon'])
    expect(await search('level:warning')).toEqual(['gamma'])
    expect(await search('is:resolved')).toEqual([])
    expect(await search('"alpha failed" is:unresolved')).toEqual(['alpha'])
    expect(await search("'; drop table issues; --")).toEqual([])
    expect(await search('assigned:me')).toEqual([])
    expect((await ada.get('/api/issues/search?q=is:open')).body).toMatchObject({
      error: expect.stringContaining('character 4') as string,
    })
    expect((await ada.get('/api/issues/search?q=%22open')).status).toBe(400)
  })

  test('the volume counts every event once', async () => {
    const answer = (await ada.get('/api/issues/volume?range=1h')).as<{
      from: string
      to: string
      total: number
      points: { events: number; fatal: number }[]
    }>()
    // The last hour begins with a whole quarter of an hour.
    expect(answer.from).toMatch(/:(?:00|15|30|45):00.000Z$/)
    expect(answer.points).toHaveLength((Date.parse(answer.to) - Date.parse(answer.from)) / 60_000)
    expect(answer.points.length).toBeGreaterThanOrEqual(60)
    expect(answer.points.length).toBeLessThan(75)
    expect(answer.total).toBe(15)
    expect(answer.points.reduce((sum, point) => sum + point.fatal, 0)).toBe(1)
  })
})

describe('changes', () => {
  let ada: Client
  let project: TestProject
  let issue: Issue
  const read = async (): Promise<{ status: string; activity: { kind: string; sentence: string }[] }> =>
    (await ada.get(`/api/issues/${issue.id}`)).as<{
      status: string
      activity: { kind: string; sentence: string }[]
    }>()
  beforeAll(async () => {
    ada = await aFounder(server.url)
    project = await aProject(ada)
    await server.event({ project, error: 'changes' })
    issue = (await list(ada)).items[0] as Issue
  })

  test('every status can be set; each change leaves one activity entry, a repetition none', async () => {
    const before = (await read()).activity.length
    for (const status of ['resolved', 'ignored', 'regressed', 'escalated', 'unresolved']) {
      expect((await ada.patch(`/api/issues/${issue.id}`, { status })).body).toMatchObject({ status })
      expect((await ada.patch(`/api/issues/${issue.id}`, { status })).status).toBe(200)
    }
    expect((await read()).activity).toHaveLength(before + 5)
    expect((await list(ada)).status_counts).toEqual({
      unresolved: 1,
      resolved: 0,
      ignored: 0,
      regressed: 0,
      escalated: 0,
    })
  })

  test('read_at of a list and status_changed_at of its issues show which statuses changed after the list was read', async () => {
    const readAt = async (): Promise<string> => String((await ada.get('/api/issues')).body['read_at'])
    const changedAt = async (): Promise<string> => (await list(ada)).items[0]!.status_changed_at
    const first = await readAt()
    expect((await changedAt()) < first).toBe(true)
    await ada.patch(`/api/issues/${issue.id}`, { status: 'resolved' })
    const resolved = await changedAt()
    expect(resolved >= first).toBe(true)
    // A repeated request does not change the time; a regression does.
    await ada.patch(`/api/issues/${issue.id}`, { status: 'resolved' })
    expect(await changedAt()).toBe(resolved)
    const second = await readAt()
    await server.event({ project, error: 'changes', timestamp: Date.now() / 1000 + 1 })
    expect((await list(ada)).items[0]).toMatchObject({ status: 'regressed' })
    expect((await changedAt()) >= second).toBe(true)
    await ada.patch(`/api/issues/${issue.id}`, { status: 'unresolved' })
  })

  test('an assignee is a member of the organisation, or null', async () => {
    const me = (await ada.get('/api/me')).as<{ user: { id: string } }>()
    const eve = (await (await aFounder(server.url)).get('/api/me')).as<{ user: { id: string } }>()
    expect((await ada.patch(`/api/issues/${issue.id}`, { assignee_id: me.user.id })).body).toMatchObject({
      assignee: { id: me.user.id },
    })
    expect(names(await list(ada, '?assignee_id=me'))).toEqual(['changes'])
    expect(names(await list(ada, '?assignee_id=none'))).toEqual([])
    expect((await ada.patch(`/api/issues/${issue.id}`, { assignee_id: eve.user.id })).status).toBe(400)
    expect((await ada.patch(`/api/issues/${issue.id}`, { assignee_id: null })).body).toMatchObject({
      assignee: null,
      assignee_id: null,
    })
  })

  test('setting a severity pins it, null unpins it', async () => {
    expect((await ada.patch(`/api/issues/${issue.id}`, { severity: 'low' })).body).toMatchObject({
      severity: 'low',
      severity_pinned: true,
    })
    expect((await ada.patch(`/api/issues/${issue.id}`, { severity: null })).body).toMatchObject({
      severity_pinned: false,
    })
  })

  test.each([
    [{}, 'at least one'],
    [{ status: 'closed' }, 'status'],
    [{ status: 'resolved', resolution: { in_release: '' } }, 'resolution'],
    [{ resolution: { now: true } }, 'resolution'],
    [{ title: 'x' }, 'title'],
    [[], 'body'],
    ['{"status":', 'JSON'],
  ])('PATCH %j is refused', async (body, word) => {
    const answer = await ada.request('PATCH', `/api/issues/${issue.id}`, { body })
    expect(answer.status).toBe(400)
    expect(answer.text.toLowerCase()).toContain(word.toLowerCase())
  })

  test('comments are listed oldest or newest first, keep their text, and can be deleted', async () => {
    const at = `/api/issues/${issue.id}/comments`
    const made = [] as Comment[]
    for (const body of ['first **bold**', '<script>alert(1)</script>', 'third']) {
      const answer = await ada.post(at, { body })
      expect(answer.status).toBe(201)
      made.push(answer.as<Comment>())
    }
    const page = (await ada.get(`${at}?limit=2`)).as<{
      items: Comment[]
      total: number
      next_cursor: string
    }>()
    expect(page).toMatchObject({ total: 3, items: [{ body: 'first **bold**' }, { body: '<script>alert(1)</script>' }] })
    expect((await ada.get(`${at}?cursor=${page.next_cursor}`)).body).toMatchObject({
      items: [{ body: 'third' }],
      next_cursor: null,
    })
    const newest = (await ada.get(`${at}?limit=2&sort=-created_at`)).as<typeof page>()
    expect(newest.items.map(({ body }) => body)).toEqual(['third', '<script>alert(1)</script>'])
    expect((await ada.get(`${at}?sort=-created_at&cursor=${newest.next_cursor}`)).body).toMatchObject({
      items: [{ body: 'first **bold**' }],
      next_cursor: null,
    })
    for (const query of [`cursor=${newest.next_cursor}`, `sort=-created_at&cursor=${page.next_cursor}`, 'sort=body'])
      expect((await ada.get(`${at}?${query}`)).status).toBe(400)
    expect((await ada.delete(`${at}/${made[0]?.id}`)).status).toBe(204)
    expect((await ada.delete(`${at}/${made[0]?.id}`)).status).toBe(404)
    expect((await ada.post(at, { body: '   ' })).status).toBe(400)
    expect((await ada.post(at, { body: 'x'.repeat(10_001) })).status).toBe(400)
    expect((await ada.post(at, { body: 'nul \0' })).status).toBe(400)
  })

  test.each([
    ['the maximum length', 'x'.repeat(10_000)],
    ['the maximum length in characters of two UTF-16 units', '😀'.repeat(10_000)],
    ['leading and trailing white space', ' lead and trail \n'],
    ['line ends of Windows', 'a\r\nb'],
    ['a character that changes the direction', '\u202Eevil'],
  ])('a comment is stored as written: %s', async (_what, body) => {
    const answer = await ada.post(`/api/issues/${issue.id}/comments`, { body })
    expect(answer).toMatchObject({ status: 201, body: { body } })
  })

  test.each([
    ['one emoji too many', '😀'.repeat(10_001)],
    ['half a surrogate', '\uD800 half'],
    ['a number', 5],
    ['null', null],
  ])('a comment is refused: %s', async (_what, body) => {
    const answer = await ada.post(`/api/issues/${issue.id}/comments`, { body })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.any(String) as string } })
  })

  test('neighbours of an event are in the order of occurrence', async () => {
    const project = (await list(ada)).items[0]?.project_id
    const { dsn } = (await ada.get('/api/projects'))
      .as<{ items: TestProject[] }>()
      .items.find((one) => one.id === project) as TestProject
    const now = Date.now() / 1000
    const sent = await Promise.all(
      [300, 200, 100].map((ago) => sendEvent(server.url, dsn, anEvent({ error: 'steps', timestamp: now - ago }))),
    )
    await server.service.drain()
    const steps = (await list(ada, '?sort=-first_seen')).items.find((one) => one.type === 'stepsError') as Issue
    const middle = (await ada.get(`/api/issues/${steps.id}?event=${sent[1]?.id}`)).body
    expect(middle).toMatchObject({
      event: { event_id: sent[1]?.id },
      event_ids: { latest: sent[2]?.id, oldest: sent[0]?.id, newer: sent[2]?.id, older: sent[0]?.id },
    })
    expect((await ada.get(`/api/issues/${steps.id}?event=oldest`)).body).toMatchObject({
      event: { event_id: sent[0]?.id },
    })
    expect((await ada.get(`/api/issues/${steps.id}?event=${'0'.repeat(31)}1`)).status).toBe(404)
    expect((await ada.get(`/api/issues/${steps.id}?event=newest`)).status).toBe(400)
  })

  test('deleting an issue deletes its events; the next event creates a new issue', async () => {
    expect((await ada.delete(`/api/issues/${issue.id}`)).status).toBe(204)
    expect((await ada.get(`/api/issues/${issue.id}`)).status).toBe(404)
    for (const [table, column] of [
      ['events', 'issue_id'],
      ['issue_groups', 'id'],
      ['issue_users', 'group_id'],
      ['issue_user_slots', 'group_id'],
      ['issue_hours', 'group_id'],
      ['issue_fingerprints', 'group_id'],
      ['comments', 'issue_id'],
      ['issue_activity', 'issue_id'],
    ]) {
      const { rows } = await server.app.db.query(`select 1 from ${table} where ${column} = $1`, [issue.id])
      expect(rows, table).toHaveLength(0)
    }
    const { dsn } = (await ada.get('/api/projects')).as<{ items: TestProject[] }>().items[0] as TestProject
    await sendEvent(server.url, dsn, anEvent({ error: 'changes' }))
    await server.service.drain()
    const again = (await list(ada)).items.find((one) => one.type === 'changesError')
    expect(again?.id).not.toBe(issue.id)
    expect(again).toMatchObject({ event_count: 1, status: 'unresolved' })
  })
})
