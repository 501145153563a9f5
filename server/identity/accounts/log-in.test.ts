import { describe, expect, test } from 'vitest'
import { accountKey, LIMITS, networkKey, pairKey, takeAttempt } from '../auth/attempts.ts'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { createAuthenticator } from '../auth/authenticate.ts'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { createPasswordHasher } from '../auth/password-hasher.ts'

const t = await testApp()
const MINUTE_MS = 60_000

/** The same App with a counter of password checks. */
function counting(): { app: App; checks: () => number } {
  let checks = 0
  const app: App = {
    ...t.app,
    passwords: {
      ...t.app.passwords,
      verify: (hash, password) => {
        checks++
        return t.app.passwords.verify(hash, password)
      },
    },
  }
  return { app, checks: () => checks }
}

let networks = 0
/** A client from a network that no other test uses. */
const fromAnywhere = () => aCaller({ ip: `198.${18 + Math.floor(networks / 250)}.${networks++ % 250}.1` })

const wrong = (person: { email: string }) => ({ email: person.email, password: 'not the password' })
const right = (person: Person) => ({ email: person.email, password: person.password })

describe('the password', () => {
  test('starts a session of the organisation when it is correct', async () => {
    const person = await aPerson(t.app, { role: 'member' })
    const caller = aCaller({ ip: '192.0.2.99', userAgent: 'Firefox' })
    const { org, role, tokens } = await logIn(t.app, { ...right(person), email: person.email.toUpperCase() }, caller)
    expect({ org, role }).toEqual({ org: person.orgSlug, role: 'member' })
    expect(tokens.refreshLifeSeconds).toBe(7 * 86_400)
    const authenticator = createAuthenticator(t.app)
    const who = await authenticator.authenticate({ authorization: null, accessToken: tokens.accessToken }, aCaller())
    authenticator.close()
    expect(who).toMatchObject({ viaCookie: true, actor: { userId: person.actor.userId, role: 'member' } })
    const session = await t.app.db
      .selectFrom('sessions')
      .selectAll()
      .where('id', '=', who?.viaCookie === true ? who.actor.sessionId : '')
      .executeTakeFirstOrThrow()
    expect(session).toMatchObject({ ip: '192.0.2.99', user_agent: 'Firefox', method: 'password', counter: 0 })
    expect(session.expires_at.getTime() - session.created_at.getTime()).toBe(30 * 86_400_000)
  })

  test('is checked once with the same refusal for a wrong password, an unknown address and a disabled account', async () => {
    const person = await aPerson(t.app)
    const disabled = await aPerson(t.app)
    await t.app.db
      .updateTable('users')
      .set({ disabled_at: t.clock.now() })
      .where('id', '=', disabled.actor.userId)
      .execute()
    const refusals: unknown[] = []
    for (const attempt of [wrong(person), wrong({ email: `${newId()}@example.com` }), right(disabled)]) {
      const { app, checks } = counting()
      refusals.push(await logIn(app, attempt, fromAnywhere()).catch((error: unknown) => error))
      expect(checks()).toBe(1)
    }
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'unauthenticated', message: 'E-mail or password is wrong.' })
    }
  })
})

describe('limits', () => {
  test('fifty parallel wrong passwords cause five checks, the rest is 429', async () => {
    const person = await aPerson(t.app)
    const { app, checks } = counting()
    const caller = fromAnywhere()
    const results = await Promise.allSettled(Array.from({ length: 50 }, () => logIn(app, wrong(person), caller)))
    expect(checks()).toBe(5)
    const codes = results.map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : 'ok',
    )
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(45)
    // The pair of account and network is blocked, the account is not: another network can log in.
    await expect(logIn(t.app, right(person), fromAnywhere())).resolves.toMatchObject({ role: 'owner' })
    await expect(logIn(t.app, right(person), caller)).rejects.toMatchObject({ code: 'rate_limited' })
    t.clock.advance(MINUTE_MS)
    await expect(logIn(t.app, right(person), caller)).resolves.toMatchObject({ role: 'owner' })
  })

  test('unknown accounts count the same', async () => {
    const caller = fromAnywhere()
    const unknown = { email: `${newId()}@example.com` }
    for (let i = 0; i < 5; i++) {
      await expect(logIn(t.app, wrong(unknown), caller)).rejects.toMatchObject({ code: 'unauthenticated' })
    }
    await expect(logIn(t.app, wrong(unknown), caller)).rejects.toMatchObject({ code: 'rate_limited' })
  })

  test('thirty parallel correct log-ins all succeed and count no failure', async () => {
    const person = await aPerson(t.app)
    const caller = fromAnywhere()
    const results = await Promise.allSettled(Array.from({ length: 30 }, () => logIn(t.app, right(person), caller)))
    expect(results.filter((result) => result.status === 'rejected')).toEqual([])
    for (let i = 0; i < 5; i++) {
      await expect(logIn(t.app, wrong(person), caller)).rejects.toMatchObject({ code: 'unauthenticated' })
    }
  })

  test('after fifty failures from many networks strangers are refused, known devices can log in, and the user gets one mail', async () => {
    const person = await aPerson(t.app)
    const { deviceToken } = await logIn(t.app, right(person), fromAnywhere())
    for (let i = 0; i < 50; i++) {
      await expect(logIn(t.app, wrong(person), fromAnywhere())).rejects.toMatchObject({ code: 'unauthenticated' })
    }
    for (let i = 0; i < 3; i++) {
      await expect(logIn(t.app, right(person), fromAnywhere())).rejects.toMatchObject({ code: 'rate_limited' })
    }
    const known = { ...fromAnywhere(), deviceToken }
    await expect(logIn(t.app, right(person), known)).resolves.toMatchObject({ role: 'owner' })
    await expect(logIn(t.app, wrong(person), known)).rejects.toMatchObject({ code: 'unauthenticated' })
    const mails = await waitFor('the mail', async () => {
      const found = await queuedMails(t.app, person.email)
      return found.length > 0 ? found : null
    })
    expect(mails).toMatchObject([{ type: 'signin.locked', subject: 'Many failed log-ins to your Faultline account' }])
    t.clock.advance(60 * MINUTE_MS)
    await expect(logIn(t.app, right(person), fromAnywhere())).resolves.toMatchObject({ role: 'owner' })
  })

  test('sixty failures from one network block that network', async () => {
    const codes: string[] = []
    for (let i = 0; i < 62; i++) {
      const attempt = logIn(t.app, wrong({ email: `${newId()}@example.com` }), aCaller({ ip: '203.0.113.130' }))
      codes.push(
        await attempt.then(
          () => 'ok',
          (error: { code: string }) => error.code,
        ),
      )
    }
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(2)
  })

  test('a network beyond its limit uses up no count of an account', async () => {
    const person = await aPerson(t.app)
    const { ip } = aCaller({ ip: '203.0.113.7' }).origin
    for (let i = 0; i < 60; i++) await takeAttempt(t.app, LIMITS.loginNetwork, networkKey(ip), ip)
    const keys = [pairKey(person.email, ip), accountKey(person.email)]
    for (let i = 0; i < 3; i++)
      await expect(logIn(t.app, wrong(person), aCaller({ ip }))).rejects.toMatchObject({
        code: 'rate_limited',
        details: { headers: { 'ratelimit-policy': '"login-network";q=60;w=900' } },
      })
    expect(await t.app.db.selectFrom('attempt_counters').select('key').where('key', 'in', keys).execute()).toEqual([])
  })

  test('an attempt does not count as a failure when the queue for hashing is full', async () => {
    const person = await aPerson(t.app)
    const busy: App = {
      ...t.app,
      passwords: { ...t.app.passwords, verify: () => Promise.reject(new Error('busy')) },
    }
    const caller = fromAnywhere()
    for (let i = 0; i < 10; i++) await expect(logIn(busy, wrong(person), caller)).rejects.toThrow('busy')
    await expect(logIn(t.app, right(person), caller)).resolves.toMatchObject({ role: 'owner' })
  })
})

test('a hash with a lower cost is replaced at log-in', async () => {
  const person = await aPerson(t.app)
  const app: App = { ...t.app, passwords: createPasswordHasher({ memoryKib: 16, passes: 2 }) }
  await logIn(app, right(person), fromAnywhere())
  const user = await t.app.db
    .selectFrom('users')
    .select('password_hash')
    .where('id', '=', person.actor.userId)
    .executeTakeFirstOrThrow()
  expect(user.password_hash).toContain('m=16,t=2')
  await expect(logIn(app, right(person), fromAnywhere())).resolves.toMatchObject({ role: 'owner' })
})

test('the twenty-first session ends the least recently used', async () => {
  const person = await aPerson(t.app)
  for (let i = 0; i < 20; i++) {
    t.clock.advance(1000)
    await logIn(t.app, right(person), fromAnywhere())
  }
  const sessions = await t.app.db
    .selectFrom('sessions')
    .select(['id', 'end_reason'])
    .where('user_id', '=', person.actor.userId)
    .execute()
  expect(sessions).toHaveLength(21)
  expect(sessions.filter((session) => session.end_reason !== null)).toEqual([
    { id: person.actor.sessionId, end_reason: 'too_many' },
  ])
})

test('a log-in with the old password during its change does not survive the change', async () => {
  const person = await aPerson(t.app)
  const app: App = {
    ...t.app,
    passwords: {
      ...t.app.passwords,
      async verify(hash, password) {
        const matches = await t.app.passwords.verify(hash, password)
        const changed = await t.app.passwords.hash('another good password')
        await t.app.db
          .updateTable('users')
          .set({ password_hash: changed })
          .where('id', '=', person.actor.userId)
          .execute()
        return matches
      },
    },
  }
  await expect(logIn(app, right(person), fromAnywhere())).rejects.toMatchObject({ code: 'unauthenticated' })
})

test('no log line holds a password or a token', async () => {
  const person = await aPerson(t.app, { password: 'canary-password-91' })
  const { tokens } = await logIn(t.app, right(person), fromAnywhere())
  await logIn(t.app, { email: person.email, password: 'canary-password-92' }, fromAnywhere()).catch(() => null)
  const text = JSON.stringify(t.logLines)
  expect(text).toContain('signin.failed')
  for (const secret of ['canary-password', tokens.accessToken, tokens.refreshToken]) expect(text).not.toContain(secret)
})
