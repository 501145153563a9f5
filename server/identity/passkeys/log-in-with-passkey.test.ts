import { describe, expect, test } from 'vitest'
import { altered } from '#test/kit/altered.ts'
import type { Deviation, SoftPasskey } from '#test/kit/authenticator.ts'
import { cookieJar } from '#test/kit/cookie-jar.ts'
import { aCaller, aMembership, aPerson } from '#test/kit/members.ts'
import { addPasskey } from '#test/kit/passkeys.ts'
import { testApp } from '#test/kit/test-app.ts'
import { insertVerifiedFactor } from '#test/kit/two-factor.ts'
import { deletePasskey } from './delete-passkey.ts'
import { logInWithPasskey, startPasskeyLogIn } from './log-in-with-passkey.ts'
import { passkeyOfCredential } from './passkeys.queries.ts'
import { startPasskeyRegistration } from './register-passkey.ts'

const t = await testApp({ env: { PUBLIC_URL: 'https://faultline.example.com' } })
const { app } = t
const MINUTE_MS = 60_000

const REFUSED = { code: 'unauthenticated', message: 'This passkey cannot be used here. Log in another way.' }
const OVER = { code: 'invalid', message: 'This request is over or was answered already. Start again.' }

function logIn(passkey: SoftPasskey, over: Deviation = {}) {
  const cookies = cookieJar()
  const response = passkey.answer(startPasskeyLogIn(app, cookies), over)
  return logInWithPasskey(app, { response, cookies }, aCaller())
}

const actionsOf = async (orgId: string) =>
  (
    await app.db.query<{ action: string; outcome: string }>(
      'select action, outcome from audit_log where org_id = $1 order by seq offset 1',
      [orgId],
    )
  ).rows

test.each(['ES256', 'EdDSA', 'RS256'] as const)(
  'a passkey with %s begins a session, again and again',
  async (algorithm) => {
    const person = await aPerson(app, { role: 'member' })
    const { passkey } = await addPasskey(app, person, { algorithm })
    for (let i = 0; i < 3; i++) expect(await logIn(passkey)).toMatchObject({ org: person.orgSlug, role: 'member' })
    const actions = ['signin.passkey.ok', 'device.new', 'signin.passkey.ok', 'signin.passkey.ok']
    expect(await actionsOf(person.actor.orgId)).toEqual(actions.map((action) => ({ action, outcome: 'ok' })))
    const { rows } = await app.db.query<{ method: string }>(
      'select method from sessions where user_id = $1 and id <> $2',
      [person.actor.userId, person.actor.sessionId],
    )
    expect(rows.map(({ method }) => method)).toEqual(['passkey', 'passkey', 'passkey'])
  },
)

test('asks for no e-mail address and names no passkey', () => {
  const options = startPasskeyLogIn(app, cookieJar())
  expect(options).toEqual({
    challenge: expect.stringMatching(/^[\w-]{43}$/) as unknown,
    timeout: 300_000,
    rpId: 'faultline.example.com',
    userVerification: 'required',
  })
})

test('is both factors: a user with two-factor authentication is not asked for a code', async () => {
  const person = await aPerson(app)
  await insertVerifiedFactor(app, person)
  const { passkey } = await addPasskey(app, person)
  expect(await logIn(passkey)).toMatchObject({ role: 'owner' })
})

test('continues in the organisation used last', async () => {
  const person = await aPerson(app)
  const { passkey } = await addPasskey(app, person)
  t.clock.advance(1000)
  const elsewhere = await aMembership(app, person)
  expect(await logIn(passkey)).toMatchObject({ org: elsewhere.orgSlug, role: 'member' })
})

test('records the use and whether it is backed up', async () => {
  const { row, passkey } = await addPasskey(app, await aPerson(app))
  t.clock.advance(MINUTE_MS)
  await logIn(passkey, { backedUp: true })
  expect(await passkeyOfCredential(app.db, row.credential_id)).toMatchObject({
    counter: 2,
    backed_up: true,
    last_used_at: t.clock.now(),
  })
})

test('authenticators that do not count can log in any number of times', async () => {
  const { passkey } = await addPasskey(app, await aPerson(app), { counts: false })
  for (let i = 0; i < 3; i++) await expect(logIn(passkey)).resolves.toMatchObject({ role: 'owner' })
})

test('a browser that sends no user handle can log in', async () => {
  const { passkey } = await addPasskey(app, await aPerson(app))
  await expect(logIn(passkey, { userHandle: null })).resolves.toMatchObject({ role: 'owner' })
})

describe('an answer is refused', () => {
  const deviations: [string, Deviation][] = [
    ['of another origin', { origin: 'https://evil.example' }],
    ['for another relying party', { rpId: 'evil.example' }],
    ['to another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['that is a registration', { type: 'webauthn.create' }],
    ['without a verified user', { userVerified: false }],
    ['without a present user', { userPresent: false }],
    ['of another user', { userHandle: Buffer.alloc(16, 1).toString('base64url') }],
    [
      'with a changed signature',
      { signature: (bytes) => Buffer.from(bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte))) },
    ],
    ['with a cut signature', { signature: (bytes) => bytes.subarray(0, 10) }],
    ['of an unknown credential', { credentialId: Buffer.alloc(32, 7).toString('base64url') }],
  ]
  test.each(deviations)('%s', async (_what, over) => {
    const person = await aPerson(app)
    const { row, passkey } = await addPasskey(app, person)
    await expect(logIn(passkey, over)).rejects.toMatchObject(REFUSED)
    expect(await actionsOf(person.actor.orgId)).toEqual([])
    expect(await passkeyOfCredential(app.db, row.credential_id)).toEqual(row)
  })

  test("with someone else's credential id: its key did not sign", async () => {
    const [mine, theirs] = [await addPasskey(app, await aPerson(app)), await addPasskey(app, await aPerson(app))]
    const over = { credentialId: theirs.passkey.credentialId, userHandle: null }
    await expect(logIn(mine.passkey, over)).rejects.toMatchObject(REFUSED)
  })

  test('of a disabled user, of a user without a membership, and of a removed passkey', async () => {
    const disabled = await aPerson(app)
    const outside = await aPerson(app)
    const removed = await aPerson(app)
    const passkeys = [await addPasskey(app, disabled), await addPasskey(app, outside), await addPasskey(app, removed)]
    await app.db.query('update users set disabled_at = now() where id = $1', [disabled.actor.userId])
    await app.db.query('update memberships set disabled_at = now() where user_id = $1', [outside.actor.userId])
    await deletePasskey(app, removed.actor, { passkeyId: passkeys[2]?.row.id ?? '' })
    for (const { passkey } of passkeys) await expect(logIn(passkey)).rejects.toMatchObject(REFUSED)
  })

  test('of a member whose organisation enforces single sign-on for the domain of their address; not of an owner with two-factor authentication', async () => {
    const domain = 'enforced.example'
    const owner = await aPerson(app, { email: `owner@${domain}` })
    const org = { id: owner.actor.orgId, slug: owner.orgSlug }
    const member = await aPerson(app, { org, role: 'admin', email: `member@${domain}` })
    const guest = await aPerson(app, { org, role: 'member', email: 'guest@example.com' })
    await insertVerifiedFactor(app, owner)
    const passkeys = []
    for (const person of [owner, member, guest]) passkeys.push((await addPasskey(app, person)).passkey)
    await app.db.query(
      `insert into sso_configs (org_id, issuer, client_id, client_secret_sealed, client_secret_updated_at, jit, default_role,
         enforced, created_at, updated_at)
       values ($1, 'https://id.example.com', 'x', 'x', now(), false, 'member', true, now(), now())`,
      [org.id],
    )
    await app.db.query(
      `insert into sso_domains (org_id, domain, token, created_at, verified_at, verified_by)
       values ($1, $2, 'x', now(), now(), 'operator')`,
      [org.id, domain],
    )
    const results = await Promise.allSettled(passkeys.map((passkey) => logIn(passkey)))
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(results[1]).toMatchObject({ reason: REFUSED })
  })

  test('without a challenge, to a used one, to an expired one, and to one of a registration', async () => {
    const person = await aPerson(app)
    const { passkey } = await addPasskey(app, person)
    const cookies = cookieJar()
    const response = passkey.answer(startPasskeyLogIn(app, cookies))
    const header = cookies.get('svc_passkey') ?? ''
    const send = (sealed: string | null) => {
      const browser = cookieJar()
      if (sealed !== null) browser.set('svc_passkey', sealed, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
      return logInWithPasskey(app, { response, cookies: browser }, aCaller())
    }
    await expect(send(null)).rejects.toMatchObject(OVER)
    await expect(send(altered(header))).rejects.toMatchObject(OVER)
    await expect(send(header)).resolves.toMatchObject({ role: 'owner' })
    await expect(send(header)).rejects.toMatchObject(OVER)

    const late = cookieJar()
    const answer = passkey.answer(startPasskeyLogIn(app, late))
    t.clock.advance(5 * MINUTE_MS)
    await expect(logInWithPasskey(app, { response: answer, cookies: late }, aCaller())).rejects.toMatchObject(OVER)

    const registering = cookieJar()
    const options = await startPasskeyRegistration(app, person.actor, {
      password: person.password,
      cookies: registering,
    })
    const crossed = passkey.answer({ challenge: options.challenge, rpId: options.rp.id })
    await expect(logInWithPasskey(app, { response: crossed, cookies: registering }, aCaller())).rejects.toMatchObject(
      OVER,
    )
  })
})

test('twenty times at once begins one session', async () => {
  const person = await aPerson(app)
  const { passkey } = await addPasskey(app, person)
  const cookies = cookieJar()
  const response = passkey.answer(startPasskeyLogIn(app, cookies))
  const sealed = cookies.get('svc_passkey') ?? ''
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, () => {
      const browser = cookieJar()
      browser.set('svc_passkey', sealed, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
      return logInWithPasskey(app, { response, cookies: browser }, aCaller())
    }),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  expect(await actionsOf(person.actor.orgId)).toEqual([
    { action: 'signin.passkey.ok', outcome: 'ok' },
    { action: 'device.new', outcome: 'ok' },
  ])
})

describe('a counter that does not go on', () => {
  test.each([
    ['went back', 3],
    ['stands still', 5],
    ['is gone', 0],
  ])('%s: the log-in is refused, recorded in every organisation, and the user gets a mail', async (_what, counter) => {
    const person = await aPerson(app)
    const elsewhere = await aMembership(app, person)
    const { row, passkey } = await addPasskey(app, person)
    await logIn(passkey, { counter: 5 })
    await expect(logIn(passkey, { counter })).rejects.toMatchObject(REFUSED)
    for (const { orgId } of [person.actor, elsewhere.actor]) {
      const { rows } = await app.db.query<{ outcome: string; event_type: string; meta: string; ip: string }>(
        `select outcome, event_type, meta, ip from audit_log where org_id = $1 and action = 'passkey.counter_regressed'`,
        [orgId],
      )
      expect(rows).toMatchObject([{ outcome: 'denied', event_type: 'passkey.counter_regressed', ip: '192.0.2.10' }])
      expect(rows[0]?.meta).toContain(row.id)
    }
    const { rows: mails } = await app.db.query(
      `select 1 from outbox_messages where user_id = $1 and type = 'passkey.counter_regressed'`,
      [person.actor.userId],
    )
    expect(mails).toHaveLength(1)
    expect(await passkeyOfCredential(app.db, row.credential_id)).toMatchObject({ counter: 5 })
    // The one that is ahead still works.
    await expect(logIn(passkey, { counter: 6 })).resolves.toMatchObject({ role: 'owner' })
  })

  test('with a forged signature is not recorded', async () => {
    const person = await aPerson(app)
    const { passkey } = await addPasskey(app, person)
    const signature = (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)))
    await expect(logIn(passkey, { counter: 0, signature })).rejects.toMatchObject(REFUSED)
    expect(await actionsOf(person.actor.orgId)).toEqual([])
  })

  test('two log-ins with one counter at once: one is refused', async () => {
    const person = await aPerson(app)
    const { passkey } = await addPasskey(app, person)
    const results = await Promise.allSettled([logIn(passkey, { counter: 9 }), logIn(passkey, { counter: 9 })])
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
