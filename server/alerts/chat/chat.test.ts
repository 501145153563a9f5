import { expect, test } from 'vitest'
import { CHAT_SECRET, CHAT_TEAM, formOf, payloadOf, signedRequest } from '#test/kit/chat-platform.ts'
import { aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { startReceiver, type Answer } from '#test/kit/receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { ChatButton } from '../actions/chat-buttons.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { aChatUser, aFiredAlert } from './chat.fixture.ts'
import { MAX_LINKS } from './confirm-link.ts'

const t = await testServer({ env: { CHAT_SIGNING_SECRET: CHAT_SECRET } })
const { app, clock } = t

let respond: () => Answer = () => 200
const chat = await startReceiver({ respond: () => respond() })
t.onClose(() => chat.close())

type Message = {
  readonly replace_original: boolean
  readonly response_type?: string
  readonly text: string
  readonly blocks?: readonly { readonly elements?: readonly { readonly action_id?: string }[] }[]
}

/** Presses a button. @returns the status, and what the chat received */
async function press(
  button: ChatButton,
  alertId: string,
  chatUserId: string,
  payload: Record<string, unknown> = {},
): Promise<{ readonly status: number; readonly shown: Message | null }> {
  const before = chat.requests.length
  const { headers, body } = signedRequest(
    formOf({ ...payloadOf(button, alertId, chatUserId, `${chat.url}/response`), ...payload }),
    clock.now(),
  )
  const response = await fetch(`${t.url}/api/integrations/chat/interactive`, { method: 'POST', headers, body })
  await response.text()
  const sent = chat.requests.slice(before)
  expect(sent.length).toBeLessThanOrEqual(1)
  return {
    status: response.status,
    shown: sent[0] === undefined ? null : (JSON.parse(String(sent[0].body)) as Message),
  }
}

const buttonsOf = (message: Message | null): string[] =>
  (message?.blocks ?? []).flatMap(({ elements = [] }) => elements.flatMap(({ action_id: id }) => id ?? []))

const stateOf = async (alertId: string) =>
  app.db
    .selectFrom('fired_alerts')
    .select(['state', 'acknowledged_by'])
    .where('id', '=', alertId)
    .executeTakeFirstOrThrow()

const issueOf = async (issueId: string | null) =>
  app.db
    .selectFrom('issues')
    .select(['status', 'assignee_id'])
    .where('id', '=', issueId ?? '')
    .executeTakeFirstOrThrow()

const api = async (person: Person | null, method: string, path: string, body?: unknown) => {
  const response = await fetch(t.url + path, {
    method,
    headers: {
      ...(person === null ? {} : { cookie: person.cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  const text = await response.text()
  return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, never> }
}

const tokenOf = (message: Message | null): string => /#token=([\w-]+)\|/.exec(message?.text ?? '')?.[1] ?? ''

const entries = async (orgId: string, action: string) =>
  (
    await app.db.query<{
      actor_type: string
      actor_id: string
      meta: Record<string, unknown>
      session_id: string | null
    }>(
      'select actor_type, actor_id, meta::jsonb as meta, session_id from audit_log where org_id = $1 and action = $2 order by seq',
      [orgId, action],
    )
  ).rows

test('Acknowledge acts as the linked member, and the message says who', async () => {
  const owner = await aPerson(app, { name: 'Ada' })
  const chatUserId = await aChatUser(app, owner)
  const { alertId } = await aFiredAlert(app, owner)
  const { status, shown } = await press('acknowledge', alertId, chatUserId)
  expect(status).toBe(200)
  expect(shown).toMatchObject({ replace_original: true })
  expect(JSON.stringify(shown)).toContain('Acknowledged by Ada')
  expect(buttonsOf(shown)).toEqual(['alert_resolve', 'alert_ignore', 'alert_assign_to_me', 'alert_open'])
  expect(await stateOf(alertId)).toEqual({ state: 'acknowledged', acknowledged_by: owner.actor.userId })
  expect(await entries(owner.actor.orgId, 'alert.acknowledged')).toEqual([
    { actor_type: 'user', actor_id: owner.actor.userId, meta: { chat: true }, session_id: null },
  ])
})

test('Resolve resolves the issue and the alert, also where the rule keeps alerts open', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  for (const close_with_issue of [true, false]) {
    const { alertId, issueId } = await aFiredAlert(app, owner, { rule: { close_with_issue } })
    const { shown } = await press('resolve', alertId, chatUserId)
    expect(buttonsOf(shown)).toEqual(['alert_open'])
    expect(await stateOf(alertId)).toMatchObject({ state: 'resolved' })
    expect(await issueOf(issueId)).toMatchObject({ status: 'resolved' })
  }
})

test('Ignore and Assign to me change the issue', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  const { alertId, issueId } = await aFiredAlert(app, owner)
  await press('assign_to_me', alertId, chatUserId)
  expect(await issueOf(issueId)).toEqual({ status: 'unresolved', assignee_id: owner.actor.userId })
  const { shown } = await press('ignore', alertId, chatUserId)
  expect(shown).toMatchObject({ replace_original: true })
  expect(await issueOf(issueId)).toMatchObject({ status: 'ignored' })
})

test('an alert without an issue can be acknowledged and resolved', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  const { alertId } = await aFiredAlert(app, owner, { issue: false })
  expect(buttonsOf((await press('acknowledge', alertId, chatUserId)).shown)).toEqual(['alert_resolve', 'alert_open'])
  await press('assign_to_me', alertId, chatUserId)
  await press('resolve', alertId, chatUserId)
  expect(await stateOf(alertId)).toMatchObject({ state: 'resolved' })
})

test('a press that is delivered again later does not act again', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  const { alertId, issueId } = await aFiredAlert(app, owner)
  const trigger = { trigger_id: '1.2.3' }
  await press('resolve', alertId, chatUserId, trigger)
  await app.db
    .updateTable('issues')
    .set({ status: 'unresolved' })
    .where('id', '=', issueId ?? '')
    .execute()
  clock.advance(2_000)
  const again = await press('resolve', alertId, chatUserId, trigger)
  expect(again).toMatchObject({ status: 200, shown: { replace_original: true } })
  expect(await issueOf(issueId)).toMatchObject({ status: 'unresolved' })
})

test('a viewer reads privately that the role is too low, and the log has the refusal', async () => {
  const owner = await aPerson(app)
  const viewer = await aPerson(app, { role: 'viewer', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  const chatUserId = await aChatUser(app, viewer)
  const { alertId, issueId } = await aFiredAlert(app, owner)
  for (const button of ['acknowledge', 'resolve', 'ignore', 'assign_to_me'] as const) {
    const { status, shown } = await press(button, alertId, chatUserId)
    expect(status).toBe(200)
    expect(shown).toEqual({
      response_type: 'ephemeral',
      replace_original: false,
      text: 'This needs the role member or higher; yours is viewer.',
    })
  }
  expect(await stateOf(alertId)).toMatchObject({ state: 'firing' })
  expect(await issueOf(issueId)).toEqual({ status: 'unresolved', assignee_id: null })
})

test('who is no active member of the organisation gets what a missing alert gets', async () => {
  const owner = await aPerson(app)
  const { alertId } = await aFiredAlert(app, owner)
  const stranger = await aPerson(app)
  const disabled = await aPerson(app, { role: 'admin', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  await app.db
    .updateTable('memberships')
    .set({ disabled_at: clock.now() })
    .where('user_id', '=', disabled.actor.userId)
    .execute()
  const missing = await press('acknowledge', newId(), await aChatUser(app, owner))
  expect(missing.shown).toMatchObject({ response_type: 'ephemeral', replace_original: false })
  expect((await press('acknowledge', 'no-id', await aChatUser(app, owner))).shown).toEqual(missing.shown)
  for (const person of [stranger, disabled]) {
    const { status, shown } = await press('acknowledge', alertId, await aChatUser(app, person))
    expect(status).toBe(200)
    expect(shown).toEqual(missing.shown)
  }
  expect(await stateOf(alertId)).toMatchObject({ state: 'firing' })
})

test('rights are those in the organisation of the alert', async () => {
  const owner = await aPerson(app)
  const elsewhere = await aPerson(app)
  await aMembership(app, elsewhere, { org: { id: owner.actor.orgId, slug: owner.orgSlug }, role: 'viewer' })
  const chatUserId = await aChatUser(app, elsewhere)
  expect((await press('acknowledge', (await aFiredAlert(app, owner)).alertId, chatUserId)).shown?.text).toContain(
    'viewer',
  )
  const own = await aFiredAlert(app, elsewhere)
  await press('acknowledge', own.alertId, chatUserId)
  expect(await stateOf(own.alertId)).toMatchObject({ state: 'acknowledged' })
})

test('an unknown chat user gets a private link; after the confirmation the button acts', async () => {
  const owner = await aPerson(app)
  const { alertId } = await aFiredAlert(app, owner)
  const chatUserId = `U${newId().slice(-6)}`
  const first = await press('acknowledge', alertId, chatUserId)
  expect(first).toMatchObject({ status: 200, shown: { response_type: 'ephemeral', replace_original: false } })
  expect(first.shown?.text).toContain(`${app.config.publicUrl}/chat/link#token=`)
  expect(await stateOf(alertId)).toMatchObject({ state: 'firing' })
  const { shown } = await press('acknowledge', alertId, chatUserId)
  const token = tokenOf(shown)
  expect(token).toMatch(/^[\w-]{43}$/)

  // Only the newest link is valid, and what is stored is a hash.
  expect((await api(owner, 'POST', '/api/integrations/chat/links', { token: tokenOf(first.shown) })).status).toBe(400)
  const offers = await app.db.selectFrom('chat_link_offers').selectAll().execute()
  expect(JSON.stringify(offers)).not.toContain(token)

  expect((await api(null, 'POST', '/api/integrations/chat/links', { token })).status).toBe(401)
  expect((await api(owner, 'POST', '/api/integrations/chat/links/preview', { token })).body).toEqual({
    team_name: CHAT_TEAM.domain,
    chat_user_name: 'ada',
    expires_at: new Date(clock.now().getTime() + 600_000).toISOString(),
  })
  const linked = await api(owner, 'POST', '/api/integrations/chat/links', { token })
  expect(linked).toMatchObject({ status: 200, body: { team_id: CHAT_TEAM.id, chat_user_id: chatUserId } })
  expect((await api(owner, 'POST', '/api/integrations/chat/links', { token })).status).toBe(400)
  expect(await entries(owner.actor.orgId, 'integration.chat.linked')).toMatchObject([
    { actor_id: owner.actor.userId, meta: { team_id: CHAT_TEAM.id, chat_user_id: chatUserId } },
  ])

  await press('acknowledge', alertId, chatUserId)
  expect(await stateOf(alertId)).toMatchObject({ state: 'acknowledged' })
})

test('a link expires after ten minutes', async () => {
  const owner = await aPerson(app)
  const { alertId } = await aFiredAlert(app, owner)
  const token = tokenOf((await press('acknowledge', alertId, `U${newId().slice(-6)}`)).shown)
  clock.advance(10 * 60_000)
  expect((await api(owner, 'POST', '/api/integrations/chat/links', { token })).status).toBe(400)
})

test('a chat user belongs to one account; a team more makes another one', async () => {
  const [ada, eve] = [await aPerson(app), await aPerson(app)]
  const { alertId } = await aFiredAlert(app, ada)
  const chatUserId = `U${newId().slice(-6)}`
  const token = tokenOf((await press('acknowledge', alertId, chatUserId)).shown)
  await app.db.query(
    `insert into chat_links (id, team_id, chat_user_id, team_name, chat_user_name, user_id, created_at)
     values ($1, $2, $3, 'acme', 'ada', $4, $5)`,
    [newId(), CHAT_TEAM.id, chatUserId, ada.actor.userId, clock.now()],
  )
  expect((await api(eve, 'POST', '/api/integrations/chat/links', { token })).status).toBe(409)
  // Ada repeats it: nothing changes.
  expect((await api(ada, 'POST', '/api/integrations/chat/links', { token })).status).toBe(200)
  expect(await entries(ada.actor.orgId, 'integration.chat.linked')).toEqual([])

  const other = await press('acknowledge', alertId, chatUserId, { team: { id: 'T0002', domain: 'other' } })
  expect(tokenOf(other.shown)).not.toBe('')
})

test('links are listed and removed by their user, and then act no longer', async () => {
  const [ada, eve] = [await aPerson(app), await aPerson(app)]
  const { alertId } = await aFiredAlert(app, ada)
  const chatUserId = await aChatUser(app, ada)
  const { items } = (await api(ada, 'GET', '/api/me/chat-links')).body as unknown as {
    items: { id: string; chat_user_id: string }[]
  }
  expect(items).toMatchObject([{ chat_user_id: chatUserId }])
  const id = items[0]?.id ?? ''
  expect((await api(eve, 'GET', '/api/me/chat-links')).body).toEqual({ items: [] })
  expect((await api(eve, 'DELETE', `/api/me/chat-links/${id}`)).status).toBe(404)
  expect((await api(ada, 'DELETE', `/api/me/chat-links/${id}`)).status).toBe(204)
  expect(await entries(ada.actor.orgId, 'integration.chat.unlinked')).toHaveLength(1)
  expect(tokenOf((await press('acknowledge', alertId, chatUserId)).shown)).not.toBe('')
  expect(await stateOf(alertId)).toMatchObject({ state: 'firing' })
})

test('an account has at most 20 links', async () => {
  const ada = await aPerson(app)
  for (let n = 0; n < MAX_LINKS; n++) await aChatUser(app, ada)
  const { alertId } = await aFiredAlert(app, ada)
  const token = tokenOf((await press('acknowledge', alertId, `U${newId().slice(-6)}`)).shown)
  expect((await api(ada, 'POST', '/api/integrations/chat/links', { token })).status).toBe(409)
})

test('a chat that does not take the update changes nothing about the effect', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  const answers: Answer[] = [500, { fault: 'reset' }, { status: 302, headers: { location: 'http://127.0.0.1:1/' } }]
  for (const answer of answers) {
    respond = () => answer
    const { alertId } = await aFiredAlert(app, owner)
    expect((await press('acknowledge', alertId, chatUserId)).status).toBe(200)
    expect(await stateOf(alertId)).toMatchObject({ state: 'acknowledged' })
  }
  respond = () => 200
  // An address that the guard refuses is not reached.
  const { alertId } = await aFiredAlert(app, owner)
  const refused = await press('acknowledge', alertId, chatUserId, { response_url: 'http://169.254.169.254/latest' })
  expect(refused).toEqual({ status: 200, shown: null })
  expect(await stateOf(alertId)).toMatchObject({ state: 'acknowledged' })
  expect(t.logLines.filter(({ msg }) => String(msg).includes('could not be sent to the chat'))).not.toEqual([])
  expect(JSON.stringify(t.logLines)).not.toContain('/response')
})

test('the platform gets its answer in time, also when the chat does not answer ours', async () => {
  const owner = await aPerson(app)
  const chatUserId = await aChatUser(app, owner)
  const { alertId } = await aFiredAlert(app, owner)
  respond = () => ({ fault: 'hang' })
  const startedMs = performance.now()
  expect((await press('acknowledge', alertId, chatUserId)).status).toBe(200)
  expect(performance.now() - startedMs).toBeLessThan(3_000)
  expect(await stateOf(alertId)).toMatchObject({ state: 'acknowledged' })
  respond = () => 200
})

test('a user who is disabled acts no longer', async () => {
  const owner = await aPerson(app)
  const member = await aPerson(app, { role: 'member', org: { id: owner.actor.orgId, slug: owner.orgSlug } })
  const chatUserId = await aChatUser(app, member)
  const { alertId } = await aFiredAlert(app, owner)
  await app.db.updateTable('users').set({ disabled_at: clock.now() }).where('id', '=', member.actor.userId).execute()
  expect((await press('acknowledge', alertId, chatUserId)).shown).toMatchObject({ response_type: 'ephemeral' })
  expect(await stateOf(alertId)).toMatchObject({ state: 'firing' })
})
