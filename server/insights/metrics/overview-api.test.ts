import { expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Overview, StoreGuard } from './metrics.api.ts'
import { sendSessions, times } from './metrics.fixture.ts'

/** `GET /api/overview` and `GET /api/store-guard`. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const overview = async (query: string): Promise<Overview> => {
  const answer = await owner.get(`/api/overview?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Overview>()
}

const guardOf = async (project: TestProject): Promise<StoreGuard> => {
  const answer = await owner.get(`/api/store-guard?projectId=${project.id}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<StoreGuard>()
}

test('one project without data: counts are 0, rates and words are null', async () => {
  const project = await t.project(owner)
  const answer = await overview(`projectId=${project.id}&range=24h`)
  expect(answer).toMatchObject({
    project_id: project.id,
    range: '24h',
    interval_seconds: 900,
    cards: {
      crash_rate: {
        value: null,
        previous: null,
        change: null,
        word: null,
        basis: null,
        latest: null,
        limit: { value: 0.0109, share: null },
        finding: null,
      },
      anr_rate: { value: null, limit: { value: 0.0047, share: null } },
      event_count: { value: 0, previous: 0, change: null, critical: 0 },
      user_count: { active: null, crashed_users: null, crash_free_users: null },
    },
    releases: [],
    issues: { open: 0, new: 0, regressed: 0, escalated: 0, critical: 0 },
    intake: { accepted: 0, filtered: 0, rate_limited: 0, dropped: 0, events_per_day: null, used_today: 0 },
  })
  expect(answer.cards.crash_rate.trend).toHaveLength(96)
})

test('cards, issues, releases and intake of one project; the organisation is the sum of its projects', async () => {
  const founder = await t.founder()
  const [one, two] = [await t.project(founder), await t.project(founder)]
  await sendSessions(t, one, [
    ...times(150, { agoMs: 20 * MINUTE, did: 'ada', release: '1.0' }),
    ...times(50, { agoMs: 20 * MINUTE, did: 'bob', release: '1.0', status: 'crashed' }),
    ...times(100, { agoMs: 25 * HOUR, did: 'ada', release: '1.0' }),
  ])
  await sendSessions(t, two, times(100, { agoMs: 20 * MINUTE, did: 'ada', release: '7.0' }))
  await t.events(one, [
    { error: 'alpha', release: '1.0' },
    { error: 'beta', release: '1.0' },
  ])
  await t.events(two, [{ error: 'alpha', release: '7.0' }])
  const read = async (query: string) => {
    const answer = await founder.get(`/api/overview?range=24h${query}`)
    expect(answer.status, answer.text).toBe(200)
    return answer.as<Overview>()
  }
  expect(await read(`&projectId=${one.id}`)).toMatchObject({
    cards: {
      crash_rate: { value: 0.25, previous: 0, change: 0.25, word: 'poor', basis: 'sessions', latest: null },
      event_count: { value: 2, previous: 0, change: null },
      user_count: { active: 2, previous_active: 1, crashed_users: 1, crash_free_users: 0.5 },
    },
    releases: [{ version: '1.0', project_id: one.id, sessions: 200 }],
    issues: { open: 2, new: 2 },
    intake: { accepted: 2, dropped: 0 },
  })
  const both = await read('')
  expect(both).toMatchObject({
    project_id: null,
    cards: {
      crash_rate: { value: 0.166667 },
      event_count: { value: 3 },
      // A user of two apps counts twice: their ids differ.
      user_count: { active: 3, crashed_users: 1 },
    },
    issues: { open: 3 },
  })
  expect(both.releases.map((release) => release.version).toSorted()).toEqual(['1.0', '7.0'])
})

test('a crash rate that rises is explained by the issue that rose', async () => {
  const project = await t.project(owner)
  const hours = (from: number, to: number) => Array.from({ length: from - to }, (_, index) => (from - index) * HOUR)
  await sendSessions(t, project, [
    ...hours(20, 0).flatMap((agoMs) => times(20, { agoMs })),
    ...hours(4, 0).flatMap((agoMs) => times(10, { agoMs, status: 'crashed' })),
  ])
  const finding = async () => (await overview(`projectId=${project.id}&range=24h`)).cards.crash_rate.finding
  expect(await finding()).toMatchObject({ kind: 'rose', before: 0, after: 0.333333 })
  const at = (ago: number) => ({ timestamp: (t.app.clock.now().getTime() - ago) / 1_000 })
  await t.events(
    project,
    [1, 2, 3].map((hour) => ({ error: 'pay', ...at(hour * HOUR) })),
  )
  await t.app.db.query('update issues set event_severity = 3 where project_id = $1', [project.id])
  expect(await finding()).toMatchObject({ kind: 'issue', share: 1, short_id: `${project.slug.toUpperCase()}-1` })
})

test('a project of another organisation is 404', async () => {
  const stranger = await t.founder()
  const theirs = await t.project(stranger)
  for (const path of ['overview', 'store-guard'])
    expect(await owner.get(`/api/${path}?projectId=${theirs.id}`)).toMatchObject({ status: 404 })
})

test('the store guard has limits, and no rate below 1,000 user-days', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [{ agoMs: 2 * DAY, did: 'ada', status: 'crashed' }])
  expect(await guardOf(project)).toMatchObject({
    window_days: 28,
    limits: { crash_rate: 0.0109, anr_rate: 0.0047, device: 0.08 },
    crash: { rate: null, user_days: 1, affected_user_days: 1, state: null, forecast: null },
    anr: { rate: null, user_days: 1, affected_user_days: 0 },
    devices: [],
  })
})

test('device models have a rate from 1,000 user-days on; the worst is first', async () => {
  const project = await t.project(owner)
  const IPHONE =
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1'
  const IPAD = IPHONE.replace('(iPhone; CPU iPhone OS', '(iPad; CPU OS')
  const users = (n: number, agoMs: number, userAgent: string, status?: string) =>
    Array.from({ length: n }, (_, user) => ({
      agoMs,
      did: `${userAgent === IPAD ? 'tablet' : 'phone'} ${user}`,
      userAgent,
      ...(status === undefined ? {} : { status }),
    }))
  await sendSessions(t, project, [
    ...users(500, DAY, IPHONE),
    ...users(500, 2 * DAY, IPHONE),
    ...users(100, 2 * DAY, IPHONE, 'crashed'),
    ...users(600, DAY, IPAD),
    ...users(400, 2 * DAY, IPAD),
  ])
  const { devices } = await guardOf(project)
  expect(devices).toMatchObject([
    { user_days: 1_000, crash_rate: 0.1, anr_rate: 0, state: 'poor' },
    { user_days: 1_000, crash_rate: 0, state: 'good' },
  ])
  expect(devices.map(({ device }) => device)).toEqual(['iPhone', 'iPad'])
})

test('the rate of the store guard is user-days with a crash ÷ user-days; today and single sessions do not count', async () => {
  const project = await t.project(owner)
  const users = (n: number, agoMs: number, status?: string) =>
    Array.from({ length: n }, (_, user) => ({
      agoMs,
      did: `user ${user}`,
      ...(status === undefined ? {} : { status }),
    }))
  await sendSessions(t, project, [
    ...users(300, DAY),
    ...users(300, DAY + HOUR),
    ...users(300, 2 * DAY),
    ...users(300, 3 * DAY),
    ...users(200, 4 * DAY),
    // Twice on one day, and on another day.
    ...users(10, DAY + 2 * HOUR, 'crashed'),
    ...users(10, DAY + 3 * HOUR, 'crashed'),
    ...users(4, 3 * DAY, 'crashed'),
    ...users(300, HOUR, 'crashed'),
  ])
  const { crash } = await guardOf(project)
  // Over more than a day the ANR card is judged by the guard.
  const { cards } = await overview(`projectId=${project.id}&range=30d`)
  expect(cards.anr_rate).toMatchObject({ value: 0, word: 'good', limit: { share: 0 } })
  expect(crash).toMatchObject({ user_days: 1_100, affected_user_days: 14, rate: 0.012727, state: 'poor' })
  expect(crash.days).toHaveLength(28)
  expect(crash.days.slice(-4).map(({ users: active, affected }) => [active, affected])).toEqual([
    [200, 0],
    [300, 4],
    [300, 0],
    [300, 10],
  ])
  expect(crash.days.at(-1)?.day).toBe(new Date(t.app.clock.now().getTime() - DAY).toISOString().slice(0, 10))
})
