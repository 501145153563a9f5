import { describe, expect, test } from 'vitest'
import { softAuthenticator, type Deviation } from '#test/kit/authenticator.ts'
import { cookieJar } from '#test/kit/cookie-jar.ts'
import { aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { addPasskey, passkeyOrigin } from '#test/kit/passkeys.ts'
import { testApp } from '#test/kit/test-app.ts'
import { queuedMails } from '#test/kit/queued-mails.ts'
import { deletePasskey, renamePasskey } from './delete-passkey.ts'
import { selectPasskeys } from './passkeys.queries.ts'
import { registerPasskey, startPasskeyRegistration } from './register-passkey.ts'

const t = await testApp({ env: { PUBLIC_URL: 'https://faultline.example.com' } })
const { app } = t
const MINUTE_MS = 60_000

/** Options for the caller, and the browser that keeps their challenge. */
async function begin(person: Person) {
  const cookies = cookieJar()
  const options = await startPasskeyRegistration(app, person.actor, { password: undefined, cookies })
  return { cookies, options }
}

async function register(person: Person, over: Deviation = {}) {
  const { cookies, options } = await begin(person)
  const { response } = softAuthenticator(passkeyOrigin(app)).create(options, over)
  return registerPasskey(app, person.actor, { name: undefined, response, cookies })
}

const countOf = async ({ actor }: Person) => (await selectPasskeys(app.db, actor.userId)).length

test('the options ask for a verified user, no attestation, and one of three algorithms', async () => {
  const person = await aPerson(app, { email: 'ada@example.com', name: 'Ada' })
  const { options } = await begin(person)
  expect(options).toMatchObject({
    rp: { id: 'faultline.example.com', name: 'Faultline' },
    user: { name: 'ada@example.com', displayName: 'Ada' },
    pubKeyCredParams: [
      { type: 'public-key', alg: -8 },
      { type: 'public-key', alg: -7 },
      { type: 'public-key', alg: -257 },
    ],
    timeout: 300_000,
    excludeCredentials: [],
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    attestation: 'none',
  })
  expect(Buffer.from(options.challenge, 'base64url')).toHaveLength(32)
  expect(Buffer.from(options.user.id, 'base64url').toString('hex')).toBe(person.actor.userId.replaceAll('-', ''))
  expect((await begin(person)).options.challenge).not.toBe(options.challenge)
})

test.each(['ES256', 'EdDSA', 'RS256'] as const)('a passkey with %s is added', async (algorithm) => {
  const person = await aPerson(app)
  const { row, passkey } = await addPasskey(app, person, { algorithm, name: 'Phone' })
  expect(await selectPasskeys(app.db, person.actor.userId)).toEqual([row])
  expect(row).toMatchObject({
    name: 'Phone',
    counter: 1,
    backed_up: false,
    transports: ['internal', 'hybrid'],
    last_used_at: null,
  })
  expect(row.credential_id.toString('base64url')).toBe(passkey.credentialId)
  expect((await begin(person)).options.excludeCredentials).toEqual([
    { type: 'public-key', id: passkey.credentialId, transports: ['internal', 'hybrid'] },
  ])
})

test('it is recorded in every organisation, and the user gets a mail', async () => {
  const person = await aPerson(app)
  const elsewhere = await aMembership(app, person)
  const { row } = await addPasskey(app, person)
  expect(row.name).toBe('Passkey 1')
  await renamePasskey(app, person.actor, { passkeyId: row.id, name: 'Key ring' })
  await deletePasskey(app, person.actor, { passkeyId: row.id })
  for (const { orgId } of [person.actor, elsewhere.actor]) {
    const { rows } = await app.db.query<{ action: string; target_id: string }>(
      'select action, target_id from audit_log where org_id = $1 order by seq',
      [orgId],
    )
    expect(rows).toEqual([
      { action: 'passkey.registered', target_id: person.actor.userId },
      { action: 'passkey.removed', target_id: person.actor.userId },
    ])
  }
  const mails = await queuedMails(app, person.email)
  expect(mails.map(({ type }) => type)).toEqual(['passkey.registered', 'passkey.removed'])
  expect(mails[1]?.paragraphs.join(' ')).toContain('Key ring')
})

test('a passkey belongs to its user: another one can neither rename nor remove it', async () => {
  const [person, stranger] = [await aPerson(app), await aPerson(app)]
  const { row } = await addPasskey(app, person)
  const input = { passkeyId: row.id, name: 'Mine' }
  await expect(renamePasskey(app, stranger.actor, input)).rejects.toMatchObject({ code: 'not_found' })
  await expect(deletePasskey(app, stranger.actor, { passkeyId: row.id })).rejects.toMatchObject({ code: 'not_found' })
  expect(await selectPasskeys(app.db, person.actor.userId)).toEqual([row])
})

test('removing one needs a log-in of the last 15 minutes, or the password', async () => {
  const person = await aPerson(app)
  const { row } = await addPasskey(app, person)
  t.clock.advance(15 * MINUTE_MS)
  const remove = (password?: string) => deletePasskey(app, person.actor, { passkeyId: row.id, password })
  await expect(remove()).rejects.toMatchObject({ code: 'forbidden' })
  await expect(remove('not the password')).rejects.toMatchObject({ code: 'invalid' })
  expect(await selectPasskeys(app.db, person.actor.userId)).toEqual([row])
  await remove(person.password)
  expect(await selectPasskeys(app.db, person.actor.userId)).toEqual([])
})

test('the last way to sign in stays, also when two are removed at once', async () => {
  const person = await aPerson(app)
  const passkeys = [await addPasskey(app, person), await addPasskey(app, person)]
  const { userId } = person.actor
  await app.db.updateTable('users').set({ password_hash: null }).where('id', '=', userId).execute()
  const removals = await Promise.allSettled(
    passkeys.map(({ row }) => deletePasskey(app, person.actor, { passkeyId: row.id })),
  )
  expect(removals.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  expect(removals.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'conflict' } })
  expect(await selectPasskeys(app.db, userId)).toHaveLength(1)
})

test('it needs a log-in of the last 15 minutes, or the password', async () => {
  const person = await aPerson(app)
  t.clock.advance(15 * MINUTE_MS)
  const withPassword = (password: string | undefined) =>
    startPasskeyRegistration(app, person.actor, { password, cookies: cookieJar() })
  await expect(withPassword(undefined)).rejects.toMatchObject({ code: 'forbidden' })
  await expect(withPassword('wrong password')).rejects.toMatchObject({ code: 'invalid' })
  await expect(withPassword(person.password)).resolves.toMatchObject({ attestation: 'none' })
})

describe('the answer of the browser is refused', () => {
  const deviations: [string, Deviation][] = [
    ['of another origin', { origin: 'https://faultline.example.com.evil.example' }],
    ['of another port', { origin: 'https://faultline.example.com:8443' }],
    ['without TLS', { origin: 'http://faultline.example.com' }],
    ['for another relying party', { rpId: 'example.com' }],
    ['to another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['to an empty challenge', { challenge: '' }],
    ['that is a log-in', { type: 'webauthn.get' }],
    ['without a verified user', { userVerified: false }],
    ['without a present user', { userPresent: false }],
    ['whose CBOR is cut', { attestation: (bytes) => bytes.subarray(0, -20) }],
    ['whose CBOR is cut in its first bytes', { attestation: (bytes) => bytes.subarray(0, 3) }],
    ['whose CBOR is another type', { attestation: () => Buffer.from([0x80]) }],
    [
      'whose CBOR announces more than it has',
      { attestation: () => Buffer.from([0x5b, 255, 255, 255, 255, 0, 0, 0, 0]) },
    ],
    ['whose CBOR is deep', { attestation: () => Buffer.alloc(40_000, 0x81) }],
    ['with another id than the one inside', { credentialId: Buffer.alloc(32, 1).toString('base64url') }],
    ['with an algorithm that was not offered', { alg: -47 }],
    ['in a frame of another site', { crossOrigin: true, origin: 'https://evil.example' }],
  ]
  test.each(deviations)('%s', async (_what, over) => {
    const person = await aPerson(app)
    await expect(register(person, over)).rejects.toMatchObject({ code: 'invalid' })
    expect(await countOf(person)).toBe(0)
  })

  test('the second time, and from parallel calls nineteen times', async () => {
    const person = await aPerson(app)
    const { cookies, options } = await begin(person)
    const header = cookies.get('svc_passkey') ?? ''
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => {
        const browser = cookieJar()
        browser.set('svc_passkey', header, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
        const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
        return registerPasskey(app, person.actor, { name: undefined, response, cookies: browser })
      }),
    )
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await countOf(person)).toBe(1)
  })

  test('after a wrong one to the same challenge', async () => {
    const person = await aPerson(app)
    const { cookies, options } = await begin(person)
    const header = cookies.get('svc_passkey') ?? ''
    const authenticator = softAuthenticator(passkeyOrigin(app))
    const wrong = authenticator.create(options, { userVerified: false }).response
    await expect(
      registerPasskey(app, person.actor, { name: undefined, response: wrong, cookies }),
    ).rejects.toMatchObject({ code: 'invalid' })
    cookies.set('svc_passkey', header, { path: '/', sameSite: 'strict', maxAgeSeconds: 300 })
    const { response } = authenticator.create(options)
    await expect(registerPasskey(app, person.actor, { name: undefined, response, cookies })).rejects.toMatchObject({
      code: 'invalid',
      message: 'This request is over or was answered already. Start again.',
    })
  })

  test('after five minutes', async () => {
    const person = await aPerson(app)
    const { cookies, options } = await begin(person)
    const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
    t.clock.advance(5 * MINUTE_MS)
    await expect(registerPasskey(app, person.actor, { name: undefined, response, cookies })).rejects.toMatchObject({
      code: 'invalid',
    })
  })

  test('in another session, also one of the same user, and at the log-in', async () => {
    const [person, stranger] = [await aPerson(app), await aPerson(app)]
    const other = await aMembership(app, person)
    for (const { actor } of [stranger, other]) {
      const { cookies, options } = await begin(person)
      const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
      await expect(registerPasskey(app, actor, { name: undefined, response, cookies })).rejects.toMatchObject({
        code: 'invalid',
      })
    }
    expect(await countOf(person)).toBe(0)
  })

  test('of a credential that this or another user has', async () => {
    const [person, stranger] = [await aPerson(app), await aPerson(app)]
    const { cookies, options } = await begin(person)
    const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
    await registerPasskey(app, person.actor, { name: undefined, response, cookies })
    const second = await begin(stranger)
    // No attestation: what the authenticator made is not signed, so anyone can repeat it.
    const clientDataJSON = Buffer.from(
      JSON.stringify({ type: 'webauthn.create', challenge: second.options.challenge, origin: passkeyOrigin(app) }),
    ).toString('base64url')
    const copied = { ...response, response: { ...response.response, clientDataJSON } }
    const input = { name: undefined, response: copied, cookies: second.cookies }
    await expect(registerPasskey(app, stranger.actor, input)).rejects.toMatchObject({ code: 'conflict' })
    expect(await countOf(person)).toBe(1)
    expect(await countOf(stranger)).toBe(0)
  })
})

test('at most twenty, also when they arrive at once', async () => {
  const person = await aPerson(app)
  for (let i = 0; i < 18; i++) await addPasskey(app, person)
  const started = await Promise.all(Array.from({ length: 6 }, () => begin(person)))
  const results = await Promise.allSettled(
    started.map(({ cookies, options }) => {
      const { response } = softAuthenticator(passkeyOrigin(app)).create(options)
      return registerPasskey(app, person.actor, { name: undefined, response, cookies })
    }),
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(await countOf(person)).toBe(20)
  await expect(begin(person)).rejects.toMatchObject({ code: 'conflict' })
})

test('answered challenges are deleted when they have expired', async () => {
  const person = await aPerson(app)
  await addPasskey(app, person)
  t.clock.advance(6 * MINUTE_MS)
  await addPasskey(app, person)
  const { rows } = await app.db.query<{ n: number }>('select count(*)::int as n from used_challenges')
  expect(rows).toEqual([{ n: 1 }])
})
