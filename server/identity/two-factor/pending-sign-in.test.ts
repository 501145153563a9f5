import { expect, test } from 'vitest'
import { altered } from '#test/kit/altered.ts'
import { cookieJar, type CookieJar } from '#test/kit/cookie-jar.ts'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { SSO_INPUT } from '#test/kit/sso.ts'
import { testApp } from '#test/kit/test-app.ts'
import { enrol } from '#test/kit/two-factor.ts'
import { changePassword } from '../accounts/change-password.ts'
import { removeSsoConfig, updateSsoConfig } from '../external-identity/update-config.ts'
import { disableTwoFactorByOperator } from './disable-two-factor.ts'
import { continueSignIn, startPendingSignIn } from './pending-sign-in.ts'

const t = await testApp()
const { app } = t
const MINUTE_MS = 60_000

const fact = { kind: 'signin.oidc.ok', data: { provider: 'oidc', issuer: 'https://id.example.com' } } as const

/** A user with two-factor authentication, whose organisation has single sign-on. */
async function enrolled(): ReturnType<typeof enrol> {
  const person = await aPerson(app)
  await updateSsoConfig(app, person.actor, { ...SSO_INPUT, issuer: fact.data.issuer })
  return enrol(app, person)
}

/** A browser that came back from a provider as this user. */
function pendingOf({ actor: { userId, orgId } }: Person): CookieJar {
  const cookies = cookieJar()
  startPendingSignIn(app, cookies, { userId, orgId, fact })
  return cookies
}

const send = (cookies: CookieJar, token: string) => continueSignIn(app, cookies, token, aCaller())

test('a code completes the sign-in in the organisation of the provider, with its method and fact, and clears the cookie', async () => {
  const { person, phone } = await enrolled()
  const elsewhere = await aMembership(app, person)
  const cookies = pendingOf(person)
  const signedIn = await send(cookies, phone.code())
  expect(signedIn).toMatchObject({ org: person.orgSlug, role: 'owner', warning: null })
  expect(elsewhere.orgSlug).not.toBe(person.orgSlug)
  expect(cookies.header()).toBe('')
  const { rows } = await app.db.query(
    `select l.action, s.method from audit_log l join sessions s on s.id::text = l.target_id
     where l.org_id = $1 and l.action like 'signin.%'`,
    [person.actor.orgId],
  )
  expect(rows).toEqual([{ action: 'signin.oidc.ok', method: 'oidc' }])
})

test('a wrong code leaves it waiting; a backup code completes it, recorded first', async () => {
  const { person, backupCodes } = await enrolled()
  const cookies = pendingOf(person)
  await expect(send(cookies, '000000')).rejects.toMatchObject({ code: 'unauthenticated' })
  await expect(send(cookies, backupCodes[0] ?? '')).resolves.toMatchObject({ role: 'owner' })
  const { rows } = await app.db.query<{ action: string }>(
    'select action from audit_log where org_id = $1 order by seq offset 4',
    [person.actor.orgId],
  )
  expect(rows.map(({ action }) => action)).toEqual(['mfa.backup_code.used', 'signin.oidc.ok', 'device.new'])
})

test('without a cookie, with a changed one, or after five minutes it is over', async () => {
  const { person, phone } = await enrolled()
  const over = { code: 'invalid', message: 'This sign-in is over. Start again on the log-in page.' }
  await expect(send(cookieJar(), phone.code())).rejects.toMatchObject(over)
  const changed = cookieJar()
  const options = { path: '/', sameSite: 'strict', maxAgeSeconds: 300 } as const
  changed.set('svc_pending', altered(pendingOf(person).get('svc_pending') ?? ''), options)
  await expect(send(changed, phone.code())).rejects.toMatchObject(over)
  const cookies = pendingOf(person)
  t.clock.advance(5 * MINUTE_MS - 1)
  await expect(send(cookies, '000000')).rejects.toMatchObject({ code: 'unauthenticated' })
  t.clock.advance(1)
  await expect(send(cookies, phone.code())).rejects.toMatchObject(over)
})

test('a cookie of another purpose that the same key sealed is none', async () => {
  const { person, phone } = await enrolled()
  const cookies = cookieJar()
  const pending = {
    user_id: person.actor.userId,
    org_id: person.actor.orgId,
    fact,
    started_at: t.clock.now().getTime(),
  }
  const sealed = app.sealer.seal(Buffer.from(JSON.stringify(pending)), 'cookie:svc_passkey')
  cookies.set('svc_pending', sealed, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
  await expect(send(cookies, phone.code())).rejects.toMatchObject({ code: 'invalid' })
})

test.each<[string, (person: Person) => Promise<unknown>]>([
  ['the account was disabled', ({ actor }) => setDisabled('users', actor.userId)],
  ['the membership was disabled', ({ actor }) => setDisabled('memberships', actor.userId)],
  [
    'the password was changed',
    (person) => {
      t.clock.advance(1)
      const input = { currentPassword: person.password, newPassword: 'a different good password' }
      return changePassword(app, person.actor, input)
    },
  ],
  ['single sign-on was removed', ({ actor }) => removeSsoConfig(app, actor)],
  ['the operator turned two-factor authentication off', ({ actor }) => disableTwoFactorByOperator(app, actor.userId)],
])('it is over when %s meanwhile', async (_what, change) => {
  const { person, phone } = await enrolled()
  const cookies = pendingOf(person)
  await change(person)
  await expect(send(cookies, phone.code())).rejects.toMatchObject({ code: 'invalid' })
})

const setDisabled = (table: 'users' | 'memberships', userId: string) =>
  app.db.query(`update ${table} set disabled_at = now() where ${table === 'users' ? 'id' : 'user_id'} = $1`, [userId])

test('twenty times at once with one code succeeds once', async () => {
  const { person, phone } = await enrolled()
  const sealed = pendingOf(person).get('svc_pending') ?? ''
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => {
      const cookies = cookieJar()
      cookies.set('svc_pending', sealed, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
      return send(cookies, phone.code())
    }),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})
