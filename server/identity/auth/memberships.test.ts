import { describe, expect, test } from 'vitest'
import { client, type Client } from '#test/kit/client.ts'
import { aCaller, aMembership, anOrg, aPerson, GOOD_PASSWORD, type Person } from '#test/kit/members.ts'
import { aProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { createAuthenticator } from './authenticate.ts'
import { logIn } from '../accounts/log-in.ts'
import { refreshSession } from './refresh-session.ts'
import { announceSessions, dropCachedSessions } from './session-cache.ts'

/** A user in several organisations: what a session can see, and what ends or changes it. */

const t = await testServer()
const authenticator = createAuthenticator(t.app)
t.onClose(() => Promise.resolve(authenticator.close()))

const ask = ({ tokens }: Pick<Person, 'tokens'>) =>
  authenticator.authenticate({ authorization: null, accessToken: tokens.accessToken }, aCaller())
const refresh = ({ tokens }: Person) => refreshSession(t.app, tokens.refreshToken, aCaller())
const logInAs = ({ email, password }: Person) => logIn(t.app, { email, password }, aCaller())
const ended = { code: 'unauthenticated' }

/** A browser that holds a session. */
function browser({ cookie }: Person): Client {
  const one = client(t.url)
  for (const pair of cookie.split('; ')) {
    const [name = '', value = ''] = pair.split('=')
    one.cookies.set(name, value)
  }
  return one
}

/** Changes a membership like a request of an administrator: all processes drop its cached sessions with the commit. */
async function change(person: Person, set: { role?: 'viewer'; disabled_at?: Date }): Promise<void> {
  const { userId, orgId } = person.actor
  await t.app.tx(async (tx) => {
    await tx.updateTable('memberships').set(set).where('user_id', '=', userId).where('org_id', '=', orgId).execute()
    await announceSessions(tx, { user_id: userId })
  })
  dropCachedSessions(t.app, { user_id: userId })
}

type Me = {
  user: { role: string }
  org: { slug: string }
  memberships: { org: { slug: string }; role: string }[]
}
const me = async (one: Client): Promise<Me> => (await one.get('/api/me')).as<Me>()

describe('log-in', () => {
  test('continues in the organisation used last', async () => {
    const here = await aPerson(t.app)
    t.clock.advance(1_000)
    const there = await aMembership(t.app, here, { role: 'viewer' })
    expect(await logInAs(here)).toMatchObject({ org: there.orgSlug, role: 'viewer' })
    t.clock.advance(1_000)
    await refresh(here)
    expect(await logInAs(here)).toMatchObject({ org: here.orgSlug, role: 'owner' })
  })

  test('ignores a disabled membership', async () => {
    const here = await aPerson(t.app)
    t.clock.advance(1_000)
    const there = await aMembership(t.app, here)
    await change(there, { disabled_at: t.clock.now() })
    expect(await logInAs(here)).toMatchObject({ org: here.orgSlug, role: 'owner' })
  })

  test('without an active membership the right password is refused', async () => {
    const person = await aPerson(t.app)
    await change(person, { disabled_at: t.clock.now() })
    const refused = { ...ended, message: 'E-mail or password is wrong.' }
    await expect(logInAs({ ...person, password: 'not the password' })).rejects.toMatchObject(refused)
    await expect(logInAs(person)).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('an address belongs to one user of the installation', async () => {
    const person = await aPerson(t.app)
    const org = await anOrg(t.app)
    await expect(aPerson(t.app, { org, email: person.email })).rejects.toThrow()
    const account = { email: person.email, password: GOOD_PASSWORD, name: 'Ada', org: 'Acme' }
    expect((await client(t.url).post('/api/auth/signup', account)).status).toBe(409)
  })
})

describe('GET /api/me', () => {
  test('returns every active membership with its role, the one used last first', async () => {
    const here = await aPerson(t.app)
    t.clock.advance(1_000)
    const there = await aMembership(t.app, here, { role: 'viewer' })
    t.clock.advance(1_000)
    const left = await aMembership(t.app, here)
    await change(left, { disabled_at: t.clock.now() })
    const memberships = [
      { org: { slug: there.orgSlug }, role: 'viewer' },
      { org: { slug: here.orgSlug }, role: 'owner' },
    ]
    expect(await me(browser(here))).toMatchObject({ user: { role: 'owner' }, org: { slug: here.orgSlug }, memberships })
    expect(await me(browser(there))).toMatchObject({ user: { role: 'viewer' }, org: { slug: there.orgSlug } })
    expect((await me(browser(here))).memberships).toHaveLength(2)
  })
})

describe('POST /api/auth/switch-org', () => {
  test('ends this session and begins one in the other organisation, with its role', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here, { role: 'viewer' })
    t.clock.advance(1_000)
    const one = browser(here)
    const answer = await one.post('/api/auth/switch-org', { org: there.orgSlug })
    expect(answer).toMatchObject({ status: 200, body: { ok: true, org: there.orgSlug, role: 'viewer' } })
    expect(await me(one)).toMatchObject({ org: { slug: there.orgSlug }, user: { role: 'viewer' } })
    await expect(ask(here)).rejects.toMatchObject(ended)
    await expect(refresh(here)).rejects.toMatchObject(ended)
    // The user's other session stays active.
    expect(await ask(there)).not.toBeNull()
    expect(await logInAs(here)).toMatchObject({ org: there.orgSlug })
  })

  test('does not prolong the log-in', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here)
    const endOf = async (one: Client) =>
      (await one.get('/api/me')).as<{ session: { expires_at: string } }>().session.expires_at
    const one = browser(here)
    const end = await endOf(one)
    t.clock.advance(600_000)
    await one.post('/api/auth/switch-org', { org: there.orgSlug })
    expect(await endOf(one)).toBe(end)
  })

  test('returns 404 for organisations of others and for unknown ones', async () => {
    const here = await aPerson(t.app)
    const left = await aMembership(t.app, here)
    await change(left, { disabled_at: t.clock.now() })
    const one = browser(here)
    for (const org of [left.orgSlug, (await anOrg(t.app)).slug, 'nowhere']) {
      expect(await one.post('/api/auth/switch-org', { org })).toMatchObject({
        status: 404,
        body: { error: 'Organisation not found.' },
      })
    }
    expect(await me(one)).toMatchObject({ org: { slug: here.orgSlug } })
  })

  test('does not start a session when the current one has ended meanwhile', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here)
    const [one, two] = [browser(here), browser(here)]
    const answers = await Promise.all(
      [one, two].map((each) => each.post('/api/auth/switch-org', { org: there.orgSlug })),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]))
  })

  test('is limited to sixty times an hour', async () => {
    const here = await aPerson(t.app)
    const one = browser(here)
    const statuses = new Set<number>()
    for (let n = 0; n < 60; n++) statuses.add((await one.post('/api/auth/switch-org', { org: here.orgSlug })).status)
    expect([...statuses]).toEqual([200])
    expect((await one.post('/api/auth/switch-org', { org: here.orgSlug })).status).toBe(429)
  })
})

describe('sessions', () => {
  test('a disabled membership ends its own sessions and no others', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here)
    for (const person of [here, there]) expect(await ask(person)).not.toBeNull()
    await change(there, { disabled_at: t.clock.now() })
    await expect(ask(there)).rejects.toMatchObject(ended)
    await expect(refresh(there)).rejects.toMatchObject(ended)
    expect(await ask(here)).toMatchObject({ actor: { orgId: here.actor.orgId, role: 'owner' } })
    await expect(refresh(here)).resolves.toBeDefined()
  })

  test('a disabled user has none', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here)
    const { userId } = here.actor
    await t.app.db.updateTable('users').set({ disabled_at: t.clock.now() }).where('id', '=', userId).execute()
    for (const person of [here, there]) {
      await expect(ask(person)).rejects.toMatchObject(ended)
      await expect(refresh(person)).rejects.toMatchObject(ended)
    }
    await expect(logInAs(here)).rejects.toMatchObject(ended)
  })

  test('a change of the role is effective immediately, and only in its organisation', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here, { role: 'admin' })
    for (const person of [here, there]) await ask(person)
    await change(there, { role: 'viewer' })
    expect(await ask(there)).toMatchObject({ actor: { role: 'viewer' } })
    expect(await ask(here)).toMatchObject({ actor: { role: 'owner' } })
    const project = { name: 'Shop', platform: 'web', region: 'eu-central-1' }
    expect((await browser(there).post('/api/projects', project)).status).toBe(403)
    expect((await browser(here).post('/api/projects', project)).status).toBe(201)
  })
})

describe('one user in two organisations', () => {
  test('sees in a session the data of its organisation only', async () => {
    const here = await aPerson(t.app)
    const there = await aMembership(t.app, here, { role: 'admin' })
    const [one, two] = [browser(here), browser(there)]
    const [project, other] = [await aProject(one), await aProject(two)]
    const [issueId = ''] = await seedIssues(t.app, project.id, 1)
    const [otherId = ''] = await seedIssues(t.app, other.id, 1)
    const ids = async (on: Client, path: string) =>
      (await on.get(path)).as<{ items: { id: string }[] }>().items.map(({ id }) => id)
    for (const [on, own, foreign] of [
      [one, project, other],
      [two, other, project],
    ] as const) {
      expect(await ids(on, '/api/projects')).toEqual([own.id])
      expect((await on.get(`/api/projects/${foreign.id}/settings`)).status).toBe(404)
    }
    for (const [on, own, foreign] of [
      [one, issueId, otherId],
      [two, otherId, issueId],
    ] as const) {
      expect(await ids(on, '/api/issues')).toEqual([own])
      expect((await on.get(`/api/issues/${foreign}`)).status).toBe(404)
      expect((await on.patch(`/api/issues/${foreign}`, { status: 'resolved' })).status).toBe(404)
    }
    // The same user is assigned in both; the list of one organisation has only its own issues.
    for (const [on, id] of [
      [one, issueId],
      [two, otherId],
    ] as const) {
      expect((await on.patch(`/api/issues/${id}`, { assignee_id: here.actor.userId })).status).toBe(200)
      expect(await ids(on, '/api/issues?assignee_id=me')).toEqual([id])
      expect(await ids(on, '/api/issues/search?q=assigned:me')).toEqual([id])
    }
    await one.post('/api/views', { name: 'Mine' })
    expect((await two.get('/api/views')).body).toMatchObject({ total: 0 })
  })

  test('each organisation lists, mentions and assigns its own members', async () => {
    const here = await aPerson(t.app, { name: 'Ada' })
    const there = await aMembership(t.app, here, { role: 'admin' })
    const [one, two] = [browser(here), browser(there)]
    const other = await aPerson(t.app, {
      role: 'member',
      name: 'Bob',
      org: { id: here.actor.orgId, slug: here.orgSlug },
    })
    const team = async (on: Client) =>
      (await on.get('/api/team'))
        .as<{ items: { id: string; role: string }[] }>()
        .items.map(({ id, role }) => [id, role])
    expect(new Map(await team(one).then((rows) => rows as [string, string][]))).toEqual(
      new Map([
        [here.actor.userId, 'owner'],
        [other.actor.userId, 'member'],
      ]),
    )
    expect(await team(two)).toEqual([[here.actor.userId, 'admin']])
    const [otherId = ''] = await seedIssues(t.app, (await aProject(two)).id, 1)
    expect((await two.patch(`/api/issues/${otherId}`, { assignee_id: other.actor.userId })).status).toBe(400)
    const comment = await two.post(`/api/issues/${otherId}/comments`, { body: '@Bob @Ada please look.' })
    expect(comment.body['mentions']).toMatchObject([{ text: '@Ada', user: { id: here.actor.userId } }])
    expect((await two.get('/api/issues/search?q=assigned:Bob')).status).toBe(400)
    const rule = { match: 'path', glob: 'src/*', user_id: other.actor.userId }
    const projectId = (await aProject(two)).id
    const saved = await two.patch(`/api/projects/${projectId}/settings`, { ownership_rules: [rule] })
    expect(saved.status).toBe(400)
  })

  test('has an inbox in each of them', async () => {
    const here = await aPerson(t.app, { name: 'Ada' })
    const there = await aMembership(t.app, here, { role: 'admin' })
    const [one, two] = [browser(here), browser(there)]
    const other = await aPerson(t.app, { role: 'member', org: { id: here.actor.orgId, slug: here.orgSlug } })
    const [issueId = ''] = await seedIssues(t.app, (await aProject(one)).id, 1)
    await browser(other).patch(`/api/issues/${issueId}`, { assignee_id: here.actor.userId })
    const inbox = async (on: Client) =>
      (await on.get('/api/inbox')).as<{ items: { id: string }[]; unread_count: number }>()
    const { items } = await inbox(one)
    expect(items).toHaveLength(1)
    expect(await inbox(two)).toMatchObject({ items: [], unread_count: 0 })
    // Marking as read changes no notification of the other organisation.
    for (const body of [
      { ids: items.map(({ id }) => id) },
      { before: new Date(t.clock.now().getTime() + 60_000).toISOString() },
    ])
      expect((await two.post('/api/inbox/read', body)).body).toMatchObject({ read: 0 })
    expect((await inbox(one)).unread_count).toBe(1)
  })

  test('a disabled member cannot be assigned and gets no notifications there', async () => {
    const here = await aPerson(t.app, { name: 'Ada' })
    const there = await aMembership(t.app, here, { role: 'admin' })
    const [one, two] = [browser(here), browser(there)]
    const other = browser(await aPerson(t.app, { role: 'member', org: { id: there.actor.orgId, slug: there.orgSlug } }))
    const [issueId = ''] = await seedIssues(t.app, (await aProject(one)).id, 1)
    const [otherId = ''] = await seedIssues(t.app, (await aProject(two)).id, 1)
    for (const [on, id] of [
      [one, issueId],
      [two, otherId],
    ] as const)
      await on.patch(`/api/issues/${id}`, { assignee_id: here.actor.userId })
    await change(there, { disabled_at: t.clock.now() })
    expect((await other.get(`/api/issues/${otherId}`)).body).toMatchObject({ assignee: null })
    expect((await other.get('/api/issues?assignee_id=none')).body).toMatchObject({ total: 1 })
    expect((await one.get(`/api/issues/${issueId}`)).body).toMatchObject({ assignee: { id: here.actor.userId } })
    await other.post(`/api/issues/${otherId}/comments`, { body: '@Ada' })
    const entries = await t.app.db
      .selectFrom('inbox_entries')
      .select('id')
      .where('user_id', '=', here.actor.userId)
      .execute()
    expect(entries).toEqual([])
  })
})
