import { beforeEach, describe, expect, test } from 'vitest'
import type { z } from 'zod'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { dsnParts, newEventId } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { DryRun as DryRunSchema } from '../rules/alerts.api.ts'
import { compactPerformance } from '../../telemetry/performance/compact-performance.ts'

type DryRun = z.infer<typeof DryRunSchema>

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app, clock } = t
const NOW = Date.parse('2026-11-20T12:07:00.000Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR

let owner: Founder
let project: TestProject
beforeEach(async () => {
  clock.set(new Date(NOW - 8 * DAY))
  owner = await t.founder()
  project = await t.project(owner)
})

/** Sets the clock; sessions end when it moves. */
async function at(agoMs: number): Promise<void> {
  clock.set(new Date(NOW - agoMs))
  owner.cookies.clear()
  const answer = await owner.post('/api/auth/login', { email: owner.email, password: owner.password })
  expect(answer.status).toBe(200)
}

const post = (rule: Record<string, unknown>) => owner.post('/api/alerts/dry-run', { projectId: project.id, ...rule })
async function dryRun(rule: Record<string, unknown>): Promise<DryRun> {
  const answer = await post(rule)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<DryRun>()
}
const momentsOf = ({ occurrences }: DryRun) => occurrences.map((one) => [one.at, one.issue?.title ?? one.title])
const time = (agoMs: number): string => new Date(NOW - agoMs).toISOString()

describe('facts', () => {
  test('new issues of the last seven days, by severity and environment', async () => {
    await at(7.5 * DAY)
    await t.event({ project, error: 'old' })
    await at(3 * DAY)
    await t.event({ project, error: { in: 'alpha', handled: false }, environment: 'staging' })
    await t.event({ project, error: 'old' })
    await at(HOUR)
    await t.events(project, [{ error: 'beta' }, { error: 'beta' }])
    await at(0)
    const found = await dryRun({ trigger_type: 'new_issue' })
    expect(found).toMatchObject({
      count: 2,
      from: '2026-11-13T13:00:00.000Z',
      to: '2026-11-20T12:07:00.000Z',
      unit: null,
      threshold: null,
      interval_seconds: 3_600,
      measures: 'New issues per hour',
      has_data: true,
    })
    expect(momentsOf(found)).toEqual([
      [time(HOUR), 'betaError: beta failed'],
      [time(3 * DAY), 'alphaError: alpha failed'],
    ])
    expect(found.occurrences[0]?.issue?.short_id).toMatch(/-3$/)
    expect(found.points).toHaveLength(168)
    expect(found.points.filter(({ value }) => value !== 0)).toEqual([
      { t: '2026-11-17T12:00:00.000Z', value: 1 },
      { t: '2026-11-20T11:00:00.000Z', value: 1 },
    ])
    const countWith = async (conditions: Record<string, unknown>) =>
      (await dryRun({ trigger_type: 'new_issue', conditions })).count
    expect(await countWith({ severity: 'high' })).toBe(1)
    expect(await countWith({ severity: 'critical' })).toBe(0)
    expect(await countWith({ environment: 'staging' })).toBe(1)
    expect(await countWith({ environment: 'production', severity: 'high' })).toBe(0)
  })

  test('issues that regressed', async () => {
    const issue = await t.issue({ project, by: owner, error: 'alpha' })
    await at(2 * DAY)
    expect((await owner.patch(`/api/issues/${issue.id}`, { status: 'resolved' })).status).toBe(200)
    clock.advance(HOUR)
    await t.event({ project, error: 'alpha' })
    await at(0)
    expect(momentsOf(await dryRun({ trigger_type: 'issue_regression' }))).toEqual([
      [time(2 * DAY - HOUR), 'alphaError: alpha failed'],
    ])
  })

  test('security events, once per issue and cool-down', async () => {
    const rooted = { contexts: { os: { name: 'Android', rooted: true } } }
    for (const ago of [30 * HOUR, 29.1 * HOUR, 5 * HOUR]) {
      await at(ago)
      await t.events(project, [
        { error: 'alpha', ...rooted },
        { error: 'alpha', ...rooted },
      ])
    }
    await t.event({ project, error: 'beta', level: 'info', tags: { security: 'tamper' } })
    await t.event({ project, error: 'gamma' })
    await at(0)
    const rule = { trigger_type: 'security_event' }
    expect(momentsOf(await dryRun(rule))).toEqual([
      [time(5 * HOUR), 'betaError: beta failed'],
      [time(5 * HOUR), 'alphaError: alpha failed'],
      [time(30 * HOUR), 'alphaError: alpha failed'],
    ])
    expect((await dryRun({ ...rule, cooldown_minutes: 0 })).count).toBe(4)
    expect(momentsOf(await dryRun({ ...rule, conditions: { kinds: ['tamper'] } }))).toEqual([
      [time(5 * HOUR), 'betaError: beta failed'],
    ])
    expect((await dryRun({ ...rule, conditions: { kinds: ['csp'] } })).count).toBe(0)
  })

  test('without events there is nothing to say', async () => {
    await at(0)
    for (const trigger_type of ['new_issue', 'issue_regression', 'security_event', 'issue_spike'])
      expect(await dryRun({ trigger_type })).toMatchObject({ count: 0, occurrences: [], has_data: false })
  })
})

test('an issue that spikes, with the events of each hour', async () => {
  await at(26 * HOUR)
  await t.events(
    project,
    Array.from({ length: 12 }, () => ({ error: 'alpha' })),
  )
  await at(0)
  const found = await dryRun({ trigger_type: 'issue_spike', conditions: { threshold: 10 } })
  expect(found).toMatchObject({ count: 1, unit: 'events', threshold: 10, has_data: true })
  expect(found.occurrences[0]).toMatchObject({ value: 12, issue: { title: 'alphaError: alpha failed' } })
  expect(found.points.filter(({ value }) => value !== 0)).toMatchObject([{ value: 12 }])
})

describe('rates', () => {
  async function starts(ms: number): Promise<void> {
    const { key, projectNumber } = dsnParts(project.dsn)
    const end = clock.now().getTime() / 1_000 - 60
    const transaction = {
      type: 'transaction',
      event_id: newEventId(),
      transaction: 'Main',
      transaction_info: { source: 'custom' },
      start_timestamp: end - 10,
      timestamp: end,
      measurements: { app_start_cold: { value: ms } },
      contexts: { trace: { trace_id: newEventId(), span_id: newEventId().slice(16), op: 'ui.load' } },
    }
    const answer = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{"event_id":"${transaction.event_id}"}\n{"type":"transaction"}\n${JSON.stringify(transaction)}`,
    })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await t.service.drain()
    await compactPerformance(app)
  }
  const rule = { trigger_type: 'performance_threshold', conditions: { min_count: 1, percentile: 'p50' } }

  test('fire once while they pass, also days ago and in this hour', async () => {
    for (const [ago, ms] of [
      [6 * DAY, 9_000],
      [6 * DAY - HOUR, 1_000],
      [30 * HOUR, 1_000],
      [20 * HOUR, 8_000],
      [20 * HOUR - 20 * 60_000, 8_000],
      [19 * HOUR, 1_000],
      [0, 7_000],
    ] as const) {
      await at(ago)
      await starts(ms)
    }
    const found = await dryRun(rule)
    expect(found).toMatchObject({
      count: 3,
      unit: 'ms',
      threshold: 5_000,
      measures: 'P50 of cold starts in milliseconds, over 60 minutes',
      has_data: true,
    })
    expect(found.occurrences.map((one) => one.at)).toEqual([
      time(0),
      '2026-11-19T16:15:00.000Z',
      '2026-11-14T13:00:00.000Z',
    ])
    expect(found.occurrences[0]?.title).toMatch(/^[67][.\d]* s$/)
    expect(found.points.at(-1)?.value).toBeCloseTo(7_000, -2)
    const high = { ...rule, conditions: { ...rule.conditions, threshold: 8_500 } }
    expect((await dryRun(high)).count).toBe(1)
  })

  test('without measurements the answer says so', async () => {
    await at(0)
    const found = await dryRun(rule)
    expect(found).toMatchObject({ count: 0, has_data: false })
    expect(new Set(found.points.map(({ value }) => value))).toEqual(new Set([null]))
    for (const trigger_type of ['pre_crash_state', 'battery_drain_threshold', 'critical_path'])
      expect(await dryRun({ trigger_type })).toMatchObject({ count: 0, has_data: false })
  })
})

test.each([
  [{ trigger_type: 'new_issue', conditions: { min_count: 1 } }, 'min_count'],
  [{ trigger_type: 'performance_threshold', conditions: { threshold: 0 } }, 'threshold'],
  [{ trigger_type: 'pre_crash_state', conditions: { threshold: 1.1 } }, 'threshold'],
  [{ trigger_type: 'nothing' }, 'trigger_type'],
])('%j is refused by name', async (rule, named) => {
  const answer = await post(rule)
  expect(answer.status).toBe(400)
  expect(answer.as<{ error: string }>().error).toContain(named)
})
