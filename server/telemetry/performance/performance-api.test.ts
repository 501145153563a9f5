import { describe, expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import { cases } from '#test/kit/properties.ts'
import { testServer } from '#test/kit/test-server.ts'
import { unhyphenate, newId } from '../../platform/kernel/ids.ts'
import { deviceClass } from '../../events/protocol/device-signals.ts'
import { compactPerformance } from './compact-performance.ts'
import { newSpanId, record, transactionFact } from './performance.fixture.ts'
import type { Performance, Screen, ScreenDetail, Transaction } from './performance.api.ts'

/** The performance API against a slow recomputation from the raw transactions. The clock stands at 12:00 UTC. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const NOW = t.app.clock.now()
const SIZE = cases(1_000, 3_000)
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const read = async <T = Performance>(path: string): Promise<T> => {
  const answer = await owner.get(path)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<T>()
}
const of = (project: TestProject, query = '') => read(`/api/performance?projectId=${project.id}&range=7d${query}`)

/** A transaction as an SDK reports it. */
type Raw = {
  readonly agoMs: number
  readonly name: string
  readonly op: string
  readonly release: string
  readonly environment: string
  readonly os: string
  readonly model: string
  readonly memory: number
  readonly durationMs: number
  readonly failed: boolean
  readonly measurements: Readonly<Record<string, number>>
  readonly startType?: string
}

function factOf(projectId: string, raw: Raw) {
  const end = (NOW.getTime() - raw.agoMs) / 1_000
  const trace = { trace_id: unhyphenate(newId()), span_id: newSpanId(), op: raw.op }
  return transactionFact(
    projectId,
    {
      transaction: raw.name,
      release: raw.release,
      environment: raw.environment,
      start_timestamp: end - raw.durationMs / 1_000,
      timestamp: end,
      contexts: {
        trace: { ...trace, status: raw.failed ? 'internal_error' : 'ok' },
        os: { name: raw.os },
        device: { model: raw.model, memory_size: raw.memory },
        ...(raw.startType !== undefined && { app: { start_type: raw.startType } }),
      },
      measurements: Object.fromEntries(Object.entries(raw.measurements).map(([name, value]) => [name, { value }])),
    },
    NOW,
  )
}

/** Reproducible numbers from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

/** Transactions of two weeks: heavy-tailed times, impossible values, several releases, systems and devices. */
function aFortnight(size: number): Raw[] {
  const random = numbers(7)
  const pick = <T>(list: readonly [T, ...T[]]): T => list[Math.floor(random() * list.length)] ?? list[0]
  const heavy = (typical: number) => typical * Math.exp(3 * (random() - 0.4) ** 3 * 8)
  return Array.from({ length: size }, () => {
    const isScreen = random() < 0.7
    const model = pick(['Pixel 6', 'Pixel 9', 'iPhone17,3', ''])
    const frames = Math.floor(random() * 300)
    const start = pick([heavy(1_500), heavy(1_500), heavy(1_500), 181_000, 0, -4, 1e308])
    const measurements: Record<string, number> = isScreen
      ? {
          time_to_initial_display: heavy(600),
          frames_total: frames,
          frames_slow: Math.floor(frames * random() * 0.2),
          frames_frozen: Math.floor(frames * random() * 0.02),
          stall_count: 1,
          stall_total_time: 40,
          stall_longest_time: 30,
        }
      : { lcp: heavy(1_800), fcp: heavy(900), cls: random() / 3, ttfb: heavy(200), wake_lock_time: heavy(4e6) }
    if (isScreen && random() < 0.3) measurements[pick(['app_start_cold', 'app_start_warm'])] = start
    if (isScreen && random() < 0.5) measurements['time_to_full_display'] = heavy(900)
    return {
      agoMs: Math.floor(random() * 14 * 24 * HOUR),
      name: isScreen ? pick(['Home', 'Cart', 'Checkout']) : pick(['GET /cart', 'POST /order', '/shop']),
      op: isScreen ? 'ui.load' : pick(['http.server', 'pageload']),
      release: pick(['shop@1.9.0', 'shop@1.10.0']),
      environment: pick(['production', 'production', 'staging']),
      os: model.startsWith('iPhone') ? 'iOS' : 'Android',
      model,
      memory: model === 'Pixel 6' ? 2e9 : 8e9,
      durationMs: heavy(400),
      failed: random() < 0.1,
      measurements,
      ...(random() < 0.1 && { startType: 'cold.prewarmed' }),
    }
  })
}

const WEEK = 7 * 24 * HOUR
/** The range ends with the hour that began at 12:00. */
const isInRange = ({ agoMs }: Raw) => agoMs <= WEEK - HOUR
const isBefore = (raw: Raw) => !isInRange(raw) && raw.agoMs <= 2 * WEEK - HOUR

const isStart = (value: number) => value > 0 && value <= 180_000
const valuesOf = (raws: readonly Raw[], name: string): number[] => raws.flatMap((raw) => raw.measurements[name] ?? [])
const startsOf = (raws: readonly Raw[], name: string): number[] =>
  valuesOf(
    raws.filter(({ startType }) => startType === undefined),
    name,
  ).filter(isStart)

function exact(values: readonly number[], q: number): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(q * (sorted.length - 1))] ?? null
}

function expectNear(actual: number | null, expected: number | null, what: string): void {
  if (expected === null || actual === null) return expect(actual, what).toBe(expected)
  expect(Math.abs(actual - expected), `${what}: ${actual} for ${expected}`).toBeLessThanOrEqual(
    Math.abs(expected) * 0.0101 + 1e-6,
  )
}

type Quantiles = { p50_ms: number | null; p75_ms: number | null; p95_ms: number | null; count: number }
function expectQuantiles(actual: Quantiles, values: readonly number[], what: string): void {
  expect(actual.count, what).toBe(values.length)
  expectNear(actual.p50_ms, exact(values, 0.5), `${what} p50`)
  expectNear(actual.p75_ms, exact(values, 0.75), `${what} p75`)
  expectNear(actual.p95_ms, exact(values, 0.95), `${what} p95`)
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const framesRatio = (raws: readonly Raw[], kind: string): number | null => {
  const total = sum(valuesOf(raws, 'frames_total'))
  return total === 0 ? null : sum(valuesOf(raws, kind)) / total
}

/** Every number of an answer against the raw transactions that the filter takes. */
function expectAll(answer: Performance, raws: readonly Raw[]): void {
  const now = raws.filter(isInRange)
  const before = raws.filter(isBefore)
  for (const [start, metric] of [
    [answer.cold_start, 'app_start_cold'],
    [answer.warm_start, 'app_start_warm'],
  ] as const) {
    const values = startsOf(now, metric)
    expectQuantiles(start, values, metric)
    expectQuantiles(start.previous, startsOf(before, metric), `${metric} before`)
    const sent = now.flatMap(({ measurements, startType }) => {
      const value = measurements[metric]
      return value === undefined ? [] : [{ value, isPrewarmed: startType !== undefined }]
    })
    expect(start.left_out).toEqual({
      prewarmed: sent.filter(({ isPrewarmed }) => isPrewarmed).length,
      invalid: sent.filter(({ isPrewarmed, value }) => !isPrewarmed && value <= 0).length,
      too_long: sent.filter(({ isPrewarmed, value }) => !isPrewarmed && value > 180_000).length,
    })
    const { good, watch, poor } = start.bands
    expect(good.count + (watch?.count ?? 0) + poor.count).toBe(values.length)
    expect(sum(start.spread.map(({ count }) => count))).toBe(values.length)
    const border = poor.from_ms
    const surely = values.filter((value) => value >= border * 1.01).length
    const perhaps = values.filter((value) => value >= border * 0.99).length
    expect(poor.count).toBeGreaterThanOrEqual(surely)
    expect(poor.count).toBeLessThanOrEqual(perhaps)
  }
  expectQuantiles(answer.ttid, valuesOf(now, 'time_to_initial_display'), 'ttid')
  expectQuantiles(answer.ttfd, valuesOf(now, 'time_to_full_display'), 'ttfd')
  expectQuantiles(answer.ttfd.previous, valuesOf(before, 'time_to_full_display'), 'ttfd before')
  expectNear(answer.frames.slow_frame_ratio, framesRatio(now, 'frames_slow'), 'slow frames')
  expectNear(answer.frames.frozen_frame_ratio, framesRatio(now, 'frames_frozen'), 'frozen frames')
  expectNear(answer.frames.previous.slow_frame_ratio, framesRatio(before, 'frames_slow'), 'slow frames before')
  const stalling = now.filter(({ measurements }) => 'stall_count' in measurements)
  expect(answer.stalls.count).toBe(stalling.length)
  expectNear(answer.stalls.total_ms, 40 * stalling.length, 'stalled')
  expectNear(
    answer.stalls.ratio,
    stalling.length === 0 ? null : (40 * stalling.length) / sum(stalling.map(({ durationMs }) => durationMs)),
    'stalled share',
  )
  for (const vital of ['lcp', 'fcp', 'cls', 'ttfb'] as const) {
    expect(answer.web_vitals[vital].count).toBe(valuesOf(now, vital).length)
    expectNear(answer.web_vitals[vital].p75, exact(valuesOf(now, vital), 0.75), vital)
    expectNear(answer.web_vitals[vital].previous_p75, exact(valuesOf(before, vital), 0.75), `${vital} before`)
  }
  const locks = valuesOf(now, 'wake_lock_time')
  expect(answer.wake_locks.count).toBe(locks.length)
  expectNear(answer.wake_locks.long, locks.filter((value) => value >= 7_200_000).length, 'long locks')
  expect(answer.series).toHaveLength(168)
  for (const [index, point] of answer.series.entries()) {
    const from = Date.parse(point.t)
    const own = raws.filter(({ agoMs }) => {
      const at = NOW.getTime() - agoMs
      return at >= from && at < from + HOUR
    })
    expect(point.incomplete).toBe(index === 167 ? true : undefined)
    const around = (seconds: number): Raw[] => {
      const end = Date.parse(answer.series.at(-1)?.t ?? '') + HOUR
      const group = Math.floor((end - from - 1) / (seconds * 1_000))
      return raws.filter(({ agoMs }) => {
        const at = NOW.getTime() - agoMs
        return (
          at < end &&
          at >= Date.parse(answer.series[0]?.t ?? '') &&
          Math.floor((end - at - 1) / (seconds * 1_000)) === group
        )
      })
    }
    // The count is of the hour, the percentiles of the longer interval around it.
    const { cold_start: cold, transactions } = answer.percentile_seconds
    const startsAround = startsOf(around(cold), 'app_start_cold')
    const durationsAround = around(transactions).map(({ durationMs }) => durationMs)
    expectQuantiles({ ...point.cold_start, count: startsAround.length }, startsAround, point.t)
    expect(point.cold_start.count).toBe(startsOf(own, 'app_start_cold').length)
    expectQuantiles({ ...point.transactions, count: durationsAround.length }, durationsAround, point.t)
    expect(point.transactions.count).toBe(own.length)
    expectNear(point.slow_frame_ratio, framesRatio(own, 'frames_slow'), point.t)
  }
  const named = Map.groupBy(now, ({ name, op }) => `${name} ${op}`)
  for (const screen of answer.screens ?? []) expectScreen(screen, named.get(`${screen.name} ${screen.op}`) ?? [])
  for (const one of answer.transactions ?? []) {
    const own = named.get(`${one.name} ${one.op}`) ?? []
    expect(one.count).toBe(own.length)
    expect(one.failures).toBe(own.filter(({ failed }) => failed).length)
    expectNear(one.failure_rate, one.failures / one.count, one.name)
    expectNear(
      one.p95,
      exact(
        own.map(({ durationMs }) => durationMs),
        0.95,
      ),
      one.name,
    )
    expectNear(one.throughput, one.count / ((WEEK - HOUR) / MINUTE), one.name)
  }
}

function expectScreen(screen: Screen, own: readonly Raw[]): void {
  expect(screen.count, screen.name).toBe(own.length)
  const isApp = screen.op === 'ui.load'
  expect(screen.basis).toBe(isApp ? 'ttid' : 'lcp')
  expectQuantiles(screen.render, valuesOf(own, isApp ? 'time_to_initial_display' : 'lcp'), screen.name)
  expectQuantiles(screen.ttfd, valuesOf(own, 'time_to_full_display'), screen.name)
  expectNear(screen.frozen_frame_ratio, framesRatio(own, 'frames_frozen'), screen.name)
}

describe('every number', () => {
  const raws = aFortnight(SIZE)
  const project = t.project(owner)

  async function filled(): Promise<TestProject> {
    const it = await project
    const batches = Math.ceil(raws.length / 500)
    for (let batch = 0; batch < batches; batch++)
      await record(
        t.app.db,
        raws.slice(batch * 500, (batch + 1) * 500).map((raw) => factOf(it.id, raw)),
        NOW,
      )
    // As autovacuum does where the service runs.
    await t.app.db.query('analyze')
    return it
  }
  const ready = filled()

  const cases: [string, string, (raw: Raw) => boolean][] = [
    ['without filters', '', () => true],
    ['of a release', '&release=shop%401.9.0', ({ release }) => release === 'shop@1.9.0'],
    ['of two releases', '&release=shop%401.9.0&release=shop%401.10.0', () => true],
    ['of an unknown release', '&release=a%2Cb', () => false],
    ['of an environment', '&environment=staging', ({ environment }) => environment === 'staging'],
    [
      'of a system and class',
      '&os=Android&device_class=low',
      ({ os, memory }) => os === 'Android' && deviceClass(memory, null) === 'low',
    ],
    ['of a device', '&device=Pixel+6', ({ model }) => model === 'Pixel 6'],
    [
      'of devices and a release',
      '&device=Pixel+6&device=Pixel+9&release=shop%401.9.0',
      ({ model, release }) => model.startsWith('Pixel') && release === 'shop@1.9.0',
    ],
    [
      'of a screen',
      '&name=Cart&release=shop%401.10.0',
      ({ name, release }) => name === 'Cart' && release === 'shop@1.10.0',
    ],
  ]

  test('before and after folding', async () => {
    const { id } = await ready
    for (const fold of [false, true]) {
      if (fold) await compactPerformance(t.app)
      for (const [what, query, takes] of cases) {
        const answer = await of(await ready, query)
        try {
          expectAll(answer, raws.filter(takes))
        } catch (error) {
          throw new Error(`${what}${fold ? ', folded' : ''}`, { cause: error })
        }
        expect(answer.screens === null).toBe(query.includes('device='))
      }
    }
    expect(id).toBe((await ready).id)
  })

  test('screens and transactions come sorted, in pages, and as tables', async () => {
    const { id } = await ready
    const path = `/api/performance/screens?projectId=${id}&range=7d`
    type List<T> = { items: T[]; total: number }
    const all = await read<List<Screen>>(path)
    expect(all.total).toBe(6)
    const p95 = all.items.map(({ render }) => render.p95_ms ?? 0)
    expect(p95).toEqual(p95.toSorted((a, b) => b - a))
    const second = await read<List<Screen>>(`${path}&sort=name&limit=1&offset=1`)
    expect(second.items.map(({ name }) => name)).toEqual(['Cart'])
    const rows = await read<List<Transaction>>(`/api/performance/transactions?projectId=${id}&range=7d&sort=-failures`)
    const failures = rows.items.map((one) => one.failures)
    expect(failures).toEqual(failures.toSorted((a, b) => b - a))
    expect(sum(rows.items.map(({ count }) => count))).toBe(raws.filter(isInRange).length)
    const csv = await owner.get(`${path}&format=csv&sort=name`)
    expect(csv.text.split('\r\n')[0]).toBe(
      'name,op,count,basis,p50_ms,p75_ms,p95_ms,previous_p75_ms,ttfd_p75_ms,slow_frame_ratio,frozen_frame_ratio,change',
    )
    expect(csv.text.split('\r\n')).toHaveLength(8)
  })

  test('a screen by device class and release', async () => {
    const { id } = await ready
    const cart = await read<ScreenDetail>(`/api/performance/screen?projectId=${id}&range=7d&name=Cart`)
    const own = raws.filter((raw) => isInRange(raw) && raw.name === 'Cart')
    expectScreen(cart, own)
    expect(cart.by_device_class.map(({ name }) => name)).toEqual(['low', 'high'])
    for (const { name, render } of cart.by_device_class)
      expectQuantiles(
        render,
        valuesOf(
          own.filter(({ memory }) => deviceClass(memory, null) === name),
          'time_to_initial_display',
        ),
        name,
      )
    for (const { name, render } of cart.by_release)
      expectQuantiles(
        render,
        valuesOf(
          own.filter(({ release }) => release === name),
          'time_to_initial_display',
        ),
        name,
      )
    expect(sum(cart.series.map(({ count }) => count))).toBe(own.length)
    expect(sum(cart.spread.map(({ count }) => count))).toBe(own.length)
  })

  test('screens are compared with the release before, by version', async () => {
    const project = await ready
    for (const version of ['shop@1.9.0', 'shop@1.10.0', 'shop@2.0.0']) {
      const made = await owner.post('/api/releases', { projectId: project.id, version })
      expect(made.status, made.text).toBe(201)
    }
    const answer = await of(project)
    expect(answer.releases).toEqual({ release: 'shop@1.10.0', previous: 'shop@1.9.0' })
    const cart = answer.screens?.find(({ name }) => name === 'Cart')
    const p75 = (release: string) =>
      exact(
        valuesOf(
          raws.filter((raw) => isInRange(raw) && raw.name === 'Cart' && raw.release === release),
          'time_to_initial_display',
        ),
        0.75,
      ) ?? 0
    expectNear(cart?.compared?.release_p75_ms ?? null, p75('shop@1.10.0'), 'now')
    expectNear(cart?.compared?.previous_p75_ms ?? null, p75('shop@1.9.0'), 'before')
    expect(cart?.compared?.change).toBeCloseTo(p75('shop@1.10.0') / p75('shop@1.9.0') - 1, 1)
    expect((await of(project, '&release=shop%401.9.0')).releases).toBeNull()
  })
})

test('screens are compared with the release before of the same app', async () => {
  const project = await t.project(owner)
  const [one] = aFortnight(1)
  for (const [day, release] of ['shop@1.0', 'watch@1.0', 'shop@2.0'].entries()) {
    const released_at = `2026-11-1${day + 5}T00:00:00Z`
    const made = await owner.post('/api/releases', { projectId: project.id, version: release, released_at })
    expect(made.status, made.text).toBe(201)
    const facts = Array.from({ length: 20 }, () => factOf(project.id, { ...(one as Raw), agoMs: HOUR, release }))
    await record(t.app.db, facts, NOW)
  }
  expect((await of(project)).releases).toEqual({ release: 'shop@2.0', previous: 'shop@1.0' })
  expect((await of(project, '&release=watch@1.0')).releases).toBeNull()
})

test('filters over a day with too many combinations are refused, because they would find too few', async () => {
  const project = await t.project(owner)
  const [one] = aFortnight(1)
  const raw = { ...(one as Raw), agoMs: HOUR, release: 'many@1' }
  await record(t.app.db, [factOf(project.id, raw)], NOW)
  expect((await of(project, '&os=Android')).releases).toBe(null)
  await t.app.db.query('update performance_days set series = 10000 where project_id = $1', [project.id])
  await record(t.app.db, [factOf(project.id, { ...raw, release: 'many@2' })], NOW)
  for (const fold of [false, true]) {
    if (fold) await compactPerformance(t.app)
    for (const path of ['', '/screens', '/transactions'])
      for (const filter of ['os=Android', 'release=many@1', 'environment=production', 'device_class=high']) {
        const refused = await owner.get(`/api/performance${path}?projectId=${project.id}&range=7d&${filter}`)
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('too many combinations')])
      }
    const { transactions } = await of(project)
    expect(transactions?.reduce((sum, { count }) => sum + count, 0)).toBe(2)
    await of(project, '&device=Pixel')
    await of(project, '&name=checkout')
  }
})

test('without data everything is null or zero, in every range', async () => {
  const project = await t.project(owner)
  for (const [range, length, seconds] of [
    ['1h', 60, 60],
    ['24h', 96, 900],
    ['7d', 168, 3_600],
    ['30d', 120, 21_600],
  ] as const) {
    const answer = await read(`/api/performance?projectId=${project.id}&range=${range}`)
    expect(answer).toMatchObject({ range, interval_seconds: seconds, releases: null, screens: [], transactions: [] })
    expect(answer.series).toHaveLength(length)
    expect(answer.cold_start).toEqual({
      p50_ms: null,
      p75_ms: null,
      p95_ms: null,
      count: 0,
      previous: { p50_ms: null, p75_ms: null, p95_ms: null, count: 0 },
      left_out: { too_long: 0, prewarmed: 0, invalid: 0 },
      bands: {
        good: { from_ms: 0, to_ms: 3_000, count: 0, share: null },
        watch: { from_ms: 3_000, to_ms: 5_000, count: 0, share: null },
        poor: { from_ms: 5_000, to_ms: null, count: 0, share: null },
      },
      spread: [],
    })
    expect(answer.frames.slow_frame_ratio).toBeNull()
    expect(answer.web_vitals.inp).toEqual({ p75: null, count: 0, good: 0, needs_work: 0, poor: 0, previous_p75: null })
    expect(answer.battery).toMatchObject({ p50: null, count: 0, screens: [], releases: [], devices: [] })
  }
})

test.each([
  ['fractions', 0.5, 1],
  ['far too large', 9e11, Number.MAX_SAFE_INTEGER],
  ['no numbers', Number.NaN, 0],
])('counts of frames that are %s are answered as whole numbers', async (_what, value, total) => {
  const project = await t.project(owner)
  const raw = aFortnight(1)[0]
  if (raw === undefined) throw new Error('no transaction')
  const measurements = { frames_total: value, frames_slow: value, frames_frozen: value, stall_count: value }
  const times = value > 1e6 ? 12_000 : 2
  const facts = Array.from({ length: times }, () =>
    factOf(project.id, { ...raw, agoMs: HOUR, op: 'ui.load', measurements }),
  )
  await record(t.app.db, facts, NOW)
  const { frames, stalls } = await read(`/api/performance?projectId=${project.id}&range=7d`)
  expect([frames.total, frames.slow, frames.frozen, stalls.count]).toEqual([total, total, total, total])
})

test.each([
  ['range=2h', 'range must be one of'],
  ['device_class=fast', 'device_class must be one of'],
  ['device=a&os=iOS', 'device combines with'],
  ['device=a&name=Home', 'device combines with'],
  [`release=${'x'.repeat(300)}`, 'at most 250'],
  ['release=', 'must not be empty'],
  ['metric=x', 'metric'],
])('%s is refused', async (query, message) => {
  const project = await t.project(owner)
  const answer = await owner.get(`/api/performance?projectId=${project.id}&${query}`)
  expect(answer.status).toBe(400)
  expect(answer.text).toContain(message)
})
