import { expect, test } from 'vitest'
import { testServer } from '#test/kit/test-server.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { levelNumber } from '../../telemetry/app-health/dimensions.ts'
import type { MetricSeries } from './metrics.api.ts'
import { sendSessions, type SentSession, IPHONE, times } from './metrics.fixture.ts'

/** `GET /api/metrics` over sessions and events that arrive through the intake. The clock stands at 12:00 UTC. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const NOW = t.app.clock.now().getTime()
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const send = (project: TestProject, sessions: readonly SentSession[]) => sendSessions(t, project, sessions)

const metrics = async (project: TestProject, query: string): Promise<MetricSeries> => {
  const answer = await owner.get(`/api/metrics?projectId=${project.id}&${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<MetricSeries>()
}

test('the crash rate is crashed sessions ÷ sessions; the range before is beside it', async () => {
  const project = await t.project(owner)
  await send(project, [
    ...times(8, { agoMs: 30 * MINUTE }),
    ...times(2, { agoMs: 30 * MINUTE, status: 'crashed' }),
    ...times(3, { agoMs: 30 * HOUR }),
    { agoMs: 30 * HOUR, status: 'crashed' },
  ])
  const day = await metrics(project, 'metric=crash_rate&range=24h')
  expect(day).toMatchObject({
    metric: 'crash_rate',
    range: '24h',
    interval_seconds: 900,
    by: 'sessions',
    basis: 'sessions',
    total: 0.2,
    previous_total: 0.25,
    totals: { sessions: 10, crashed: 2, unhandled: 0, users: null, crashed_users: null },
    previous_totals: { sessions: 4, crashed: 1 },
    estimate: null,
    bands: { watch: 0.005, poor: 0.0109 },
    word: null,
  })
  expect(day.points).toHaveLength(96)
  const filled = day.points.filter((point) => point.value !== null)
  expect(filled).toEqual([
    expect.objectContaining({ t: new Date(NOW - 30 * MINUTE).toISOString(), value: 0.2, sessions: 10, crashed: 2 }),
  ])
  expect(day.previous_points.filter((point) => point.value !== null)).toEqual([
    { t: new Date(NOW - 30 * HOUR).toISOString(), value: 0.25 },
  ])
  // The newest interval, which began now, is the only incomplete one.
  expect(day.points.filter((point) => point.incomplete)).toEqual([day.points.at(-1)])
  expect(day.points.at(-1)?.t).toBe(new Date(NOW).toISOString())
})

test.each([
  ['1h', 60, 60],
  ['24h', 900, 96],
  ['7d', 3_600, 168],
  ['30d', 21_600, 120],
])('%s has intervals of %i s, all of them, null without sessions and 0 for counts', async (range, seconds, count) => {
  const project = await t.project(owner)
  for (const metric of ['crash_rate', 'anr_rate'] as const) {
    const answer = await metrics(project, `metric=${metric}&range=${range}`)
    expect(answer).toMatchObject({ interval_seconds: seconds, basis: null, total: null, previous_total: null })
    expect(answer.points.map((point) => point.value)).toEqual(Array.from({ length: count }, () => null))
    expect(answer).toMatchObject({ estimate: null, finding: null })
  }
  const events = await metrics(project, `metric=event_count&range=${range}`)
  expect(events).toMatchObject({ total: 0, previous_total: 0, by: null, bands: null, word: null })
  expect(events.points.map((point) => point.value)).toEqual(Array.from({ length: count }, () => 0))
})

test('the ANR rate counts users with an ANR in the foreground; the background is beside it', async () => {
  const project = await t.project(owner)
  const anr = { agoMs: 5 * MINUTE, status: 'abnormal' }
  await send(project, [
    { ...anr, did: 'ada', mechanism: 'anr_foreground' },
    { ...anr, did: 'ada', mechanism: 'anr_foreground' },
    { ...anr, did: 'bob', mechanism: 'anr_background' },
    { ...anr, did: 'eve' },
    ...times(6, { agoMs: 5 * MINUTE, did: 'dan' }),
  ])
  expect(await metrics(project, 'metric=anr_rate&range=1h')).toMatchObject({
    by: 'users',
    basis: 'users',
    total: 0.25,
    totals: { sessions: 10, anr: 2, users: 4, anr_users: 1, background: 0.25 },
  })
  expect(await metrics(project, 'metric=anr_rate&range=1h&by=sessions')).toMatchObject({
    by: 'sessions',
    basis: 'sessions',
    total: 0.2,
    totals: { background: 0.1 },
  })
})

test('a share of users has a word up to a day: limits are of daily users', async () => {
  const project = await t.project(owner)
  const users = (n: number, agoMs: number) => Array.from({ length: n }, (_, user) => ({ agoMs, did: `user ${user}` }))
  await send(project, [
    ...users(150, 5 * MINUTE),
    { agoMs: 5 * MINUTE, did: 'user 1', status: 'abnormal', mechanism: 'anr_foreground' },
  ])
  const wordOf = async (query: string) => (await metrics(project, query)).word
  expect(await wordOf('metric=anr_rate&range=24h')).toBe('poor')
  expect(await wordOf('metric=anr_rate&range=7d')).toBeNull()
  expect(await wordOf('metric=anr_rate&range=7d&by=sessions')).toBe('poor')
  expect(await wordOf('metric=crash_rate&range=24h&by=users')).toBe('good')
  expect(await wordOf('metric=crash_rate&range=30d&by=users')).toBeNull()
})

test('a rate by users is null when no session names its user, also where sessions are known', async () => {
  const project = await t.project(owner)
  await send(project, times(3, { agoMs: MINUTE }))
  expect(await metrics(project, 'metric=crash_rate&range=1h&by=users')).toMatchObject({ basis: null, total: null })
  expect(await metrics(project, 'metric=crash_rate&range=1h')).toMatchObject({ basis: 'sessions', total: 0 })
})

test('unhandled is beside crashed, and counts as a crash only where the project says so', async () => {
  const project = await t.project(owner)
  await send(project, [
    { agoMs: MINUTE, did: 'ada', status: 'crashed' },
    { agoMs: MINUTE, did: 'bob', status: 'unhandled' },
    ...['eve', 'dan'].map((did) => ({ agoMs: MINUTE, did })),
  ])
  const read = () => metrics(project, 'metric=crash_rate&range=1h&by=users')
  expect(await read()).toMatchObject({ total: 0.25, totals: { crashed: 1, unhandled: 1, crashed_users: 1 } })
  const changed = await owner.patch(`/api/projects/${project.id}/settings`, { unhandled_is_crash: true })
  expect(changed).toMatchObject({ status: 200, body: { unhandled_is_crash: true } })
  expect(await read()).toMatchObject({ total: 0.5, totals: { crashed: 2, unhandled: 0, crashed_users: 2 } })
})

test('filters repeat, and a comma is part of a name', async () => {
  const project = await t.project(owner)
  await send(project, [
    { agoMs: MINUTE, release: 'a,b', status: 'crashed' },
    { agoMs: MINUTE, release: 'a' },
    { agoMs: MINUTE, release: 'b', environment: 'staging' },
    { agoMs: MINUTE, release: 'c' },
  ])
  const sessions = async (query: string) =>
    (await metrics(project, `metric=crash_rate&range=1h${query}`)).totals.sessions
  expect(await sessions('&release=a,b')).toBe(1)
  expect(await sessions('&release=a&release=b')).toBe(2)
  expect(await sessions('&release=a&release=b&environment=staging')).toBe(1)
  expect(await sessions('&environment=staging&environment=production')).toBe(4)
  expect(await sessions('&release=unknown')).toBe(0)
})

test('on a day with too many combinations, filters that are not counted together are 400 and name those that are', async () => {
  const project = await t.project(owner)
  await send(project, [{ agoMs: MINUTE, release: 'a', did: 'ada', userAgent: IPHONE }])
  const combined = '&release=a&os=iOS'
  const bySessions = await metrics(project, `metric=crash_rate&range=1h${combined}`)
  expect(bySessions.totals).toMatchObject({ sessions: 1, users: null })
  expect((await metrics(project, `metric=crash_rate&range=1h&by=users${combined}`)).totals.users).toBe(1)
  await t.app.db.query(
    'insert into health_days (project_id, day, level, admitted, refused) values ($1, $2::date, $3, 2000, 1)',
    [project.id, new Date(NOW), levelNumber('combination')],
  )
  for (const path of [
    'metrics?metric=crash_rate',
    'metrics?metric=event_count',
    'metrics/breakdown?dimension=device',
  ]) {
    const refused = await owner.get(`/api/${path}&projectId=${project.id}&range=1h${combined}`)
    expect(refused.status).toBe(400)
    expect(refused.text).toContain('release with environment')
  }
  expect((await metrics(project, 'metric=crash_rate&range=1h&release=a&environment=production')).total).toBe(0)
  expect((await metrics(project, 'metric=crash_rate&range=1h&os=iOS')).total).toBe(0)
})

test('event_count counts stored error events in the interval of their own time', async () => {
  const project = await t.project(owner)
  const at = (ago: number) => ({ timestamp: (NOW - ago) / 1_000 })
  await t.events(project, [
    { error: 'alpha', ...at(10 * MINUTE) },
    { error: 'alpha', ...at(10 * MINUTE) },
    { error: 'beta', ...at(3 * HOUR) },
  ])
  const hour = await metrics(project, 'metric=event_count&range=1h')
  expect(hour).toMatchObject({ total: 2, previous_total: 0, basis: 'events' })
  expect(hour.points.filter((point) => point.value !== 0)).toMatchObject([
    { t: new Date(NOW - 10 * MINUTE).toISOString(), value: 2 },
  ])
  expect(await metrics(project, 'metric=event_count&range=24h')).toMatchObject({ total: 3 })
})

test('user_count counts the distinct users of events, of an interval and of the range', async () => {
  const project = await t.project(owner)
  const by = (id: string, ago: number) => ({ error: 'alpha', user: { id }, timestamp: (NOW - ago) / 1_000 })
  await t.events(project, [
    by('ada', 10 * MINUTE),
    by('ada', 10 * MINUTE),
    by('bob', 10 * MINUTE),
    by('ada', 30 * MINUTE),
    by('eve', 90 * MINUTE),
  ])
  const answer = await metrics(project, 'metric=user_count&range=1h')
  expect(answer).toMatchObject({ total: 2, previous_total: 1, totals: { active: null }, basis: 'events' })
  expect(answer.points.map((point) => point.value).filter((value) => value !== 0)).toEqual([1, 2])
})

test('without sessions a rate is null, with an estimate from events', async () => {
  const project = await t.project(owner)
  await t.events(
    project,
    ['ada', 'bob', 'eve', 'dan'].map((id) => ({
      error: { in: 'alpha', handled: id !== 'ada' },
      user: { id },
      ...(id === 'ada' ? { level: 'fatal' } : {}),
    })),
  )
  const answer = await metrics(project, 'metric=crash_rate&range=1h')
  expect(answer).toMatchObject({ total: null, basis: 'events', estimate: { value: 0.25, affected_users: 1, users: 4 } })
  expect(answer.points.every((point) => point.value === null)).toBe(true)
})

test('events are filtered like sessions', async () => {
  const project = await t.project(owner)
  await t.events(project, [
    { error: 'alpha', release: 'a,b' },
    { error: 'alpha', release: 'c' },
  ])
  expect(await metrics(project, 'metric=event_count&range=1h&release=a,b')).toMatchObject({ total: 1 })
  expect(await metrics(project, 'metric=user_count&range=1h&release=unknown')).toMatchObject({ total: 0 })
})

test('user_count has the active users of sessions beside it, null without sessions', async () => {
  const project = await t.project(owner)
  expect(await metrics(project, 'metric=user_count&range=1h')).toMatchObject({ totals: { active: null } })
  await send(project, [...times(3, { agoMs: 30_000, did: 'ada' }), { agoMs: 10 * MINUTE, did: 'bob' }])
  const answer = await metrics(project, 'metric=user_count&range=1h')
  expect(answer.totals.active).toBe(2)
  expect(answer.points.filter((point) => point.active !== null).map((point) => point.active)).toEqual([1, 1])
})

test('format=csv has one line per interval', async () => {
  const project = await t.project(owner)
  await send(project, [{ agoMs: MINUTE, status: 'crashed' }])
  const answer = await owner.get(`/api/metrics?projectId=${project.id}&metric=crash_rate&range=1h&format=csv`)
  const lines = answer.text.split('\r\n')
  expect(lines[0]).toMatch(/^t,value,incomplete,sessions,crashed,/)
  expect(lines).toHaveLength(1 + 60 + 1)
  expect(lines.filter((line) => line.includes(',1,,1,1,'))).toHaveLength(1)
})

test.each([
  ['metric=crash_rate&range=2h', 'range must be one of 1h, 24h, 7d, 30d.'],
  ['metric=happiness', 'metric must be one of crash_rate, anr_rate, event_count, user_count.'],
  ['range=1h', 'metric must be one of crash_rate, anr_rate, event_count, user_count.'],
  ['metric=crash_rate&by=devices', 'by must be sessions or users.'],
  [`metric=crash_rate&release=${'x'.repeat(300)}`, 'release must be at most 200 characters.'],
  ['metric=crash_rate&release=', 'release must not be empty.'],
  ['metric=crash_rate&device_class=folding', 'device_class must be one of low, medium, high.'],
  ['metric=crash_rate&format=xml', 'format must be json or csv.'],
  ['metric=crash_rate&planet=earth', 'planet'],
])('refuses %s', async (query, sentence) => {
  const project = await t.project(owner)
  const answer = await owner.get(`/api/metrics?projectId=${project.id}&${query}`)
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(sentence)
})

test('a project of another organisation is 404', async () => {
  const stranger = await t.founder()
  const theirs = await t.project(stranger)
  const answer = await owner.get(`/api/metrics?projectId=${theirs.id}&metric=crash_rate`)
  expect(answer).toMatchObject({ status: 404, body: { error: 'Project not found.' } })
})

test('clocks a year off and impossible numbers change no figure', async () => {
  const project = await t.project(owner)
  const started = (ms: number) => ({ started: new Date(ms).toISOString(), timestamp: new Date(ms).toISOString() })
  await send(project, [
    { agoMs: 0, fields: started(NOW - 365 * 24 * HOUR) },
    { agoMs: 0, fields: started(NOW + 365 * 24 * HOUR) },
    { agoMs: 0, release: 'x'.repeat(300) },
    ...[-5, 1e308, 'NaN', null].map((duration) => ({ agoMs: MINUTE, fields: { duration, errors: duration } })),
  ])
  for (const range of ['1h', '24h', '7d', '30d']) {
    const answer = await metrics(project, `metric=crash_rate&range=${range}`)
    expect(answer).toMatchObject({ total: 0, previous_total: null, totals: { sessions: 4 } })
    expect(JSON.stringify(answer)).not.toMatch(/NaN|Infinity|e\+/)
  }
})
