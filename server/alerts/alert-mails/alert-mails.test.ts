import { expect, test } from 'vitest'
import { aPerson, type Person } from '#test/kit/members.ts'
import { insertIssue, insertProject } from '#test/kit/route-examples.ts'
import { startSmtpReceiver } from '#test/kit/smtp-receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createRule } from '../rules/create-rule.ts'
import { NewRule } from '../rules/rule.api.ts'
import type { App } from '../../platform/context/app.ts'
import { OUTSIDE_PER_HOUR } from '../../platform/mails/enqueue-mails.ts'
import { mailChannel } from '../../platform/mails/mail-channel.ts'
import { smtpMailer } from '../../platform/mails/smtp-mailer.ts'
import { updateProjectChannels } from '../notifications/update-project-channels.ts'
import { updatePreferences } from '../notifications/update-preferences.ts'
import { startDeliverer } from '../../platform/outbox/start-deliverer.ts'
import type { MailedAlert, MailPurpose } from './alert-mail.ts'
import { purgeAlertsTask } from '../rules/keep-alerts.ts'
import { enqueueAlertMails, MAX_PER_HOUR, type MailRecipients, type SentMail } from './enqueue-alert-mails.ts'
import { makeUnsubscribeToken, readUnsubscribeToken } from './unsubscribe-token.ts'

const t = await testServer()
const { app, clock } = t
const smtp = await startSmtpReceiver()
t.onClose(() => smtp.close())
const sending: App = {
  ...app,
  mail: smtpMailer(smtp.url, 'Faultline <faultline@example.com>', () => clock.now()),
}
const worker = startDeliverer(sending, [mailChannel])
t.onClose(() => worker.stop(2_000))

type World = { readonly owner: Person; readonly ruleId: string }

async function aRule(): Promise<World> {
  const owner = await aPerson(app, { name: 'Ada' })
  const issueId = await insertIssue(app, owner)
  const { project_id: projectId } = await app.db
    .selectFrom('issues')
    .select('project_id')
    .where('id', '=', issueId)
    .executeTakeFirstOrThrow()
  const rule = NewRule.parse({ projectId, name: 'Crashes of the shop', trigger_type: 'new_issue' })
  return { owner, ruleId: (await createRule(app, owner.actor, rule)).id }
}

const messageOf = (ruleId: string, over: Partial<MailedAlert['data']> = {}): MailedAlert => ({
  type: 'alert.fired',
  data: {
    alert: {
      title: 'Spike: “checkout” fails <b>now</b>',
      severity: 'high',
      value: 1_240.5,
      unit: 'events',
      threshold: 100,
      window_minutes: 60,
      explanation: '1,240 events within an hour, usually 12.',
      fired_at: '2026-11-20T12:00:00.000Z',
      url: 'https://faultline.example.com/alerts/history?alert=a1',
    },
    rule: { id: ruleId, name: 'Crashes of the shop' },
    project: { id: '00000000-0000-7000-8000-000000000001', name: 'Shop' },
    issue: {
      short_id: 'SHOP-42',
      title: 'TypeError: x is undefined',
      culprit: 'pay',
      assignee: null,
      event_count: 1_240,
      user_count: 1,
      last_release: '2.1.0',
      url: 'https://faultline.example.com/issues/i1',
    },
    ...over,
  },
})

const mail = (
  { owner, ruleId }: World,
  recipients: MailRecipients,
  { over = {}, purpose = 'fired' }: { over?: Partial<MailedAlert['data']>; purpose?: MailPurpose } = {},
): Promise<SentMail[]> =>
  app.tx((tx) =>
    enqueueAlertMails(tx, app, {
      orgId: owner.actor.orgId,
      message: messageOf(ruleId, over),
      recipients,
      purpose,
      at: clock.now(),
    }),
  )

const received = async (to: string, count = 1) => {
  await waitFor(`${count} mails to ${to}`, () => smtp.to(to).length >= count)
  return smtp.to(to)
}

const tokenIn = (text: string): string => /#token=([\w.-]+)/.exec(text)?.[1] ?? ''

const post = async (path: string, body: string, type = 'application/json') => {
  const response = await fetch(t.url + path, { method: 'POST', headers: { 'content-type': type }, body })
  const text = await response.text()
  return { status: response.status, body: JSON.parse(text) as unknown }
}
const unsubscribe = (token: string, scope: string) =>
  post('/api/notifications/unsubscribe', JSON.stringify({ token, scope }))

test('a mail arrives with what the alert says, and links to alert and issue', async () => {
  const world = await aRule()
  const [sent] = await mail(world, 'team')
  expect(sent).toMatchObject({ skipped: null, target: expect.stringMatching(/^o…@example\.com$/) as unknown })
  expect(sent?.deliveryId).toMatch(/^d_/)
  const [one] = await received(world.owner.email)
  expect(one?.email.subject).toBe('[Shop] Spike: “checkout” fails <b>now</b>')
  for (const text of [
    'Hello Ada,',
    '1,240 events within an hour, usually 12.',
    'Measured: 1,240.5 events (threshold 100 events), within 1 hour',
    'Issue: SHOP-42 TypeError: x is undefined',
    'Open the alert:\nhttps://faultline.example.com/alerts/history?alert=a1',
    'Open the issue SHOP-42:\nhttps://faultline.example.com/issues/i1',
    'because the alert rule “Crashes of the shop” of Shop sends its alerts to you.',
    `Unsubscribe: ${app.config.publicUrl}/unsubscribe#token=`,
  ])
    expect(one?.email.text).toContain(text)
  expect(one?.email.html).toContain('&lt;b&gt;now&lt;/b&gt;')
  expect(one?.email.html).toContain('<a href="https://faultline.example.com/issues/i1"')
})

test('a member who turned off mails about a project gets none', async () => {
  const world = await aRule()
  const projectId = await insertProject(app, world.owner)
  await updateProjectChannels(app, world.owner.actor, projectId, { email: false })
  const [muted] = await mail(world, 'team', { over: { project: { id: projectId, name: 'Docs' } } })
  expect(muted).toMatchObject({ deliveryId: null, skipped: 'The member turned off mails about this project.' })
  const [other] = await mail(world, 'team')
  expect(other?.skipped).toBeNull()
})

test('escalations, summaries and tests say what they are', async () => {
  const world = await aRule()
  await mail(world, 'team', { purpose: 'escalated' })
  const summary = { count: 12, from: '2026-11-20T12:00:00Z', to: '2026-11-20T12:01:00Z' }
  await mail(world, 'team', { purpose: 'summary', over: { summary } })
  await mail(world, 'team', { purpose: 'test', over: { issue: null } })
  const subjects = (await received(world.owner.email, 3)).map(({ email }) => email.subject)
  expect(subjects.toSorted((a = '', b = '') => a.localeCompare(b))).toEqual([
    '[Shop] 12 further alerts of Crashes of the shop',
    '[Shop] Not acknowledged: Spike: “checkout” fails <b>now</b>',
    '[Test] [Shop] Spike: “checkout” fails <b>now</b>',
  ])
})

test('the assignee receives it; without one it is skipped with the reason', async () => {
  const world = await aRule()
  const { issue } = messageOf(world.ruleId).data
  if (issue === null) throw new Error('the message has an issue')
  expect(await mail(world, 'assignee')).toEqual([
    { target: 'assignee', deliveryId: null, skipped: 'The issue has no assignee who is a member.' },
  ])
  const assignee = { id: world.owner.actor.userId, name: 'Ada' }
  expect(await mail(world, 'assignee', { over: { issue: { ...issue, assignee } } })).toMatchObject([{ skipped: null }])
  const stranger = await aPerson(app)
  const theirs = { id: stranger.actor.userId, name: 'Eve' }
  expect(await mail(world, 'assignee', { over: { issue: { ...issue, assignee: theirs } } })).toMatchObject([
    { deliveryId: null },
  ])
})

test('an address that stands twice, in any case, receives one mail', async () => {
  const world = await aRule()
  const sent = await mail(world, ['ops-a@example.com', 'Ops-A@Example.com', world.owner.email.toUpperCase()])
  expect(sent.map(({ target }) => target)).toEqual(['o…@example.com', 'o…@example.com'])
  await received('ops-a@example.com')
  expect((await received(world.owner.email))[0]?.email.text).toContain('Hello Ada,')
})

test('mail programs unsubscribe with one click, by a header of the mail as it arrived', async () => {
  const world = await aRule()
  await mail(world, ['one-click@example.com'])
  const [one] = await received('one-click@example.com')
  const header = (name: string) => one?.email.headers.find(({ key }) => key === name)?.value ?? ''
  expect(header('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click')
  const url = /^<(.+)>$/.exec(header('list-unsubscribe'))?.[1] ?? ''
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/api\/notifications\/unsubscribe\/one-click\?token=[\w.-]+$/)
  const path = url.replace(app.config.publicUrl, '')
  const form = 'application/x-www-form-urlencoded'

  // To open or to fetch it changes nothing.
  const opened = await fetch(t.url + path, { redirect: 'manual' })
  expect([opened.status, opened.headers.get('location')]).toEqual([
    302,
    `/unsubscribe#token=${tokenIn(one?.email.text ?? '')}`,
  ])
  expect((await post(path, '', form)).status).toBe(400)
  expect(await mail(world, ['one-click@example.com'])).toMatchObject([{ skipped: null }])

  for (let round = 0; round < 2; round++)
    expect((await post(path, 'List-Unsubscribe=One-Click', form)).status).toBe(200)
  expect(await mail(world, ['One-Click@example.com', 'other@example.com'])).toMatchObject([
    { deliveryId: null, skipped: 'Unsubscribed from the mails of this rule.' },
    { skipped: null },
  ])
  const multipart = '--b\r\ncontent-disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n'
  expect((await post(path, multipart, 'multipart/form-data; boundary=b')).status).toBe(200)
  // The table holds no address.
  const rows = await app.db.selectFrom('alert_mail_mutes').selectAll().execute()
  expect(JSON.stringify(rows)).not.toContain('one-click')
})

test('a member ends mails of one rule, of all rules, and restores them', async () => {
  const world = await aRule()
  const { orgId, userId } = world.owner.actor
  await mail(world, 'team')
  const [one] = await received(world.owner.email)
  const token = tokenIn(one?.email.text ?? '')
  const skipped = async () => (await mail(world, 'team'))[0]?.skipped ?? null

  expect((await unsubscribe(token, 'rule')).body).toEqual({ scope: 'rule', rule_name: 'Crashes of the shop' })
  expect(await skipped()).toBe('Unsubscribed from the mails of this rule.')
  const cookie = { cookie: world.owner.cookie }
  const listed = (await (await fetch(`${t.url}/api/me/muted-alert-rules`, { headers: cookie })).json()) as {
    items: { id: string }[]
  }
  expect(listed.items).toMatchObject([{ rule: { id: world.ruleId, name: 'Crashes of the shop' } }])
  const path = `${t.url}/api/me/muted-alert-rules/${listed.items[0]?.id}`
  expect((await fetch(path, { method: 'DELETE', headers: cookie })).status).toBe(204)
  expect(await skipped()).toBeNull()

  await unsubscribe(token, 'all')
  expect(await skipped()).toBe('The member turned off mails about alerts.')
  await updatePreferences(app, { orgId, userId }, { channels: { email: true } })
  expect(await skipped()).toBeNull()

  await unsubscribe(token, 'all')
  await unsubscribe(token, 'rule')
  expect((await unsubscribe(token, 'none')).status).toBe(200)
  expect(await skipped()).toBeNull()
})

test('another address ends mails of every rule of the organisation, not of others', async () => {
  const [world, other] = [await aRule(), await aRule()]
  await mail(world, ['all@example.com'])
  const [one] = await received('all@example.com')
  await unsubscribe(tokenIn(one?.email.text ?? ''), 'all')
  const { project_id: projectId } = await app.db
    .selectFrom('alert_rules')
    .select('project_id')
    .where('id', '=', world.ruleId)
    .executeTakeFirstOrThrow()
  const rule = NewRule.parse({ projectId, name: 'Another', trigger_type: 'new_issue' })
  const second = { owner: world.owner, ruleId: (await createRule(app, world.owner.actor, rule)).id }
  expect(await mail(second, ['all@example.com'])).toMatchObject([{ deliveryId: null }])
  expect(await mail(other, ['all@example.com'])).toMatchObject([{ skipped: null }])
})

test('a token of ours that was changed is refused', async () => {
  const world = await aRule()
  const { orgId, userId } = world.owner.actor
  const stranger = await aPerson(app)
  const token = makeUnsubscribeToken(app, { orgId, ruleId: world.ruleId, receiver: { userId } })
  expect(readUnsubscribeToken(app, token)).toEqual({ orgId, ruleId: world.ruleId, receiver: { userId } })
  const swapped = token.replace(userId.replaceAll('-', ''), stranger.actor.userId.replaceAll('-', ''))
  for (const wrong of [swapped, token.slice(1), token.slice(0, -2), `${token}A`, token.replace('.u', '.a'), '', 'x'])
    expect((await unsubscribe(wrong, 'rule')).status, wrong).toBe(400)
  expect(await app.db.selectFrom('alert_mail_mutes').select('id').where('org_id', '=', orgId).execute()).toEqual([])
  expect((await unsubscribe(token, 'never')).status).toBe(400)
})

test('a link of a rule that was deleted, or of a user who left, does no harm', async () => {
  const world = await aRule()
  const { orgId } = world.owner.actor
  const left = await aPerson(app, { role: 'member', org: { id: orgId, slug: world.owner.orgSlug } })
  const token = makeUnsubscribeToken(app, { orgId, ruleId: world.ruleId, receiver: { userId: left.actor.userId } })
  await app.db.deleteFrom('memberships').where('user_id', '=', left.actor.userId).execute()
  for (const scope of ['rule', 'all', 'none']) expect((await unsubscribe(token, scope)).status).toBe(200)
  await app.db.updateTable('alert_rules').set({ deleted_at: clock.now() }).where('id', '=', world.ruleId).execute()
  expect((await unsubscribe(token, 'rule')).body).toEqual({ scope: 'rule', rule_name: null })
})

test('quiet hours of a member hold the mail, except of a critical alert and of a test', async () => {
  const world = await aRule()
  const { orgId, userId } = world.owner.actor
  clock.set('2026-11-20T12:00:00.000Z')
  await updatePreferences(
    app,
    { orgId, userId },
    { quiet_hours: { enabled: true, start: '11:00', end: '13:00', time_zone: 'UTC' } },
  )
  const heldSeconds = async (sent: readonly SentMail[]): Promise<number> => {
    const { rows } = await app.db.query<{ held: number }>(
      'select round(extract(epoch from next_attempt_at - created_at))::int as held from outbox_deliveries where id = $1',
      [sent[0]?.deliveryId ?? ''],
    )
    return rows[0]?.held ?? 0
  }
  expect(await heldSeconds(await mail(world, 'team'))).toBe(3_600)
  const { alert } = messageOf(world.ruleId).data
  expect(await heldSeconds(await mail(world, 'team', { over: { alert: { ...alert, severity: 'critical' } } }))).toBe(0)
  expect(await heldSeconds(await mail(world, 'team', { purpose: 'test' }))).toBe(0)
  expect(await heldSeconds(await mail(world, ['quiet@example.com']))).toBe(0)
})

test('an organisation sends a bounded number of mails about alerts in an hour', async () => {
  const world = await aRule()
  const { orgId } = world.owner.actor
  await mail(world, ['first@example.com'])
  await app.db.query(
    `insert into outbox_deliveries (id, lane_id, org_id, message_id, type, state, next_attempt_at, due_at)
     select d.id || n, lane_id, org_id, message_id, type, 'delivered', null, null
     from outbox_deliveries d, generate_series(1, $2) n where org_id = $1`,
    [orgId, MAX_PER_HOUR - 2],
  )
  const reason = 'The organisation has sent 1,000 mails about alerts within an hour.'
  expect(await mail(world, ['last@example.com', 'beyond@example.com'])).toMatchObject([
    { skipped: null },
    { deliveryId: null, skipped: reason },
  ])
  await app.db.query(`update outbox_deliveries set created_at = created_at - interval '61 minutes' where org_id = $1`, [
    orgId,
  ])
  expect(await mail(world, ['beyond@example.com'])).toMatchObject([{ skipped: null }])
})

test('addresses of no member get a bounded number of mails in an hour; members do not', async () => {
  const [world, other] = [await aRule(), await aRule()]
  const stranger = `stranger-${world.ruleId}@example.com`
  const send = (from: World, ...to: string[]) => mail(from, to).then((sent) => sent.map(({ skipped }) => skipped))
  for (let n = 0; n < OUTSIDE_PER_HOUR.address; n++) await send(n % 2 === 0 ? world : other, stranger)
  const [reason] = await send(other, stranger)
  expect(reason).toMatch(/^This address has got 60 mails within an hour/)
  expect(await send(world, stranger, world.owner.email, 'another@example.com')).toEqual([reason, null, null])

  const fill = (orgId: string, count: number) =>
    app.db.query(
      `insert into alert_outside_mails (address_hash, org_id, sent_at) select '\\x00', $1, $2 from generate_series(1, $3)`,
      [orgId, clock.now(), count],
    )
  await fill(world.owner.actor.orgId, OUTSIDE_PER_HOUR.org)
  expect(await send(world, 'third@example.com')).toMatchObject([
    expect.stringMatching(/^The organisation has sent 300/),
  ])
  expect(await send(other, 'third@example.com')).toEqual([null])
  await fill(world.owner.actor.orgId, OUTSIDE_PER_HOUR.installation)
  expect(await send(other, 'third@example.com')).toMatchObject([
    expect.stringMatching(/^This installation has sent 3,000/),
  ])
  clock.advance(61 * 60_000)
  expect(await send(world, stranger)).toEqual([null])
  await purgeAlertsTask.run(app, {}, new AbortController().signal)
  expect(await app.db.selectFrom('alert_outside_mails').select('org_id').execute()).toHaveLength(1)
})
