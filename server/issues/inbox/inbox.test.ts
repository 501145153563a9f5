import { beforeAll, describe, expect, test } from 'vitest'
import { DIGESTION, factContext } from '#server/platform/context/actor.ts'
import type { Client } from '#test/kit/client.ts'
import { aMemberClient, type MemberClient } from '#test/kit/member-client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { anEvent, anException, sendEvent } from '#test/kit/sdk.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Comment, IssueDetail } from '../triage/issues.api.ts'
import { MAX_UNREAD } from '../../history/facts/inbox.queries.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { aboutIssue } from '../rows/view-issue.ts'
import { purgeInboxesTask } from './inbox.ts'
import type { InboxEntry, Subscription } from './inbox.api.ts'

/** Assignees, comments, subscriptions and inboxes through the API, on a real database. */

const server = await testServer({ realTime: true })
const { app } = server

let ada: Client & { id: string }
let bob: MemberClient
let zoe: MemberClient
let viewer: MemberClient
let stranger: Client & { id: string }
let project: TestProject

const idOf = async (member: Client) => (await member.get('/api/me')).as<{ user: { id: string } }>().user.id

beforeAll(async () => {
  const founder = await aFounder(server.url, 'Countess Ada')
  ada = { ...founder, id: await idOf(founder) }
  bob = await aMemberClient(app, server.url, ada, { name: 'Bob Builder' })
  zoe = await aMemberClient(app, server.url, ada, { name: 'Zoë Müller' })
  viewer = await aMemberClient(app, server.url, ada, { name: 'Vera Viewer', role: 'viewer' })
  const other = await aFounder(server.url)
  stranger = { ...other, id: await idOf(other) }
  project = await aProject(ada)
})

type Inbox = { items: InboxEntry[]; total: number; unread_count: number; next_cursor: string | null }
const inboxOf = async (member: Client, query = '') => (await member.get(`/api/inbox${query}`)).as<Inbox>()
/** Kinds of a member's notifications about an issue, newest first. */
const notificationsOf = async (member: Client, issueId: string) =>
  (await inboxOf(member, '?limit=100')).items.filter(({ issue }) => issue.id === issueId).map(({ kind }) => kind)
const subscriptionOf = async (member: Client, issueId: string) =>
  (await member.get(`/api/issues/${issueId}/subscription`)).as<Subscription>()
const comment = async (member: Client, issueId: string, body: string) =>
  (await member.post(`/api/issues/${issueId}/comments`, { body })).as<Comment>()
const detailOf = async (issueId: string) => (await ada.get(`/api/issues/${issueId}`)).as<IssueDetail>()
const anIssue = async (): Promise<string> => (await seedIssues(app, project.id, 1))[0]!
const disable = (id: string, at: Date | null) =>
  app.db.updateTable('users').set({ disabled_at: at }).where('id', '=', id).execute()

describe('the team', () => {
  type Members = {
    items: { id: string; name: string; role: string; last_seen_at: string | null }[]
    total: number
    next_cursor: string | null
  }
  const team = async (query = '') => (await viewer.get(`/api/team${query}`)).as<Members>()

  test('lists the members of the organisation and no other users', async () => {
    const page = await team()
    expect(page).toMatchObject({ total: 4, next_cursor: null })
    expect(page.items.map(({ name }) => name)).toEqual(['Bob Builder', 'Countess Ada', 'Vera Viewer', 'Zoë Müller'])
    expect(page.items[0]).toMatchObject({ id: bob.id, email: bob.email, role: 'member' })
    expect(page.items[0]?.last_seen_at).toMatch(/Z$/)
    expect(JSON.stringify(page)).not.toMatch(/password|hash/)
  })

  test('filters, sorts and pages', async () => {
    expect((await team('?q=BUILD')).items.map(({ id }) => id)).toEqual([bob.id])
    expect((await team(`?q=${encodeURIComponent(bob.email)}`)).total).toBe(1)
    expect((await team('?q=%25')).total).toBe(0)
    expect((await team('?q=%20')).total).toBe(4)
    expect((await team('?sort=-created_at')).items[0]?.id).toBe(viewer.id)
    for (const sort of ['name', '-name', 'created_at', '-created_at']) {
      const whole = (await team(`?sort=${sort}`)).items.map(({ id }) => id)
      const first = await team(`?sort=${sort}&limit=3`)
      const second = await team(`?sort=${sort}&limit=3&cursor=${first.next_cursor}`)
      expect([...first.items, ...second.items].map(({ id }) => id)).toEqual(whole)
    }
    const { next_cursor: cursor } = await team('?limit=1')
    for (const wrong of ['x', cursor + '&sort=-name', encodeURIComponent('{}')])
      expect((await viewer.get(`/api/team?cursor=${wrong}`)).status).toBe(400)
    expect((await viewer.get(`/api/team?q=${'x'.repeat(101)}`)).status).toBe(400)
  })
})

describe('assignees', () => {
  test('a user of another organisation and an unknown id get the same error', async () => {
    const issueId = await anIssue()
    const sentence = { error: 'assignee_id is not a member of this organisation.' }
    for (const id of [stranger.id, '01890000-0000-7000-8000-000000000000']) {
      const answer = await ada.patch(`/api/issues/${issueId}`, { assignee_id: id })
      expect(answer).toMatchObject({ status: 400, body: sentence })
      expect(await ada.patch('/api/issues', { ids: [issueId], assignee_id: id })).toMatchObject({
        status: 400,
        body: sentence,
      })
    }
    expect(await detailOf(issueId)).toMatchObject({ assignee: null, activity: [] })
  })

  test('a new assignee is notified and subscribed, and the activity names them', async () => {
    const issueId = await anIssue()
    expect((await ada.patch(`/api/issues/${issueId}`, { assignee_id: bob.id })).body).toMatchObject({
      assignee: { id: bob.id, name: 'Bob Builder' },
    })
    expect((await ada.patch(`/api/issues/${issueId}`, { assignee_id: bob.id })).status).toBe(200)
    expect(await notificationsOf(bob, issueId)).toEqual(['assigned'])
    expect(await subscriptionOf(bob, issueId)).toMatchObject({ subscribed: true, reason: 'assigned' })
    const { items } = await inboxOf(bob)
    expect(items[0]).toMatchObject({
      sentence: 'Countess Ada assigned this issue to you.',
      actor: { id: ada.id },
      issue: { id: issueId, project_id: project.id },
      read_at: null,
    })
    const { activity } = await detailOf(issueId)
    expect(activity.map(({ sentence }) => sentence)).toEqual(['Countess Ada assigned this issue to Bob Builder.'])
    // Members are not notified of their own changes.
    await zoe.patch(`/api/issues/${issueId}`, { assignee_id: zoe.id })
    expect(await notificationsOf(zoe, issueId)).toEqual([])
    expect(await subscriptionOf(zoe, issueId)).toMatchObject({ subscribed: true, reason: 'assigned' })
  })

  test('a change of several issues notifies the assignee of each', async () => {
    const ids = await seedIssues(app, project.id, 3)
    expect(await ada.patch('/api/issues', { ids, assignee_id: bob.id })).toMatchObject({ status: 200 })
    for (const id of ids) expect(await notificationsOf(bob, id)).toEqual(['assigned'])
  })

  test('concurrent changes leave one assignee, and the activity lists the changes in their order', async () => {
    const issueId = await anIssue()
    const changes = [bob.id, zoe.id, null, bob.id, zoe.id].map((id) =>
      ada.patch(`/api/issues/${issueId}`, { assignee_id: id }),
    )
    for (const { status } of await Promise.all(changes)) expect(status).toBe(200)
    const { assignee_id: now, activity } = await detailOf(issueId)
    expect(activity[0]?.data['to'] ?? null).toBe(now)
    for (const [index, entry] of activity.entries())
      if (index > 0) expect(entry.data['to']).toBe(activity[index - 1]?.data['from'])
  })

  test('a disabled user is no assignee any more', async () => {
    const issueId = await anIssue()
    await ada.patch(`/api/issues/${issueId}`, { assignee_id: zoe.id })
    await disable(zoe.id, new Date())
    try {
      expect(await detailOf(issueId)).toMatchObject({ assignee_id: null, assignee: null })
      const list = (await ada.get('/api/issues?limit=100')).as<{ items: IssueDetail[] }>()
      expect(list.items.find(({ id }) => id === issueId)).toMatchObject({ assignee_id: null, assignee: null })
      expect((await ada.patch(`/api/issues/${issueId}`, { assignee_id: zoe.id })).status).toBe(400)
      expect((await ada.get('/api/team')).as<{ total: number }>().total).toBe(3)
      await comment(ada, issueId, '@Zoë Müller?')
      expect(
        (
          await app.db
            .selectFrom('inbox_entries')
            .select('kind')
            .where('issue_id', '=', issueId)
            .where('user_id', '=', zoe.id)
            .execute()
        ).map(({ kind }) => kind),
      ).toEqual(['assigned'])
      expect((await ada.patch(`/api/issues/${issueId}`, { assignee_id: null })).body).toMatchObject({ assignee: null })
    } finally {
      await disable(zoe.id, null)
    }
  })
})

describe('comments', () => {
  test('members whom a comment mentions are notified and subscribed', async () => {
    const issueId = await anIssue()
    const written = await comment(
      ada,
      issueId,
      `@bob builder and @${zoe.email} and @Unknown, \`@Vera\`; @Countess Ada is me`,
    )
    expect(written.mentions).toEqual([
      { text: '@Countess Ada', user: expect.objectContaining({ id: ada.id }) as unknown },
      { text: '@bob builder', user: expect.objectContaining({ id: bob.id }) as unknown },
      { text: `@${zoe.email}`, user: { id: zoe.id, name: 'Zoë Müller', email: zoe.email } },
    ])
    const { items } = (await viewer.get(`/api/issues/${issueId}/comments`)).as<{ items: Comment[] }>()
    expect(items[0]?.mentions).toEqual(written.mentions)
    expect(await notificationsOf(bob, issueId)).toEqual(['mentioned'])
    expect((await inboxOf(bob)).items[0]).toMatchObject({
      comment_id: written.id,
      sentence: 'Countess Ada mentioned you in a comment.',
    })
    expect(await notificationsOf(ada, issueId)).toEqual([])
    expect(await subscriptionOf(ada, issueId)).toMatchObject({ reason: 'commented' })
    expect(await subscriptionOf(zoe, issueId)).toMatchObject({ reason: 'mentioned' })
    expect(await subscriptionOf(viewer, issueId)).toEqual({
      issue_id: issueId,
      subscribed: false,
      reason: null,
      changed_at: null,
    })
    // Subscribers are notified of the next comment, its author is not; a mentioned subscriber is notified once.
    await comment(bob, issueId, 'I look at it, @Zoë Müller.')
    expect(await notificationsOf(ada, issueId)).toEqual(['commented'])
    expect(await notificationsOf(bob, issueId)).toEqual(['mentioned'])
    expect(await notificationsOf(zoe, issueId)).toEqual(['mentioned', 'mentioned'])
  })

  test('only the author edits a comment; members it mentions for the first time are notified once', async () => {
    const issueId = await anIssue()
    const { id } = await comment(ada, issueId, 'Who knows?')
    const path = `/api/issues/${issueId}/comments/${id}`
    const edited = (await ada.patch(path, { body: '@Bob knows.' })).as<Comment>()
    expect(edited).toMatchObject({ body: '@Bob knows.', mentions: [{ user: { id: bob.id } }] })
    expect(edited.edited_at).not.toBeNull()
    for (const body of ['@Bob, really.', 'No mention.', '@Bob again.'])
      expect((await ada.patch(path, { body })).status).toBe(200)
    expect(await notificationsOf(bob, issueId)).toEqual(['mentioned'])
    const { edited_at: before } = (await ada.patch(path, { body: '@Bob @Zoë again.' })).as<Comment>()
    expect(await notificationsOf(zoe, issueId)).toEqual(['mentioned'])
    // The same text again is no edit.
    expect((await ada.patch(path, { body: '@Bob @Zoë again.' })).body['edited_at']).toBe(before)
    expect(await ada.patch(path, { body: ' ' })).toMatchObject({ status: 400 })
    expect(await ada.patch(path, { body: 'x'.repeat(10_001) })).toMatchObject({ status: 400 })
    expect(await bob.patch(path, { body: 'mine now' })).toMatchObject({ status: 403 })
    expect(await stranger.patch(path, { body: 'mine now' })).toMatchObject({ status: 404 })
    expect(await ada.patch(`/api/issues/${await anIssue()}/comments/${id}`, { body: 'elsewhere' })).toMatchObject({
      status: 404,
    })
    // Notifications of a comment are deleted with it.
    expect((await ada.delete(path)).status).toBe(204)
    expect(await notificationsOf(bob, issueId)).toEqual([])
    expect(await ada.patch(path, { body: 'late' })).toMatchObject({ status: 404 })
  })

  test('concurrent comments and assignments that notify the same members do not deadlock', async () => {
    const issueId = await anIssue()
    const answers = await Promise.all(
      [ada, bob, zoe].flatMap((member) => [
        member.post(`/api/issues/${issueId}/comments`, { body: '@Countess Ada @Bob @Zoë' }),
        member.patch(`/api/issues/${issueId}`, { assignee_id: bob.id }),
        member.post(`/api/issues/${issueId}/comments`, { body: '@Zoë @Bob @Countess Ada' }),
      ]),
    )
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 201, 201, 200, 201, 201, 200, 201])
  })
})

describe('subscriptions', () => {
  test('members subscribe by hand or by a change of status; after unsubscribing they are not subscribed automatically', async () => {
    const issueId = await anIssue()
    const path = `/api/issues/${issueId}/subscription`
    expect((await viewer.request('PUT', path)).body).toMatchObject({ subscribed: true, reason: 'manual' })
    await bob.patch(`/api/issues/${issueId}`, { status: 'resolved' })
    const first = await subscriptionOf(bob, issueId)
    expect(first).toMatchObject({ subscribed: true, reason: 'changed' })
    // Following twice keeps the reason.
    expect((await bob.request('PUT', path)).body).toEqual(first)
    await comment(ada, issueId, 'Done?')
    expect(await notificationsOf(viewer, issueId)).toEqual(['commented'])
    expect(await notificationsOf(bob, issueId)).toEqual(['commented'])
    expect((await bob.delete(path)).status).toBe(204)
    expect((await bob.delete(path)).status).toBe(204)
    await comment(ada, issueId, 'Anybody?')
    await bob.patch(`/api/issues/${issueId}`, { status: 'unresolved' })
    await bob.post(`/api/issues/${issueId}/comments`, { body: 'Yes.' })
    expect(await notificationsOf(bob, issueId)).toEqual(['commented'])
    // Mentions and assignments still notify, and do not subscribe again.
    await comment(ada, issueId, '@Bob!')
    await ada.patch(`/api/issues/${issueId}`, { assignee_id: bob.id })
    expect(await notificationsOf(bob, issueId)).toEqual(['assigned', 'mentioned', 'commented'])
    expect(await subscriptionOf(bob, issueId)).toMatchObject({ subscribed: false, reason: null })
    expect((await bob.request('PUT', path)).body).toMatchObject({ subscribed: true, reason: 'manual' })
  })

  test('the subscription to an issue of another organisation is 404', async () => {
    const path = `/api/issues/${await anIssue()}/subscription`
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await stranger.request(method, path)).status).toBe(404)
  })
})

describe('inboxes', () => {
  test('an inbox lists unread entries first; members mark only their own entries, by id or time', async () => {
    const reader = await aMemberClient(app, server.url, ada, { name: 'Rita Reader' })
    const ids = await seedIssues(app, project.id, 5)
    for (const id of ids) await ada.patch(`/api/issues/${id}`, { assignee_id: reader.id })
    const all = await inboxOf(reader)
    expect(all).toMatchObject({ total: 5, unread_count: 5 })
    expect(all.items.map(({ issue }) => issue.id)).toEqual(ids.toReversed())
    const newest = all.items[0]!
    // Entries of another member cannot be marked.
    expect((await bob.post('/api/inbox/read', { ids: [newest.id] })).body).toMatchObject({ read: 0 })
    expect((await reader.post('/api/inbox/read', { ids: [newest.id, newest.id] })).body).toEqual({
      read: 1,
      unread_count: 4,
    })
    expect((await reader.post('/api/inbox/read', { ids: [newest.id] })).body).toEqual({ read: 0, unread_count: 4 })
    const sorted = (await inboxOf(reader)).items
    expect(sorted.map(({ id }) => id)).toEqual([...all.items.slice(1), newest].map(({ id }) => id))
    expect(sorted.at(-1)?.read_at).toMatch(/Z$/)
    expect((await inboxOf(reader, '?unread=true')).total).toBe(4)
    // Pages by cursor cross from unread to read.
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Inbox = await inboxOf(reader, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      paged.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor
    }
    expect(paged).toEqual(sorted.map(({ id }) => id))
    const before = all.items[2]!.created_at
    expect((await reader.post('/api/inbox/read', { before })).body).toEqual({ read: 3, unread_count: 1 })
    for (const body of [
      {},
      { ids: [] },
      { ids: ['x'] },
      { before: 'soon' },
      { ids: [newest.id], before },
      { all: true },
    ])
      expect((await reader.post('/api/inbox/read', body)).status).toBe(400)
    for (const query of ['?cursor=x', '?unread=maybe', '?limit=0', '?sort=x'])
      expect((await reader.get(`/api/inbox${query}`)).status).toBe(400)
  })

  test('a full inbox takes only mentions', async () => {
    const busy = await aMemberClient(app, server.url, ada, { name: 'Busy Body' })
    const issueId = await anIssue()
    const about = await app.db
      .selectFrom('issues')
      .select(['id', 'org_id', 'project_id'])
      .where('id', '=', issueId)
      .executeTakeFirstOrThrow()
    const fact: Fact = {
      kind: 'issue.regressed',
      ...aboutIssue(about),
      sentence: 'x',
      data: { from: 'resolved', to: 'regressed' },
    }
    await busy.request('PUT', `/api/issues/${issueId}/subscription`)
    await app.tx((tx) =>
      recordFacts(
        tx,
        factContext(app, DIGESTION),
        Array.from({ length: MAX_UNREAD }, () => fact),
      ),
    )
    expect(await inboxOf(busy)).toMatchObject({ total: MAX_UNREAD, unread_count: MAX_UNREAD })
    await ada.patch(`/api/issues/${issueId}`, { assignee_id: busy.id })
    await comment(ada, issueId, '@Busy Body')
    expect((await inboxOf(busy)).items.slice(0, 2).map(({ kind }) => kind)).toEqual(['mentioned', 'regressed'])
  })

  test('entries are deleted after 90 days', async () => {
    const issueId = await anIssue()
    await ada.patch(`/api/issues/${issueId}`, { assignee_id: bob.id })
    await purgeInboxesTask.run(app, {}, new AbortController().signal)
    expect(await notificationsOf(bob, issueId)).toEqual(['assigned'])
    await app.db
      .updateTable('inbox_entries')
      .set({ created_at: new Date(Date.now() - 91 * 86_400_000) })
      .where('issue_id', '=', issueId)
      .execute()
    await purgeInboxesTask.run(app, {}, new AbortController().signal)
    expect(await notificationsOf(bob, issueId)).toEqual([])
  })

  test('a dashboard receives live messages only about its own inbox', async () => {
    const [bobs, zoes] = [await listen(bob), await listen(zoe)]
    const issueId = await anIssue()
    await comment(ada, issueId, '@Bob and @Zoë')
    await waitFor('both live messages', () => bobs().length === 1 && zoes().length === 1)
    expect(bobs()).toEqual([{ kind: 'inbox', user_ids: [bob.id] }])
    await ada.patch(`/api/issues/${issueId}`, { assignee_id: bob.id })
    await waitFor('another message to Bob', () => bobs().length === 2)
    expect(zoes()).toHaveLength(1)
    // A deleted comment takes its notifications along.
    const { id } = await comment(ada, issueId, 'Only @Zoë')
    await waitFor('a message to Zoë', () => zoes().length === 2)
    await ada.delete(`/api/issues/${issueId}/comments/${id}`)
    await waitFor('another message to Zoë', () => zoes().length === 3)
  })
})

/** Live messages about a member's inbox, from the member's stream. */
async function listen(member: Client): Promise<() => unknown[]> {
  const cookie = [...member.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const gone = new AbortController()
  server.onClose(() => Promise.resolve(gone.abort()))
  const response = await fetch(`${server.url}/api/live`, { headers: { cookie }, signal: gone.signal })
  let text = ''
  const read = async () => {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
  }
  void read().catch(() => undefined)
  await waitFor('the stream to open', () => text.includes(': open'))
  return () => [...text.matchAll(/event: inbox\ndata: (.*)\n/g)].map(([, data = '']) => JSON.parse(data) as unknown)
}

describe('ownership rules', () => {
  const eventAt = (path: string, fields: Record<string, unknown> = {}) =>
    anEvent({
      exception: {
        values: [
          anException({
            type: `${path}Error`,
            stacktrace: { frames: [{ filename: path, function: path, in_app: true }] },
          }),
        ],
      },
      ...fields,
    })
  const settings = (rules: unknown, by: Client = ada) =>
    by.patch(`/api/projects/${owned.id}/settings`, { ownership_rules: rules })
  const issueOf = async (path: string) => {
    const { items } = (await ada.get(`/api/issues?projectId=${owned.id}&limit=100`)).as<{ items: IssueDetail[] }>()
    return items.find(({ type }) => type === `${path}Error`)
  }
  let owned: TestProject
  beforeAll(async () => {
    owned = await aProject(ada)
  })

  test('are checked when they are saved', async () => {
    const outside = await settings([
      { match: 'path', glob: '*', user_id: bob.id },
      { match: 'path', glob: '*', user_id: stranger.id },
    ])
    expect(outside).toMatchObject({
      status: 400,
      body: { error: 'ownership_rules.1.user_id is not a member of this organisation.' },
    })
    expect((await settings([{ match: 'path', glob: 'x' }])).status).toBe(400)
    expect((await settings('x')).status).toBe(400)
    expect((await settings([{ match: 'path', glob: 'x', team: 'a' }], bob)).status).toBe(403)
    const saved = await settings([{ match: 'path', glob: ' src/* ', team: 'web' }])
    expect(saved.body['ownership_rules']).toEqual([{ match: 'path', glob: 'src/*', user_id: null, team: 'web' }])
    // A saved rule may keep a disabled user; a new rule may not name one.
    const rule = { match: 'path', glob: 'src/z/*', user_id: zoe.id }
    await settings([rule])
    await disable(zoe.id, new Date())
    expect((await settings([rule, { match: 'path', glob: 'y', team: 'a' }])).status).toBe(200)
    await settings([])
    expect((await settings([rule])).status).toBe(400)
    await disable(zoe.id, null)
  })

  test('assign new issues', async () => {
    const rules = [
      { match: 'path', glob: 'src/*', team: 'web' },
      { match: 'path', glob: 'src/checkout/*', user_id: bob.id },
      { match: 'tag.squad', glob: 'search', user_id: zoe.id },
    ]
    expect((await settings(rules)).status).toBe(200)
    await sendEvent(server.url, owned.dsn, eventAt('src/checkout/pay.ts'))
    await sendEvent(server.url, owned.dsn, eventAt('src/home.ts'))
    await sendEvent(server.url, owned.dsn, eventAt('src/checkout/find.ts', { tags: { squad: 'search' } }))
    await sendEvent(server.url, owned.dsn, eventAt('other/place.ts'))
    await server.service.drain()
    expect(await issueOf('src/checkout/pay.ts')).toMatchObject({ assignee: { id: bob.id }, team: null })
    expect(await issueOf('src/home.ts')).toMatchObject({ assignee: null, team: 'web' })
    expect(await issueOf('src/checkout/find.ts')).toMatchObject({ assignee: { id: zoe.id }, team: null })
    expect(await issueOf('other/place.ts')).toMatchObject({ assignee: null, team: null })
    const { id } = (await issueOf('src/checkout/pay.ts'))!
    expect((await detailOf(id)).activity[0]).toMatchObject({
      kind: 'assigned',
      actor: null,
      sentence: 'Assigned to Bob Builder by the ownership rule path src/checkout/*.',
      data: { to: bob.id, automatic: true },
    })
    expect(await notificationsOf(bob, id)).toEqual(['assigned'])
    expect(await subscriptionOf(bob, id)).toMatchObject({ subscribed: true, reason: 'assigned' })
    expect((await inboxOf(bob)).items.find(({ issue }) => issue.id === id)).toMatchObject({ actor: null })
    // Later events do not change the assignee.
    await ada.patch(`/api/issues/${id}`, { assignee_id: null })
    await sendEvent(server.url, owned.dsn, eventAt('src/checkout/pay.ts'))
    await server.service.drain()
    expect(await issueOf('src/checkout/pay.ts')).toMatchObject({ assignee: null, event_count: 2 })
  })

  test('skip disabled users', async () => {
    await settings([
      { match: 'path', glob: 'left/*', user_id: bob.id },
      { match: 'path', glob: 'left/*', user_id: zoe.id },
    ])
    await disable(zoe.id, new Date())
    await sendEvent(server.url, owned.dsn, eventAt('left/one.ts'))
    await server.service.drain()
    await disable(zoe.id, null)
    expect(await issueOf('left/one.ts')).toMatchObject({ assignee: { id: bob.id } })
  })

  test('the preview applies rules to stored events', async () => {
    type Preview = {
      looked_at: number
      owned: number
      issues: {
        title: string
        owner: { id: string } | null
        team: string | null
        rule: number | null
        matched: string | null
      }[]
    }
    const preview = async (body: unknown) => ada.post(`/api/projects/${owned.id}/ownership/preview`, body)
    const proposed = [
      { match: 'path', glob: '*', team: 'everyone' },
      { match: 'path', glob: 'src/checkout/*', user_id: zoe.id },
    ]
    const answer = (await preview({ ownership_rules: proposed })).as<Preview>()
    expect(answer).toMatchObject({ looked_at: 5, owned: 5 })
    const pay = answer.issues.find(({ title }) => title.includes('checkout/pay'))
    expect(pay).toMatchObject({ owner: { id: zoe.id }, team: null, rule: 1, matched: '/src/checkout/pay.ts' })
    expect(answer.issues.find(({ title }) => title.includes('other/place'))).toMatchObject({
      owner: null,
      team: 'everyone',
      rule: 0,
    })
    // Without rules in the request the preview uses the saved rules. It changes nothing.
    expect((await preview({})).as<Preview>()).toMatchObject({ looked_at: 5, owned: 1 })
    expect((await preview({ ownership_rules: [] })).as<Preview>()).toMatchObject({ looked_at: 5, owned: 0 })
    expect((await preview({ ownership_rules: [{ match: 'path', glob: '*', user_id: stranger.id }] })).status).toBe(400)
    expect((await stranger.post(`/api/projects/${owned.id}/ownership/preview`, {})).status).toBe(404)
    expect(await issueOf('other/place.ts')).toMatchObject({ assignee: null, team: null })
  })
})

describe('issues that regress', () => {
  test('notify their subscribers', async () => {
    const shop = await aProject(ada)
    const send = async (fields: Record<string, unknown>) => {
      await server.event({ project: shop, ...fields })
    }
    await send({ timestamp: Date.now() / 1000 - 60 })
    const [issue] = (await ada.get(`/api/issues?projectId=${shop.id}`)).as<{ items: IssueDetail[] }>().items
    const id = issue!.id
    await viewer.request('PUT', `/api/issues/${id}/subscription`)
    await bob.patch(`/api/issues/${id}`, { status: 'resolved' })
    await send({ timestamp: Date.now() / 1000 + 1 })
    expect(await detailOf(id)).toMatchObject({ status: 'regressed' })
    expect(await notificationsOf(bob, id)).toEqual(['regressed'])
    expect(await notificationsOf(viewer, id)).toEqual(['regressed'])
    expect(await notificationsOf(zoe, id)).toEqual([])
    const { items } = await inboxOf(bob)
    expect(items[0]).toMatchObject({ actor: null, sentence: (await detailOf(id)).status_reason })
  })

  test('a comment also notifies subscribers of an issue that was merged into this one', async () => {
    const [target, other] = await seedIssues(app, project.id, 2)
    await zoe.request('PUT', `/api/issues/${other!}/subscription`)
    await viewer.request('PUT', `/api/issues/${other!}/subscription`)
    await viewer.delete(`/api/issues/${target!}/subscription`)
    expect((await ada.post(`/api/issues/${target!}/merge`, { issue_ids: [other] })).status).toBe(200)
    await comment(ada, other!, 'They are one.')
    expect(await notificationsOf(zoe, target!)).toEqual(['commented'])
    expect(await notificationsOf(viewer, target!)).toEqual([])
  })
})
