import { beforeAll, describe, expect, test } from 'vitest'
import type { Page } from '#server/platform/kernel/page.api.ts'
import type { ReleaseDetail, ReleaseWithHealth } from '#server/insights/release-health/release-health.api.ts'
import { recordSessions } from '#server/telemetry/app-health/record-sessions.ts'
import { anAttribute, countsFact } from '#server/telemetry/app-health/sessions.fixture.ts'
import type { Commit, Release } from '#server/projects/releases/releases.api.ts'
import type { Client } from '#test/kit/client.ts'
import { aMemberClient, type MemberClient } from '#test/kit/member-client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Releases: unusual names and times, concurrency, and figures after issues were merged or deleted. */

const t = await testServer()
let owner: Client
let member: MemberClient
let viewer: MemberClient
let stranger: Client
let project: TestProject

beforeAll(async () => {
  owner = await aFounder(t.url)
  stranger = await aFounder(t.url)
  member = await aMemberClient(t.app, t.url, owner, { name: 'Mia Member' })
  viewer = await aMemberClient(t.app, t.url, owner, { name: 'Vera Viewer', role: 'viewer' })
  project = await aProject(owner)
})

const create = (body: Record<string, unknown>, by: Client = owner) =>
  by.post('/api/releases', { projectId: project.id, ...body })
const created = async (body: Record<string, unknown>) => (await create(body)).as<Release>()
const list = async (query: string, by: Client = owner) =>
  (await by.get(`/api/releases?${query}`)).as<Page<ReleaseWithHealth>>()
const cursorOf = (...parts: unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url')

describe('names', () => {
  test('are measured in characters, not UTF-16 units, also in events', async () => {
    const name = '😀'.repeat(200)
    expect(await create({ version: name })).toMatchObject({ status: 201, body: { version: name } })
    expect(await create({ version: `${name}😀` })).toMatchObject({ status: 400 })
    const to = await aProject(owner)
    await t.event({ project: to, release: name })
    expect((await list(`projectId=${to.id}`)).items).toMatchObject([{ version: name, new_issues: 1 }])
    expect((await list(`projectId=${to.id}&version=${encodeURIComponent(name)}`)).total).toBe(1)
  })

  test.each(['1.0\n', '\t1.0', '1.0\r\n', 'a\u2028b', '\u0085x'])('contain no line break: %j', async (version) => {
    expect(await create({ version })).toMatchObject({ status: 400 })
  })

  test('are found by search with any characters', async () => {
    for (const version of ['50%_off', 'a?b#c&d=e', '%2F', '../x'.replace('/', ''), "it's", '日本語', '1.0+7 (41)']) {
      const { id } = await created({ version })
      const query = `projectId=${project.id}&version=${encodeURIComponent(version)}`
      expect((await list(query)).items.map((item) => item.id)).toEqual([id])
      expect(
        (await list(`projectId=${project.id}&q=${encodeURIComponent(version)}`)).items.map((item) => item.id),
      ).toContain(id)
    }
  })
})

test('the project may be in the query string, as the specification says', async () => {
  const post = (query: string, body: Record<string, unknown>) => owner.post(`/api/releases${query}`, body)
  const other = await aProject(owner)
  expect(await post(`?projectId=${other.id}`, { version: 'a' })).toMatchObject({
    status: 201,
    body: { project_id: other.id },
  })
  expect(await post(`?projectId=${other.id}`, { version: 'a', projectId: other.id })).toMatchObject({ status: 409 })
  expect(await post(`?projectId=${other.id}`, { version: 'b', projectId: project.id })).toMatchObject({ status: 400 })
  expect(await post('', { version: 'b' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('projectId') as unknown },
  })
  expect(await stranger.post(`/api/releases?projectId=${other.id}`, { version: 'c' })).toMatchObject({ status: 404 })
})

test('without a project the list has the releases of the whole organisation, and of no other', async () => {
  const mine = await aFounder(t.url)
  const [one, two] = [await aProject(mine), await aProject(mine)]
  for (const [index, of] of [one, two, one, two, one].entries())
    await mine.post('/api/releases', { projectId: of.id, version: `1.${index}`, released_at: '2026-11-01T00:00:00Z' })
  await t.app.tx((tx) =>
    recordSessions(tx, t.clock.now(), [
      countsFact(two.id, [{ startedAt: t.clock.now().getTime() - 60_000, exited: 7 }], anAttribute({ release: '1.1' })),
    ]),
  )
  const whole = await list('', mine)
  expect(whole.total).toBe(5)
  const seen: ReleaseWithHealth[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page<ReleaseWithHealth> = await list(`limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`, mine)
    seen.push(...page.items)
    cursor = page.next_cursor
  }
  // Equal dates: ids decide, and no release is missing or listed twice.
  expect(seen).toEqual(whole.items)
  expect(whole.items.map(({ id }) => id)).toEqual(
    whole.items
      .map(({ id }) => id)
      .toSorted()
      .reverse(),
  )
  expect(Object.fromEntries(whole.items.map(({ version, sessions }) => [version, sessions]))).toEqual({
    '1.0': null,
    '1.1': 7,
    '1.2': null,
    '1.3': 0,
    '1.4': null,
  })
})

test('sorted by version 1.10 comes after 1.9, on every page', async () => {
  const of = await aProject(owner)
  const longest = ['-', '1.', '漢', '😀'].map((text) => text.repeat(200 / text.length).slice(0, 200))
  const ordered = ['1.9.0', '1.10.0-rc.1', '1.10.0', 'v1.11', '2.0.0']
  const sorted = [...ordered, ...longest]
  for (const version of sorted.toReversed())
    expect(await create({ projectId: of.id, version })).toMatchObject({ status: 201 })
  for (const [sort, expected] of [
    ['version', ordered],
    ['-version', ordered.toReversed()],
  ] as const) {
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page<ReleaseWithHealth> = await list(
        `projectId=${of.id}&sort=${sort}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      seen.push(...page.items.map(({ version }) => version))
      cursor = page.next_cursor
    }
    expect(seen.filter((version) => !longest.includes(version))).toEqual(expected)
    expect(seen.toSorted()).toEqual([...sorted].toSorted())
  }
})

test.each<[string, unknown[]]>([
  ['version', ['version', 'a\0', crypto.randomUUID()]],
  ['-date', ['-date', '1 (x)', crypto.randomUUID()]],
  ['-date', ['-date', 'Jan 1 1970', crypto.randomUUID()]],
  ['-date', ['-date', '+275760-09-13T00:00:00.000Z', crypto.randomUUID()]],
  ['-date', ['-date', 'x', crypto.randomUUID()]],
  ['-date', ['date', '2026-01-01T00:00:00Z', crypto.randomUUID()]],
])('an invalid cursor is refused: %s %j', async (sort, parts) => {
  const answer = await owner.get(`/api/releases?projectId=${project.id}&sort=${sort}&cursor=${cursorOf(...parts)}`)
  expect(answer).toMatchObject({
    status: 400,
    body: { error: 'cursor is not valid for this list. Use next_cursor of its previous page.' },
  })
})

test('times out of range are refused', async () => {
  for (const time of ['9999-12-31T23:59:59-12:00', '0000-01-01T00:00:00Z', '0001-01-01T00:00:00+14:00'])
    expect(await create({ version: 'times', released_at: time })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('released_at') as unknown },
    })
  const { id } = await created({
    version: 'times',
    released_at: '9999-12-31T23:59:59Z',
    commits: [{ id: 'abc', timestamp: '1000-01-01T00:00:00Z' }],
  })
  expect((await owner.get(`/api/releases/${id}`)).body).toMatchObject({
    released_at: '9999-12-31T23:59:59.000Z',
    crash_free_hours: null,
  })
  const deploys = `/api/releases/${id}/deploys`
  for (const body of [{ started_at: '1970-01-01T00:00:00Z' }, { finished_at: '2100-01-01T00:00:00Z' }])
    expect(await owner.post(deploys, { environment: 'x', ...body })).toMatchObject({ status: 201 })
  expect(await owner.post(deploys, { environment: 'x', finished_at: '9999-12-31T23:59:59-01:00' })).toMatchObject({
    status: 400,
  })
})

test('viewers read, members write', async () => {
  const { id } = await created({ version: 'roles' })
  for (const path of [
    `/api/releases?projectId=${project.id}`,
    `/api/releases/${id}`,
    `/api/releases/${id}/commits`,
    `/api/releases/${id}/deploys`,
  ])
    expect(await viewer.get(path)).toMatchObject({ status: 200 })
  for (const [by, status] of [
    [viewer, 403],
    [member, 201],
  ] as const) {
    expect(await create({ version: `by-${status}` }, by)).toMatchObject({ status })
    expect(await by.post(`/api/releases/${id}/deploys`, { environment: 'x' })).toMatchObject({ status })
    expect(await by.post(`/api/releases/${id}/commits`, { commits: [{ id: 'abc' }] })).toMatchObject({
      status: status === 201 ? 200 : status,
    })
    expect(await by.patch(`/api/releases/${id}`, { ref: 'x' })).toMatchObject({ status: status === 201 ? 200 : status })
  }
})

test('ten thousand commits in two concurrent requests are stored once each and paged; more are refused', async () => {
  const { id } = await created({ version: 'many-commits' })
  const path = `/api/releases/${id}/commits`
  const part = (from: number) => Array.from({ length: 1_000 }, (_, index) => ({ id: `c${from + index}` }))
  for (let at = 0; at < 10_000; at += 2_000)
    for (const answer of await Promise.all(
      [at, at + 1_000, at].map((from) => owner.post(path, { commits: part(from) })),
    ))
      expect(answer.status).toBe(200)
  expect(await owner.post(path, { commits: [{ id: 'one-more' }] })).toMatchObject({ status: 409 })
  expect(await owner.post(path, { commits: part(0) })).toMatchObject({ status: 200, body: { commit_count: 10_000 } })
  const first = (await owner.get(`${path}?limit=100&offset=9900`)).as<Page<Commit>>()
  expect(first).toMatchObject({ total: 10_000, next_cursor: null })
  expect(first.items).toHaveLength(100)
})

test('devices and systems of a release; unknown ones are separate', async () => {
  const of = await aProject(owner)
  const { id } = (await create({ projectId: of.id, version: '1.0.0' })).as<Release>()
  const now = t.clock.now().getTime()
  const count = (
    exited: number,
    crashed: number,
    device: string | null,
    os: string | null,
    environment = 'production',
  ) =>
    countsFact(
      of.id,
      [{ startedAt: now - 3_600_000, exited, crashed }],
      anAttribute({ release: '1.0.0', device, os, environment }),
    )
  await t.app.tx((tx) =>
    recordSessions(tx, t.clock.now(), [
      count(60, 0, 'iPhone', 'iOS'),
      count(15, 5, 'Pixel 7a', 'Android'),
      count(10, 0, null, 'Android', 'staging'),
      count(10, 0, null, null),
    ]),
  )
  const read = async (query = '') => (await owner.get(`/api/releases/${id}${query}`)).as<ReleaseDetail>()
  expect(await read()).toMatchObject({
    devices: [
      { name: 'iPhone', sessions: 60, share: 0.6, crash_free_sessions: 1 },
      { name: 'Pixel 7a', sessions: 20, share: 0.2, crash_free_sessions: 0.75 },
      { name: null, sessions: 20, share: 0.2, crash_free_sessions: 1 },
    ],
    systems: [
      { name: 'iOS', sessions: 60 },
      { name: 'Android', sessions: 30, share: 0.3 },
      { name: null, sessions: 10 },
    ],
  })
  expect((await read('?environment=staging')).systems).toEqual([
    { name: 'Android', sessions: 10, share: 1, crash_free_sessions: 1 },
  ])
  expect(await read('?environment=nowhere')).toMatchObject({ devices: [], systems: [], sessions: null })
})

describe('users of a release', () => {
  const HOUR_MS = 3_600_000
  const met = (of: TestProject, did: string, hoursAgo: number, over: { device?: string; crashed?: number } = {}) =>
    countsFact(
      of.id,
      [
        {
          startedAt: t.clock.now().getTime() - hoursAgo * HOUR_MS,
          did,
          exited: 1,
          crashed: over.crashed ?? 0,
        },
      ],
      anAttribute({ release: '1.0.0', device: over.device ?? null }),
    )
  const record = (facts: Parameters<typeof recordSessions>[2]) =>
    t.app.tx((tx) => recordSessions(tx, t.clock.now(), facts))
  const users = async (of: TestProject, range: string) => {
    const [row] = (await list(`projectId=${of.id}&range=${range}`)).items
    return [row?.users, row?.users_range, row?.crash_free_users, row?.adoption_users]
  }

  test('are those of the range, also of sessions that arrived days late', async () => {
    const of = await aProject(owner)
    await create({ projectId: of.id, version: '1.0.0' })
    await record([
      met(of, 'ada', 0.2),
      met(of, 'bob', 3),
      met(of, 'cleo', 72, { crashed: 1 }),
      met(of, 'ada', 72, { crashed: 1 }),
      met(of, 'dan', 20 * 24),
    ])
    expect(await users(of, '1h')).toEqual([1, '1h', 1, 1])
    expect(await users(of, '24h')).toEqual([2, '24h', 1, 1])
    expect(await users(of, '7d')).toEqual([3, '7d', 0.333333, 1])
    expect(await users(of, '30d')).toEqual([4, '30d', 0.5, 1])
  })

  test('are those of the range, on however many devices and days', async () => {
    const of = await aProject(owner)
    await create({ projectId: of.id, version: '1.0.0' })
    const devices = Array.from({ length: 110 }, (_, index) => `Phone ${index}`)
    const days = Array.from({ length: 12 }, (_, index) => 24 * (index + 2))
    await record([
      met(of, 'ada', 1),
      ...days.flatMap((hoursAgo) => devices.map((device) => met(of, device, hoursAgo, { device }))),
    ])
    expect(await users(of, '30d')).toEqual([111, '30d', 1, 1])
  })
})

describe('issues of a release', () => {
  const send = async (to: TestProject, type: string, release: string) => {
    await t.event({
      project: to,
      release,
      timestamp: t.clock.now().getTime() / 1000,
      error: { type },
    })
    t.clock.advance(60_000)
  }
  const idOf = async (of: TestProject, type: string) => {
    const { items } = (await owner.get(`/api/issues?projectId=${of.id}`)).as<Page<{ id: string; type: string }>>()
    return items.find((issue) => issue.type === type)?.id ?? ''
  }
  const counts = async (of: TestProject) =>
    Object.fromEntries(
      (await list(`projectId=${of.id}`)).items.map((item) => [item.version, [item.new_issues, item.regressions]]),
    )

  test('merged issues count in the first release of any of them, and separately after unmerging', async () => {
    const to = await aProject(owner)
    await send(to, 'Early', '1.0.0')
    await send(to, 'Late', '2.0.0')
    expect(await counts(to)).toEqual({ '1.0.0': [1, 0], '2.0.0': [1, 0] })
    const [early, late] = [await idOf(to, 'Early'), await idOf(to, 'Late')]
    expect(await owner.post(`/api/issues/${late}/merge`, { issue_ids: [early] })).toMatchObject({ status: 200 })
    expect(await counts(to)).toEqual({ '1.0.0': [1, 0], '2.0.0': [0, 0] })
    expect(await owner.post(`/api/issues/${late}/unmerge`, { issue_ids: [early] })).toMatchObject({ status: 200 })
    expect(await counts(to)).toEqual({ '1.0.0': [1, 0], '2.0.0': [1, 0] })
    expect(await owner.delete(`/api/issues/${late}`)).toMatchObject({ status: 204 })
    expect(await counts(to)).toEqual({ '1.0.0': [1, 0], '2.0.0': [0, 0] })
  })

  test('an issue that regressed twice in a release counts once, also merged with another such issue', async () => {
    const to = await aProject(owner)
    for (const type of ['A', 'B']) {
      await send(to, type, '1.0.0')
      const id = await idOf(to, type)
      for (let round = 0; round < 2; round++) {
        await owner.patch(`/api/issues/${id}`, { status: 'resolved' })
        t.clock.advance(60_000)
        await send(to, type, '2.0.0')
      }
    }
    expect(await counts(to)).toEqual({ '1.0.0': [2, 0], '2.0.0': [0, 2] })
    const [a, b] = [await idOf(to, 'A'), await idOf(to, 'B')]
    await owner.post(`/api/issues/${a}/merge`, { issue_ids: [b] })
    expect(await counts(to)).toEqual({ '1.0.0': [1, 0], '2.0.0': [0, 1] })
    const [row] = (await list(`projectId=${to.id}&version=2.0.0`)).items
    const detail = (await owner.get(`/api/releases/${row?.id}`)).as<ReleaseDetail>()
    expect(detail.regressed_issues.map(({ id }) => id)).toEqual([a])
  })
})
