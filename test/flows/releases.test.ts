import { beforeAll, describe, expect, test } from 'vitest'
import type {
  ReleaseDetail,
  ReleasesHealth,
  ListedRelease,
} from '#server/insights/release-health/release-health.api.ts'
import { anUpdate, sessionFact, countsFact, anAttribute, sidOf } from '#server/telemetry/app-health/sessions.fixture.ts'
import { recordSessions } from '#server/telemetry/app-health/record-sessions.ts'
import type { Page } from '#server/platform/kernel/page.api.ts'
import type { Commit, Deploy, Release } from '#server/projects/releases/releases.api.ts'
import { settleReleased } from '#server/issues/recording/sweep.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, dsnParts, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'

/** Releases through the API, created by members and by data that arrives. */

const t = await testServer()
let owner: Client
let stranger: Client
let project: TestProject

beforeAll(async () => {
  owner = await aFounder(t.url)
  stranger = await aFounder(t.url)
  project = await aProject(owner)
})

const HOUR_MS = 3_600_000

const create = (body: Record<string, unknown>) => owner.post('/api/releases', { projectId: project.id, ...body })

async function created(body: Record<string, unknown>): Promise<Release> {
  const answer = await create(body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.as<Release>()
}

const list = async (of: string, query = ''): Promise<Page<ListedRelease>> => {
  const answer = await owner.get(`/api/releases?projectId=${of}${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.as<Page<ListedRelease>>()
}

async function sendItems(to: TestProject, items: readonly (readonly [Record<string, unknown>, unknown])[]) {
  const { key, projectNumber } = dsnParts(to.dsn)
  const body = ['{}', ...items.flatMap(([header, payload]) => [JSON.stringify(header), JSON.stringify(payload)])].join(
    '\n',
  )
  const response = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, { method: 'POST', body })
  expect(response.status).toBe(200)
  await response.text()
}

describe('created by members', () => {
  test('a release with all fields, then the same version again', async () => {
    const release = await created({
      version: ' 4.12.0 ',
      released_at: '2026-11-19T08:10:00+02:00',
      url: 'https://example.com/4.12.0',
      ref: 'release/4.12',
      commits: [{ id: 'ABC1234', message: 'Pay once', timestamp: null }],
    })
    expect(release).toMatchObject({
      version: '4.12.0',
      state: 'open',
      released_at: '2026-11-19T06:10:00.000Z',
      first_seen: null,
      commit_count: 1,
      deploy_count: 0,
      commits: [{ id: 'abc1234', message: 'Pay once' }],
      deploys: [],
    })
    expect(await create({ version: '4.12.0' })).toMatchObject({
      status: 409,
      body: { error: 'The project already has a release 4.12.0.' },
    })
    // The same version in another project is another release.
    expect(await create({ version: '4.12.0', projectId: (await aProject(owner)).id })).toMatchObject({ status: 201 })
  })

  test.each(['1.0', 'v2', '2024.11.3-beta.2+77', 'com.acme.shop@3.1.0+77', '🚀', 'x'.repeat(200), '4711'])(
    'may have the version %s',
    async (version) => {
      expect(await created({ version })).toMatchObject({ version })
    },
  )

  test.each([
    '',
    '  ',
    '.',
    '..',
    'latest',
    'LATEST',
    'a\u0007b',
    'a\u2028b',
    'a\tb',
    'a\nb',
    'x'.repeat(201),
    '\ud800',
    7,
    null,
  ])('may not have the version %j', async (version) => {
    expect(await create({ version })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('version') as unknown },
    })
  })

  test.each<[string, Record<string, unknown>]>([
    ['url', { url: 'javascript:alert(1)' }],
    ['released_at', { released_at: 'yesterday' }],
    ['released_at', { released_at: '2026-02-30T00:00:00Z' }],
    ['commits', { commits: [{ id: '' }] }],
    ['commits', { commits: [{ id: "' or 1=1" }] }],
    ['commits', { commits: Array.from({ length: 1_001 }, (_, index) => ({ id: `c${index}` })) }],
    ['commits', { commits: [{ id: 'abc', message: 'x'.repeat(10_001) }] }],
    ['patch_set', { commits: [{ id: 'abc', patch_set: [{ path: 'a', type: 'X' }] }] }],
    ['ref', { ref: 'x'.repeat(251) }],
  ])('refuses a wrong %s', async (field, body) => {
    const answer = await create({ version: `wrong-${field}`, ...body })
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringContaining(field) as unknown } })
  })

  test('ten concurrent requests: one creates it, the others get 409', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => create({ version: 'at-once' })))
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(9)
  })

  test('a planned release is adopted', async () => {
    const to = await aProject(owner)
    await t.event({ project: to })
    const issues = (await owner.get(`/api/issues?projectId=${to.id}`)).as<Page<{ id: string }>>()
    const resolved = await owner.patch(`/api/issues/${issues.items[0]?.id}`, {
      status: 'resolved',
      resolution: { in_release: '9.0.0' },
    })
    expect(resolved).toMatchObject({ status: 200 })
    expect((await list(to.id, '&sort=version')).items.map(({ version, state }) => [version, state])).toEqual([
      ['9.0.0', 'planned'],
      ['shop@1.0.0', 'open'],
    ])
    expect(await create({ projectId: to.id, version: '9.0.0', ref: 'main' })).toMatchObject({
      status: 201,
      body: { state: 'open', ref: 'main' },
    })
    const { items } = await list(to.id, '&version=9.0.0')
    const detail = (await owner.get(`/api/releases/${items[0]?.id}`)).as<ReleaseDetail>()
    expect(detail.resolved_issues.map((issue) => issue.id)).toEqual([issues.items[0]?.id])
  })

  test('PATCH changes dates, state and URL; an absent field stays, null clears it', async () => {
    const { id } = await created({ version: 'changing', url: 'https://example.com/a' })
    const path = `/api/releases/${id}`
    expect(await owner.patch(path, { released_at: '2026-11-01T00:00:00Z', state: 'archived' })).toMatchObject({
      status: 200,
      body: { released_at: '2026-11-01T00:00:00.000Z', state: 'archived', url: 'https://example.com/a' },
    })
    expect(await owner.patch(path, { released_at: null, url: null })).toMatchObject({
      body: { released_at: null, state: 'archived', url: null },
    })
    for (const body of [{}, { state: 'planned' }, { state: 'gone' }, { version: 'x' }, { url: 'ftp://x' }])
      expect(await owner.patch(path, body)).toMatchObject({ status: 400 })
  })

  test('commits: newest first, added twice, paged', async () => {
    const { id } = await created({ version: 'with-commits', commits: [{ id: 'aaaaaaa1' }, { id: 'aaaaaaa2' }] })
    const more = await owner.post(`/api/releases/${id}/commits`, {
      commits: [
        { id: 'bbbbbbb1', message: 'New', author_name: 'Ada', patch_set: [{ path: 'src/a.ts', type: 'M' }] },
        { id: 'AAAAAAA2', message: 'Known by now' },
        { id: 'bbbbbbb1', message: 'Said twice' },
      ],
    })
    expect(more).toMatchObject({ status: 200, body: { commit_count: 3 } })
    const first = (await owner.get(`/api/releases/${id}/commits?limit=2`)).as<Page<Commit>>()
    expect(first.items).toMatchObject([
      { id: 'bbbbbbb1', message: 'New', author_name: 'Ada', patch_set: [{ path: 'src/a.ts', type: 'M' }] },
      { id: 'aaaaaaa1', message: null, patch_set: [] },
    ])
    expect(first.total).toBe(3)
    const second = (await owner.get(`/api/releases/${id}/commits?cursor=${first.next_cursor}`)).as<Page<Commit>>()
    expect(second.items).toMatchObject([{ id: 'aaaaaaa2', message: 'Known by now' }])
    expect(second.next_cursor).toBeNull()
    await owner.post(`/api/releases/${id}/commits`, { commits: [{ id: 'ccccccc1' }] })
    const [listed] = (await list(project.id, '&version=with-commits')).items
    expect(listed?.commits.map((commit) => commit.id)).toEqual(['ccccccc1', 'bbbbbbb1', 'aaaaaaa1'])
    expect(listed).toMatchObject({ commit_count: 4, deploys: [] })
    expect(listed?.commits[1]).not.toHaveProperty('patch_set')
    // A hundred releases with whole messages would be megabytes.
    await owner.post(`/api/releases/${id}/commits`, { commits: [{ id: 'ddddddd1', message: '🚀'.repeat(5_000) }] })
    expect((await list(project.id, '&version=with-commits')).items[0]?.commits[0]).toMatchObject({
      message: '🚀'.repeat(500),
    })
    expect(await owner.get(`/api/releases/${id}/commits?cursor=x`)).toMatchObject({ status: 400 })
  })

  test('deploys', async () => {
    const { id } = await created({ version: 'deployed' })
    const path = `/api/releases/${id}/deploys`
    expect(await owner.post(path, { environment: 'production' })).toMatchObject({
      status: 201,
      body: { environment: 'production', started_at: null, finished_at: t.clock.now().toISOString() },
    })
    expect(
      await owner.post(path, {
        environment: 'staging',
        name: 'again',
        started_at: '2026-11-20T10:00:00Z',
        finished_at: null,
      }),
    ).toMatchObject({ status: 201, body: { finished_at: null } })
    for (const body of [
      { environment: 'a\nb' },
      { environment: 'None' },
      { environment: '' },
      { environment: 'x', started_at: '2026-11-20T10:00:00Z', finished_at: '2026-11-20T09:00:00Z' },
    ])
      expect(await owner.post(path, body)).toMatchObject({ status: 400 })
    const first = (await owner.get(`${path}?limit=1`)).as<Page<Deploy>>()
    const second = (await owner.get(`${path}?limit=1&cursor=${first.next_cursor}`)).as<Page<Deploy>>()
    expect([...first.items, ...second.items].map((deploy) => deploy.environment).sort()).toEqual([
      'production',
      'staging',
    ])
    expect(await owner.get(`/api/releases/${id}`)).toMatchObject({ body: { deploy_count: 2 } })
    const [listed] = (await list(project.id, '&version=deployed')).items
    expect(listed?.deploys.map((deploy) => deploy.id)).toEqual([first.items[0]?.id, second.items[0]?.id])
  })
})

describe('created by data that arrives', () => {
  test('by events, sessions and transactions, once each', async () => {
    const to = await aProject(owner)
    const now = t.clock.now().getTime()
    const session = {
      sid: sidOf('s1'),
      init: true,
      status: 'ok',
      started: new Date(now - 60_000).toISOString(),
      attrs: { release: 'from-session', environment: 'production' },
    }
    for (const item of [
      [{ type: 'event' }, anEvent({ release: 'from-event' })],
      [{ type: 'session' }, session],
      [
        { type: 'transaction' },
        {
          event_id: newEventId(),
          type: 'transaction',
          transaction: 'checkout',
          start_timestamp: now / 1000 - 2,
          timestamp: now / 1000 - 1,
          release: 'from-transaction',
          contexts: { trace: { trace_id: newEventId(), span_id: 'aaaaaaaaaaaaaaaa', op: 'http.server' } },
        },
      ],
      [{ type: 'event' }, anEvent({ release: 'latest' })],
      [{ type: 'event' }, anEvent({ release: undefined })],
    ] as const)
      await sendItems(to, [item])
    await t.service.drain()
    const { items } = await list(to.id, '&sort=version')
    expect(items).toMatchObject([
      { version: 'from-event', state: 'open', first_event: t.clock.now().toISOString(), first_session: null },
      { version: 'from-session', first_event: null, first_session: t.clock.now().toISOString(), sessions: 1 },
      { version: 'from-transaction', first_event: null, first_session: null },
    ])
    // The version exists now.
    expect(await create({ projectId: to.id, version: 'from-event' })).toMatchObject({ status: 409 })
  })

  test('an issue names its first release and the release it regressed in', async () => {
    const to = await aProject(owner)
    const at = () => t.clock.now().getTime() / 1000
    await t.event({ project: to, release: '1.0.0', timestamp: at() })
    const [issue] = (await owner.get(`/api/issues?projectId=${to.id}`)).as<Page<{ id: string }>>().items
    await owner.patch(`/api/issues/${issue?.id}`, { status: 'resolved', resolution: { in_release: '1.1.0' } })
    t.clock.advance(5 * 60_000)
    await t.event({ project: to, release: '1.2.0', timestamp: at() })
    const { items } = await list(to.id, '&sort=version')
    expect(items.map(({ version, new_issues, regressions }) => [version, new_issues, regressions])).toEqual([
      ['1.0.0', 1, 0],
      ['1.1.0', 0, 0],
      ['1.2.0', 0, 1],
    ])
    const detail = (await owner.get(`/api/releases/${items[2]?.id}`)).as<ReleaseDetail>()
    expect(detail).toMatchObject({
      regressed_issues: [{ id: issue?.id, status: 'regressed' }],
      new_issue_list: [],
      series: null,
      crash_free_hours: null,
      sessions: null,
      crash_free_sessions: null,
      adoption: null,
      verdict: 'no_sessions',
    })
  })

  test('an issue resolved in a commit is fixed in the release with that commit', async () => {
    const to = await aProject(owner)
    await t.event({ project: to, release: '1.0.0' })
    const [issue] = (await owner.get(`/api/issues?projectId=${to.id}`)).as<Page<{ id: string }>>().items
    await owner.patch(`/api/issues/${issue?.id}`, { status: 'resolved', resolution: { in_commit: 'deadbee' } })
    await create({ projectId: to.id, version: '1.1.0', commits: [{ id: 'deadbeef00112233' }] })
    const { rows } = await t.app.db.query(
      `select count(*)::int as n from graphile_worker.jobs where task_identifier = 'release-commits'`,
    )
    expect(rows).toEqual([{ n: 1 }])
    await settleReleased(t.app)
    expect((await owner.get(`/api/issues/${issue?.id}`)).body).toMatchObject({
      resolved_in_release: '1.1.0',
      status_reason: expect.stringContaining('1.1.0') as unknown,
    })
  })
})

describe('health', () => {
  /** So many sessions of a release at a time in the past. */
  const sessions = (
    of: string,
    version: string,
    hoursAgo: number,
    healthy: number,
    crashed: number,
    environment = 'production',
  ) =>
    countsFact(
      of,
      [{ startedAt: t.clock.now().getTime() - hoursAgo * HOUR_MS, exited: healthy, crashed }],
      anAttribute({ release: version, environment }),
    )
  const record = (facts: Parameters<typeof recordSessions>[2]) =>
    t.app.tx((tx) => recordSessions(tx, t.clock.now(), facts))

  test('adoption of the last day, crash-free rate of the range, change, verdict', async () => {
    const of = (await aProject(owner)).id
    for (const version of ['4.11.2', '4.11.3', '4.12.0']) await create({ projectId: of, version })
    await record([
      sessions(of, '4.11.2', 90, 10_000, 10),
      sessions(of, '4.11.3', 50, 20_000, 20),
      sessions(of, '4.11.3', 2, 6_500, 0),
      sessions(of, '4.12.0', 1, 3_280, 20),
      sessions(of, '4.11.2', 1, 200, 0),
    ])
    const { items } = await list(of, '&sort=-version&range=7d')
    expect(items.map((item) => [item.version, item.adoption, item.sessions, item.verdict])).toEqual([
      ['4.12.0', 0.33, 3_300, 'hold'],
      ['4.11.3', 0.65, 26_520, 'healthy'],
      ['4.11.2', 0.02, 10_210, 'replaced'],
    ])
    expect(items[0]).toMatchObject({
      previous: { version: '4.11.3', crash_free_sessions: 0.999246 },
      crash_free_sessions: 0.993939,
      users: null,
      adoption_users: null,
      crash_free_users: null,
      verdict_reason: 'Crash-free sessions fell by 0.53 points compared with 4.11.3.',
    })
    expect(items[0]?.adoption_trend).toHaveLength(168)
    // In a day the older release has too few sessions to be compared with.
    const today = await list(of, '&sort=-version&range=24h')
    expect(today.items[0]).toMatchObject({ sessions: 3_300, previous: { version: '4.11.3' } })
    expect(today.items[2]).toMatchObject({ sessions: 200 })
  })

  test('the apps of a project are not compared with each other, and none replaces another', async () => {
    const of = (await aProject(owner)).id
    const versions = ['shop@4.11.0', 'watch@1.0.0', 'watch@1.1.0', 'shop@4.12.0']
    const ago = (hours: number) => new Date(t.clock.now().getTime() - hours * HOUR_MS).toISOString()
    for (const [at, version] of versions.entries())
      await create({ projectId: of, version, released_at: ago(100 - 10 * at) })
    await record([
      sessions(of, 'shop@4.11.0', 50, 20_000, 0),
      sessions(of, 'watch@1.0.0', 40, 2_000, 20),
      sessions(of, 'watch@1.1.0', 1, 1_990, 30),
      sessions(of, 'shop@4.12.0', 1, 97_000, 0),
    ])
    const { items } = await list(of, '&range=7d')
    expect(new Map(items.map((item) => [item.version, [item.previous?.version, item.verdict]]))).toEqual(
      new Map([
        ['shop@4.12.0', ['shop@4.11.0', 'healthy']],
        ['watch@1.1.0', ['watch@1.0.0', 'hold']],
        ['watch@1.0.0', [undefined, 'replaced']],
        ['shop@4.11.0', [undefined, 'replaced']],
      ]),
    )
  })

  test('two releases are compared at equal age: what the older one did later does not count', async () => {
    const of = (await aProject(owner)).id
    const ago = (hours: number) => new Date(t.clock.now().getTime() - hours * HOUR_MS).toISOString()
    await create({ projectId: of, version: '1.0.0', released_at: ago(50) })
    await create({ projectId: of, version: '2.0.0', released_at: ago(5) })
    await record([
      sessions(of, '1.0.0', 49, 1_998, 2),
      sessions(of, '1.0.0', 20, 8_000, 0),
      sessions(of, '1.0.0', 3, 1_000, 0),
      sessions(of, '2.0.0', 3, 1_960, 40),
    ])
    const [newest, oldest] = (await list(of, '&sort=-version&range=7d')).items
    expect(newest?.comparison).toEqual({
      age_hours: 5,
      release: {
        version: '2.0.0',
        sessions: 2_000,
        crashed: 40,
        adoption: 0.666667,
        users: null,
        crash_free_sessions: 0.98,
        crash_free_users: null,
      },
      previous: expect.objectContaining({ version: '1.0.0', sessions: 2_000, crashed: 2, adoption: 1 }) as unknown,
    })
    expect(newest).toMatchObject({
      verdict: 'hold',
      verdict_numbers: { sessions: 2_000, previous: '1.0.0', age_hours: 5, is_significant: true, regressions: 0 },
    })
    expect(newest?.verdict_numbers.fall).toBeCloseTo(0.019, 10)
    expect(oldest?.comparison).toBeNull()
    const detail = (await owner.get(`/api/releases/${newest?.id}`)).as<ReleaseDetail>()
    expect(detail.comparison?.previous.version).toBe('1.0.0')
  })

  test('unhandled errors are crashes of a release where the project says so', async () => {
    const of = (await aProject(owner)).id
    await create({ projectId: of, version: '1.0.0' })
    const startedAt = t.clock.now().getTime() - HOUR_MS
    await record([countsFact(of, [{ startedAt, exited: 90, unhandled: 10 }], anAttribute({ release: '1.0.0' }))])
    expect((await list(of)).items[0]).toMatchObject({ crash_free_sessions: 1 })
    await owner.patch(`/api/projects/${of}/settings`, { unhandled_is_crash: true })
    expect((await list(of)).items[0]).toMatchObject({ crash_free_sessions: 0.9 })
  })

  test('one environment, and an unknown one', async () => {
    const of = (await aProject(owner)).id
    await create({ projectId: of, version: '1.0.0' })
    await create({ projectId: of, version: 'never-met' })
    await record([sessions(of, '1.0.0', 1, 90, 10), sessions(of, '1.0.0', 1, 5, 0, 'staging')])
    const staging = await list(of, '&sort=version&environment=staging')
    expect(staging.items[0]).toMatchObject({ adoption: 1, sessions: 5, crash_free_sessions: 1, verdict: 'too_early' })
    expect(staging.items[1]).toMatchObject({
      adoption: 0,
      sessions: 0,
      crash_free_sessions: null,
      verdict: 'no_sessions',
    })
    const nowhere = await list(of, '&environment=nowhere')
    expect(nowhere.items[0]).toMatchObject({ adoption: null, sessions: null })
    const health = (await owner.get(`/api/releases/health?projectId=${of}&range=24h`)).as<ReleasesHealth>()
    expect(health.environments).toEqual(['production', 'staging'])
    expect(health.adoption?.releases).toMatchObject([{ version: '1.0.0' }])
  })

  test('users: distinct, and how many had a crash', async () => {
    const of = (await aProject(owner)).id
    await create({ projectId: of, version: '1.0.0' })
    await create({ projectId: of, version: '2.0.0' })
    const update = (name: string, release: string, did: string, status: 'ok' | 'crashed' = 'ok') =>
      sessionFact(
        of,
        anUpdate({
          sid: sidOf(name),
          did,
          status,
          startedAt: t.clock.now().getTime() - HOUR_MS,
          attributes: anAttribute({ release }),
        }),
      )
    await record([
      update('a', '1.0.0', 'ada'),
      update('b', '1.0.0', 'ada', 'crashed'),
      update('c', '1.0.0', 'bob'),
      update('d', '2.0.0', 'bob'),
      update('e', '2.0.0', 'cleo'),
    ])
    const { items } = await list(of, '&sort=version')
    expect(items).toMatchObject([
      { users: 2, crash_free_users: 0.5, adoption_users: 0.666667 },
      { users: 2, crash_free_users: 1, adoption_users: 0.666667 },
    ])
  })

  test('the charts: layers that add up to all sessions, and hours since the release', async () => {
    const of = (await aProject(owner)).id
    const since = new Date(t.clock.now().getTime() - 3 * HOUR_MS)
    for (let index = 1; index <= 7; index++)
      await create({ projectId: of, version: `1.${index}.0`, released_at: since.toISOString() })
    await record([
      ...Array.from({ length: 7 }, (_, index) => sessions(of, `1.${index + 1}.0`, 30, 100 * (index + 1), 0)),
      sessions(of, '1.7.0', 2, 98, 2),
      sessions(of, '1.7.0', 1, 100, 0),
    ])
    const health = (await owner.get(`/api/releases/health?projectId=${of}&range=7d`)).as<ReleasesHealth>()
    const { adoption, crash_free: lines } = health
    expect(adoption?.releases.map((release) => release.version)).toEqual(['1.7.0', '1.6.0', '1.5.0', '1.4.0', '1.3.0'])
    const sum = (values: readonly number[] = []) => values.reduce((total, value) => total + value, 0)
    expect(sum(adoption?.others)).toBe(300)
    expect(sum(adoption?.totals)).toBe(3_000)
    expect(sum(adoption?.releases.map((release) => sum(release.sessions))) + sum(adoption?.others)).toBe(3_000)
    expect(lines.map((line) => line.version)).toEqual(['1.7.0', '1.6.0', '1.5.0'])
    expect(lines[0]?.hours.slice(-3)).toEqual([
      { hour: 1, sessions: 100, crash_free_sessions: 0.98 },
      { hour: 2, sessions: 200, crash_free_sessions: 0.99 },
      { hour: 3, sessions: 200, crash_free_sessions: 0.99 },
    ])
  })
})

test('an hour-old release has a layer and a line, also after many other releases', async () => {
  const of = (await aProject(owner)).id
  const now = t.clock.now().getTime()
  const count = (version: string, hoursAgo: number, exited: number) =>
    countsFact(of, [{ startedAt: now - hoursAgo * HOUR_MS, exited }], anAttribute({ release: version }))
  for (let minor = 0; minor <= 8; minor++) await create({ projectId: of, version: `1.${minor}.0` })
  await create({ projectId: of, version: '9.9.9-mine' })
  await t.app.tx((tx) =>
    recordSessions(tx, t.clock.now(), [
      ...Array.from({ length: 8 }, (_, minor) => count(`1.${minor}.0`, 60, 10_000 + minor)),
      count('1.7.0', 1, 3_000),
      count('1.8.0', 0.5, 150),
      count('9.9.9-mine', 0.5, 1),
    ]),
  )
  const health = (await owner.get(`/api/releases/health?projectId=${of}&range=7d`)).as<ReleasesHealth>()
  expect(health.adoption?.releases.map((release) => release.version)).toEqual([
    '1.8.0',
    '1.7.0',
    '1.6.0',
    '1.5.0',
    '1.4.0',
  ])
  expect(health.crash_free[0]).toMatchObject({ version: '1.8.0' })
})

describe('lists', () => {
  test('sorted, paged by cursor and offset, searched', async () => {
    const of = (await aProject(owner)).id
    for (let day = 1; day <= 9; day++)
      await create({ projectId: of, version: `1.${day}%_`, released_at: `2026-11-0${day}T00:00:00Z` })
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Page<ListedRelease> = await list(of, `&limit=4${cursor === '' ? '' : `&cursor=${cursor}`}`)
      expect(page.total).toBe(9)
      seen.push(...page.items.map((item) => item.version))
      cursor = page.next_cursor
    }
    expect(seen).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1].map((day) => `1.${day}%_`))
    expect((await list(of, '&sort=date&offset=7')).items.map((item) => item.version)).toEqual(['1.8%_', '1.9%_'])
    expect((await list(of, `&q=${encodeURIComponent('3%_')}`)).items.map((item) => item.version)).toEqual(['1.3%_'])
    expect((await list(of, '&q=3x')).total).toBe(0)
    expect((await list(of, '&state=archived')).total).toBe(0)
    const first = await list(of, '&limit=1&sort=version')
    for (const query of [
      `&sort=-version&cursor=${first.next_cursor}`,
      '&cursor=x',
      '&sort=adoption',
      '&range=1y',
      '&state=gone',
      '&environment=',
      `&cursor=${first.next_cursor}&offset=1&sort=version`,
    ])
      expect(await owner.get(`/api/releases?projectId=${of}${query}`)).toMatchObject({ status: 400 })
    expect(await owner.get('/api/releases?projectId=')).toMatchObject({ status: 400 })
  })

  test('markers: releases in the range, by project', async () => {
    const of = (await aProject(owner, { platform: 'android' })).id
    await create({ projectId: of, version: '1', released_at: '2026-10-01T00:00:00Z' })
    await create({ projectId: of, version: '2', released_at: '2026-10-02T00:00:00Z' })
    const archived = (await create({ projectId: of, version: '3', released_at: '2026-10-02T00:00:00Z' })).body
    await owner.patch(`/api/releases/${String(archived['id'])}`, { state: 'archived' })
    const range = 'from=2026-10-01T12:00:00Z&to=2026-10-03T00:00:00Z'
    const { body } = await owner.get(`/api/releases/markers?projectId=${of}&${range}`)
    expect(body).toMatchObject({
      items: [{ version: '2', platform: 'android', project_id: of, at: '2026-10-02T00:00:00.000Z' }],
    })
    expect((await owner.get(`/api/releases/markers?${range}`)).body).toEqual(body)
    expect((await stranger.get(`/api/releases/markers?projectId=${of}&${range}`)).body).toEqual({ items: [] })
    expect(await owner.get('/api/releases/markers?from=2026-10-03T00:00:00Z&to=2026-10-01T00:00:00Z')).toMatchObject({
      status: 400,
    })
  })

  test('a user of another organisation sees and changes nothing', async () => {
    const { id } = await created({ version: 'ours' })
    expect(await stranger.get(`/api/releases?projectId=${project.id}`)).toMatchObject({ status: 404 })
    expect(await stranger.get(`/api/releases/health?projectId=${project.id}`)).toMatchObject({ status: 404 })
    expect(await stranger.get(`/api/releases/${id}`)).toMatchObject({ status: 404 })
    expect(await stranger.post(`/api/releases/${id}/commits`, { commits: [{ id: 'abc' }] })).toMatchObject({
      status: 404,
    })
    expect(await stranger.post('/api/releases', { projectId: project.id, version: 'x' })).toMatchObject({ status: 404 })
  })
})
