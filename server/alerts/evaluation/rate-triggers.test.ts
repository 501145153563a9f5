import { describe, expect, test } from 'vitest'
import type { TriggerType } from '#shared/alert-rules.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { completeConditions } from '../rules/conditions.ts'
import type { ConditionsInput } from '../rules/rule.api.ts'
import { foldHealth } from '../../telemetry/app-health/fold-health.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { sendSessions, times } from '../../insights/metrics/metrics.fixture.ts'
import { compactPerformance } from '../../telemetry/performance/compact-performance.ts'
import { batteryDrain } from './battery-drain.ts'
import { criticalPath } from './critical-path.ts'
import { evaluateRules } from './evaluate-rules.ts'
import type { Evaluator, RateRule } from './evaluator.ts'
import { performanceThreshold } from './performance-threshold.ts'
import { preCrashState } from './pre-crash-state.ts'

/** Rate triggers measure events, transactions and sessions that arrive through the intake, folded and not. */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const owner = await t.founder()
const NOW = t.app.clock.now()
const MINUTE = 60_000
const timeOf = (minutesAgo: number): Date => new Date(NOW.getTime() - minutesAgo * MINUTE)
const at = (minutesAgo: number): string => timeOf(minutesAgo).toISOString()
const seconds = (minutesAgo: number): number => timeOf(minutesAgo).getTime() / 1_000

async function send(project: TestProject, ...events: readonly Record<string, unknown>[]): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  for (const event of events) {
    const answer = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{"event_id":"${String(event['event_id'])}"}\n{"type":"${event['type'] === 'transaction' ? 'transaction' : 'event'}"}\n${JSON.stringify(event)}`,
    })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
  await t.service.drain()
}

const device = { model: 'Pixel 6', memory_size: 2e9 }
const anEvent = (minutesAgo: number, user: string, fields: Record<string, unknown> = {}) => ({
  event_id: newEventId(),
  timestamp: at(minutesAgo),
  platform: 'java',
  release: 'shop@1.0',
  user: { id: user },
  contexts: { os: { name: 'Android' }, device },
  exception: { values: [{ type: 'Error', value: 'shown', mechanism: { type: 'generic', handled: true } }] },
  ...fields,
})
const crash = {
  level: 'fatal',
  exception: {
    values: [{ type: 'Crash', value: 'x', mechanism: { type: 'UncaughtExceptionHandler', handled: false } }],
  },
}

/** @param ms its duration */
const aTransaction = (minutesAgo: number, name: string, ms: number, fields: Record<string, unknown> = {}) => ({
  type: 'transaction',
  event_id: newEventId(),
  transaction: name,
  transaction_info: { source: 'custom' },
  start_timestamp: seconds(minutesAgo) - ms / 1_000,
  timestamp: seconds(minutesAgo),
  release: 'shop@1.0',
  ...fields,
  contexts: {
    os: { name: 'Android' },
    device,
    trace: {
      trace_id: newEventId(),
      span_id: newEventId().slice(16),
      op: 'ui.load',
      status: fields['failed'] === true ? 'internal_error' : 'ok',
    },
  },
})

const aRule = (project: TestProject, trigger: TriggerType, conditions: ConditionsInput = {}): RateRule => ({
  id: newId(),
  orgId: newId(),
  projectId: project.id,
  trigger,
  conditions: completeConditions(trigger, conditions),
})

/** Measures a rule before and after counts are folded, which must be the same. */
async function measure(evaluator: Evaluator, rule: RateRule) {
  const before = (await evaluator.measure(t.app, [rule], NOW)).get(rule.id)
  await foldHealth(t.app)
  await compactPerformance(t.app)
  const after = (await evaluator.measure(t.app, [rule], NOW)).get(rule.id)
  expect(after).toEqual(before)
  return after ?? []
}

const DAY = 86_400_000
/** The last point of a dry run, and how many points hold. */
async function pastOf(evaluator: Evaluator, rule: RateRule) {
  const points = await evaluator.history(t.app, rule, new Date(NOW.getTime() - 7 * DAY), NOW)
  return { points, held: points.filter(({ holds }) => holds), last: points.at(-1) }
}

describe('performance_threshold', () => {
  test('a percentile of cold starts, with the numbers in words', async () => {
    const project = await t.project(owner)
    const starts = Array.from({ length: 20 }, (_, n) =>
      aTransaction(10 + n, 'Main', 6_000, { measurements: { app_start_cold: { value: n < 17 ? 1_000 : 9_000 } } }),
    )
    await send(project, ...starts)
    const rule = aRule(project, 'performance_threshold', { min_count: 20 })
    const [found] = await measure(performanceThreshold, rule)
    expect(found?.value).toBeCloseTo(9_000, -2)
    expect(found).toMatchObject({ subject: '', holds: true })
    expect(found?.title).toMatch(/^P95 of cold starts: (8\.9|9)\d* s$/)
    expect(found?.explanation).toMatch(
      /^P95 of cold starts is (8\.9|9)\d* s over the last 60 minutes \(20 starts\); the limit is 5 s\.$/,
    )
    const median = aRule(project, 'performance_threshold', { percentile: 'p50', min_count: 20 })
    expect((await measure(performanceThreshold, median))[0]).toMatchObject({ holds: false })
    const many = aRule(project, 'performance_threshold', { min_count: 21 })
    expect(await measure(performanceThreshold, many)).toEqual([
      {
        subject: '',
        value: null,
        holds: false,
        title: 'P95 of cold starts: no data',
        explanation: 'No data: 20 starts over the last 60 minutes; at least 21 are needed.',
      },
    ])
    const { last, held } = await pastOf(performanceThreshold, rule)
    expect(last).toMatchObject({ at: NOW, holds: true })
    expect(held.length).toBeLessThanOrEqual(5)
  })

  test('transactions of one name', async () => {
    const project = await t.project(owner)
    await send(project, aTransaction(5, 'Checkout', 3_000), aTransaction(5, 'Home', 100), aTransaction(6, 'Home', 100))
    const one = aRule(project, 'performance_threshold', {
      metric: 'transaction',
      transaction: 'Checkout',
      min_count: 1,
      threshold: 2_000,
      percentile: 'p50',
    })
    const [found] = await measure(performanceThreshold, one)
    expect(found?.explanation).toMatch(
      /^P50 of transactions of Checkout is (3|2\.9\d) s .*\(1 transaction\); the limit is 2 s\.$/,
    )
    const all = aRule(project, 'performance_threshold', { metric: 'transaction', min_count: 3, percentile: 'p50' })
    expect((await measure(performanceThreshold, all))[0]?.value).toBeLessThan(110)
    const unknown = aRule(project, 'performance_threshold', {
      metric: 'transaction',
      transaction: 'Cart',
      min_count: 1,
    })
    expect((await measure(performanceThreshold, unknown))[0]?.value).toBeNull()
    expect((await pastOf(performanceThreshold, one)).last).toMatchObject({ holds: true })
  })

  test('frozen frames in percent', async () => {
    const project = await t.project(owner)
    const frames = { frames_total: { value: 200 }, frames_frozen: { value: 12 } }
    await send(project, aTransaction(5, 'Home', 900, { measurements: frames }))
    const rule = aRule(project, 'performance_threshold', { metric: 'frozen_frames', min_count: 1 })
    expect(await measure(performanceThreshold, rule)).toMatchObject([
      {
        value: 6,
        holds: true,
        title: 'Frozen frames 6 %',
        explanation: 'Frozen frames: 6 % over the last 60 minutes (of 1 screen); the limit is 5 %.',
      },
    ])
  })

  test('the ANR rate in percent of users', async () => {
    const project = await t.project(owner)
    const healthy = Array.from({ length: 9 }, (_, n) => ({ agoMs: 10 * MINUTE, did: `user-${n}` }))
    const hung = { agoMs: 5 * MINUTE, did: 'user-9', status: 'abnormal', mechanism: 'anr_foreground' }
    const other = { agoMs: 5 * MINUTE, did: 'user-1', status: 'abnormal', mechanism: 'anr_background' }
    await sendSessions(t, project, [...healthy, hung, hung, other])
    const rule = aRule(project, 'performance_threshold', { metric: 'anr_rate', min_count: 10 })
    expect(await measure(performanceThreshold, rule)).toMatchObject([
      {
        value: 10,
        holds: true,
        explanation:
          'ANR rate: 10 % over the last 60 minutes (1 user of 10 users met an ANR in the foreground); the limit is 0.47 %.',
      },
    ])
    const { last } = await pastOf(performanceThreshold, rule)
    expect(last).toEqual({ at: NOW, subject: '', value: 10, holds: true })
    const none = aRule(await t.project(owner), 'performance_threshold', { metric: 'anr_rate', min_count: 1 })
    expect((await measure(performanceThreshold, none))[0]).toMatchObject({ value: null, holds: false })
  })
})

describe('critical_path', () => {
  async function aShop(paths: readonly string[]): Promise<TestProject> {
    const project = await t.project(owner)
    const answer = await owner.patch(`/api/projects/${project.id}/settings`, { critical_paths: paths })
    expect(answer.status, answer.text).toBe(200)
    return project
  }

  test('failed transactions and unhandled errors, each journey for itself', async () => {
    const project = await aShop(['checkout*', '/login'])
    const runs = Array.from({ length: 18 }, (_, n) => aTransaction(5, `Checkout/${n % 3}`, 100, { failed: n === 0 }))
    const error = anEvent(4, 'u1', { ...crash, transaction: 'Checkout/pay' })
    await send(
      project,
      ...runs,
      error,
      // The same event again, a handled error, and one of another screen.
      error,
      anEvent(4, 'u1', { transaction: 'Checkout/pay' }),
      anEvent(4, 'u1', { ...crash, transaction: 'Home' }),
      anEvent(4, 'u2', { ...crash, tags: { journey: 'checkout' } }),
    )
    const rule = aRule(project, 'critical_path')
    expect(await measure(criticalPath, rule)).toEqual([
      {
        subject: 'checkout*',
        value: 15,
        holds: true,
        title: '15 % of checkout* failed',
        explanation:
          '3 runs of checkout* out of 20 runs failed over the last 15 minutes, 15 %: 1 transaction with an error and 2 unhandled errors; the limit is 2 %.',
      },
      {
        subject: '/login',
        value: null,
        holds: false,
        title: '/login: no data',
        explanation: 'No data: 0 runs of /login over the last 15 minutes; at least 20 are needed.',
      },
    ])
    const { held, points } = await pastOf(criticalPath, rule)
    expect(held).toEqual([{ at: NOW, subject: 'checkout*', value: 15, holds: true }])
    expect(new Set(points.map(({ subject }) => subject))).toEqual(new Set(['checkout*', '/login']))
  })

  test('a threshold above 100 is a P95 in milliseconds', async () => {
    const project = await aShop(['checkout'])
    await send(project, aTransaction(5, 'checkout', 3_000), anEvent(4, 'u1', { ...crash, transaction: 'checkout' }))
    const rule = aRule(project, 'critical_path', { threshold: 2_500, min_count: 1 })
    const [found] = await measure(criticalPath, rule)
    expect(found?.holds).toBe(true)
    expect(found?.explanation).toMatch(
      /^P95 of checkout is (3|2\.9\d) s over the last 15 minutes \(1 transaction\); the limit is 2\.5 s\.$/,
    )
  })

  test('a project without critical paths has no journeys', async () => {
    const project = await aShop([])
    await send(project, anEvent(4, 'u1', { ...crash, transaction: 'checkout' }))
    expect(await measure(criticalPath, aRule(project, 'critical_path'))).toEqual([])
    expect((await pastOf(criticalPath, aRule(project, 'critical_path'))).points).toEqual([])
    const { rows } = await t.app.db.query('select 1 from journey_errors where project_id = $1', [project.id])
    expect(rows).toEqual([])
  })
})

describe('pre_crash_state', () => {
  const lowMemory = (minutesAgo: number) => ({
    breadcrumbs: [
      { timestamp: at(minutesAgo), type: 'system', category: 'device.event', data: { action: 'LOW_MEMORY' } },
    ],
  })
  const onServer = (memory: number) => ({
    contexts: { os: { name: 'Linux' }, device: { arch: 'x64', memory_size: 8e9 }, app: { app_memory: memory } },
  })
  const users = (n: number) => Array.from({ length: n }, (_, user) => ({ agoMs: 12 * MINUTE, did: `install-${user}` }))

  test('the share of users with signs before any crash', async () => {
    const project = await t.project(owner)
    await sendSessions(t, project, users(6))
    await send(
      project,
      anEvent(5, 'install-0', lowMemory(6)),
      anEvent(4, 'install-0', lowMemory(6)),
      // A crash of iOS has no live values: what came before it counts.
      anEvent(9, 'install-1', { contexts: { os: { name: 'iOS' }, device: { ...device, thermal_state: 'critical' } } }),
      anEvent(3, 'install-1', { ...crash, contexts: { os: { name: 'iOS' }, device } }),
      aTransaction(5, 'Home', 900, {
        user: { id: 'install-2' },
        measurements: { frames_total: { value: 300 }, frames_frozen: { value: 9 } },
      }),
      anEvent(5, 'install-3', {
        exception: {
          values: [{ type: 'ApplicationNotResponding', value: 'x', mechanism: { type: 'ANR', handled: false } }],
        },
      }),
      anEvent(8, 'install-4', { contexts: { os: { name: 'iOS' }, device, app: { app_memory: 100_000_000 } } }),
      anEvent(2, 'install-4', { contexts: { os: { name: 'iOS' }, device, app: { app_memory: 400_000_000 } } }),
      // The memory of a server is not the memory of one user's app.
      anEvent(14, 'install-5', onServer(100_000_000)),
      anEvent(12, 'install-5', onServer(400_000_000)),
      // After its crash, which is another matter.
      anEvent(8, 'install-5', crash),
      anEvent(5, 'install-5', lowMemory(6)),
    )
    const rule = aRule(project, 'pre_crash_state')
    const [found] = await measure(preCrashState, rule)
    expect(found).toMatchObject({ subject: '', holds: true, title: '83 % of sessions show signs of a coming crash' })
    expect(found?.value).toBeCloseTo(5 / 6, 10)
    expect(found?.explanation).toBe(
      '5 of 6 sessions in the last 15 minutes showed signs before any crash, a score of 0.83; the limit is 0.8. What was seen: ANRs 1, frozen frames 1, low memory 1, rapid growth of memory 1, critical heat 1.',
    )
    expect((await pastOf(preCrashState, rule)).held).toEqual([{ at: NOW, subject: '', value: 5 / 6, holds: true }])
    const strict = aRule(project, 'pre_crash_state', { threshold: 0.9 })
    expect((await measure(preCrashState, strict))[0]).toMatchObject({ holds: false })
  })

  test('few sessions are no data, and many signs in them neither', async () => {
    const project = await t.project(owner)
    const events = Array.from({ length: 9 }, (_, user) => anEvent(5, `install-${user}`, lowMemory(6)))
    await send(project, ...events)
    const rule = aRule(project, 'pre_crash_state')
    expect((await measure(preCrashState, rule))[0]).toMatchObject({ value: null, holds: false })
    await sendSessions(t, project, users(4))
    expect((await measure(preCrashState, rule))[0]).toMatchObject({
      value: null,
      holds: false,
      explanation: 'No data: 4 sessions began in the last 15 minutes; at least 5 are needed.',
    })
    await sendSessions(t, project, users(5))
    expect((await measure(preCrashState, rule))[0]).toMatchObject({ value: 1, holds: true })
  })

  test('reports without a user are one device of their model', async () => {
    const project = await t.project(owner)
    await sendSessions(t, project, times(5, { agoMs: 12 * MINUTE }))
    const events = Array.from({ length: 9 }, () => anEvent(5, '', { ...lowMemory(6), user: undefined }))
    await send(project, ...events)
    expect((await measure(preCrashState, aRule(project, 'pre_crash_state')))[0]).toMatchObject({ value: 0.2 })
  })
})

describe('battery_drain_threshold', () => {
  const levels = (minutesAgo: number, from: number, to: number) => ({
    breadcrumbs: [[minutesAgo + 30, from] as const, [minutesAgo, to] as const].map(([minutes, level]) => ({
      timestamp: at(minutes),
      type: 'system',
      category: 'device.event',
      data: { action: 'BATTERY_CHANGED', level, charging: false },
    })),
  })

  test('the median drain, by devices and not by pairs', async () => {
    const project = await t.project(owner)
    // 6, 12 and 24 percent per hour; the second device twice.
    await send(
      project,
      anEvent(10, 'a', levels(20, 90, 87)),
      anEvent(10, 'b', levels(20, 90, 84)),
      anEvent(70, 'c', levels(80, 90, 78)),
      anEvent(70, 'b', levels(80, 99, 93)),
    )
    const rule = aRule(project, 'battery_drain_threshold', { min_sessions: 3 })
    const [found] = await measure(batteryDrain, rule)
    expect(found?.value).toBeCloseTo(12, 0)
    expect(found).toMatchObject({ subject: '', holds: true })
    expect(found?.explanation).toMatch(
      /^The median drain is 1[12][.\d]* % per hour in the foreground over the last 24 hours \(3 devices, 5 measurements\); the limit is 10 % per hour\.$/,
    )
    const more = aRule(project, 'battery_drain_threshold', { min_sessions: 4 })
    expect((await measure(batteryDrain, more))[0]).toMatchObject({
      value: null,
      holds: false,
      explanation: 'No data: the drain of 3 devices is known over the last 24 hours; at least 4 are needed.',
    })
    expect((await pastOf(batteryDrain, rule)).last).toMatchObject({ at: NOW, holds: true })
  })

  test('long wake locks, where no drain is known', async () => {
    const project = await t.project(owner)
    const locks = [3, 1, 1, 1].map((hours) =>
      aTransaction(10, 'sync', 500, {
        measurements: { wake_lock_time: { value: hours * 3_600_000, unit: 'millisecond' } },
      }),
    )
    await send(project, ...locks)
    const rule = aRule(project, 'battery_drain_threshold', { min_sessions: 4 })
    expect(await measure(batteryDrain, rule)).toMatchObject([
      {
        value: 25,
        holds: true,
        title: '25 % of sessions hold long wake locks',
        explanation:
          '1 of 4 sessions over the last 24 hours held a wake lock for two hours or longer, 25 %; the limit is 10 %.',
      },
    ])
  })
})

test('the alert of a journey ends when the project no longer names it', async () => {
  const project = await t.project(owner)
  const name = async (paths: readonly string[]) =>
    expect((await owner.patch(`/api/projects/${project.id}/settings`, { critical_paths: paths })).status).toBe(200)
  await name(['checkout', 'login'])
  const rule = { projectId: project.id, name: 'Journeys', trigger_type: 'critical_path', conditions: { min_count: 1 } }
  expect((await owner.post('/api/alerts', { ...rule, actions: [] })).status).toBe(201)
  await send(project, anEvent(1, 'u1', { ...crash, transaction: 'checkout' }))
  const states = async () =>
    (await owner.get(`/api/alerts/fired?projectId=${project.id}`))
      .as<{ items: { title: string; state: string }[] }>()
      .items.map(({ title, state }) => [title, state])
  await evaluateRules(t.app)
  expect(await states()).toEqual([['100 % of checkout failed', 'firing']])
  await name(['login'])
  t.clock.advance(6 * MINUTE)
  await evaluateRules(t.app)
  expect(await states()).toEqual([['100 % of checkout failed', 'resolved']])
  t.clock.set(NOW)
})

test('a rule of a rate fires once, with its explanation, and ends when the rate is low again', async () => {
  const project = await t.project(owner)
  const made = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'Slow starts',
    trigger_type: 'performance_threshold',
    conditions: { min_count: 1, percentile: 'p50' },
    actions: [],
  })
  expect(made.status, made.text).toBe(201)
  const started = (ms: number) => aTransaction(1, 'Main', 9_000, { measurements: { app_start_cold: { value: ms } } })
  await send(project, started(7_000))
  const alerts = async () =>
    (await owner.get(`/api/alerts/fired?projectId=${project.id}`)).as<{ items: Record<string, unknown>[] }>().items
  await evaluateRules(t.app)
  await evaluateRules(t.app)
  expect(await alerts()).toMatchObject([
    {
      trigger_type: 'performance_threshold',
      state: 'firing',
      unit: 'ms',
      threshold: 5_000,
      window: 60,
      explanation: expect.stringMatching(
        /^P50 of cold starts is [67][.\d]* s over the last 60 minutes \(1 start\);/,
      ) as unknown,
    },
  ])
  await send(project, ...Array.from({ length: 5 }, () => started(100)))
  t.clock.advance(6 * MINUTE)
  await evaluateRules(t.app)
  expect(await alerts()).toMatchObject([{ state: 'resolved' }])
})
