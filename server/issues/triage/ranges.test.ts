import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '../rules/issue.api.ts'

/** Counts of a range: rows, their trends and the strip say the same, and what a recount of the events says. */

const server = await testServer()
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

type Listed = {
  items: Issue[]
  total: number
  next_cursor: string | null
  range: { from: string; to: string } | null
}
type Volume = {
  range: string | null
  from: string
  to: string
  interval_seconds: number
  points: { t: string; events: number; fatal: number }[]
  total: number
  previous_total: number
  users: number | null
  counts: string
}
type Sent = { name: string; user: string | null; isFatal: boolean; at: number; project: number }

const NAMES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta']
let ada: Client
let projects: TestProject[]
let sent: readonly Sent[]
let now: number

const nameOf = (issue: Issue): string => (issue.type ?? '').replace('Error', '')
const asked = (of: Record<string, string | undefined>): string =>
  String(new URLSearchParams(Object.entries(of).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]))))
const list = async (of: Record<string, string | undefined>): Promise<Listed> =>
  (await ada.get(`/api/issues?${asked({ limit: '100', ...of })}`)).as<Listed>()
const volume = async (of: Record<string, string | undefined>): Promise<Volume> =>
  (await ada.get(`/api/issues/volume?${asked(of)}`)).as<Volume>()
const distinct = (some: readonly Sent[]): number =>
  new Set(some.flatMap(({ user, project }) => (user === null ? [] : [`${project} ${user}`]))).size
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

beforeAll(async () => {
  ada = await aFounder(server.url)
  projects = [await aProject(ada, { name: 'Shop' }), await aProject(ada, { name: 'Web' })]
  now = server.app.clock.now().getTime()
  // Dense near now, so that the ends of the ranges matter.
  const Ago = fc.oneof(
    fc.integer({ min: 0, max: 90 }).map((minutes) => minutes * MINUTE_MS),
    fc.integer({ min: 0, max: 26 * 60 }).map((minutes) => minutes * MINUTE_MS),
    fc.integer({ min: 0, max: 15 * 24 }).map((hours) => hours * HOUR_MS),
    fc.integer({ min: 0, max: 29 * 24 }).map((hours) => hours * HOUR_MS + 7),
  )
  const One = fc.record({
    name: fc.constantFrom(...NAMES),
    user: fc.option(fc.nat(5).map((n) => `user${n}`)),
    isFatal: fc.boolean(),
    at: Ago.map((ago) => now - ago),
    project: fc.nat(1),
  })
  const [found = []] = fc.sample(fc.array(One, { minLength: 160, maxLength: 160 }), { numRuns: 1 })
  sent = found.toSorted((a, b) => a.at - b.at)
  for (let start = 0; start < sent.length; start += 20)
    for (const [index, project] of projects.entries())
      await server.events(
        project,
        sent
          .slice(start, start + 20)
          .filter((one) => one.project === index)
          .map(({ name, user, isFatal, at }) => ({
            error: name,
            level: isFatal ? 'fatal' : 'error',
            timestamp: at / 1000,
            // Events of Node.js have no address to identify the user by.
            platform: 'node',
            ...(user === null ? {} : { user: { id: user } }),
          })),
      )
})

/** Ranges, and times of one's own: short and long, up to now and past. */
const TIMES: (() => Record<string, string>)[] = [
  ...['1h', '24h', '7d', '30d'].map((range) => () => ({ range })),
  ...[
    [40 * MINUTE_MS, 0],
    [3 * HOUR_MS + 123, 2 * HOUR_MS],
    [26 * HOUR_MS, 2 * HOUR_MS],
    [6 * DAY_MS, 5 * HOUR_MS + 1],
    [25 * DAY_MS, 9 * DAY_MS],
    [90 * DAY_MS, 0],
  ].map(([from = 0, to = 0]) => () => ({
    from: new Date(now - from).toISOString(),
    ...(to === 0 ? {} : { to: new Date(now - to).toISOString() }),
  })),
]

test.each(TIMES)('rows, trends and the strip of %# equal a recount', async (timeOf) => {
  const time = timeOf()
  const { items, range } = await list({ ...time, sort: '-event_count_in_range' })
  const [from, to] = [Date.parse(range?.from ?? ''), Date.parse(range?.to ?? '')]
  const inRange = ({ at }: Sent) => at >= from && at < to
  expect(items.length).toBeGreaterThan(8)
  for (const issue of items) {
    const project = projects.findIndex(({ id }) => id === issue.project_id)
    const own = sent.filter((one) => one.name === nameOf(issue) && one.project === project)
    expect(issue.event_count).toBe(own.length)
    expect(issue.event_count_in_range).toBe(own.filter(inRange).length)
    expect(sum(issue.trend.counts)).toBe(issue.event_count_in_range)
    expect(issue.trend.start).toBe(range?.from)
    expect(
      Date.parse(issue.trend.start) + issue.trend.counts.length * issue.trend.interval_seconds * 1000,
    ).toBeGreaterThanOrEqual(to)
    expect(issue.user_count_in_range).toBe(distinct(own.filter(inRange)))
  }
  const counts = items.map((issue) => issue.event_count_in_range ?? -1)
  expect(counts).toEqual(counts.toSorted((a, b) => b - a))
  const events = sent.filter(inRange)
  // A user of several issues counts once, unlike in the sum of the rows.
  const users = distinct(events)
  for (const filter of [{}, { status: 'unresolved' }]) {
    const strip = await volume({ ...time, ...filter })
    expect(strip).toMatchObject({ from: range?.from, to: range?.to, total: sum(counts), users })
    expect(sum(strip.points.map((point) => point.events))).toBe(events.length)
    expect(sum(strip.points.map((point) => point.fatal))).toBe(events.filter(({ isFatal }) => isFatal).length)
    for (const { t, events: count } of strip.points) {
      const start = Date.parse(t)
      const end = start + strip.interval_seconds * 1000
      expect(count, t).toBe(events.filter(({ at }) => at >= start && at < end).length)
    }
  }
  for (const filter of [{ q: 'level:fatal' }, { projectId: projects[1]?.id, status: 'unresolved' }, { q: 'alpha' }]) {
    const [rows, strip] = [await list({ ...time, ...filter }), await volume({ ...time, ...filter })]
    expect(strip.total).toBe(sum(rows.items.map((issue) => issue.event_count_in_range ?? -1)))
    const shown = new Set(rows.items.map((issue) => `${issue.project_id} ${nameOf(issue)}`))
    const isShown = (one: Sent) => shown.has(`${projects[one.project]?.id} ${one.name}`)
    expect(strip.users ?? 0).toBe(distinct(events.filter(isShown)))
  }
  expect(await volume({ ...time, q: 'nothingofthekind' })).toMatchObject({ total: 0, users: 0, previous_total: 0 })
})

test.each(['24h', '7d'])('the strip compares %s with the time before', async (range) => {
  const { from, to, previous_total: previous } = await volume({ range, status: 'unresolved' })
  const before = 2 * Date.parse(from) - Date.parse(to)
  expect(previous).toBe(sent.filter(({ at }) => at >= before && at < Date.parse(from)).length)
  expect(await volume({ range })).toMatchObject({ previous_total: previous })
})

test.each(['event_count_in_range', 'user_count_in_range'] as const)('pages sorted by %s', async (key) => {
  for (const sort of [key, `-${key}`]) {
    const whole = (await list({ range: '24h', sort })).items
    const rows: Issue[] = []
    let cursor: string | null = null
    do {
      const page: Listed = await list({ range: '24h', sort, limit: '3', cursor: cursor ?? undefined })
      rows.push(...page.items)
      cursor = page.next_cursor
    } while (cursor !== null)
    expect(rows.map(({ id }) => id)).toEqual(whole.map(({ id }) => id))
    const values = whole.map((issue) => issue[key] ?? -1)
    expect(values).toEqual(values.toSorted((a, b) => (sort === key ? a - b : b - a)))
    expect((await list({ range: '24h', sort, limit: '2', offset: '1' })).items.map(({ id }) => id)).toEqual(
      whole.slice(1, 3).map(({ id }) => id),
    )
  }
})

test('without a range there are no counts of one, and the trend is of 24 hours', async () => {
  const { items, range } = await list({})
  expect(range).toBeNull()
  expect(items[0]).toMatchObject({ event_count_in_range: null, user_count_in_range: null })
  expect(items[0]?.trend).toMatchObject({ interval_seconds: 3600 })
  expect(items[0]?.trend.counts).toHaveLength(24)
})

test('other lists take a range too', async () => {
  const search = (await ada.get('/api/issues/search?q=alpha&range=7d')).as<Listed>()
  expect(search.items[0]?.event_count_in_range).toBeGreaterThan(0)
  expect(search.range).not.toBeNull()
  const ofProject = (
    await ada.get(`/api/projects/${projects[0]?.id}/issues?range=30d&sort=-user_count_in_range`)
  ).as<Listed>()
  expect(sum(ofProject.items.map((issue) => issue.event_count_in_range ?? 0))).toBe(
    (await volume({ range: '30d', projectId: projects[0]?.id })).total,
  )
})

describe('refused', () => {
  const FROM = '2026-11-01T00:00:00Z'
  test.each([
    ['range=2h', 'range must be one of'],
    [`range=24h&from=${FROM}`, 'Send either range, or from and to.'],
    [`to=${FROM}`, 'to needs from.'],
    [`from=${FROM}&to=${FROM}`, 'from must be before to.'],
    [`from=2026-01-01T00:00:00Z&to=${FROM}`, 'at most 90 days'],
    ['from=yesterday', 'from must be an RFC 3339 time.'],
    ['from=0000-01-01T00:00:00%2B23:59&to=0000-01-02T00:00:00Z', 'between the years 1970 and 2999.'],
    ['from=1969-12-31T23:59:59Z&to=1970-01-01T01:00:00Z', 'between the years 1970 and 2999.'],
    ['from=9999-12-31T00:00:00Z&to=9999-12-31T23:59:59Z', 'between the years 1970 and 2999.'],
  ])('%s', async (query, message) => {
    for (const path of [
      '/api/issues',
      '/api/issues/search',
      `/api/projects/${projects[0]?.id}/issues`,
      '/api/issues/volume',
    ]) {
      const answer = await ada.get(`${path}?${query}`)
      expect([answer.status, answer.as<{ error: string }>().error]).toEqual([400, expect.stringContaining(message)])
    }
  })

  test('a sort by counts of a range without one, and cursors of other lists', async () => {
    const answer = await ada.get('/api/issues?sort=-event_count_in_range')
    expect([answer.status, answer.as<{ error: string }>().error]).toEqual([
      400,
      'sort by event_count_in_range needs range, or from and to.',
    ])
    const cursor = (of: unknown) => Buffer.from(JSON.stringify(of)).toString('base64url')
    const id = '01890000-0000-7000-8000-000000000000'
    for (const parts of [
      ['-event_count_in_range', '3', id],
      ['-event_count_in_range', '3', id, 0, 9e15],
      ['-event_count_in_range', '3', id, 450_000, 900_000],
      ['-event_count_in_range', 'x', id, 0, 900_000],
      ['-event_count', '3', id, 0, 900_000],
    ]) {
      const sort = String(parts[0])
      expect((await ada.get(`/api/issues?range=24h&sort=${sort}&cursor=${cursor(parts)}`)).status, cursor(parts)).toBe(
        400,
      )
    }
  })

  test('times at the bounds have no counts, and pages', async () => {
    for (const time of [
      'from=1970-01-01T00:00:00Z&to=1970-01-01T00:00:01Z',
      'from=2998-12-31T00:00:00Z&to=2999-01-01T00:00:00Z',
    ]) {
      const path = `/api/issues?${time}&sort=event_count_in_range&limit=3`
      const { items, next_cursor: cursor } = (await ada.get(path)).as<Listed>()
      expect(items.map((issue) => issue.event_count_in_range)).toEqual([0, 0, 0])
      expect((await ada.get(`${path}&cursor=${cursor}`)).as<Listed>().items).toHaveLength(3)
      expect((await ada.get(`/api/issues/volume?${time}`)).as<Volume>().total).toBe(0)
    }
  })

  test('a query that the strip cannot read', async () => {
    const answer = await ada.get('/api/issues/volume?q=is:unresolved+AND+(')
    expect(answer.status).toBe(400)
  })
})

test('users of a merged issue are at most those of its lifetime; the strip says unknown where no event names a user', async () => {
  const project = await aProject(ada, { name: 'Merged' })
  const at = now / 1000 - 60
  await server.events(project, [
    { error: 'one', timestamp: at, user: { id: 'u1' } },
    { error: 'two', timestamp: at, user: { id: 'u1' } },
    { error: 'three', timestamp: at, platform: 'node' },
  ])
  const of = { projectId: project.id, range: '1h' }
  const ids = new Map((await list(of)).items.map((issue) => [nameOf(issue), issue.id]))
  expect((await ada.post(`/api/issues/${ids.get('one')}/merge`, { issue_ids: [ids.get('two')] })).status).toBeLessThan(
    300,
  )
  const rows = (await list({ ...of, sort: '-user_count_in_range' })).items
  expect(rows.map((row) => [nameOf(row), row.event_count_in_range, row.user_count_in_range])).toEqual([
    ['one', 2, 1],
    ['three', 1, 0],
  ])
  expect(await volume(of)).toMatchObject({ total: 3, users: 1 })
  expect(await volume({ ...of, q: 'three' })).toMatchObject({ total: 1, users: null })
})

test('of too many issues the strip shows all events of the projects, and says so', async () => {
  const eve = await aFounder(server.url)
  const project = await aProject(eve, { name: 'Large' })
  await server.event({ project, error: 'alpha', user: { id: 'u1' } })
  const read = async (query: string) => (await eve.get(`/api/issues/volume?${query}`)).as<Volume>()
  expect(await read('status=unresolved')).toMatchObject({ counts: 'matching', total: 1, users: 1 })
  expect(await read('status=resolved')).toMatchObject({ counts: 'matching', total: 0, users: 0 })
  await seedIssues(server.app, project.id, 3_000, { status: 'resolved' })
  expect(await read('status=resolved')).toMatchObject({ counts: 'matching', total: 0 })
  await seedIssues(server.app, project.id, 1, { status: 'resolved' })
  expect(await read('status=resolved')).toMatchObject({ counts: 'projects', total: 1, users: 1 })
  expect(await read('')).toMatchObject({ counts: 'projects', total: 1, users: 1 })
  expect(await read('status=unresolved')).toMatchObject({ counts: 'matching', total: 1, users: 1 })
})
