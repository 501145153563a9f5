import { expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Breakdown } from './metrics.api.ts'
import { IPHONE, sendSessions, times } from './metrics.fixture.ts'
import { wilsonBound } from './read-breakdown.ts'

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const MINUTE = 60_000

const breakdown = async (project: TestProject, query: string): Promise<Breakdown> => {
  const answer = await owner.get(`/api/metrics/breakdown?projectId=${project.id}&range=1h&${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<Breakdown>()
}

test('rows have share, rates by sessions and users, and a word only with enough sessions', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [
    ...times(150, { agoMs: MINUTE, release: '1', did: 'ada' }),
    ...times(10, { agoMs: MINUTE, release: '1', did: 'bob', status: 'crashed' }),
    ...times(39, { agoMs: MINUTE, release: '2' }),
    { agoMs: MINUTE, release: '2', status: 'crashed' },
  ])
  const answer = await breakdown(project, 'dimension=release')
  expect(answer).toMatchObject({
    dimension: 'release',
    sort: '-sessions',
    limit: 25,
    offset: 0,
    sessions: 200,
    coverage: 1,
  })
  expect(answer).toMatchObject({ unknown: null, other: null })
  expect(answer.rows).toMatchObject([
    {
      name: '1',
      share: 0.8,
      sessions: 160,
      crashed: 10,
      users: 2,
      crashed_users: 1,
      crash_rate: 1 / 16,
      crash_rate_users: 0.5,
      anr_rate: 0,
      word: 'poor',
    },
    { name: '2', share: 0.2, users: null, crash_rate: 1 / 40, crash_rate_users: null, word: null },
  ])
})

test('what is not shown is in other; filters and limit apply', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [
    ...times(5, { agoMs: MINUTE, release: 'a' }),
    ...times(3, { agoMs: MINUTE, release: 'b' }),
    ...times(2, { agoMs: MINUTE, release: 'c', status: 'crashed' }),
    ...times(4, { agoMs: MINUTE, release: 'd', environment: 'staging' }),
  ])
  const answer = await breakdown(project, 'dimension=release&limit=1&environment=production')
  expect(answer.sessions).toBe(10)
  expect(answer.rows.map((row) => row.name)).toEqual(['a'])
  expect(answer.other).toEqual({ names: 2, sessions: 5, crashed: 2, beyond_limit: 0 })
  const second = await breakdown(project, 'dimension=release&limit=1&offset=1&environment=production')
  expect(second.rows.map((row) => row.name)).toEqual(['b'])
  expect(second.other).toEqual({ names: 2, sessions: 7, crashed: 2, beyond_limit: 0 })
  const path = `/api/metrics/breakdown?projectId=${project.id}&range=24h&dimension=release&offset=10001`
  expect((await owner.get(path)).as<{ error: string }>().error).toBe('offset must be a whole number from 0 to 10000.')
})

test('the worst is one with many crashes, not one with a single crashed session', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [
    { agoMs: MINUTE, release: 'rare', status: 'crashed' },
    ...times(40, { agoMs: MINUTE, release: 'bad', status: 'crashed' }),
    ...times(20, { agoMs: MINUTE, release: 'bad' }),
    ...times(60, { agoMs: MINUTE, release: 'good' }),
  ])
  const names = async (sort: string) =>
    (await breakdown(project, `dimension=release&sort=${sort}`)).rows.map((row) => row.name)
  expect(await names('-crash_rate')).toEqual(['bad', 'rare', 'good'])
  expect(await names('crash_rate')).toEqual(['good', 'bad', 'rare'])
  expect(await names('-sessions')).toEqual(['bad', 'good', 'rare'])
  expect(await names('name')).toEqual(['bad', 'good', 'rare'])
  expect(await names('-name')).toEqual(['rare', 'good', 'bad'])
})

test('sessions without a value are unknown, and coverage says how many are known', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, [
    ...times(3, { agoMs: MINUTE, userAgent: IPHONE }),
    { agoMs: MINUTE, status: 'crashed' },
  ])
  const answer = await breakdown(project, 'dimension=os')
  expect(answer.rows).toMatchObject([{ name: 'iOS', sessions: 3, share: 0.75 }])
  expect(answer.unknown).toMatchObject({ name: null, sessions: 1, crashed: 1, share: 0.25 })
  expect(answer.coverage).toBe(0.75)
})

test('without sessions there are no rows, and nothing is known', async () => {
  const project = await t.project(owner)
  const empty = { rows: [], unknown: null, other: null, coverage: null, sessions: 0 }
  for (const dimension of ['release', 'environment', 'os', 'device', 'device_class'])
    expect(await breakdown(project, `dimension=${dimension}`)).toMatchObject(empty)
})

test('as CSV a release that looks like a formula is text', async () => {
  const project = await t.project(owner)
  await sendSessions(t, project, times(2, { agoMs: MINUTE, release: '=cmd|x,y' }))
  const answer = await owner.get(`/api/metrics/breakdown?projectId=${project.id}&range=1h&dimension=release&format=csv`)
  expect(answer.text).toBe(
    `name,share,sessions,crashed,unhandled,anr,users,crashed_users,anr_users,crash_rate,crash_rate_users,anr_rate,word\r\n"'=cmd|x,y",1,2,0,0,0,,,,0,,0,\r\n`,
  )
})

test.each([
  ['dimension=colour', 'dimension must be one of release, environment, os, device, device_class.'],
  ['range=1h', 'dimension must be one of'],
  ['dimension=device&limit=101', 'limit must be a whole number from 1 to 100.'],
  ['dimension=device&sort=luck', 'sort must be one of sessions, crash_rate, anr_rate, name'],
])('refuses %s', async (query, sentence) => {
  const project = await t.project(owner)
  const answer = await owner.get(`/api/metrics/breakdown?projectId=${project.id}&${query}`)
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(sentence)
})

test("Wilson's bounds contain the share and close in on it", () => {
  for (const [part, whole] of [
    [0, 1],
    [1, 1],
    [3, 10],
    [300, 1_000],
  ] as const) {
    expect(wilsonBound(part, whole, true)).toBeLessThanOrEqual(part / whole + 1e-12)
    expect(wilsonBound(part, whole, false)).toBeGreaterThanOrEqual(part / whole - 1e-12)
  }
  expect(wilsonBound(3, 10, true)).toBeCloseTo(0.1078, 3)
  expect(wilsonBound(3, 10, false)).toBeCloseTo(0.6032, 3)
})
