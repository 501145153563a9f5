import type { z } from 'zod'
import { beforeEach, describe, expect, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { stayingIn } from '#test/kit/staying-in.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Alert, DryRun } from '../rules/alerts.api.ts'
import type { AlertRule } from '../rules/rule.api.ts'
import { sendDue } from '../rules/keep-alerts.ts'
import { evaluateRules } from './evaluate-rules.ts'
import { sweepIssues } from '../../issues/recording/sweep.ts'

/**
 * Scenarios of alerts about issues that the team has resolved or ignored. The expected number of alerts was decided before
 * the first run. Such an issue fires nothing, unless the condition of its own state is met: then the explanation says which.
 */

const t = await testServer()
const { app, clock } = t
const START = '2026-11-20T12:00:00.000Z'
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

let owner: Founder
let project: TestProject
beforeEach(async () => {
  clock.set(START)
  owner = stayingIn(await t.founder())
  project = await t.project(owner)
})

async function aRule(over: Record<string, unknown>): Promise<AlertRule> {
  const answer = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'A rule',
    cooldown_minutes: 0,
    actions: [{ type: 'chat', webhook_url: 'https://hooks.example.com/services/T000/B000/XXXX' }],
    ...over,
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.as<AlertRule>()
}
const SPIKE = { trigger_type: 'issue_spike', conditions: { threshold: 20, window_minutes: 10 } }
const SECURITY = { trigger_type: 'security_event' }

async function alertsOf(rule: AlertRule): Promise<Alert[]> {
  const answer = await owner.get(`/api/alerts/fired?rule_id=${rule.id}&limit=100`)
  expect(answer.status, answer.text).toBe(200)
  return answer.as<{ items: Alert[] }>().items
}

const send = (events: number, fields: Record<string, unknown> = {}) =>
  t.events(
    project,
    Array.from({ length: events }, (_, n) => ({ error: 'pay', user: { id: `user ${n}` }, ...fields })),
  )

async function minutes(count = 1): Promise<void> {
  for (let n = 0; n < count; n++) {
    clock.advance(MINUTE_MS)
    await evaluateRules(app)
    await sendDue(app)
  }
}

/** An issue with one event, which a member moves to a status a minute later. */
async function anIssue(change: Record<string, unknown>, fields: Record<string, unknown> = {}): Promise<{ id: string }> {
  const issue = await t.issue({ by: owner, project, error: 'pay', ...fields })
  clock.advance(MINUTE_MS)
  await changeIssue(issue.id, change)
  clock.advance(MINUTE_MS)
  return issue
}

async function changeIssue(issueId: string, change: Record<string, unknown>): Promise<void> {
  const answer = await owner.patch(`/api/issues/${issueId}`, change)
  expect(answer.status, answer.text).toBe(200)
}

const statusOf = async (issueId: string) => (await owner.get(`/api/issues/${issueId}`)).as<{ status: string }>().status

describe('a spike of an issue that is', () => {
  test('ignored for ever fires nothing', async () => {
    const rule = await aRule(SPIKE)
    const issue = await anIssue({ status: 'ignored' })
    await send(200)
    await minutes(3)
    expect(await alertsOf(rule)).toEqual([])
    expect(await statusOf(issue.id)).toBe('ignored')
  })

  test('ignored until it escalates fires nothing below its limit', async () => {
    const rule = await aRule(SPIKE)
    const issue = await anIssue({ status: 'ignored', ignore_until: { escalating: true } })
    await send(30)
    await minutes(3)
    expect(await statusOf(issue.id)).toBe('ignored')
    expect(await alertsOf(rule)).toEqual([])
  })

  test('ignored until it escalates fires once when it does', async () => {
    const rule = await aRule(SPIKE)
    const issue = await anIssue({ status: 'ignored', ignore_until: { escalating: true } })
    await send(60)
    await minutes(3)
    expect(await statusOf(issue.id)).toBe('escalated')
    const alerts = await alertsOf(rule)
    expect(alerts).toMatchObject([{ state: 'firing' }])
    expect(alerts[0]?.explanation).toMatch(/Escalated: 6\d events within an hour.* It was ignored until then\./)
  })

  test.each([{ count: 40 }, { users: 40 }, { count: 1_000, window: 60 }])(
    'ignored until %o fires nothing before that',
    async (until) => {
      const rule = await aRule(SPIKE)
      const issue = await anIssue({ status: 'ignored', ignore_until: until })
      await send(30)
      await minutes(3)
      expect(await statusOf(issue.id)).toBe('ignored')
      expect(await alertsOf(rule)).toEqual([])
    },
  )

  test.each([
    [{ count: 25 }, 'Reopened after 25 more events: it was ignored until then.'],
    [{ users: 25 }, 'Reopened after 25 more users: it was ignored until then.'],
    [{ count: 25, window: 60 }, 'Reopened after 25 more events within 60 minutes: it was ignored until then.'],
  ])('ignored until %o fires after that and says so', async (until, sentence) => {
    const rule = await aRule(SPIKE)
    await anIssue({ status: 'ignored', ignore_until: until })
    await send(30)
    await minutes()
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(1)
    expect(alerts[0]?.explanation).toContain(sentence)
  })

  test('ignored until a time fires nothing before, and says after it that the time has passed', async () => {
    const rule = await aRule(SPIKE)
    const until = new Date(Date.parse(START) + 7 * MINUTE_MS).toISOString()
    await anIssue({ status: 'ignored', ignore_until: { time: until } })
    await send(30)
    await minutes(4)
    expect(await alertsOf(rule)).toEqual([])
    clock.advance(MINUTE_MS)
    await sweepIssues(app)
    await minutes()
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(1)
    expect(alerts[0]?.explanation).toContain('Reopened: it was ignored until')
  })

  test('resolved in a release fires nothing for events of older ones', async () => {
    const rule = await aRule(SPIKE)
    const issue = await anIssue({ status: 'resolved', resolution: { in_release: '2.0.0' } }, { release: '1.0.0' })
    await send(60, { release: '1.0.0' })
    await minutes(3)
    expect(await statusOf(issue.id)).toBe('resolved')
    expect(await alertsOf(rule)).toEqual([])
  })

  test('resolved in a release fires when it comes back in that release, and says so', async () => {
    const rule = await aRule(SPIKE)
    const issue = await anIssue({ status: 'resolved', resolution: { in_release: '2.0.0' } }, { release: '1.0.0' })
    await send(30, { release: '2.0.0' })
    await minutes()
    expect(await statusOf(issue.id)).toBe('regressed')
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(1)
    expect(alerts[0]?.explanation).toContain('Regressed: event ')
    expect(alerts[0]?.explanation).toContain('from release 2.0.0')
  })

  test('ignored while it fires ends the alert, which does not fire again while the events go on', async () => {
    const rule = await aRule(SPIKE)
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    await send(30)
    await minutes(2)
    expect(await alertsOf(rule)).toMatchObject([{ state: 'firing' }])
    await changeIssue(issue.id, { status: 'ignored' })
    for (let n = 0; n < 10; n++) {
      await send(20)
      await minutes()
    }
    expect(await alertsOf(rule)).toMatchObject([{ state: 'resolved', resolved_reason: 'The issue was ignored.' }])
  })

  test('resolved in the next release while it fires does not fire again for the old one', async () => {
    const rule = await aRule(SPIKE)
    const issue = await t.issue({ by: owner, project, error: 'pay', release: '1.0.0' })
    await send(30, { release: '1.0.0' })
    await minutes(2)
    await changeIssue(issue.id, { status: 'resolved', resolution: { in_next_release: true } })
    for (let n = 0; n < 5; n++) {
      await send(20, { release: '1.0.0' })
      await minutes()
    }
    expect(await alertsOf(rule)).toMatchObject([{ state: 'resolved', resolved_reason: 'The issue was resolved.' }])
  })

  test('merged into another ends the alert and fires no more by itself', async () => {
    const rule = await aRule(SPIKE)
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    const target = await t.issue({ by: owner, project, error: 'search' })
    await send(30)
    await minutes(2)
    const merged = await owner.post(`/api/issues/${target.id}/merge`, { issue_ids: [issue.id] })
    expect(merged.status, merged.text).toBe(200)
    await minutes(8)
    expect((await alertsOf(rule)).filter(({ issue_id }) => issue_id === issue.id)).toMatchObject([
      { state: 'resolved', resolved_reason: 'The issue was merged into another.' },
    ])
  })

  test('resolved sends nothing to the escalation actions, where the rule keeps its alert open', async () => {
    const pager = [{ type: 'pager', routing_key: 'abcdefabcdefabcdefabcdefabcd1234' }]
    const rule = await aRule({
      ...SPIKE,
      close_with_issue: false,
      escalate_after_minutes: 5,
      escalation_actions: pager,
    })
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    await send(30)
    await minutes(2)
    await changeIssue(issue.id, { status: 'resolved', resolution: { in_next_release: true } })
    await minutes(6)
    expect(await alertsOf(rule)).toMatchObject([{ state: 'firing', escalated_at: null }])
  })
})

describe('a security event of an issue that is', () => {
  const rooted = { tags: { rooted: true } }

  test('ignored fires nothing', async () => {
    const rule = await aRule(SECURITY)
    await anIssue({ status: 'ignored' })
    await send(5, rooted)
    expect(await alertsOf(rule)).toEqual([])
  })

  test('resolved in a release fires nothing for older ones', async () => {
    const rule = await aRule(SECURITY)
    await anIssue({ status: 'resolved', resolution: { in_release: '2.0.0' } }, { release: '1.0.0' })
    await send(5, { ...rooted, release: '1.0.0' })
    expect(await alertsOf(rule)).toEqual([])
  })

  test('resolved fires when this event brings it back, and says so', async () => {
    const rule = await aRule(SECURITY)
    await anIssue({ status: 'resolved', resolution: { in_release: '2.0.0' } }, { release: '1.0.0' })
    await send(1, { ...rooted, release: '2.0.0' })
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(1)
    expect(alerts[0]?.explanation).toContain('is a security event in 2.0.0')
    expect(alerts[0]?.explanation).toContain('Regressed: event ')
  })

  test('ignored until five events fires with the fifth', async () => {
    const rule = await aRule(SECURITY)
    await anIssue({ status: 'ignored', ignore_until: { count: 5 } })
    await send(4, rooted)
    expect(await alertsOf(rule)).toEqual([])
    await send(1, rooted)
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(1)
    expect(alerts[0]?.explanation).toContain('Reopened after 5 more events: it was ignored until then.')
  })
})

test('an ignored issue that becomes severe is not new', async () => {
  const rule = await aRule({ trigger_type: 'new_issue', conditions: { severity: 'critical' } })
  const crash = { error: { in: 'boot', handled: false }, level: 'fatal' }
  await t.events(project, [{ ...crash, user: { id: '1' } }])
  const [issue] = await t.issues(owner, `projectId=${project.id}`)
  await changeIssue(issue?.id ?? '', { status: 'ignored' })
  clock.advance(MINUTE_MS)
  await t.events(
    project,
    Array.from({ length: 30 }, (_, n) => ({ ...crash, user: { id: `u${n}` } })),
  )
  expect(await alertsOf(rule)).toEqual([])
})

test('a dry run counts what would have fired, not the hours in which the issue was ignored', async () => {
  const issue = await t.issue({ by: owner, project, error: 'pay' })
  const crowded = async () => {
    clock.advance(3 * HOUR_MS)
    await send(30, { tags: { rooted: true } })
    await minutes()
  }
  await crowded()
  await changeIssue(issue.id, { status: 'ignored' })
  await crowded()
  await crowded()
  await changeIssue(issue.id, { status: 'unresolved' })
  await crowded()
  clock.advance(HOUR_MS)
  await evaluateRules(app)
  for (const { trigger_type, conditions } of [SPIKE, { ...SECURITY, conditions: {} }]) {
    const answer = await owner.post('/api/alerts/dry-run', {
      projectId: project.id,
      trigger_type,
      conditions,
      cooldown_minutes: 0,
    })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.as<z.output<typeof DryRun>>().count, trigger_type).toBe(2)
  }
})
