import { afterAll, expect, test } from 'vitest'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { createAuthenticator } from './authenticate.ts'
import { endOtherSessions, endOwnSession } from './end-sessions.ts'
import { listSessions } from './list-sessions.ts'
import { refreshSession } from './refresh-session.ts'

const t = await testApp()
const { app, clock } = t
const second = await secondApp(t)
const here = createAuthenticator(app)
const elsewhere = createAuthenticator(second)
afterAll(() => {
  here.close()
  elsewhere.close()
})

const FIREFOX = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const enter = (person: Person, userAgent = 'test browser') =>
  logIn(app, { email: person.email, password: person.password }, aCaller({ userAgent }))
const isRefused = (accessToken: string, where = here) =>
  where.authenticate({ authorization: null, accessToken }, aCaller()).then(
    () => false,
    () => true,
  )

test('lists the sessions of all organisations, the last used first, with their devices', async () => {
  const person = await aPerson(app)
  clock.advance(60_000)
  await enter(person, FIREFOX)
  clock.advance(60_000)
  const there = await aMembership(app, person)
  const { items } = await listSessions(app, person.actor)
  expect(items.map(({ current, method, org, device }) => [current, method, org.slug, device.label])).toEqual([
    [false, 'password', there.orgSlug, 'test'],
    [false, 'password', person.orgSlug, 'Firefox on Windows'],
    [true, 'password', person.orgSlug, 'test'],
  ])
  // An hour before its end it is still there; a week without use ends it.
  clock.advance(7 * 86_400_000)
  expect((await listSessions(app, person.actor)).items).toEqual([])
})

test('one ends in every process within a second, and is recorded', async () => {
  const person = await aPerson(app)
  const { tokens } = await enter(person)
  expect(await isRefused(tokens.accessToken, elsewhere)).toBe(false)
  const other = (await listSessions(app, person.actor)).items.find(({ current }) => !current)
  await endOwnSession(app, person.actor, other?.id ?? '')
  expect(await isRefused(tokens.accessToken)).toBe(true)
  await waitFor('the other process', () => isRefused(tokens.accessToken, elsewhere), 1_000)
  await expect(refreshSession(second, tokens.refreshToken, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  await expect(endOwnSession(app, person.actor, other?.id ?? '')).rejects.toMatchObject({ code: 'not_found' })
  const { rows } = await app.db.query<{ action: string; meta: { reason: string } }>(
    "select action, meta::jsonb as meta from audit_log where org_id = $1 and action = 'session.revoked'",
    [person.actor.orgId],
  )
  expect(rows).toMatchObject([{ meta: { reason: 'ended_by_user' } }])
  expect(await isRefused(person.tokens.accessToken)).toBe(false)
})

test("a stranger's session is not found", async () => {
  const [person, stranger] = [await aPerson(app), await aPerson(app)]
  await expect(endOwnSession(app, person.actor, stranger.actor.sessionId)).rejects.toMatchObject({ code: 'not_found' })
  expect(await isRefused(stranger.tokens.accessToken)).toBe(false)
})

test('all others end, in all organisations; this one stays', async () => {
  const person = await aPerson(app)
  const there = await aMembership(app, person)
  const more = [await enter(person), await enter(person)]
  expect(await endOtherSessions(app, person.actor)).toBe(3)
  for (const { accessToken } of [there.tokens, ...more.map(({ tokens }) => tokens)])
    expect(await isRefused(accessToken)).toBe(true)
  expect(await isRefused(person.tokens.accessToken)).toBe(false)
  expect(await endOtherSessions(app, person.actor)).toBe(0)
})

test('of many sign-ins twenty sessions stay, the last used ones', async () => {
  const person = await aPerson(app)
  for (let n = 0; n < 60; n++) {
    clock.advance(1_000)
    await enter(person)
  }
  const { items } = await listSessions(app, person.actor)
  expect(items).toHaveLength(20)
  expect(items.some(({ current }) => current)).toBe(false)
})
