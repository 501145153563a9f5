import { beforeEach, describe, expect, test } from 'vitest'
import type { Founder } from '#test/kit/product.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { stayingIn } from '#test/kit/staying-in.ts'
import { testServer } from '#test/kit/test-server.ts'
import { evaluateRules } from '../evaluation/evaluate-rules.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { AlertMessage } from './alert-message.ts'
import type { Alert } from './alerts.api.ts'
import { MAX_RULES_PER_PROJECT } from './create-rule.ts'
import { fireAlerts } from './fire-alerts.ts'
import { purgeAlertsTask, sendDue } from './keep-alerts.ts'
import type { AlertRule } from './rule.api.ts'

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

const CHAT = { type: 'chat', webhook_url: 'https://hooks.example.com/services/T000/B000/XXXXsecretXXXX' }

const tryRule = (over: Record<string, unknown> = {}) =>
  owner.post('/api/alerts', {
    projectId: project.id,
    name: 'A rule',
    trigger_type: 'new_issue',
    actions: [CHAT],
    ...over,
  })

async function aRule(over: Record<string, unknown> = {}): Promise<AlertRule> {
  const answer = await tryRule(over)
  expect(answer.status, answer.text).toBe(201)
  return answer.as<AlertRule>()
}

async function alertsOf(rule: AlertRule): Promise<Alert[]> {
  const answer = await owner.get(`/api/alerts/fired?rule_id=${rule.id}&limit=100`)
  return answer.as<{ items: Alert[] }>().items
}

async function messagesTo(rule: AlertRule): Promise<AlertMessage[]> {
  const { rows } = await app.db.query<{ body: Buffer }>(
    `select m.body from outbox_deliveries d join outbox_messages m on m.id = d.message_id
     where d.lane_id = any ($1::uuid[]) order by d.seq`,
    [[...rule.actions, ...rule.escalation_actions].map(({ id }) => id)],
  )
  return rows.map(({ body }) => JSON.parse(String(body)) as AlertMessage)
}

const types = async (rule: AlertRule) => (await messagesTo(rule)).map(({ type }) => type)

/** The next minute is evaluated. */
async function aMinute(): Promise<void> {
  clock.advance(MINUTE_MS)
  await evaluateRules(app)
  await sendDue(app)
}

describe('rules', () => {
  test('are listed with masked secrets, changed and deleted', async () => {
    const rule = await aRule({
      name: '  Checkout  ',
      actions: [
        CHAT,
        { type: 'webhook', webhook_url: 'https://ci.example.com/hooks/rollout' },
        { type: 'email', to: 'team' },
        { type: 'pager', routing_key: 'abcdefabcdefabcdefabcdefabcd1234' },
      ],
    })
    expect(rule).toMatchObject({ name: 'Checkout', enabled: true, cooldown_minutes: 60, firing_count: 0 })
    const [chat, webhook, email, pager] = rule.actions
    expect(chat).toMatchObject({ webhook_url: 'https://hooks.example.com/…XXXX' })
    expect(webhook?.secret).toMatch(/^whsec_/)
    expect(email).toMatchObject({ to: 'team' })
    expect(pager).toMatchObject({ routing_key: '…1234' })

    const listed = await owner.get(`/api/alerts?projectId=${project.id}`)
    expect(listed.text).not.toMatch(/secretXXXX|abcdefabcdef/)
    expect(listed.text).not.toContain(webhook?.secret)

    const changed = await owner.patch(`/api/alerts/${rule.id}`, {
      name: 'Login',
      enabled: false,
      actions: [
        { id: chat?.id, type: 'chat', webhook_url: chat?.webhook_url },
        { id: webhook?.id, type: 'webhook' },
      ],
    })
    expect(changed.status, changed.text).toBe(200)
    expect(changed.as<AlertRule>()).toMatchObject({
      name: 'Login',
      enabled: false,
      actions: [{ id: chat?.id }, { id: webhook?.id }],
    })
    expect(changed.text).not.toContain('"secret"')

    expect((await owner.delete(`/api/alerts/${rule.id}`)).status).toBe(204)
    expect((await owner.delete(`/api/alerts/${rule.id}`)).status).toBe(404)
    expect((await owner.get('/api/alerts')).as<{ total: number }>().total).toBe(0)
  })

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['a key of another trigger', { conditions: { multiplier: 5 } }, /multiplier does not belong to new_issue/],
    ['an unknown key', { conditions: { treshold: 5 } }, /treshold/],
    [
      'a threshold of 0',
      { trigger_type: 'issue_spike', conditions: { threshold: 0 } },
      /threshold must be a number above 0/,
    ],
    ['a negative threshold', { conditions: { threshold: -5 } }, /threshold must be a number above 0/],
    ['a huge threshold', { conditions: { threshold: 1e308 } }, /threshold must be a number above 0/],
    ['a text as threshold', { conditions: { threshold: '5' } }, /threshold must be a number/],
    ['an unknown trigger', { trigger_type: 'new_issues' }, /trigger_type must be one of new_issue/],
    ['an unknown action', { actions: [{ type: 'sms', webhook_url: 'https://a.example' }] }, /type must be one of chat/],
    ['an action without its address', { actions: [{ type: 'chat' }] }, /actions\[0\]\.webhook_url is missing/],
    [
      'an internal address',
      { actions: [{ type: 'chat', webhook_url: 'http://169.254.169.254/latest' }] },
      /address|169/,
    ],
    ['no URL', { actions: [{ type: 'teamchat', webhook_url: 'ftp://files.example.com' }] }, /URL|http/],
    ['a wrong address of a mail', { actions: [{ type: 'email', to: ['someone'] }] }, /to must be team, assignee/],
    ['a routing key that is none', { actions: [{ type: 'pager', routing_key: 'short' }] }, /routing_key/],
    ['escalation without actions', { escalate_after_minutes: 5 }, /escalation_actions is empty/],
    ['an empty name', { name: ' ' }, /name must be/],
    ['a fraction of minutes', { cooldown_minutes: 1.5 }, /cooldown_minutes must be a whole number/],
  ])('refuse %s', async (_, over, message) => {
    const answer = await tryRule(over)
    expect(answer.status, answer.text).toBe(400)
    expect(answer.body['error']).toMatch(message)
  })

  test('are bounded per project', async () => {
    await app.db.query(
      `insert into alert_rules (id, org_id, project_id, name, trigger_type, conditions, enabled, cooldown_minutes, close_with_issue, created_at, updated_at)
       select gen_random_uuid(), p.org_id, p.id, 'Many', 'new_issue', '{}', true, 60, true, now(), now()
       from projects p, generate_series(1, $2::int) where p.id = $1`,
      [project.id, MAX_RULES_PER_PROJECT],
    )
    expect((await tryRule()).status).toBe(409)
  })
})

describe('a rule for new issues', () => {
  test('fires once per issue, with severity and environment as filters, and says so through its actions', async () => {
    const rule = await aRule()
    const severe = await aRule({ conditions: { severity: 'critical' } })
    const staging = await aRule({ conditions: { environment: 'staging' } })
    await t.events(project, [{ error: 'pay' }, { error: 'pay' }, { error: 'search', environment: 'staging' }])
    await t.events(project, [{ error: 'pay' }])
    const alerts = await alertsOf(rule)
    expect(alerts).toHaveLength(2)
    const [alert] = alerts
    expect(alert).toMatchObject({ state: 'firing', trigger_type: 'new_issue', value: null, acknowledged_by: null })
    expect(alert?.explanation).toContain('occurred for the first time')
    expect(alert?.deliveries).toMatchObject([{ action_type: 'chat', purpose: 'fired', state: 'pending' }])
    expect(await alertsOf(severe)).toHaveLength(0)
    expect(await alertsOf(staging)).toMatchObject([{ title: 'New issue: searchError: search failed' }])
    const [message] = await messagesTo(rule)
    expect(message).toMatchObject({
      type: 'alert.fired',
      app_id: project.id,
      user_id: '',
      data: { rule: { id: rule.id }, project: { id: project.id }, issue: { event_count: 2 } },
    })
  })

  test('fires for an issue that becomes severe while it is new', async () => {
    const rule = await aRule({ conditions: { severity: 'critical' } })
    const crash = { error: { in: 'boot', handled: false }, level: 'fatal' }
    await t.events(project, [{ ...crash, user: { id: '1' } }])
    expect(await alertsOf(rule)).toHaveLength(0)
    await t.events(
      project,
      Array.from({ length: 30 }, (_, index) => ({ ...crash, user: { id: `u${index}` } })),
    )
    expect(await alertsOf(rule)).toMatchObject([{ severity: 'critical' }])
  })

  test('does not fire when it is off, or of another project', async () => {
    const rule = await aRule({ enabled: false })
    const other = await t.project(owner)
    const ofOther = await aRule({ projectId: other.id })
    await t.events(project, [{ error: 'pay' }])
    expect(await alertsOf(rule)).toHaveLength(0)
    expect(await alertsOf(ofOther)).toHaveLength(0)
  })

  test('more than ten alerts in a minute are recorded, and one summary stands for the further ones', async () => {
    const rule = await aRule()
    await t.events(
      project,
      Array.from({ length: 25 }, (_, index) => ({ error: `part${'abcdefghijklmnopqrstuvwxyz'[index] ?? ''}` })),
    )
    expect(await alertsOf(rule)).toHaveLength(25)
    expect(await messagesTo(rule)).toHaveLength(10)
    await sendDue(app)
    expect(await messagesTo(rule)).toHaveLength(10)
    await aMinute()
    await aMinute()
    const all = await messagesTo(rule)
    expect(all).toHaveLength(11)
    expect(all.at(-1)?.data.summary).toMatchObject({ count: 15 })
    expect(all.at(-1)?.data.summary?.alert_ids).toHaveLength(15)
  })
})

describe('a rule for regressions', () => {
  test('fires when an issue comes back, at most once per cool-down', async () => {
    const rule = await aRule({ trigger_type: 'issue_regression', cooldown_minutes: 30 })
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    const resolve = () => owner.patch(`/api/issues/${issue.id}`, { status: 'resolved' })
    const comeBack = async () => {
      await resolve()
      clock.advance(MINUTE_MS)
      await t.events(project, [{ error: 'pay' }])
    }
    clock.advance(MINUTE_MS)
    await comeBack()
    expect(await alertsOf(rule)).toMatchObject([{ state: 'firing', issue_id: issue.id }])
    await comeBack()
    await comeBack()
    expect(await alertsOf(rule)).toMatchObject([{ state: 'resolved', resolved_reason: 'The issue was resolved.' }])
    clock.advance(30 * MINUTE_MS)
    await comeBack()
    expect(await alertsOf(rule)).toMatchObject([{ state: 'firing' }, { state: 'resolved' }])
    expect(await types(rule)).toEqual(['alert.fired', 'alert.resolved', 'alert.fired'])
  })

  test('a member who marks an issue as regressed fires nothing', async () => {
    const rule = await aRule({ trigger_type: 'issue_regression' })
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    await owner.patch(`/api/issues/${issue.id}`, { status: 'regressed' })
    expect(await alertsOf(rule)).toHaveLength(0)
  })
})

describe('a rule for spikes', () => {
  const spike = { trigger_type: 'issue_spike', conditions: { threshold: 20, window_minutes: 10 } }

  test('fires when both bounds are passed, once, and ends five minutes after its condition', async () => {
    const rule = await aRule(spike)
    await t.events(
      project,
      Array.from({ length: 19 }, () => ({ error: 'pay' })),
    )
    await aMinute()
    expect(await alertsOf(rule)).toHaveLength(0)
    await t.events(project, [{ error: 'pay' }])
    await aMinute()
    await aMinute()
    const [alert, ...others] = await alertsOf(rule)
    expect(others).toEqual([])
    expect(alert).toMatchObject({ state: 'firing', value: 20, unit: 'events', threshold: 20, window: 10 })
    expect(alert?.explanation).toContain('received 20 events in the last 10 minutes')
    for (let minute = 0; minute < 18; minute++) await aMinute()
    expect(await alertsOf(rule)).toMatchObject([
      { state: 'resolved', resolved_reason: 'Its condition has not held for 5 minutes.' },
    ])
  })

  test('a value that moves around the threshold fires once per cool-down', async () => {
    const rule = await aRule({ ...spike, conditions: { threshold: 20, window_minutes: 1 }, cooldown_minutes: 60 })
    for (let minute = 0; minute < 50; minute++) {
      if (minute % 7 === 0)
        await t.events(
          project,
          Array.from({ length: 20 }, () => ({ error: 'pay' })),
        )
      await aMinute()
    }
    expect(await alertsOf(rule)).toHaveLength(1)
  })

  test('what is usual at this hour is no spike', async () => {
    const rule = await aRule({ ...spike, conditions: { threshold: 20, window_minutes: 60 } })
    for (let day = 7; day >= 1; day--) {
      clock.set(new Date(Date.parse(START) - day * 24 * HOUR_MS))
      await t.events(
        project,
        Array.from({ length: 10 }, () => ({ error: 'pay' })),
      )
    }
    clock.set(START)
    await t.events(
      project,
      Array.from({ length: 40 }, () => ({ error: 'pay' })),
    )
    await aMinute()
    expect(await alertsOf(rule)).toHaveLength(0)
    await t.events(
      project,
      Array.from({ length: 10 }, () => ({ error: 'pay' })),
    )
    await aMinute()
    expect(await alertsOf(rule)).toMatchObject([{ value: 50 }])
  })

  test('asks for users where the rule does, and takes no late events', async () => {
    const rule = await aRule({ ...spike, conditions: { threshold: 5, window_minutes: 10, min_users: 3 } })
    await t.events(
      project,
      Array.from({ length: 6 }, () => ({ error: 'pay', user: { id: 'one' } })),
    )
    await aMinute()
    expect(await alertsOf(rule)).toHaveLength(0)
    const late = clock.now().getTime() / 1000 - 3_600
    await t.events(
      project,
      Array.from({ length: 6 }, (_, index) => ({ error: 'pay', user: { id: `late${index}` }, timestamp: late })),
    )
    await aMinute()
    expect(await alertsOf(rule)).toHaveLength(0)
    await t.events(project, [
      { error: 'pay', user: { id: 'two' } },
      { error: 'pay', user: { id: 'three' } },
    ])
    await aMinute()
    expect(await alertsOf(rule)).toMatchObject([{ value: 8 }])
  })

  test('two workers that evaluate the same minute fire once; a clock that goes back fires nothing twice', async () => {
    const rule = await aRule(spike)
    await t.events(
      project,
      Array.from({ length: 20 }, () => ({ error: 'pay' })),
    )
    clock.advance(MINUTE_MS)
    await Promise.all([evaluateRules(app), evaluateRules(app), evaluateRules(app)])
    expect(await alertsOf(rule)).toHaveLength(1)
    for (const jump of [-HOUR_MS, 2 * HOUR_MS, -24 * HOUR_MS, 24 * HOUR_MS - HOUR_MS]) {
      clock.advance(jump)
      await evaluateRules(app)
    }
    expect((await alertsOf(rule)).filter(({ state }) => state === 'firing').length).toBeLessThanOrEqual(1)
    expect(await alertsOf(rule)).toHaveLength(1)
  })

  test('an escalated issue fires once, and its alert ends when it is calm', async () => {
    const rule = await aRule(spike)
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    clock.advance(HOUR_MS)
    await t.events(
      project,
      Array.from({ length: 60 }, () => ({ error: 'pay' })),
    )
    await aMinute()
    expect((await owner.get(`/api/issues/${issue.id}`)).as<{ status: string }>().status).toBe('escalated')
    expect(await alertsOf(rule)).toHaveLength(1)
  })
})

describe('an alert', () => {
  test('is acknowledged once, by a member', async () => {
    const rule = await aRule()
    await t.events(project, [{ error: 'pay' }])
    const [alert] = await alertsOf(rule)
    expect((await owner.get('/api/alerts/recent')).body).toMatchObject({ unread_count: 1, items: [{ id: alert?.id }] })
    const first = await owner.post(`/api/alerts/${alert?.id}/ack`)
    clock.advance(MINUTE_MS)
    const second = await owner.post(`/api/alerts/${alert?.id}/ack`)
    expect(first.status).toBe(200)
    expect(first.as<Alert>()).toMatchObject({ state: 'acknowledged', acknowledged_at: START })
    expect(second.as<Alert>().acknowledged_at).toBe(START)
    expect((await owner.get('/api/alerts/recent')).body).toMatchObject({ unread_count: 0 })
    const [, message] = await messagesTo(rule)
    expect(message).toMatchObject({ type: 'alert.acknowledged', data: { alert: { state: 'acknowledged' } } })
    expect(message?.user_id).not.toBe('')
    expect(await types(rule)).toEqual(['alert.fired', 'alert.acknowledged'])
  })

  test('escalates when no member acknowledges it', async () => {
    const rule = await aRule({
      escalate_after_minutes: 5,
      escalation_actions: [{ type: 'pager', routing_key: 'abcdefabcdefabcdefabcdefabcd1234' }],
    })
    const acknowledged = await aRule({
      escalate_after_minutes: 5,
      escalation_actions: [{ type: 'pager', routing_key: 'abcdefabcdefabcdefabcdefabcd1234' }],
    })
    await t.events(project, [{ error: 'pay' }])
    const [other] = await alertsOf(acknowledged)
    await owner.post(`/api/alerts/${other?.id}/ack`)
    for (let minute = 0; minute < 7; minute++) await aMinute()
    const [alert] = await alertsOf(rule)
    expect(alert?.escalated_at).not.toBeNull()
    expect(alert?.deliveries.map(({ action_type, purpose }) => [action_type, purpose])).toEqual([
      ['chat', 'fired'],
      ['pager', 'escalated'],
    ])
    expect((await alertsOf(acknowledged))[0]?.escalated_at).toBeNull()
    await owner.post(`/api/alerts/${alert?.id}/resolve`)
    expect((await messagesTo(rule)).map(({ type, data }) => [type, data.escalated === true])).toEqual([
      ['alert.fired', false],
      ['alert.fired', true],
      ['alert.resolved', false],
      ['alert.resolved', false],
    ])
  })

  test('ends with its issue, but not where the rule keeps it open', async () => {
    const [rule, open] = [await aRule(), await aRule({ close_with_issue: false })]
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    await owner.patch(`/api/issues/${issue.id}`, { status: 'resolved' })
    expect(await alertsOf(rule)).toMatchObject([{ state: 'resolved', resolved_reason: 'The issue was resolved.' }])
    expect(await alertsOf(open)).toMatchObject([{ state: 'firing' }])
  })

  test('expires after seven days', async () => {
    const rule = await aRule()
    await t.events(project, [{ error: 'pay' }])
    clock.advance(7 * 24 * HOUR_MS - MINUTE_MS)
    await sendDue(app)
    expect(await alertsOf(rule)).toMatchObject([{ state: 'firing' }])
    clock.advance(2 * MINUTE_MS)
    await sendDue(app)
    expect(await alertsOf(rule)).toMatchObject([{ state: 'expired' }])
    expect(await types(rule)).toEqual(['alert.fired', 'alert.resolved'])
  })

  test('ends with its rule, whose last messages still leave', async () => {
    const rule = await aRule()
    await t.events(project, [{ error: 'pay' }])
    await owner.delete(`/api/alerts/${rule.id}`)
    expect(await alertsOf(rule)).toMatchObject([{ state: 'resolved', rule_name: 'A rule' }])
    const pending = async () =>
      app.db
        .selectFrom('outbox_deliveries')
        .select('state')
        .where('lane_id', '=', rule.actions[0]?.id ?? '')
        .execute()
    expect(await pending()).toEqual([{ state: 'pending' }, { state: 'pending' }])
    clock.advance(25 * HOUR_MS)
    await purgeAlertsTask.run(app, {}, new AbortController().signal)
    expect(await pending()).toEqual([{ state: 'failed' }, { state: 'failed' }])
    expect(await alertsOf(rule)).toHaveLength(1)
  })

  test('a deleted project has no alerts, and nothing of them is sent', async () => {
    const rule = await aRule()
    await t.events(project, [{ error: 'pay' }])
    await owner.request('DELETE', `/api/projects/${project.id}`, { body: { confirm: project.slug } })
    expect((await tryRule()).status).toBe(404)
    expect(await alertsOf(rule)).toHaveLength(0)
    const rows = await app.db
      .selectFrom('outbox_deliveries')
      .select('state')
      .where('lane_id', '=', rule.actions[0]?.id ?? '')
      .execute()
    expect(rows).toEqual([{ state: 'failed' }])
  })

  test('the same cause fires a rule once, also from parallel transactions', async () => {
    const rule = await aRule({ cooldown_minutes: 0 })
    const fire = () =>
      app.tx((tx) =>
        fireAlerts(tx, app, factContext(app, systemActor('alerts')), [
          {
            ruleId: rule.id,
            subject: '',
            issueId: null,
            cause: 'minute 1',
            title: 'Cold start',
            severity: 'high',
            value: 1,
            unit: 'ms',
            threshold: 1,
            windowMinutes: 1,
            explanation: '.',
          },
        ]),
      )
    const fired = await Promise.all(Array.from({ length: 8 }, fire))
    expect(fired.flat()).toHaveLength(1)
    expect(await messagesTo(rule)).toHaveLength(1)
  })

  test('is listed by project, rule, issue, state and time, page by page', async () => {
    const rule = await aRule()
    const issue = await t.issue({ by: owner, project, error: 'pay' })
    clock.advance(MINUTE_MS)
    await t.events(project, [{ error: 'search' }])
    const total = async (query: string) => (await owner.get(`/api/alerts/fired?${query}`)).as<{ total: number }>().total
    expect(await total(`rule_id=${rule.id}`)).toBe(2)
    expect(await total(`issue_id=${issue.id}`)).toBe(1)
    expect(await total('state=resolved&state=expired')).toBe(0)
    expect(await total('state=firing')).toBe(2)
    expect(await total(`from=${new Date(Date.parse(START) + 1).toISOString()}`)).toBe(1)
    expect((await owner.get('/api/alerts/fired?state=open')).status).toBe(400)
    const page = (await owner.get('/api/alerts/fired?limit=1')).as<{ items: Alert[]; next_cursor: string }>()
    const next = (await owner.get(`/api/alerts/fired?limit=1&cursor=${page.next_cursor}`)).as<{ items: Alert[] }>()
    expect(next.items[0]?.issue_id).toBe(issue.id)
    expect((await owner.get('/api/alerts/fired?cursor=x')).status).toBe(400)
  })
})
