import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { buttonsOf, type ChatReceiver, startChat } from '#test/kit/chat-receiver.ts'
import {
  BOT_TOKEN,
  DISCORD_LIMIT,
  DISCORD_PATH,
  MATTERMOST_PATH,
  startDiscord,
  startMattermost,
  startNtfy,
  startTelegram,
  TELEGRAM_LIMIT,
} from '#test/kit/chat-vendors.ts'
import type { TestProject } from '#test/kit/founder.ts'
import { PAGER_KEY, startPager } from '#test/kit/pager-receiver.ts'
import type { Founder } from '#test/kit/product.ts'
import { type Answer, type ReceivedRequest, startReceiver } from '#test/kit/receiver.ts'
import { startTeamchat, textsOf } from '#test/kit/teamchat-receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { acceptedBy, VERIFIER_NAMES } from '#test/kit/webhook-verifiers.ts'
import { AlertMessage } from '../rules/alert-message.ts'
import type { ActionResult, Alert, AlertDelivery } from '../rules/alerts.api.ts'
import { fireAlerts, type Firing } from '../rules/fire-alerts.ts'
import { sendDue } from '../rules/keep-alerts.ts'
import type { AlertRule } from '../rules/rule.api.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import { newId } from '../../platform/kernel/ids.ts'

/** Answers that the pager gives instead, in turn. */
let pagerFaults: Answer[] = []
const pager = await startPager(() => pagerFaults.shift())
// Before the app: it is closed after it.
afterAll(() => pager.receiver.close())
let telegramFaults: Answer[] = []
const telegram = await startTelegram(() => telegramFaults.shift())
afterAll(() => telegram.receiver.close())
const t = await testServer({
  deliveries: true,
  realTime: true,
  env: { PAGER_BASE_URL: pager.url, TELEGRAM_BASE_URL: telegram.url },
})
const { app } = t

let owner: Founder
let project: TestProject
beforeEach(async () => {
  pagerFaults = []
  telegramFaults = []
  telegram.posts.length = 0
  owner = await t.founder()
  project = await t.project(owner)
})

const closing = <T extends { readonly receiver: { close(): Promise<void> } }>(started: T): T => {
  onTestFinished(() => started.receiver.close())
  return started
}
const aChat = async (fault?: (request: ReceivedRequest) => Answer | undefined): Promise<ChatReceiver> =>
  closing(await startChat(fault))

async function aRule(
  actions: readonly Record<string, unknown>[],
  over: Record<string, unknown> = {},
): Promise<AlertRule> {
  const answer = await owner.post('/api/alerts', {
    projectId: project.id,
    name: 'Spikes of the shop',
    trigger_type: 'issue_spike',
    cooldown_minutes: 0,
    actions,
    ...over,
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.as<AlertRule>()
}

/** Fires a rule. @returns ids of the alerts, in order */
async function fire(rule: AlertRule, over: Partial<Firing> = {}, count = 1): Promise<string[]> {
  const firings = Array.from({ length: count }, (_, index) => ({
    ruleId: rule.id,
    subject: `subject ${index}`,
    issueId: null,
    cause: newId(),
    title: `Spike ${index}`,
    severity: 'critical' as const,
    value: 1_240,
    unit: 'events' as const,
    threshold: 100,
    windowMinutes: 60,
    explanation: '1,240 events in the last hour.',
    ...over,
  }))
  return app.tx((tx) => fireAlerts(tx, app, factContext(app, systemActor('alerts')), firings))
}
const fireOne = async (rule: AlertRule, over: Partial<Firing> = {}): Promise<string> =>
  (await fire(rule, over))[0] ?? ''

const readAlert = async (id: string): Promise<Alert> => (await owner.get(`/api/alerts/fired/${id}`)).as<Alert>()
const acknowledge = (id: string) => owner.post(`/api/alerts/${id}/ack`)
const resolve = (id: string) => owner.post(`/api/alerts/${id}/resolve`)

/** The delivery of an alert for a purpose, when it is in the state. */
const delivered = (
  alertId: string,
  purpose: AlertDelivery['purpose'] = 'fired',
  state: AlertDelivery['state'] = 'delivered',
): Promise<AlertDelivery> =>
  waitFor(`${purpose} to be ${state}`, async () => {
    const one = (await readAlert(alertId)).deliveries.find((delivery) => delivery.purpose === purpose)
    return one?.state === state && one
  })

const readAction = async (rule: AlertRule, index = 0) => {
  const { items } = (await owner.get(`/api/alerts?projectId=${project.id}`)).as<{ items: AlertRule[] }>()
  return items.find(({ id }) => id === rule.id)?.actions[index]
}

describe('chat', () => {
  test('gets the alert with its buttons, the acknowledgement and the end', async () => {
    const chat = await aChat()
    const rule = await aRule([{ type: 'chat', webhook_url: chat.url }])
    const id = await fireOne(rule)
    await delivered(id)
    await acknowledge(id)
    await delivered(id, 'acknowledged')
    await resolve(id)
    await delivered(id, 'resolved')
    expect(chat.messages.map(({ blocks: [header] }) => header)).toMatchObject([
      { text: { text: 'Spike 0' } },
      { text: { text: 'Acknowledged: Spike 0' } },
      { text: { text: 'Resolved: Spike 0' } },
    ])
    expect(chat.messages.map((message) => buttonsOf(message).map(({ text }) => text.text))).toEqual([
      ['Acknowledge', 'Resolve', 'Open the alert'],
      ['Resolve', 'Open the alert'],
      ['Open the alert'],
    ])
    expect(await readAction(rule)).toMatchObject({ last_status: 200, needs_attention: false })
  })

  test('that has no such channel is asked once, and the action needs attention', async () => {
    const chat = await aChat()
    const rule = await aRule([{ type: 'chat', webhook_url: `${chat.url}-gone` }])
    const one = await delivered(await fireOne(rule), 'fired', 'failed')
    expect(one).toMatchObject({ attempts: 1, last_status: 404, next_attempt_at: null })
    expect(await readAction(rule)).toMatchObject({ last_status: 404, needs_attention: true })
  })

  test('that asks to wait is given the time, and an error of a server is retried', async () => {
    const answers: Answer[] = [{ status: 429, headers: { 'retry-after': '1800' } }, 503]
    const chat = await aChat(() => answers.shift())
    const rule = await aRule([{ type: 'chat', webhook_url: chat.url }])
    const waits: number[] = []
    for (let n = 0; n < 2; n++) {
      const { created_at: at, next_attempt_at: next } = await delivered(await fireOne(rule), 'fired', 'failed')
      waits.push((Date.parse(next ?? '') - Date.parse(at)) / 60_000)
    }
    expect(waits[0]).toBeGreaterThan(29)
    expect(waits[0]).toBeLessThan(31)
    expect(waits[1]).toBeLessThan(2)
  })

  test('that was away gets everything in order when it answers again', async () => {
    let isAway = true
    const chat = await aChat(() => (isAway ? 503 : undefined))
    const rule = await aRule([{ type: 'chat', webhook_url: chat.url }])
    const ids: string[] = []
    for (const title of ['First', 'Second', 'Third']) {
      const id = await fireOne(rule, { title })
      await delivered(id, 'fired', 'failed')
      ids.push(id)
    }
    await resolve(ids[0] ?? '')
    await delivered(ids[0] ?? '', 'resolved', 'failed')
    isAway = false
    ids.push(await fireOne(rule, { title: 'Fourth' }))
    for (const id of ids) await delivered(id)
    await delivered(ids[0] ?? '', 'resolved')
    expect(chat.messages.map(({ blocks: [header] }) => header?.type === 'header' && header.text.text)).toEqual([
      'Fourth',
      // The state that is true now.
      'Resolved: First',
      'Second',
      'Third',
      'Resolved: First',
    ])
  })

  test('the secret of its address is in no log of deliveries, though it answers with it', async () => {
    const chat = await aChat(({ path }) => ({ status: 400, headers: { 'x-path': path }, body: `no such path ${path}` }))
    const rule = await aRule([{ type: 'chat', webhook_url: chat.url }])
    await delivered(await fireOne(rule), 'fired', 'failed')
    const { rows } = await app.db.query<{ text: string }>(
      `select to_jsonb(a)::text as text from outbox_attempts a join outbox_deliveries d on d.id = a.delivery_id
       where d.lane_id = $1`,
      [rule.actions[0]?.id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.text).toContain('no such path')
    const token = chat.url.split('/').at(-1) ?? ''
    expect(rows[0]?.text).not.toContain(token)
    expect(JSON.stringify(t.logLines)).not.toContain(token)
  })
})

describe('webhook', () => {
  test('gets the message, signed; every verifier takes it', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const rule = await aRule([{ type: 'webhook', webhook_url: `${receiver.url}/hook` }])
    const secret = rule.actions[0]?.secret ?? ''
    const id = await fireOne(rule)
    await delivered(id)
    await acknowledge(id)
    await delivered(id, 'acknowledged')
    const [fired, acknowledged] = receiver.requests
    if (fired === undefined || acknowledged === undefined) throw new Error('no request')
    for (const request of [fired, acknowledged])
      expect((await acceptedBy(secret, request)).toSorted()).toEqual([...VERIFIER_NAMES].toSorted())
    expect(fired.headers).toMatchObject({ 'svc-event': 'alert.fired', 'content-type': 'application/json' })
    expect(fired.headers['svc-delivery']).toMatch(/^d_/)
    const message = AlertMessage.parse(JSON.parse(fired.body.toString()))
    expect(message).toMatchObject({
      type: 'alert.fired',
      app_id: project.id,
      user_id: '',
      data: { alert: { id, state: 'firing', value: 1_240 }, rule: { id: rule.id }, issue: null },
    })
    const second = AlertMessage.parse(JSON.parse(acknowledged.body.toString()))
    expect(second.type).toBe('alert.acknowledged')
    expect(second.user_id).toBe(second.data.alert.acknowledged_by?.id)
    expect(second.id).not.toBe(message.id)
  })

  test('is attempted again after every refusal', async () => {
    const receiver = await startReceiver({ respond: () => 404 })
    onTestFinished(() => receiver.close())
    const rule = await aRule([{ type: 'webhook', webhook_url: receiver.url }])
    const { next_attempt_at: next } = await delivered(await fireOne(rule), 'fired', 'failed')
    expect(next).not.toBeNull()
  })
})

describe('pager', () => {
  const keyOf = (rule: AlertRule, subject: string): string => `${rule.id}/${subject}`
  const incidentsOf = (rule: AlertRule) => pager.incidents.filter(({ key }) => key.startsWith(rule.id))
  const aPaged = (over: Record<string, unknown> = {}) => aRule([{ type: 'pager', routing_key: PAGER_KEY }], over)

  test('opens an incident, acknowledges it and resolves it', async () => {
    const rule = await aPaged()
    const id = await fireOne(rule, { subject: 'checkout' })
    await delivered(id)
    const states = [incidentsOf(rule)[0]?.state]
    await acknowledge(id)
    await delivered(id, 'acknowledged')
    states.push(incidentsOf(rule)[0]?.state)
    await resolve(id)
    await delivered(id, 'resolved')
    states.push(incidentsOf(rule)[0]?.state)
    expect(states).toEqual(['triggered', 'acknowledged', 'resolved'])
    expect(incidentsOf(rule)).toMatchObject([{ key: keyOf(rule, 'checkout') }])
  })

  test('that was away opens no incident for what has ended, and the reason is shown', async () => {
    const rule = await aPaged()
    pagerFaults = [503, 503]
    const ended = await fireOne(rule, { subject: 'a' })
    await delivered(ended, 'fired', 'failed')
    await resolve(ended)
    await delivered(ended, 'resolved', 'failed')
    const next = await fireOne(rule, { subject: 'b' })
    await delivered(next)
    const skipped = await delivered(ended, 'fired', 'skipped')
    expect(skipped.skipped).toBe('The alert was resolved before the page could be sent.')
    await delivered(ended, 'resolved')
    expect(incidentsOf(rule)).toMatchObject([{ key: keyOf(rule, 'b'), state: 'triggered' }])
    // Nothing was wrong with the pager.
    expect(await readAction(rule)).toMatchObject({ needs_attention: false })
  })

  test('what waited does not end a newer incident of the same key', async () => {
    const rule = await aPaged()
    const first = await fireOne(rule, { subject: 'a' })
    await delivered(first)
    pagerFaults = [503]
    await resolve(first)
    await delivered(first, 'resolved', 'failed')
    const second = await fireOne(rule, { subject: 'a' })
    await delivered(second)
    expect((await delivered(first, 'resolved', 'skipped')).skipped).toBe(
      'A newer alert about the same was paged before this could be sent.',
    )
    expect(incidentsOf(rule)).toMatchObject([{ state: 'triggered' }])
  })

  test('a summary is one incident, which ends with the last of its alerts', async () => {
    const rule = await aPaged()
    const ids = await fire(rule, {}, 13)
    for (const id of ids.slice(0, 10)) await delivered(id)
    const newest = ids.at(-1) ?? ''
    await app.db.query(
      `update fired_alerts set summary_minute = summary_minute - interval '2 minutes' where rule_id = $1`,
      [rule.id],
    )
    await app.db.query(`update alert_summaries set minute = minute - interval '2 minutes' where rule_id = $1`, [
      rule.id,
    ])
    await sendDue(app)
    await waitFor('the summary', () => Promise.resolve(incidentsOf(rule).length === 11))
    const summary = incidentsOf(rule).find(({ key }) => key.includes('/summary/'))
    expect(summary?.summary).toContain('3 alerts of Spikes of the shop')
    for (const id of ids) await resolve(id)
    await waitFor('the end of the summary', () => Promise.resolve(summary?.state === 'resolved'))
    await delivered(newest, 'resolved')
    await waitFor('the end of all', () => Promise.resolve(incidentsOf(rule).every(({ state }) => state === 'resolved')))
  })

  test('an invalid event is not sent again', async () => {
    const rule = await aRule([{ type: 'pager', routing_key: `${PAGER_KEY}toolong` }])
    const one = await delivered(await fireOne(rule), 'fired', 'failed')
    expect(one).toMatchObject({ attempts: 1, last_status: 400, next_attempt_at: null })
  })
})

test('a team chat gets a card', async () => {
  const teamchat = closing(await startTeamchat())
  const rule = await aRule([{ type: 'teamchat', webhook_url: teamchat.url }])
  await delivered(await fireOne(rule))
  expect(teamchat.cards.map(textsOf)).toMatchObject([
    ['Spike 0', '1,240 events in the last hour.', ...Array.from({ length: 5 }, () => expect.any(String) as string)],
  ])
})

describe('further chats', () => {
  const token = 'tk_canary5k2x8vq1z7'

  test('each gets its message, and keeps its secrets', async () => {
    const [discord, mattermost, ntfy] = [
      closing(await startDiscord()),
      closing(await startMattermost()),
      closing(await startNtfy(token)),
    ]
    const rule = await aRule([
      { type: 'discord', webhook_url: discord.url + DISCORD_PATH },
      { type: 'mattermost', webhook_url: mattermost.url + MATTERMOST_PATH },
      { type: 'telegram', bot_token: BOT_TOKEN, chat_id: '-1001234567890' },
      { type: 'ntfy', webhook_url: `${ntfy.url}/shop-alerts`, access_token: token },
    ])
    const id = await fireOne(rule)
    await waitFor('all', async () => (await readAlert(id)).deliveries.every(({ state }) => state === 'delivered'))
    expect([discord, mattermost, telegram, ntfy].map(({ posts }) => posts.length)).toEqual([1, 1, 1, 1])
    expect(telegram.posts[0]?.chat_id).toBe('-1001234567890')
    const shown = (await owner.get(`/api/alerts/${rule.id}`)).text
    for (const secret of [BOT_TOKEN, token, DISCORD_PATH, MATTERMOST_PATH]) expect(shown).not.toContain(secret)
    // The mask is sent back, as a form does.
    const kept = await owner.patch(`/api/alerts/${rule.id}`, {
      actions: rule.actions.map(({ id: actionId, type, webhook_url }) => ({
        id: actionId,
        type,
        ...(webhook_url === undefined ? {} : { webhook_url }),
      })),
    })
    expect(kept.status, kept.text).toBe(200)
    const again = await fireOne(kept.as<AlertRule>())
    await waitFor('all', async () => (await readAlert(again)).deliveries.every(({ state }) => state === 'delivered'))
  })

  test('limits are waited for as each vendor says', async () => {
    const answers: Answer[] = [DISCORD_LIMIT]
    const discord = closing(await startDiscord(() => answers.shift()))
    telegramFaults = [TELEGRAM_LIMIT]
    const rule = await aRule([
      { type: 'discord', webhook_url: discord.url + DISCORD_PATH },
      { type: 'telegram', bot_token: BOT_TOKEN, chat_id: '7' },
    ])
    const id = await fireOne(rule)
    const due = await waitFor('both limits', async () => {
      const { deliveries } = await readAlert(id)
      return deliveries.every(({ last_status: status }) => status === 429) && deliveries
    })
    for (const { next_attempt_at: at } of due) expect(Date.parse(at ?? '') - Date.now()).toBeGreaterThan(0)
  })

  type Given = {
    type: 'discord' | 'mattermost' | 'ntfy' | 'telegram'
    path?: string
    bot_token?: string
    chat_id?: string
  }
  test.each<[string, Given, number, string]>([
    ['an unknown webhook', { type: 'discord', path: '/api/webhooks/1/none' }, 404, 'Unknown Webhook'],
    ['an unknown hook', { type: 'mattermost', path: '/hooks/none' }, 404, 'Invalid webhook.'],
    ['a chat that does not exist', { type: 'telegram', bot_token: BOT_TOKEN, chat_id: '-1' }, 400, 'chat not found'],
    ['a bot that was deleted', { type: 'telegram', bot_token: `${BOT_TOKEN}x`, chat_id: '1' }, 401, 'Unauthorized'],
    ['a topic that needs a token', { type: 'ntfy', path: '/shop' }, 403, 'forbidden'],
  ])('%s ends the delivery, and the answer says why', async (_name, given, status, text) => {
    const starts = { discord: startDiscord, mattermost: startMattermost, ntfy: () => startNtfy(token) }
    const { type, path = '', ...rest } = given
    const action =
      type === 'telegram' ? { type, ...rest } : { type, webhook_url: closing(await starts[type]()).url + path }
    const answer = await owner.post('/api/alerts/test-action', { projectId: project.id, action })
    expect(answer.as<ActionResult>()).toMatchObject({ ok: false, state: 'failed', status })
    expect(answer.as<ActionResult>().error).toContain(text)
  })

  test.each([
    [{ type: 'telegram', bot_token: 'x', chat_id: '1' }, 'bot_token must be'],
    [{ type: 'telegram', bot_token: BOT_TOKEN, chat_id: 'my chat' }, 'chat_id must be'],
    [{ type: 'telegram', bot_token: BOT_TOKEN }, 'chat_id is missing'],
    [{ type: 'ntfy', webhook_url: 'https://ntfy.sh/' }, 'must end with the topic'],
    [{ type: 'discord' }, 'webhook_url is missing'],
  ])('%o is refused', async (action, text) => {
    const answer = await owner.post('/api/alerts', {
      projectId: project.id,
      name: 'A rule',
      trigger_type: 'new_issue',
      actions: [action],
    })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)])
  })
})

test('an action whose address cannot be opened fails with the reason, and others are sent', async () => {
  const chat = await aChat()
  const rule = await aRule([
    { type: 'chat', webhook_url: chat.url },
    { type: 'chat', webhook_url: chat.url },
  ])
  await app.db.query('update alert_actions set config_sealed = $2 where id = $1', [rule.actions[0]?.id, 'k1:broken'])
  const id = await fireOne(rule)
  await waitFor('both', async () => {
    const states = (await readAlert(id)).deliveries.map(({ state, last_error: error }) => [state, error])
    return states.every(([state]) => state === 'delivered' || state === 'failed') && states
  }).then((states) =>
    expect(states).toEqual([
      ['failed', 'secret_unreadable'],
      ['delivered', null],
    ]),
  )
})

describe('tests', () => {
  const results = async (rule: AlertRule, body?: Record<string, unknown>): Promise<ActionResult[]> => {
    const answer = await owner.post(`/api/alerts/${rule.id}/test`, body)
    expect(answer.status, answer.text).toBe(200)
    return answer.as<{ results: ActionResult[] }>().results
  }
  const tryAction = (action: Record<string, unknown>, over: Record<string, unknown> = {}) =>
    owner.post('/api/alerts/test-action', { projectId: project.id, action, ...over })

  test('go through every action of a rule, and say what each answered', async () => {
    const [chat, teamchat] = [await aChat(), closing(await startTeamchat())]
    const receiver = await startReceiver({ respond: () => ({ status: 500, body: 'out of order' }) })
    onTestFinished(() => receiver.close())
    const rule = await aRule(
      [
        { type: 'chat', webhook_url: chat.url },
        { type: 'webhook', webhook_url: receiver.url },
        { type: 'email', to: 'assignee' },
        { type: 'pager', routing_key: PAGER_KEY },
        { type: 'teamchat', webhook_url: teamchat.url },
      ],
      { enabled: false },
    )
    const answers = await results(rule)
    expect(answers.map(({ action_id: id }) => id)).toEqual(rule.actions.map(({ id }) => id))
    expect(answers).toMatchObject([
      { type: 'chat', ok: true, state: 'delivered', status: 200, error: null },
      { type: 'webhook', ok: false, state: 'failed', status: 500, error: 'It answered 500: out of order' },
      { type: 'email', ok: true, state: 'delivered', target: 'assignee' },
      { type: 'pager', ok: true, state: 'delivered', status: 202 },
      { type: 'teamchat', ok: true, state: 'delivered', status: 202 },
    ])
    expect(chat.messages[0]?.text).toContain('Test of Spikes of the shop')
    expect(buttonsOf(chat.messages[0] ?? { text: '', blocks: [] }).map(({ text }) => text.text)).toEqual([
      'Open the rule',
    ])
    expect(pager.events.at(-1)).toMatchObject({ event_action: 'trigger', payload: { severity: 'info' } })
    expect(t.mails.at(-1)).toMatchObject({ to: owner.email })
    const [request] = receiver.requests
    if (request === undefined) throw new Error('no request')
    expect(AlertMessage.parse(JSON.parse(request.body.toString()))).toMatchObject({
      type: 'alert.test',
      data: { alert: { is_test: true } },
    })
    // A test is attempted once, and is no alert.
    const { rows } = await app.db.query(
      `select 1 from outbox_deliveries where lane_id = any ($1::uuid[]) and next_attempt_at is not null`,
      [rule.actions.map(({ id }) => id)],
    )
    expect(rows).toEqual([])
    expect((await owner.get('/api/alerts/recent')).body).toMatchObject({ items: [], unread_count: 0 })
  })

  test('go through one action', async () => {
    const chat = await aChat()
    const rule = await aRule([
      { type: 'chat', webhook_url: chat.url },
      { type: 'chat', webhook_url: chat.url },
    ])
    const id = rule.actions[1]?.id
    expect(await results(rule, { action_id: id })).toMatchObject([{ action_id: id, ok: true }])
    expect(chat.messages).toHaveLength(1)
    expect((await owner.post(`/api/alerts/${rule.id}/test`, { action_id: newId() })).status).toBe(404)
  })

  test('of a rule without actions are refused', async () => {
    const rule = await aRule([])
    expect((await owner.post(`/api/alerts/${rule.id}/test`)).status).toBe(409)
  })

  test('of an action that is not saved make one attempt', async () => {
    const chat = await aChat()
    expect((await tryAction({ type: 'chat', webhook_url: chat.url })).body).toMatchObject({
      action_id: null,
      type: 'chat',
      ok: true,
      state: 'delivered',
      status: 200,
    })
    expect((await tryAction({ type: 'chat', webhook_url: `${chat.url}-gone` })).body).toMatchObject({
      ok: false,
      state: 'failed',
      status: 404,
      error: 'It answered 404: channel_not_found',
    })
    expect((await tryAction({ type: 'pager', routing_key: PAGER_KEY })).body).toMatchObject({ ok: true, status: 202 })
    expect((await tryAction({ type: 'email', to: 'team' })).body).toMatchObject({ ok: true, target: 'team' })
    const before = t.mails.length
    const stranger = await tryAction({ type: 'email', to: ['stranger@example.com'] })
    expect(stranger.body).toMatchObject({ ok: true, state: 'delivered' })
    expect(t.mails.slice(before)).toMatchObject([{ to: owner.email }])
    expect(chat.messages).toHaveLength(1)
    expect(chat.receiver.requests).toHaveLength(2)
  })

  test('of a changed action use what is stored of it, but never its secret at another address', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const rule = await aRule([{ type: 'webhook', webhook_url: `${receiver.url}/hook` }])
    const { id, webhook_url: masked, secret = '' } = rule.actions[0] ?? {}
    const tried = await tryAction({ type: 'webhook', id, webhook_url: masked }, { rule_id: rule.id })
    expect(tried.body).toMatchObject({ action_id: id, ok: true })
    const other = await startReceiver()
    onTestFinished(() => other.close())
    await tryAction({ type: 'webhook', id, webhook_url: `${other.url}/hook` }, { rule_id: rule.id })
    const [[stored], [elsewhere]] = [receiver.requests, other.requests]
    if (stored === undefined || elsewhere === undefined) throw new Error('no request')
    expect(await acceptedBy(secret, stored)).toContain('strict')
    expect(await acceptedBy(secret, elsewhere)).toEqual([])
  })

  test.each<[string, Record<string, unknown>, number]>([
    ['without an address', { type: 'chat' }, 400],
    ['with an address of the network inside', { type: 'chat', webhook_url: 'http://169.254.169.254/latest' }, 400],
    ['without recipients', { type: 'email' }, 400],
    ['with an id of nothing', { type: 'chat', id: newId() }, 400],
  ])('of an action %s are refused', async (_name, action, status) => {
    expect((await tryAction(action)).status).toBe(status)
  })
})
