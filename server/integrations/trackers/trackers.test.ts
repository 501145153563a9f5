import { createHmac } from 'node:crypto'
import { LinearWebhookClient } from '@linear/sdk/webhooks'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { TestProject } from '#test/kit/founder.ts'
import type { Founder } from '#test/kit/product.ts'
import { testServer } from '#test/kit/test-server.ts'
import { JIRA_EMAIL, JIRA_TOKEN, jiraLimit, startJira } from '#test/kit/tracker-jira.ts'
import { LINEAR_KEY, LINEAR_TEAM, linearLimit, startLinear } from '#test/kit/tracker-linear.ts'
import { waitFor } from '#test/kit/wait.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { IssueDetail } from '../../issues/triage/issues.api.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import { followTicket } from './follow-ticket.ts'
import type { TrackerTicket, TrackerView } from './trackers.api.ts'

/** Trackers end to end, on a real database, against servers that speak the wire formats of Linear and Jira. */

const linear = await startLinear()
const jira = await startJira('cloud')
const jiraServer = await startJira('server')
// Before the app: they are closed after it.
afterAll(() => Promise.all([linear, jira, jiraServer].map(({ receiver }) => receiver.close())))
const t = await testServer({ deliveries: true, jobs: true, realTime: true })
const { app } = t

let owner: Founder
let project: TestProject
let issueId: string
beforeEach(async () => {
  for (const one of [linear, jira, jiraServer]) one.faults.length = 0
  owner = await t.founder()
  project = await t.project(owner)
  await t.events(project, [{ error: 'Payment' }])
  const { items } = (await owner.get(`/api/issues?projectId=${project.id}`)).as<{ items: { id: string }[] }>()
  issueId = items[0]?.id ?? ''
})

const LINEAR = { provider: 'tracker_a', base_url: linear.url, api_key: LINEAR_KEY }
const JIRA = { provider: 'tracker_b', base_url: jira.url, email: JIRA_EMAIL, api_token: JIRA_TOKEN }
const JIRA_SERVER = { provider: 'tracker_b', base_url: jiraServer.url, api_token: JIRA_TOKEN }
type Connected = TrackerView & { readonly webhook: { readonly url: string; readonly secret: string } }

const path = (): string => `/api/projects/${project.id}/integrations/tracker`
async function connect(input: Readonly<Record<string, unknown>>): Promise<Connected> {
  const answer = await owner.post(path(), input)
  expect(answer.status, answer.text).toBe(201)
  return answer.as<Connected>()
}
const view = async (): Promise<TrackerView> => (await owner.get(path())).as<TrackerView>()
const ask = () => owner.post(`/api/issues/${issueId}/tracker-ticket`)
async function create(): Promise<TrackerTicket> {
  const answer = await ask()
  expect(answer.status, answer.text).toBe(201)
  return answer.as<TrackerTicket>()
}
const readIssue = async (): Promise<IssueDetail> => (await owner.get(`/api/issues/${issueId}`)).as<IssueDetail>()
const stateOf = async () => (await readIssue()).ticket.ticket?.state

async function deliver(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const { pathname, search } = new URL(url)
  const answer = await fetch(`${t.url}${pathname}${search}`, { method: 'POST', body, headers })
  await answer.body?.cancel()
  return answer.status
}

const orgOf = async (id: string): Promise<string> =>
  (await app.db.selectFrom('issues').select('org_id').where('id', '=', id).executeTakeFirstOrThrow()).org_id

const regress = () =>
  app.tx(async (tx) =>
    recordFacts(tx, factContext(app, systemActor('digestion')), [
      {
        kind: 'issue.regressed',
        orgId: await orgOf(issueId),
        projectId: project.id,
        issueId,
        sentence: 'It came back in shop@2.0.',
        data: { from: 'resolved', to: 'regressed' },
      },
    ]),
  )

describe('connecting', () => {
  test('tries the credentials, seals them, and never answers them', async () => {
    expect(await view()).toEqual({ state: 'not_connected', integration: null })
    const { webhook, ...shown } = await connect(LINEAR)
    expect(shown).toMatchObject({
      state: 'works',
      integration: { account: 'Ada in Acme', team: { id: LINEAR_TEAM }, type: null, sync_states: true },
    })
    expect(await view()).toEqual(shown)
    const stored = JSON.stringify((await app.db.query('select * from tracker_integrations')).rows)
    for (const secret of [LINEAR_KEY, webhook.secret]) {
      expect(JSON.stringify(shown)).not.toContain(secret)
      expect(stored).not.toContain(secret)
      expect(JSON.stringify(t.logLines)).not.toContain(secret)
    }
  })

  test.each([
    [{ ...LINEAR, api_key: 'lin_api_wrong' }, 'api_key is wrong.'],
    [{ ...LINEAR, api_key: undefined }, 'api_key is missing'],
    [{ ...LINEAR, team_id: 'other' }, 'team_id must be one of the teams'],
    [{ ...JIRA, api_token: 'wrong' }, 'email or api_token is wrong.'],
    [{ ...JIRA, base_url: `${jira.url}/jira` }, 'base_url does not lead to the tracker.'],
    [{ ...JIRA, base_url: 'http://127.0.0.1:1' }, 'base_url cannot be reached.'],
    [{ ...JIRA, base_url: undefined }, 'base_url is missing'],
    [{ ...JIRA, type_id: '10003' }, 'type_id must be one of 10004 (Bug).'],
    [{ ...JIRA, provider: 'jira' }, 'provider must be tracker_a'],
  ])('says which field is wrong (%#)', async (input, error) => {
    const answer = await owner.post(path(), input)
    expect(answer.status).toBe(400)
    expect(answer.as<{ error: string }>().error).toContain(error)
    expect((await view()).state).toBe('not_connected')
  })

  test('offers teams and types', async () => {
    const answer = await owner.post(`${path()}/choices`, JIRA)
    expect(answer.as<unknown>()).toEqual({
      account: `Ada at ${new URL(jira.url).host}`,
      teams: [{ id: 'SHOP', name: 'Shop (SHOP)' }],
      types: [{ id: '10004', name: 'Bug' }],
    })
  })

  test('another time makes a new token, keeps the credentials and the tickets', async () => {
    const first = await connect(JIRA)
    await create()
    const second = await connect({ provider: 'tracker_b', sync_states: false })
    expect(second.webhook.url).not.toBe(first.webhook.url)
    expect(await deliver(first.webhook.url, '{}', {})).toBe(401)
    expect(await deliver(second.webhook.url, '{}', {})).toBe(200)
    expect((await readIssue()).ticket.ticket).toMatchObject({ state: 'open', is_followed: false })
    // And the setting, which only a call that names it changes.
    await connect({ provider: 'tracker_b' })
    expect((await readIssue()).ticket.ticket).toMatchObject({ is_followed: false })
    await connect({ provider: 'tracker_b', sync_states: true })
    expect((await readIssue()).ticket.ticket).toMatchObject({ is_followed: true })
  })

  test('another time keeps the secret that Linear made for its webhook', async () => {
    await connect({ ...LINEAR, webhook_secret: 'the secret that Linear made' })
    const { webhook } = await connect({ provider: 'tracker_a', api_key: LINEAR_KEY, base_url: linear.url })
    expect(webhook.secret).toBe('the secret that Linear made')
    await create()
    const ticket = linear.tickets.at(-1)
    if (ticket === undefined) throw new Error('no ticket')
    const { headers, body } = linear.delivery(ticket, 'the secret that Linear made')
    expect(await deliver(webhook.url, body, headers)).toBe(200)
  })

  test('disconnecting keeps the link', async () => {
    await connect(LINEAR)
    const { id } = await create()
    expect((await owner.delete(path())).status).toBe(204)
    expect((await owner.delete(path())).status).toBe(404)
    expect(await readIssue()).toMatchObject({
      tracker_ticket: { id },
      ticket: { tracker: 'not_connected', ticket: { is_followed: false } },
    })
    expect((await ask()).status).toBe(200)
  })
})

describe('a ticket', () => {
  test('needs a tracker', async () => {
    const answer = await ask()
    expect(answer.status).toBe(409)
    expect(answer.as<{ error: string }>().error).toContain('not connected to a tracker')
  })

  test.each([
    ['Linear', LINEAR, linear, () => linear.tickets.at(-1)?.description],
    ['Jira Cloud', JIRA, jira, () => JSON.stringify(jira.tickets.at(-1)?.description)],
    ['Jira Data Center', JIRA_SERVER, jiraServer, () => String(jiraServer.tickets.at(-1)?.description)],
  ])(
    'is created once in %s under 20 calls at once, with text and links both ways',
    async (_name, input, tracker, text) => {
      await connect(input)
      const before = tracker.tickets.length
      const answers = await Promise.all(Array.from({ length: 20 }, ask))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
        ...Array<number>(19).fill(200),
        201,
      ])
      expect(new Set(answers.map((answer) => answer.as<TrackerTicket>().url)).size).toBe(1)
      expect(tracker.tickets.length).toBe(before + 1)
      expect(text()).toContain(`/issues/${issueId}`)
      expect(text()).toContain('Events')
      const issue = await readIssue()
      expect(issue.tracker_ticket).toEqual({
        id: answers[0]?.as<TrackerTicket>().id,
        url: answers[0]?.as<TrackerTicket>().url,
      })
      expect(issue.activity[0]).toMatchObject({ kind: 'ticket_created' })
    },
  )

  test.each([
    ['Linear', LINEAR, linear, 'Create'],
    ['Jira', JIRA, jira, 'POST /rest/api/3/issue'],
  ])('is adopted when a call ended between the row and the answer (%s)', async (_name, input, tracker, operation) => {
    await connect(input)
    const before = tracker.tickets.length
    // The call has its effect, and the process never learns of it: its lease remains.
    await ask()
    expect(tracker.tickets.length).toBe(before + 1)
    await app.db.query(
      `update tracker_tickets set state = 'creating', external_id = null, key = null, url = null, remote_state = null,
       lease_token = gen_random_uuid(), lease_until = clock_timestamp() - interval '1 second' where issue_id = $1`,
      [issueId],
    )
    const answers = await Promise.all(Array.from({ length: 5 }, ask))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 200, 201])
    expect(tracker.tickets.length, operation).toBe(before + 1)
  })

  test('is not created a second time after an answer that was lost', async () => {
    await connect(LINEAR)
    const before = linear.tickets.length
    linear.faults.push(() => ({ status: 502, body: 'Bad gateway' }))
    const lost = await ask()
    expect(lost.status).toBe(503)
    expect(lost.headers.get('retry-after')).not.toBeNull()
    await create()
    expect(linear.tickets.length).toBe(before + 1)
  })

  test.each([
    ['Linear', LINEAR, linear, () => linearLimit(Date.now() + 30_000)],
    ['Jira', JIRA, jira, () => jiraLimit(30)],
  ])('waits for the limit of %s', async (_name, input, tracker, limit) => {
    await connect(input)
    tracker.faults.push(limit)
    const limited = await ask()
    expect(limited.status).toBe(503)
    expect(Number(limited.headers.get('retry-after'))).toBeGreaterThan(20)
    expect((await view()).state).toBe('slowed_down')
    await create()
    expect((await view()).state).toBe('works')
  })

  test('is created without labels where the screen has none', async () => {
    jira.hasLabels = false
    onTestFinished(() => void (jira.hasLabels = true))
    await connect(JIRA)
    await create()
    expect(jira.tickets.at(-1)?.labels).toEqual([])
  })

  test('revoked credentials mark the tracker as broken, and admins get one mail', async () => {
    await connect(LINEAR)
    linear.key = 'another'
    onTestFinished(() => void (linear.key = LINEAR_KEY))
    for (let n = 0; n < 3; n++) expect((await ask()).status).toBe(409)
    const { state, integration } = await view()
    expect(state).toBe('broken')
    expect(integration?.last_error).toContain('Authentication')
    const mails = () => t.mails.filter(({ subject }) => subject.includes('refuses the credentials')).length
    await waitFor('the mail', () => mails() > 0)
    expect(mails()).toBe(1)
    linear.key = LINEAR_KEY
    await connect(LINEAR)
    await create()
  })

  test('of another organisation is not found', async () => {
    const stranger = await t.founder()
    expect((await stranger.post(`/api/issues/${issueId}/tracker-ticket`)).status).toBe(404)
  })
})

describe('states', () => {
  test('a closed ticket resolves its issue, and a regression reopens it with a comment', async () => {
    const { webhook } = await connect(LINEAR)
    await create()
    const ticket = linear.tickets.at(-1)
    if (ticket === undefined) throw new Error('no ticket')
    linear.close(ticket)
    const { headers, body } = linear.delivery(ticket, webhook.secret)
    expect(await deliver(webhook.url, body, headers)).toBe(200)
    const resolved = await waitFor('the issue to be resolved', async () => {
      const issue = await readIssue()
      return issue.status === 'resolved' && issue
    })
    expect(resolved.activity.map(({ sentence }) => sentence).join(' ')).toContain(`Ticket ${ticket.identifier}`)

    await regress()
    await waitFor('the ticket to be open', async () => (await stateOf()) === 'open')
    expect(ticket.state.name).toBe('Todo')
    expect(ticket.comments.map((one) => one.body).join(' ')).toContain('It came back in shop@2.0.')
    // The late delivery about the closing does nothing: the ticket is open now.
    await followTicket(app, issueId)
    expect(await stateOf()).toBe('open')
  })

  test('of Jira, too, and a repeated comment is made once', async () => {
    const { webhook } = await connect(JIRA)
    await create()
    const ticket = jira.tickets.at(-1)
    if (ticket === undefined) throw new Error('no ticket')
    ticket.status = 'Done'
    const body = JSON.stringify({ webhookEvent: 'jira:issue_updated', issue: { id: ticket.id, key: ticket.key } })
    expect(await deliver(webhook.url, body, {})).toBe(200)
    await waitFor('the issue to be resolved', async () => (await readIssue()).status === 'resolved')
    await regress()
    await waitFor('the ticket to be open', async () => (await stateOf()) === 'open')
    expect(ticket).toMatchObject({ status: 'To Do', comments: { length: 1 } })
  })

  test('a deleted ticket is marked, and a new one can be created', async () => {
    await connect(JIRA)
    await create()
    const ticket = jira.tickets.at(-1)
    if (ticket !== undefined) ticket.isDeleted = true
    await followTicket(app, issueId)
    expect(await stateOf()).toBe('gone')
    await create()
    expect(await stateOf()).toBe('open')
  })

  test('are not followed without the setting', async () => {
    await connect({ ...LINEAR, sync_states: false })
    await create()
    const ticket = linear.tickets.at(-1)
    if (ticket === undefined) throw new Error('no ticket')
    linear.close(ticket)
    await followTicket(app, issueId)
    expect((await readIssue()).status).not.toBe('resolved')
    await regress()
    expect(await stateOf()).toBe('closed')
  })
})

describe('a delivery', () => {
  const signed = (secret: string, body: string) => createHmac('sha256', secret).update(body).digest('hex')
  const stamped = (at: number) => JSON.stringify({ type: 'Issue', data: { id: 'x' }, webhookTimestamp: at })

  test('of tracker_a is signed over its bytes, for this moment', async () => {
    const { webhook } = await connect(LINEAR)
    const { url, secret } = webhook
    const body = stamped(Date.now())
    const hex = signed(secret, body)
    for (const headers of [
      { 'Linear-Signature': hex },
      { 'X-Tracker-Signature': hex },
      { 'X-Hub-Signature': `sha256=${hex}` },
    ] as Record<string, string>[]) {
      expect(await deliver(url, body, headers)).toBe(200)
      expect(await deliver(`${t.url}/api/integrations/tracker/webhook?provider=tracker_a`, body, headers)).toBe(200)
    }
    const refused: [string, Record<string, string>][] = [
      [body, {}],
      [body, { 'Linear-Signature': hex.replace(/^./, (one) => (one === '0' ? '1' : '0')) }],
      [body, { 'Linear-Signature': hex.slice(2) }],
      [`${body} `, { 'Linear-Signature': hex }],
      [body, { 'Linear-Signature': signed('another', body) }],
      ...[-61_000, 61_000].map((skewMs): [string, Record<string, string>] => {
        const late = stamped(Date.now() + skewMs + Math.sign(skewMs) * 2_000)
        return [late, { 'Linear-Signature': signed(secret, late) }]
      }),
    ]
    for (const [bytes, headers] of refused) expect(await deliver(url, bytes, headers)).toBe(401)
    const near = stamped(Date.now() - 55_000)
    expect(await deliver(url, near, { 'Linear-Signature': signed(secret, near) })).toBe(200)
    expect((await view()).integration?.last_received_at).not.toBeNull()
  })

  test('of tracker_a is one that the library of Linear verifies, and what that refuses is refused', async () => {
    const { webhook } = await connect(LINEAR)
    await create()
    const ticket = linear.tickets.at(-1)
    if (ticket === undefined) throw new Error('no ticket')
    const library = new LinearWebhookClient(webhook.secret)
    const { headers, body } = linear.delivery(ticket, webhook.secret)
    const signature = headers['Linear-Signature'] ?? ''
    for (const [bytes, given] of [
      [body, signature],
      [body, signature.replace(/^./, (one) => (one === '0' ? '1' : '0'))],
      [body.replace('"', ' "'), signature],
      [body, signed('another', body)],
      [stamped(Date.now() - 90_000), signed(webhook.secret, stamped(Date.now() - 90_000))],
    ] as const) {
      const verified = (() => {
        try {
          return library.verify(Buffer.from(bytes), given)
        } catch {
          return false
        }
      })()
      expect(await deliver(webhook.url, bytes, { 'Linear-Signature': given })).toBe(verified ? 200 : 401)
    }
  })

  test('of tracker_b has the token, or is signed', async () => {
    const { webhook } = await connect(JIRA)
    const { url, secret } = webhook
    expect(await deliver(url, '{}', {})).toBe(200)
    expect(await deliver(url, '{"a', {})).toBe(400)
    const without = url.replace(/&token=.*/, '')
    expect(await deliver(without, '{}', {})).toBe(401)
    expect(await deliver(`${without}&token=wrong`, '{}', {})).toBe(401)
    expect(await deliver(`${without}&token=`, '{}', {})).toBe(401)
    expect(await deliver(without, '{}', { 'X-Hub-Signature': `sha256=${signed(secret, '{}')}` })).toBe(200)
    expect(JSON.stringify(t.logLines)).not.toContain(secret)
    // The token of one kind is none of the other.
    expect(await deliver(url.replace('tracker_b', 'tracker_a'), '{}', {})).toBe(401)
  })
})
