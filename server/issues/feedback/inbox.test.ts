import { describe, expect, test } from 'vitest'
import type { Client } from '#test/kit/client.ts'
import { insertMessage } from '#test/kit/route-examples.ts'
import { startSmtpReceiver } from '#test/kit/smtp-receiver.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { mailChannel } from '../../platform/mails/mail-channel.ts'
import { OUTSIDE_PER_HOUR } from '../../platform/mails/enqueue-mails.ts'
import { smtpMailer } from '../../platform/mails/smtp-mailer.ts'
import { startDeliverer } from '../../platform/outbox/start-deliverer.ts'
import type { FeedbackDetail, InboxMessage } from './feedback.api.ts'
import { deleteUserFeedback } from './feedback.queries.ts'
import { readReplyAddress } from './feedback.ts'

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

const owner = await t.founder()
const member = await t.member(owner, { name: 'Kim', role: 'member' })
const MARA = 'mara@example.org'
const { user, org } = (await owner.get('/api/me')).as<{ user: { id: string }; org: { id: string } }>()

type Inbox = {
  items: InboxMessage[]
  total: number
  next_cursor: string | null
  search_is_partial: boolean
  counts: { inbox: number; unread: number; mine: number; spam: number }
}
const list = async (query: string, by: Client = owner): Promise<Inbox> =>
  (await by.get(`/api/feedback${query}`)).as<Inbox>()
const read = async (id: string): Promise<FeedbackDetail> =>
  (await owner.get(`/api/feedback/${id}`)).as<FeedbackDetail>()
const change = (id: string, body: Record<string, unknown>) => owner.patch(`/api/feedback/${id}`, body)
const texts = ({ items }: Inbox): string[] => items.map(({ message }) => message)

const aProject = () => t.project(owner)

describe('the inbox', () => {
  test('shows open messages, those of a member, resolved ones and spam by themselves', async () => {
    const { id: projectId } = await aProject()
    const ids: string[] = []
    for (const message of ['one', 'two', 'three', 'four']) {
      clock.advance(1_000)
      ids.push(await insertMessage(app, projectId, { message }))
    }
    const [one = '', two = '', three = ''] = ids
    const of = `?projectId=${projectId}`
    expect(texts(await list(of))).toEqual(['four', 'three', 'two', 'one'])
    expect((await change(one, { status: 'spam' })).status).toBe(200)
    await change(two, { status: 'resolved' })
    await change(three, { assignee_id: user.id })
    const inbox = await list(of)
    expect(texts(inbox)).toEqual(['four', 'three'])
    expect(inbox.counts).toEqual({ inbox: 2, unread: 1, mine: 1, spam: 1 })
    expect(texts(await list(`${of}&view=mine`))).toEqual(['three'])
    expect(texts(await list(`${of}&view=mine`, member))).toEqual([])
    expect(texts(await list(`${of}&view=resolved`))).toEqual(['two'])
    expect(texts(await list(`${of}&view=spam`))).toEqual(['one'])
    expect(texts(await list(`${of}&view=all`))).toEqual(['four', 'three', 'two'])
    const first = await list(`${of}&limit=1`)
    expect(texts(await list(`${of}&limit=1&cursor=${first.next_cursor}`))).toEqual(['three'])
    expect((await owner.get(`/api/feedback${of}&view=spam&cursor=${first.next_cursor}`)).status).toBe(400)
    // Spam is left out where feedback of a project is listed.
    expect((await owner.get(`/api/projects/${projectId}/feedback`)).as<{ total: number }>().total).toBe(3)
  })

  test('is searched by words of message, author and release, without patterns', async () => {
    const { id: projectId } = await aProject()
    await insertMessage(app, projectId, { message: 'The Button is 100% broken', email: MARA, release: 'shop@4.1' })
    await insertMessage(app, projectId, { message: 'שלום 👩‍👩‍👧 مرحبا', name: 'Zoë' })
    const search = async (query: string) =>
      texts(await list(`?projectId=${projectId}&query=${encodeURIComponent(query)}`)).length
    expect(await search('button MARA@ 4.1')).toBe(1)
    expect(await search('button zoë')).toBe(0)
    expect(await search('👩‍👩‍👧')).toBe(1)
    expect(await search('100%')).toBe(1)
    expect(await search('10_%')).toBe(0)
    expect(await search('%')).toBe(1)
    expect((await owner.get(`/api/feedback?query=${'x'.repeat(201)}`)).status).toBe(400)
  })

  test('stays fast with 100,000 messages', async () => {
    const { id: projectId } = await aProject()
    await app.db.query(
      `insert into feedback (id, project_id, feedback_id, received_at, message, status, read_at)
       select gen_random_uuid(), $1, gen_random_uuid(), $2::timestamptz - n * interval '1 second', 'message ' || n,
         case when n % 3 = 0 then 'spam' when n % 3 = 1 then 'resolved' else 'open' end, $2
       from generate_series(1, 100000) n`,
      [projectId, clock.now()],
    )
    await app.db.query('analyze feedback')
    const { rows } = await app.db.query<{ 'QUERY PLAN': string }>(
      `explain (analyze, buffers off) select f.id from projects p cross join unnest(array['open']) s (status)
       cross join lateral (select f.id, f.received_at from feedback f where f.project_id = p.id and f.status = s.status
         order by f.received_at desc, f.id desc limit 26) f where p.id = $1 order by f.received_at desc, f.id desc limit 26`,
      [projectId],
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('feedback_by_status')
    const page = await list(`?projectId=${projectId}`)
    expect(page).toMatchObject({ total: 10_000, counts: { inbox: 1_000, unread: 0, mine: 0, spam: 1_000 } })
    const searched = await list(`?projectId=${projectId}&query=message`)
    expect(searched.search_is_partial).toBe(true)
    expect(searched.items).toHaveLength(25)
  })
})

describe('a message', () => {
  test('shows its context, its issue with the reason, and what members did', async () => {
    const project = await aProject()
    const issue = await t.issue({ project, by: owner })
    const { event } = (await owner.get(`/api/issues/${issue.id}`)).as<{ event: { event_id: string } }>()
    const id = await insertMessage(app, project.id, {
      eventId: event.event_id,
      issueId: issue.id,
      email: MARA,
      context: {
        browser: 'Chrome 142',
        os: null,
        device: null,
        language: 'en-GB',
        view: null,
        user: 'u_51',
        trace_id: null,
      },
    })
    await insertMessage(app, project.id, { issueId: issue.id })
    const spam = await insertMessage(app, project.id, { issueId: issue.id })
    await change(spam, { status: 'spam' })
    expect(await read(id)).toMatchObject({
      context: { browser: 'Chrome 142', language: 'en-GB', user: 'u_51' },
      linked: { issue: { id: issue.id }, reason: 'event', others: 1 },
      reply_to: MARA,
      reply_problem: null,
      is_read: false,
    })
    await change(id, { is_read: true })
    await change(id, { assignee_id: member.id })
    await change(id, { assignee_id: null, status: 'resolved' })
    await change(id, { status: 'resolved' })
    await owner.post(`/api/feedback/${id}/notes`, { body: '<script>alert(1)</script>' })
    const after = await read(id)
    expect(after.is_read).toBe(true)
    expect(after.activity.map(({ kind, from, to, body }) => [kind, from, to, body])).toEqual([
      ['assigned', null, 'Kim', null],
      ['status_changed', 'open', 'resolved', null],
      ['assigned', 'Kim', null, null],
      ['note', null, null, '<script>alert(1)</script>'],
    ])
    expect(texts(await list(`?issueId=${issue.id}&view=all`))).toHaveLength(2)
    expect((await owner.patch(`/api/feedback/${id}`, {})).status).toBe(400)
    expect((await change(id, { status: 'gone' })).status).toBe(400)
    expect((await owner.post(`/api/feedback/${id}/notes`, { body: ' ' })).status).toBe(400)
  })

  test('is deleted with its activity, and the mail to its author is emptied', async () => {
    const { id: projectId } = await aProject()
    const id = await insertMessage(app, projectId, { email: MARA, userHash: 7 })
    await owner.post(`/api/feedback/${id}/replies`, { body: 'Hello', to: MARA, last_reply_id: null })
    await app.tx((tx) => deleteUserFeedback(tx, projectId, { userHash: 7, eventIds: [] }))
    expect((await owner.get(`/api/feedback/${id}`)).status).toBe(404)
    const { rows } = await app.db.query('select from feedback_activity where message_id = $1', [id])
    expect(rows).toEqual([])
    const mails = await app.db.query<{ body: Buffer | null }>(
      `select body from outbox_messages where user_id = $1 and body is not null`,
      [id],
    )
    expect(mails.rows).toEqual([])
  })
})

describe('a reply', () => {
  test('is one mail to the address that was shown, whose text is no markup', async () => {
    const { id: projectId } = await aProject()
    const to = 'nora@example.org'
    const id = await insertMessage(app, projectId, { email: ' Nora@Example.org', name: 'Nora\r\nBcc: x@example.org' })
    const body = 'It works again.\n<b>Please</b> try.'
    const sent = await owner.post(`/api/feedback/${id}/replies`, { body, to, last_reply_id: null })
    expect(sent.status).toBe(201)
    const detail = sent.as<FeedbackDetail>()
    expect(detail.activity).toMatchObject([{ kind: 'reply', body, to }])
    await waitFor('the mail', () => smtp.to(to).length > 0)
    const [mail] = smtp.to(to)
    expect(mail?.email.html).toContain('&lt;b&gt;Please&lt;/b&gt;')
    expect(mail?.to).toEqual([to])
    // Another member, or a second click, has not read this reply.
    const again = await member.post(`/api/feedback/${id}/replies`, { body: 'Twice', to, last_reply_id: null })
    expect(again.status).toBe(409)
    const next = { body: 'More', to, last_reply_id: detail.last_reply_id }
    const both = await Promise.all([
      owner.post(`/api/feedback/${id}/replies`, next),
      member.post(`/api/feedback/${id}/replies`, next),
    ])
    expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
    expect((await read(id)).reply_count).toBe(2)
  })

  test('needs an address, the shown one, and no spam', async () => {
    const { id: projectId } = await aProject()
    const reply = (id: string, to: string) =>
      owner.post(`/api/feedback/${id}/replies`, { body: 'Hello', to, last_reply_id: null })
    const none = await insertMessage(app, projectId, {})
    const bad = await insertMessage(app, projectId, { email: 'no address <x>' })
    const good = await insertMessage(app, projectId, { email: MARA })
    expect((await read(none)).reply_problem).toBe('no_address')
    expect((await read(bad)).reply_problem).toBe('bad_address')
    expect((await reply(none, MARA)).status).toBe(409)
    expect((await reply(bad, MARA)).status).toBe(409)
    expect((await reply(good, 'victim@example.org')).status).toBe(409)
    await change(good, { status: 'spam' })
    expect((await reply(good, MARA)).status).toBe(409)
    expect((await change(good, { notify_on_resolved: true })).status).toBe(409)
  })

  test('is bounded per message, and with other mails per organisation', async () => {
    const { id: projectId } = await aProject()
    const to = 'often@example.org'
    const id = await insertMessage(app, projectId, { email: to })
    await app.db.query(
      `insert into feedback_activity (id, message_id, kind, body, created_at)
       select gen_random_uuid(), $1, 'reply', 'x', $2 from generate_series(1, 20)`,
      [id, clock.now()],
    )
    const last = (await read(id)).last_reply_id
    expect((await owner.post(`/api/feedback/${id}/replies`, { body: 'x', to, last_reply_id: last })).status).toBe(429)
    const other = await insertMessage(app, projectId, { email: to })
    await app.db.query(
      `insert into alert_outside_mails (address_hash, org_id, sent_at) select '\\x00', $1, $2 from generate_series(1, $3)`,
      [org.id, clock.now(), OUTSIDE_PER_HOUR.org],
    )
    const held = await owner.post(`/api/feedback/${other}/replies`, { body: 'x', to, last_reply_id: null })
    expect(held.status).toBe(429)
    expect(held.text).toContain('300 mails')
    expect((await read(other)).reply_count).toBe(0)
    await app.db.query('delete from alert_outside_mails')
  })
})

test('authors who wait are notified once when the issue is resolved, each address with one mail', async () => {
  const project = await aProject()
  const issue = await t.issue({ project, by: owner })
  const to = 'waiting@example.org'
  const ids = [
    await insertMessage(app, project.id, { email: to, issueId: issue.id }),
    await insertMessage(app, project.id, { email: to.toUpperCase(), issueId: issue.id }),
    await insertMessage(app, project.id, { email: 'spammer@example.org', issueId: issue.id }),
    await insertMessage(app, project.id, { email: 'silent@example.org', issueId: issue.id }),
  ]
  for (const id of ids.slice(0, 3)) expect((await change(id, { notify_on_resolved: true })).status).toBe(200)
  await change(ids[2] ?? '', { status: 'spam' })
  for (const status of ['resolved', 'unresolved', 'resolved']) await owner.patch(`/api/issues/${issue.id}`, { status })
  await waitFor('the mail', () => smtp.to(to).length > 0)
  const notified = await Promise.all(ids.map(async (id) => (await read(id)).notified_at !== null))
  expect(notified).toEqual([true, true, false, false])
  expect((await read(ids[0] ?? '')).activity.map(({ kind }) => kind)).toEqual(['notified'])
  expect((await change(ids[3] ?? '', { notify_on_resolved: true })).status).toBe(409)
  const queued = await app.db.query(`select from outbox_messages where type = 'feedback.resolved'`)
  expect(queued.rows).toHaveLength(1)
  expect(smtp.to(to)).toHaveLength(1)
})

test.each([
  ['a@b.example', 'a@b.example'],
  ['  A@B.Example ', 'a@b.example'],
  ['a@b.example, c@d.example', null],
  ['a@b.example\r\nBcc: c@d.example', null],
  ['"><script>@x', null],
  ['', null],
  [null, null],
])('the address of %j is %j', (given, address) => {
  expect(readReplyAddress(given)).toBe(address)
})
