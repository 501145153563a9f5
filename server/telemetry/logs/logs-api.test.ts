import fc from 'fast-check'
import { beforeEach, expect, test } from 'vitest'
import type { Page } from '../../platform/kernel/page.api.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import type { Client } from '#test/kit/client.ts'
import { dsnParts } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { chooseSteps, lengthenSteps, listStarts } from './steps.ts'
import type { LogAttributes, LogItem, LogVolume, MetricNames, MetricSeriesOfTraces } from './telemetry.api.ts'

/** Volume, attributes and surroundings of logs; names and series of trace metrics. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T12:30:10.000Z')

let ada: Client
let project: TestProject

beforeEach(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada)
})

async function send(type: string, items: readonly object[], to = project): Promise<void> {
  const { key, projectNumber } = dsnParts(to.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n${JSON.stringify({ type, item_count: items.length })}\n${JSON.stringify({ version: 2, items })}\n`,
  })
  expect(answer.status).toBe(200)
  await server.service.drain()
}

const at = (secondsAgo: number): number => server.clock.now().getTime() / 1000 - secondsAgo

const line = (level: string, body: string, secondsAgo: number, attributes: object = {}) => ({
  level,
  body,
  timestamp: at(secondsAgo),
  attributes,
})

const read = async <T>(path: string): Promise<T> => {
  const answer = await ada.get(`/api/projects/${project.id}/${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<T>()
}
const bodies = async (query: string): Promise<string[]> =>
  (await read<Page<LogItem>>(`logs?${query}`)).items.map(({ body }) => body)

const sumOf = ({ points }: LogVolume, level: 'error' | 'warn' | 'info'): number =>
  points.reduce((sum, point) => sum + point[level], 0)

test('volume counts every entry once, by level and time, and more of them add up', async () => {
  await send('log', [line('error', 'a', 30), line('warn', 'b', 90), line('info', 'c', 90)])
  await send('log', [line('error', 'd', 31), line('error', 'too old for an hour', 3_700)])
  const volume = await read<LogVolume>('logs/volume?range=1h')
  expect(volume.totals).toEqual({ trace: 0, debug: 0, info: 1, warn: 1, error: 2, fatal: 0 })
  expect(volume.points).toHaveLength(60)
  expect(volume.points.find(({ t }) => t === '2026-11-20T12:29:00.000Z')).toMatchObject({ error: 2, warn: 0 })
  expect(volume.points.find(({ t }) => t === '2026-11-20T12:28:00.000Z')).toMatchObject({ error: 0, warn: 1, info: 1 })
  expect(volume.newest_at).toBe('2026-11-20T12:29:00.000Z')
  expect((await read<LogVolume>('logs/volume?range=24h')).totals.error).toBe(3)
  // The same number as the list.
  expect((await read<Page<LogItem>>('logs?range=1h')).total).toBe(4)
})

test('a search is counted among the entries, and agrees with its list', async () => {
  const colour = (value: string) => ({ colour: { value, type: 'string' }, n: { value: 7, type: 'integer' } })
  await send('log', [
    line('error', 'payment refused', 30, colour('red')),
    line('warn', 'payment slow', 31, colour('red')),
    line('info', 'payment done', 32, colour('green')),
    line('info', 'other', 33),
  ])
  for (const [query, total] of [
    ['q=PAYMENT', 3],
    ['with=colour%3Dred', 2],
    ['with=n%3D7&without=colour%3Dred', 1],
    ['without=colour%3Dred', 2],
    ['with=environment%3Dproduction', 4],
    ['with=environment%3Dstaging', 0],
    ['with=colour%3D', 0],
  ] as const) {
    const volume = await read<LogVolume>(`logs/volume?range=1h&${query}`)
    expect(
      Object.values(volume.totals).reduce((sum, n) => sum + n, 0),
      query,
    ).toBe(total)
    expect(sumOf(volume, 'error') + sumOf(volume, 'warn') + sumOf(volume, 'info'), query).toBe(total)
    expect((await read<Page<LogItem>>(`logs?range=1h&${query}`)).total, query).toBe(total)
  }
  expect(await bodies('level=warn&level=error')).toEqual(['payment refused', 'payment slow'])
  expect(await bodies('level=info&with=colour%3Dgreen')).toEqual(['payment done'])
})

test('attributes of the newest entries are counted, with lists and very long values left out', async () => {
  await send('log', [
    ...Array.from({ length: 3 }, (_, n) => line('info', `${n}`, n, { host: 'a', list: [1, 2], long: 'x'.repeat(300) })),
    line('info', 'b', 5, { host: 'b' }),
    line('info', 'markup', 6, { '<b>name</b>': '<script>1</script>' }),
  ])
  const { lines, items } = await read<LogAttributes>('logs/attributes?range=1h')
  expect(lines).toBe(5)
  expect(items.map(({ name }) => name)).toEqual(['environment', 'host', '<b>name</b>'])
  expect(items[1]).toEqual({
    name: 'host',
    lines: 4,
    values: 2,
    top: [
      { value: 'a', lines: 3 },
      { value: 'b', lines: 1 },
    ],
  })
})

test('an entry with hundreds of attributes names forty of them', async () => {
  const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, n) => [`name-${n}`, n]))
  await send('log', [line('info', 'many', 1, many)])
  expect((await read<LogAttributes>('logs/attributes')).items).toHaveLength(40)
})

test('the lines around a moment are of both sides, whatever their level', async () => {
  await send(
    'log',
    Array.from({ length: 120 }, (_, n) => line(n % 2 === 0 ? 'debug' : 'error', `n${n}`, 200 - n)),
  )
  const moment = new Date((at(200) + 60) * 1000).toISOString()
  const { items } = await read<{ items: LogItem[] }>(`logs/around?at=${moment}`)
  expect(items.map(({ body }) => body)).toEqual(Array.from({ length: 100 }, (_, n) => `n${109 - n}`))
})

test('pages follow their cursor without a gap, also among entries of one moment', async () => {
  await send(
    'log',
    Array.from({ length: 7 }, (_, n) => ({ level: 'warn', body: `n${n}`, timestamp: at(5) })),
  )
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Page<LogItem> = await read(
      `logs?limit=3&level=warn${cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    seen.push(...page.items.map(({ body }) => body))
    cursor = page.next_cursor
  }
  expect(seen.toSorted()).toEqual(['n0', 'n1', 'n2', 'n3', 'n4', 'n5', 'n6'])
})

test('a cursor of another project shows nothing of it', async () => {
  await send('log', [line('info', 'mine 1', 1), line('info', 'mine 2', 2)])
  const { next_cursor: cursor } = await read<Page<LogItem>>('logs?limit=1')
  const other = await aProject(ada)
  const answer = await ada.get(`/api/projects/${other.id}/logs?cursor=${encodeURIComponent(cursor ?? '')}`)
  expect(answer.as<Page<LogItem>>().items).toEqual([])
})

test.each([
  ['logs?range=2h', /range must be one of/],
  ['logs?range=1h&from=2026-11-20T00:00:00Z', /either range, or from and to/],
  ['logs?from=2026-11-20T00:00:00Z&to=2026-11-19T00:00:00Z', /from must be before to/],
  ['logs?with=colour', /with must be <attribute>=<value>/],
  ['logs/volume?without==x', /without must be/],
  ['logs/volume?from=20261-01-01T00:00:00Z', /RFC 3339/],
  ['logs/around', /at/],
  ['logs/around?at=yesterday', /at must be an RFC 3339 time/],
  ['logs?cursor=nonsense', /cursor/],
  ['trace-metrics/series', /name/],
  ['trace-metrics/series?name=', /name must not be empty/],
])('%s is refused with a sentence', async (path, sentence) => {
  const answer = await ada.get(`/api/projects/${project.id}/${path}`)
  expect(answer.status).toBe(400)
  expect(answer.text).toMatch(sentence)
})

test('centuries have at most 120 steps, and an empty project has zeros', async () => {
  const volume = await read<LogVolume>('logs/volume?from=1000-01-01T00:00:00Z&to=9999-12-31T00:00:00Z')
  expect(volume.points.length).toBeLessThanOrEqual(120)
  expect(volume.newest_at).toBeNull()
  expect(volume.searched_from).toBeNull()
  expect((await read<LogAttributes>('logs/attributes')).items).toEqual([])
  expect((await read<MetricNames>('trace-metrics/names')).items).toEqual([])
  const future = await read<LogVolume>('logs/volume?from=9998-01-01T00:00:00Z&to=9999-12-31T00:00:00Z')
  expect(future.points.length).toBeLessThanOrEqual(2)
})

test('steps cover the range that is asked for, in at most 120', () => {
  const now = new Date('2026-11-20T12:30:10Z')
  const time = fc.date({ min: new Date('2026-08-22T00:00:00Z'), max: now, noInvalidDate: true })
  fc.assert(
    fc.property(time, time, (one, two) => {
      const [from, to] = one < two ? [one, two] : [two, one]
      const steps = chooseSteps(undefined, { from, to }, { now, oldestDay: '2026-08-22' })
      const starts = listStarts(steps)
      expect(steps.from.getTime()).toBeLessThanOrEqual(from.getTime())
      expect(steps.to.getTime()).toBeGreaterThanOrEqual(to.getTime())
      expect(starts.length).toBeGreaterThan(0)
      expect(starts.length).toBeLessThanOrEqual(120)
      expect(steps.stepSeconds % 60).toBe(0)
    }),
  )
})

test('an interval grows until it has enough values, and keeps at least two', () => {
  const hour = { from: new Date('2026-11-20T11:00:00Z'), to: new Date('2026-11-20T12:00:00Z'), stepSeconds: 60 }
  expect(lengthenSteps(hour, 1_200).stepSeconds).toBe(60)
  expect(lengthenSteps(hour, 300).stepSeconds).toBe(300)
  expect(lengthenSteps(hour, 40).stepSeconds).toBe(1_800)
  expect(lengthenSteps(hour, 3).stepSeconds).toBe(60)
  expect(listStarts(lengthenSteps(hour, 40))).toHaveLength(2)
})

const measurement = (name: string, value: number, secondsAgo: number, attributes: object = {}) => ({
  name,
  type: 'distribution',
  unit: 'millisecond',
  value,
  timestamp: at(secondsAgo),
  trace_id: 'a'.repeat(32),
  attributes,
})

test('names of measurements are listed with the newest of each', async () => {
  await send('trace_metric', [
    measurement('queue.wait', 5, 60),
    measurement('queue.wait', 9, 10),
    measurement('cache.size', 3, 20),
    measurement('too.old', 1, 7_300),
  ])
  const { items, has_more: more } = await read<MetricNames>('trace-metrics/names?range=1h')
  expect(items).toMatchObject([
    { name: 'cache.size', last_value: 3 },
    { name: 'queue.wait', last_value: 9, unit: 'millisecond', type: 'distribution' },
  ])
  expect(more).toBe(false)
})

test('a series has exact aggregates, by group, and the groups add up to the whole', async () => {
  const regions = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
  const values = Array.from({ length: 70 }, (_, n) => n + 1)
  await send(
    'trace_metric',
    values.map((value, n) => measurement('queue.wait', value, 30 + (n % 2) * 60, { region: regions[n % 7] })),
  )
  const whole = await read<MetricSeriesOfTraces>('trace-metrics/series?range=1h&name=queue.wait')
  expect(whole.total).toMatchObject({ count: 70, sum: 2_485, avg: 35.5, min: 1, max: 70, p50: 35.5 })
  expect(whole.groups).toHaveLength(1)
  expect(whole.attributes).toEqual(['environment', 'release', 'region'])
  expect(whole.groups[0]?.points.reduce((sum, { count }) => sum + count, 0)).toBe(70)
  // About 70 measurements in an hour have a percentile in half an hour, not in each minute.
  expect(whole.interval_seconds).toBe(1_800)
  expect(whole.groups[0]?.points.some(({ p95 }) => p95 !== null)).toBe(true)
  const grouped = await read<MetricSeriesOfTraces>('trace-metrics/series?range=1h&name=queue.wait&by=region')
  expect(grouped.groups.map(({ value, is_rest: rest }) => [value, rest])).toEqual([
    ['a', false],
    ['b', false],
    ['c', false],
    ['d', false],
    ['e', false],
    [null, true],
  ])
  expect(grouped.groups.reduce((sum, { total }) => sum + (total.sum ?? 0), 0)).toBe(2_485)
  // Ten of each group: too few for a percentile, not for a mean.
  expect(grouped.groups[0]?.total).toMatchObject({ count: 10, p95: null, avg: 32.5 })
  expect(grouped.groups[5]?.total.p95).not.toBeNull()
})
