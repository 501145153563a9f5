import { expect, test } from 'vitest'
import { actorOfKey } from '../api-keys/key-actor.ts'
import { createKey } from '../api-keys/create-key.ts'
import { readAccessToken } from '../auth/access-token.ts'
import { createAuthenticator } from '../auth/authenticate.ts'
import { insertDevice } from '../auth/devices.queries.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { registerPasskey, startPasskeyRegistration } from '../passkeys/register-passkey.ts'
import { linkSocial } from '../external-identity/link-social.ts'
import { insertIdentity } from '../external-identity/external-identities.queries.ts'

import { acceptInvite } from '../team/accept-invite.ts'
import { verifyTwoFactor } from '../two-factor/verify-two-factor.ts'
import { readTwoFactor } from '../two-factor/set-up-two-factor.ts'
import { softAuthenticator } from '#test/kit/authenticator.ts'
import { cookieJar } from '#test/kit/cookie-jar.ts'
import { anInvite } from '#test/kit/invites.ts'
import { addPasskey, passkeyOrigin } from '#test/kit/passkeys.ts'
import { aSocialIdentity, pendingSocialLink } from '#test/kit/social.ts'
import { logInWithPassword as logIn } from '#test/kit/log-in.ts'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { linkToken, queuedMails } from '#test/kit/queued-mails.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { enrol } from '#test/kit/two-factor.ts'
import { changeEmail } from './change-email.ts'
import { confirmEmail } from './confirm-email.ts'
import { forgotPassword } from './forgot-password.ts'
import { resetPassword } from './reset-password.ts'
import { sendResetLink } from './send-reset-link.ts'

const t = await testApp()
const { app, clock } = t
const second = await secondApp(t)

const NEW = 'a different good password'
const link = async (person: Person): Promise<string> => {
  await sendResetLink(app, person.email, aCaller())
  return linkToken(app, person.email)
}
const reset = (token: string, password = NEW, on = app) => resetPassword(on, { token, password }, aCaller())
const refused = { code: 'invalid', message: 'This link is not valid any more. Ask for a new one.' }
const rowsOf = async (table: string, userId: string): Promise<number> =>
  (await app.db.query(`select from ${table} where user_id = $1`, [userId])).rows.length
const actionsOf = async (orgId: string, isMeant: (action: string) => boolean): Promise<string[]> => {
  const sql = 'select action from audit_log where org_id = $1 order by seq'
  const { rows } = await app.db.query<{ action: string }>(sql, [orgId])
  return rows.map(({ action }) => action).filter(isMeant)
}
async function insertSsoIdentity({ actor: { orgId, userId } }: Person): Promise<void> {
  const key = { org_id: orgId, issuer: 'https://login.example', subject: newId() }
  await app.tx((tx) => insertIdentity(tx, key, userId, clock.now()))
}
const aDevice = (userId: string) => ({
  id: newId(),
  user_id: userId,
  fingerprint: Buffer.from(newId()),
  label: 'Firefox',
  first_seen_at: clock.now(),
  last_seen_at: clock.now(),
})
const jobs = async (): Promise<number> =>
  Number(
    (
      await app.db.query<{ n: string }>(
        "select count(*) as n from graphile_worker.jobs where task_identifier = 'reset-link'",
      )
    ).rows[0]?.n,
  )

test('the link of the mail sets a password once, and ends every session of the user', async () => {
  const person = await aPerson(app)
  const elsewhere = await aMembership(app, person)
  const token = await link(person)
  expect(await queuedMails(app, person.email)).toMatchObject([
    { type: 'password.reset.requested', subject: 'Reset your Faultline password', name: person.actor.name },
  ])
  await expect(reset(token)).resolves.toEqual({ warning: null })
  const authenticator = createAuthenticator(app)
  for (const { accessToken } of [person.tokens, elsewhere.tokens])
    await expect(authenticator.authenticate({ authorization: null, accessToken }, aCaller())).rejects.toMatchObject({
      code: 'unauthenticated',
    })
  authenticator.close()
  await expect(logIn(app, { email: person.email, password: person.password }, aCaller())).rejects.toMatchObject({
    code: 'unauthenticated',
  })
  await expect(logIn(app, { email: person.email, password: NEW }, aCaller())).resolves.toBeDefined()
  await expect(reset(token)).rejects.toMatchObject(refused)
  expect((await queuedMails(app, person.email)).map(({ type }) => type).slice(0, 2)).toEqual([
    'password.reset.requested',
    'password.changed',
  ])
  const { rows } = await app.db.query<{ org_id: string; action: string }>(
    "select org_id, action from audit_log where action like 'password.%' order by seq",
  )
  for (const orgId of [person.actor.orgId, elsewhere.actor.orgId])
    expect(rows.filter(({ org_id }) => org_id === orgId).map(({ action }) => action)).toEqual([
      'password.reset.requested',
      'password.reset.ok',
    ])
})

test('of twenty parallel calls with one link, over two processes, exactly one sets its password', async () => {
  for (let round = 0; round < 3; round++) {
    const person = await aPerson(app)
    const token = await link(person)
    const passwords = Array.from({ length: 20 }, (_, n) => `parallel password ${n} of ${round}`)
    const results = await Promise.allSettled(
      passwords.map((password, n) => reset(token, password, n % 2 === 0 ? app : second)),
    )
    const won = results.flatMap(({ status }, n) => (status === 'fulfilled' ? [passwords[n] ?? ''] : []))
    expect(won).toHaveLength(1)
    await expect(logIn(app, { email: person.email, password: won[0] ?? '' }, aCaller())).resolves.toBeDefined()
  }
})

test('unknown, replaced, expired and foreign links have one answer, and change nothing', async () => {
  const person = await aPerson(app)
  const replaced = await link(person)
  const newest = await link(person)
  expect(newest).not.toBe(replaced)
  for (const token of [replaced, 'x', newest.slice(0, -1), `${newest}A`, ''])
    await expect(reset(token)).rejects.toMatchObject(refused)
  clock.advance(60 * 60_000 + 1)
  await expect(reset(newest)).rejects.toMatchObject(refused)
  const disabled = await aPerson(app)
  const token = await link(disabled)
  await app.db.query('update memberships set disabled_at = now() where user_id = $1', [disabled.actor.userId])
  await expect(reset(token)).rejects.toMatchObject(refused)
  await expect(logIn(app, { email: person.email, password: person.password }, aCaller())).resolves.toBeDefined()
})

test('a password that is not allowed keeps the link', async () => {
  const person = await aPerson(app)
  const token = await link(person)
  await expect(reset(token, 'short')).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/^password must/) as string,
  })
  await expect(reset(token)).resolves.toBeDefined()
})

test('a new password does not remove two-factor authentication', async () => {
  const { person } = await enrol(app, await aPerson(app))
  await reset(await link(person))
  expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: true })
  await expect(verifyTwoFactor(app, person.actor, '000000')).rejects.toBeDefined()
})

test('the first proof of an address takes away whatever else opens the account, and says so', async () => {
  const { person: stranger } = await enrol(app, await aPerson(app, { proved: false }))
  await addPasskey(app, stranger)
  await app.tx((tx) => insertIdentity(tx, aSocialIdentity(), stranger.actor.userId, clock.now()))
  const { key } = await createKey(app, stranger.actor, { name: 'CI', scopes: ['read'] })
  await insertSsoIdentity(stranger)
  await app.tx((tx) => insertDevice(tx, aDevice(stranger.actor.userId)))
  const elsewhere = await aMembership(app, stranger)
  const token = await link(stranger)
  expect((await queuedMails(app, stranger.email)).at(-1)?.paragraphs.join(' ')).toContain('first proof')
  await reset(token)
  expect(await readTwoFactor(app, stranger.actor)).toMatchObject({ enabled: false })
  for (const table of ['passkeys', 'social_identities', 'sso_identities', 'totp_factors', 'api_keys', 'devices'])
    expect(await rowsOf(table, stranger.actor.userId), table).toBe(0)
  await expect(actorOfKey(app, key, aCaller())).rejects.toMatchObject({ code: 'unauthenticated' })
  const mail = (await queuedMails(app, stranger.email)).find(({ type }) => type === 'password.changed')
  expect(mail?.paragraphs[1]).toContain(
    '1 passkey, the link to GitHub, 1 link of single sign-on, two-factor authentication, 1 API key',
  )
  const removals = (orgId: string) =>
    actionsOf(orgId, (action) => /^(passkey.removed|identity.unlinked|mfa.totp.disabled|api_key.revoked)$/.test(action))
  const ofAccount = ['passkey.removed', 'identity.unlinked', 'identity.unlinked', 'mfa.totp.disabled']
  expect((await removals(stranger.actor.orgId)).toSorted()).toEqual(['api_key.revoked', ...ofAccount].toSorted())
  expect((await removals(elsewhere.actor.orgId)).toSorted()).toEqual(ofAccount.toSorted())

  // From now on the address is proved: a reset removes nothing.
  const { tokens } = await logIn(app, { email: stranger.email, password: NEW }, aCaller())
  const { sid } = await readAccessToken(app, tokens.accessToken)
  await enrol(app, { ...stranger, actor: { ...stranger.actor, sessionId: sid } })
  await reset(await link(stranger), 'a third good password')
  expect(await readTwoFactor(app, stranger.actor)).toMatchObject({ enabled: true })
})

test('an invitation and a confirmed address are proofs, too', async () => {
  const owner = await aPerson(app)
  const invited = await aPerson(app, { proved: false })
  const { token } = await anInvite(app, owner, { email: invited.email })
  await acceptInvite(app, { token, password: invited.password, accessToken: null }, aCaller())
  const moved = await aPerson(app, { proved: false })
  const email = `moved-${moved.email}`
  await changeEmail(app, moved.actor, { email, password: moved.password })
  await confirmEmail(app, await linkToken(app, email), aCaller())
  for (const person of [invited, { ...moved, email }]) {
    await enrol(app, person)
    await reset(await link(person))
    expect(await readTwoFactor(app, person.actor)).toMatchObject({ enabled: true })
  }
})

test('a session that ended cannot add a way to sign in, nor a key', async () => {
  const person = await aPerson(app)
  const cookies = cookieJar()
  const options = await startPasskeyRegistration(app, person.actor, { password: undefined, cookies })
  const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
  const social = await pendingSocialLink(app)
  await reset(await link(person))
  const ended = { code: 'unauthenticated' }
  const requests = [
    () => registerPasskey(app, person.actor, { name: undefined, response, cookies }),
    () => linkSocial(app, person.actor, { token: social, password: NEW }),
    () => startPasskeyRegistration(app, person.actor, { password: NEW, cookies }),
    () => createKey(app, person.actor, { name: 'CI', scopes: ['read'] }),
  ]
  for (const request of requests) await expect(request()).rejects.toMatchObject(ended)
})

test('asking does the same for every address; nothing is sent to one without an account', async () => {
  const person = await aPerson(app)
  const before = await jobs()
  for (const email of [person.email, 'unknown@example.com'])
    await forgotPassword(app, { email }, aCaller({ ip: '198.51.100.7' }))
  expect(await jobs()).toBe(before + 2)
  await sendResetLink(app, 'unknown@example.com', aCaller())
  expect(await queuedMails(app, 'unknown@example.com')).toEqual([])
})

test('beyond five an hour for an address, and thirty for a network, asking does nothing', async () => {
  const before = await jobs()
  for (let n = 0; n < 8; n++) await forgotPassword(app, { email: 'often@example.com' }, aCaller({ ip: '198.51.100.8' }))
  expect(await jobs()).toBe(before + 5)
  for (let n = 0; n < 40; n++)
    await forgotPassword(app, { email: `n${n}@example.com` }, aCaller({ ip: '198.51.100.9' }))
  expect(await jobs()).toBe(before + 5 + 30)
  clock.advance(60 * 60_000 + 1)
  await forgotPassword(app, { email: 'often@example.com' }, aCaller({ ip: '198.51.100.8' }))
  expect(await jobs()).toBe(before + 36)
})

test('a client beyond its limit does not use up the links of an account', async () => {
  const before = await jobs()
  const ip = '198.51.100.11'
  for (let n = 0; n < 30; n++) await forgotPassword(app, { email: `m${n}@example.com` }, aCaller({ ip }))
  for (let n = 0; n < 10; n++) await forgotPassword(app, { email: 'victim@example.com' }, aCaller({ ip }))
  await forgotPassword(app, { email: 'victim@example.com' }, aCaller({ ip: '198.51.100.12' }))
  expect(await jobs()).toBe(before + 31)
})

test('the database has no token, only its digest', async () => {
  const person = await aPerson(app)
  const token = await link(person)
  const { rows } = await app.db.query<{ text: string }>(
    "select string_agg(t::text, ' ') as text from account_tokens t union all select string_agg(convert_from(body, 'UTF8'), ' ') from outbox_messages",
  )
  expect(rows.map(({ text }) => text).join(' ')).not.toContain(token)
})
