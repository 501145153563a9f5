import { afterAll, describe, expect, test } from 'vitest'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { createAuthenticator } from '../auth/authenticate.ts'
import { changePassword } from './change-password.ts'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { refreshSession } from '../auth/refresh-session.ts'

const t = await testApp()
const second = await secondApp(t)
const here = createAuthenticator(t.app)
const elsewhere = createAuthenticator(second)
afterAll(() => {
  here.close()
  elsewhere.close()
})

const NEW = 'a different good password'
const ask = (accessToken: string, where = here) => where.authenticate({ authorization: null, accessToken }, aCaller())
const change = (person: Person, over: Record<string, string> = {}, app: App = t.app) =>
  changePassword(app, person.actor, { currentPassword: person.password, newPassword: NEW, ...over })
const login = (person: Person, password: string) => logIn(t.app, { email: person.email, password }, aCaller())
const dead = { code: 'unauthenticated' }

test('ends every session in every process immediately, and starts a new one for the caller', async () => {
  const person = await aPerson(t.app)
  const other = await login(person, person.password)
  for (const { accessToken } of [person.tokens, other.tokens]) {
    expect(await ask(accessToken)).not.toBeNull()
    expect(await ask(accessToken, elsewhere)).not.toBeNull()
  }
  const { tokens, warning } = await change(person)
  expect(warning).toBeNull()
  for (const { accessToken, refreshToken } of [person.tokens, other.tokens]) {
    await expect(ask(accessToken)).rejects.toMatchObject(dead)
    await expect(refreshSession(t.app, refreshToken, aCaller())).rejects.toMatchObject(dead)
    await waitFor(
      'the other process',
      () =>
        ask(accessToken, elsewhere).then(
          () => false,
          () => true,
        ),
      1_000,
    )
  }
  expect(await ask(tokens.accessToken)).toMatchObject({ actor: { userId: person.actor.userId } })
  expect(await refreshSession(t.app, tokens.refreshToken, aCaller())).toBeDefined()
  await expect(login(person, person.password)).rejects.toMatchObject(dead)
  await expect(login(person, NEW)).resolves.toBeDefined()
  expect(await queuedMails(t.app, person.email)).toMatchObject([
    { type: 'password.changed', subject: 'Your Faultline password was changed' },
  ])
})

describe('refusals change nothing', () => {
  test.each([
    ['a wrong current password', { currentPassword: 'wrong one' }, 'currentPassword is wrong.'],
    ['a short new one', { newPassword: 'short' }, 'newPassword must have at least 8 characters.'],
    ['the same again', { newPassword: 'correct horse battery' }, 'newPassword must differ from the current one.'],
  ])('%s', async (_name, over, message) => {
    const person = await aPerson(t.app)
    await expect(change(person, over)).rejects.toMatchObject({ code: 'invalid', message })
    expect(await ask(person.tokens.accessToken)).not.toBeNull()
    await expect(login(person, person.password)).resolves.toBeDefined()
  })

  test('a weak password when PASSWORD_CHECK is block', async () => {
    const person = await aPerson(t.app)
    const strict: App = { ...t.app, config: { ...t.app.config, passwordCheck: 'block' } }
    await expect(change(person, { newPassword: person.email }, strict)).rejects.toMatchObject({ code: 'invalid' })
    const { warning } = await change(person, { newPassword: person.email })
    expect(warning).toMatch('your e-mail address')
  })
})

test('guessing the current password is limited like log-in', async () => {
  const person = await aPerson(t.app)
  for (let i = 0; i < 5; i++) {
    await expect(change(person, { currentPassword: 'wrong one' })).rejects.toMatchObject({ code: 'invalid' })
  }
  await expect(change(person)).rejects.toMatchObject({ code: 'rate_limited' })
})

test('of two parallel changes one succeeds', async () => {
  const person = await aPerson(t.app)
  const results = await Promise.allSettled([
    change(person, { newPassword: 'the first new password' }),
    change(person, { newPassword: 'the second new password' }, second),
  ])
  expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
})

test('no earlier token survives a change in parallel with log-ins and refreshes', async () => {
  for (let round = 0; round < 10; round++) {
    const person = await aPerson(t.app)
    const [changed, loggedIn, refreshed] = await Promise.allSettled([
      change(person),
      login(person, person.password),
      refreshSession(second, person.tokens.refreshToken, aCaller()),
    ])
    expect(changed.status).toBe('fulfilled')
    const survivors = [
      ...(loggedIn.status === 'fulfilled' ? [loggedIn.value.tokens] : []),
      ...(refreshed.status === 'fulfilled' ? [refreshed.value] : []),
    ]
    for (const { accessToken, refreshToken } of survivors) {
      await expect(ask(accessToken)).rejects.toMatchObject(dead)
      await expect(refreshSession(t.app, refreshToken, aCaller())).rejects.toMatchObject(dead)
    }
  }
})

test('a session of single sign-on stays one, and ends when it would have ended', async () => {
  const person = await aPerson(t.app)
  await t.app.db.query("update sessions set method = 'oidc' where id = $1", [person.actor.sessionId])
  const before = await t.app.db.query<{ expires_at: Date }>('select expires_at from sessions where id = $1', [
    person.actor.sessionId,
  ])
  t.clock.advance(86_400_000)
  await change(person)
  const { rows } = await t.app.db.query<{ method: string; expires_at: Date }>(
    'select method, expires_at from sessions where user_id = $1 and ended_at is null',
    [person.actor.userId],
  )
  expect(rows).toEqual([{ method: 'oidc', expires_at: before.rows[0]?.expires_at }])
})
