import { createHmac, generateKeyPairSync } from 'node:crypto'
import {
  calculateJwkThumbprint,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { afterAll, describe, expect, test } from 'vitest'
import { aCaller, aPerson, type Person } from '#test/kit/members.ts'
import { interceptedApp } from '#test/kit/intercepted-app.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { App } from '../../platform/context/app.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { makeAccessToken } from './access-token.ts'
import { createAuthenticator } from './authenticate.ts'
import { changePassword } from '../accounts/change-password.ts'
import { logOut } from './log-out.ts'
import { publicJwks, rotateSigningKey, signingKey } from './signing-keys.ts'

const t = await testApp()
const second = await secondApp(t)
const here = createAuthenticator(t.app)
const elsewhere = createAuthenticator(second)
afterAll(() => {
  here.close()
  elsewhere.close()
})

const ask = (accessToken: string | null, where = here) =>
  where.authenticate({ authorization: undefined, accessToken }, aCaller())
const refused = { code: 'unauthenticated' }

/** An App that receives no messages of the bus. */
const deafBus: App['bus'] = { on: () => () => {}, onGap: () => () => {}, close: () => Promise.resolve() }

describe('credentials', () => {
  test('none returns null', async () => {
    expect(await ask(null)).toBeNull()
    expect(await ask('')).toBeNull()
  })

  test('the cookie names user, organisation, role and session', async () => {
    const person = await aPerson(t.app, { role: 'member' })
    expect(await ask(person.tokens.accessToken)).toMatchObject({ actor: person.actor, viaCookie: true })
  })

  test('a bearer token takes precedence, without fallback to a valid cookie', async () => {
    const { tokens } = await aPerson(t.app)
    for (const authorization of ['Bearer svc_nothing', 'bearer', `Bearer ${tokens.accessToken}`, 'BEARER x']) {
      await expect(
        here.authenticate({ authorization, accessToken: tokens.accessToken }, aCaller()),
      ).rejects.toMatchObject(refused)
    }
  })

  test('basic authentication of a proxy is ignored', async () => {
    const person = await aPerson(t.app)
    const { accessToken } = person.tokens
    expect(await here.authenticate({ authorization: 'Basic eDp5', accessToken }, aCaller())).toMatchObject({
      actor: person.actor,
    })
    expect(await here.authenticate({ authorization: 'Basic eDp5', accessToken: null }, aCaller())).toBeNull()
  })
})

describe('the token', () => {
  test('is an EdDSA at+jwt with exactly the agreed claims, for 15 minutes', async () => {
    const person = await aPerson(t.app, { role: 'viewer' })
    const { accessToken } = person.tokens
    const { kid } = await signingKey(t.app)
    expect(decodeProtectedHeader(accessToken)).toEqual({ alg: 'EdDSA', typ: 'at+jwt', kid })
    const claims = decodeJwt(accessToken)
    expect(claims).toEqual({
      iss: t.app.config.publicUrl,
      aud: `${t.app.config.publicUrl}/api`,
      sub: person.actor.userId,
      org: person.actor.orgId,
      role: 'viewer',
      sid: person.actor.sessionId,
      iat: Math.floor(t.clock.now().getTime() / 1000),
      exp: Math.floor(t.clock.now().getTime() / 1000) + 900,
      jti: expect.any(String) as unknown,
    })
  })

  test('expires after 15 minutes, with a tolerance of 5 s', async () => {
    const { tokens } = await aPerson(t.app)
    t.clock.advance(904_000)
    expect(await ask(tokens.accessToken)).not.toBeNull()
    t.clock.advance(2_000)
    await expect(ask(tokens.accessToken)).rejects.toMatchObject({
      ...refused,
      message: expect.stringMatching('expired') as unknown,
    })
  })

  test('expires with its session at the latest', async () => {
    const person = await aPerson(t.app)
    const { userId, orgId, role, sessionId } = person.actor
    const sessionEndsAt = new Date(t.clock.now().getTime() + 60_000)
    const token = await makeAccessToken(t.app, { userId, orgId, role, sessionId, sessionEndsAt })
    expect(decodeJwt(token).exp).toBe(Math.floor(sessionEndsAt.getTime() / 1000))
  })
})

describe('forgeries', () => {
  const now = () => Math.floor(t.clock.now().getTime() / 1000)
  const claimsOf = (person: Person) => ({
    iss: t.app.config.publicUrl,
    aud: `${t.app.config.publicUrl}/api`,
    sub: person.actor.userId,
    org: person.actor.orgId,
    role: 'owner',
    sid: person.actor.sessionId,
    jti: newId(),
    iat: now(),
    exp: now() + 900,
  })
  const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const ours = async (claims: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> => {
    const { kid, key } = await signingKey(t.app)
    return new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(key)
  }

  test('the helper of these tests also makes a valid token', async () => {
    const person = await aPerson(t.app)
    expect(await ask(await ours(claimsOf(person)))).toMatchObject({ actor: person.actor })
  })

  const changed: readonly [string, (person: Person) => Record<string, unknown>][] = [
    ['another issuer', () => ({ iss: 'https://elsewhere.example' })],
    ['no issuer', () => ({ iss: undefined })],
    ['another audience', () => ({ aud: t.app.config.publicUrl })],
    ['no audience', () => ({ aud: undefined })],
    ['expired', () => ({ iat: now() - 1000, exp: now() - 100 })],
    ['no end', () => ({ exp: undefined })],
    ['a longer lifetime', () => ({ iat: now() - 2000, exp: now() + 1e6 })],
    ['made in the future', () => ({ iat: now() + 60, exp: now() + 900 })],
    ['not yet valid', () => ({ nbf: now() + 60 })],
    ['no time', () => ({ iat: undefined })],
    ['no session', () => ({ sid: undefined })],
    ['an unknown session', () => ({ sid: newId() })],
    ['an invalid session id', () => ({ sid: "' or 1=1" })],
    ['another subject', () => ({ sub: newId() })],
    ['no subject', () => ({ sub: undefined })],
    ['no token id', () => ({ jti: undefined })],
    ['an unknown role', () => ({ role: 'root' })],
    ['times as text', () => ({ exp: String(now() + 900) })],
  ]
  test.each(changed)('our own key, but %s', async (_name, change) => {
    const person = await aPerson(t.app)
    await expect(ask(await ours({ ...claimsOf(person), ...change(person) }))).rejects.toMatchObject(refused)
  })

  test.each([
    ['another type', { typ: 'JWT' }],
    ['no type', { typ: undefined }],
    ['an unknown key id', { kid: 'unknown' }],
    ['no key id', { kid: undefined }],
    ['an unknown critical header', { crit: ['later'], later: 1 }],
  ])('our own key, but %s', async (_name, header) => {
    const person = await aPerson(t.app)
    const token = await ours(claimsOf(person), header).catch(async () => {
      // The library refuses to sign unknown headers: replace the header by hand.
      const [, payload, signature] = (await ours(claimsOf(person))).split('.')
      return `${text({ alg: 'EdDSA', typ: 'at+jwt', ...header })}.${payload}.${signature}`
    })
    await expect(ask(token)).rejects.toMatchObject(refused)
  })

  test('the role comes from the database, not from the token', async () => {
    const person = await aPerson(t.app, { role: 'viewer' })
    expect(await ask(await ours({ ...claimsOf(person), role: 'owner' }))).toMatchObject({ actor: { role: 'viewer' } })
  })

  test('another key, named by every header that can name one', async () => {
    const person = await aPerson(t.app)
    const pair = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
    const jwk = await exportJWK(pair.publicKey)
    const { kid } = await signingKey(t.app)
    for (const header of [
      { kid },
      { kid: await calculateJwkThumbprint(jwk) },
      { kid, jwk },
      { jwk },
      { kid, jku: 'https://elsewhere.example/jwks.json' },
      { kid, x5u: 'https://elsewhere.example/cert.pem' },
    ]) {
      const token = await new SignJWT(claimsOf(person))
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', ...header })
        .sign(pair.privateKey)
      await expect(ask(token)).rejects.toMatchObject(refused)
    }
  })

  test('none, HMAC with the public key, RSA and ECDSA', async () => {
    const person = await aPerson(t.app)
    const { kid } = await signingKey(t.app)
    const [publicJwk] = await publicJwks(t.app)
    const claims = claimsOf(person)
    const none = new UnsecuredJWT(claims).encode()
    const head = text({ alg: 'none', typ: 'at+jwt', kid })
    const hs = `${text({ alg: 'HS256', typ: 'at+jwt', kid })}.${text(claims)}`
    const secrets = [JSON.stringify(publicJwk), publicJwk?.x ?? '', Buffer.from(publicJwk?.x ?? '', 'base64url')]
    const others = await Promise.all(
      (['RS256', 'ES256', 'PS512'] as const).map(async (alg) => {
        const { privateKey } =
          alg === 'ES256'
            ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
            : generateKeyPairSync('rsa', { modulusLength: 2048 })
        return new SignJWT(claims).setProtectedHeader({ alg, typ: 'at+jwt', kid }).sign(privateKey)
      }),
    )
    for (const token of [
      none,
      `${head}.${text(claims)}.`,
      `${head}.${text(claims)}.AAAA`,
      ...secrets.map((secret) => `${hs}.${createHmac('sha256', secret).update(hs).digest('base64url')}`),
      ...others,
    ]) {
      await expect(ask(token)).rejects.toMatchObject(refused)
    }
  })

  test('a truncated, changed, missing or foreign signature', async () => {
    const person = await aPerson(t.app)
    const other = await aPerson(t.app)
    const [header = '', payload = '', signature = ''] = person.tokens.accessToken.split('.')
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
    // The last digit of a signature has unused bits: another digit with the same used ones decodes to the same bytes.
    const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const last = digits.indexOf(signature.slice(-1))
    const respelled = signature.slice(0, -1) + digits.charAt(last ^ 1)
    expect(Buffer.from(respelled, 'base64url')).toEqual(Buffer.from(signature, 'base64url'))
    for (const token of [
      `${header}.${payload}.${respelled}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(0, -4)}`,
      `${header}.${payload}.${flipped}`,
      `${header}.${other.tokens.accessToken.split('.')[1]}.${signature}`,
      `${header}.${payload}.${signature}.${signature}`,
      ` ${person.tokens.accessToken}`,
      person.tokens.refreshToken,
      'x',
      '..',
      '🦊.🦊.🦊',
      'a'.repeat(20_000),
    ]) {
      await expect(ask(token)).rejects.toMatchObject(refused)
    }
  })
})

describe('the end of a session', () => {
  test('by log-out is effective here immediately, elsewhere within a second, with either token', async () => {
    for (const keep of ['accessToken', 'refreshToken'] as const) {
      const person = await aPerson(t.app)
      const { accessToken, refreshToken } = person.tokens
      expect(await ask(accessToken)).not.toBeNull()
      expect(await ask(accessToken, elsewhere)).not.toBeNull()
      await logOut(t.app, { accessToken: null, refreshToken: null, [keep]: person.tokens[keep] }, aCaller())
      await expect(ask(accessToken)).rejects.toMatchObject(refused)
      await waitFor(
        'the other process',
        () =>
          ask(accessToken, elsewhere).then(
            () => false,
            () => true,
          ),
        1_000,
      )
      expect(refreshToken).toMatch(/^rt_/)
    }
  })

  test('is effective in this process without a message', async () => {
    const deaf: App = { ...t.app, bus: deafBus }
    const inside = createAuthenticator(deaf)
    const leaver = await aPerson(t.app)
    const changer = await aPerson(t.app)
    for (const { tokens } of [leaver, changer]) expect(await ask(tokens.accessToken, inside)).not.toBeNull()
    await logOut(deaf, { accessToken: null, refreshToken: leaver.tokens.refreshToken }, aCaller())
    const input = { currentPassword: changer.password, newPassword: 'a different good password' }
    await changePassword(deaf, changer.actor, input)
    for (const { tokens } of [leaver, changer]) {
      await expect(ask(tokens.accessToken, inside)).rejects.toMatchObject(refused)
    }
    inside.close()
  })

  test('during a read prevents caching its result', async () => {
    const person = await aPerson(t.app)
    const { accessToken, refreshToken } = person.tokens
    const read = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    let isFirst = true
    const paused = interceptedApp(t, async (text, run) => {
      const result = await run()
      if (!isFirst || !text.includes('not_before')) return result
      isFirst = false
      read.resolve()
      await go.promise
      return result
    })
    const app: App = { ...paused, bus: deafBus }
    const inside = createAuthenticator(app)
    const asking = ask(accessToken, inside)
    await read.promise
    await logOut(app, { accessToken: null, refreshToken }, aCaller())
    go.resolve()
    await asking
    await expect(ask(accessToken, inside)).rejects.toMatchObject(refused)
    inside.close()
  })

  test('does not happen by log-out without a token, with an invalid or a forged one', async () => {
    const { tokens } = await aPerson(t.app)
    const forged = tokens.refreshToken.replace('.0.', '.5.')
    for (const refreshToken of [null, 'x', forged])
      await logOut(t.app, { accessToken: 'x.y.z', refreshToken }, aCaller())
    expect(await ask(tokens.accessToken)).not.toBeNull()
  })

  test('disabling a user or lowering the role is effective within five seconds, also without a message', async () => {
    const person = await aPerson(t.app, { role: 'admin' })
    expect(await ask(person.tokens.accessToken)).toMatchObject({ actor: { role: 'admin' } })
    const { userId } = person.actor
    await t.app.db.updateTable('memberships').set({ role: 'viewer' }).where('user_id', '=', userId).execute()
    t.clock.advance(5_000)
    expect(await ask(person.tokens.accessToken)).toMatchObject({ actor: { role: 'viewer' } })
    await t.app.db.updateTable('users').set({ disabled_at: t.clock.now() }).where('id', '=', userId).execute()
    t.clock.advance(5_000)
    await expect(ask(person.tokens.accessToken)).rejects.toMatchObject(refused)
  })

  test('tokens from before not_before of the user are refused, those of the same second are valid', async () => {
    const person = await aPerson(t.app)
    const mark = (ms: number) =>
      t.app.db
        .updateTable('users')
        .set({ not_before: new Date(Math.floor(t.clock.now().getTime() / 1000) * 1000 + ms) })
        .where('id', '=', person.actor.userId)
        .execute()
    await mark(999)
    expect(await ask(person.tokens.accessToken)).not.toBeNull()
    await mark(1000)
    t.clock.advance(5_000)
    await expect(ask(person.tokens.accessToken)).rejects.toMatchObject(refused)
  })

  test('comes at its absolute end', async () => {
    const person = await aPerson(t.app)
    await t.app.db
      .updateTable('sessions')
      .set({ expires_at: t.clock.now() })
      .where('id', '=', person.actor.sessionId)
      .execute()
    await expect(ask(person.tokens.accessToken)).rejects.toMatchObject(refused)
  })
})

describe('signing keys', () => {
  const DAY_MS = 86_400_000

  test('the private part is sealed, the public part is the one that is published', async () => {
    const { kid } = await signingKey(t.app)
    const row = await t.app.db.selectFrom('signing_keys').selectAll().where('kid', '=', kid).executeTakeFirstOrThrow()
    expect(row.private_sealed).toMatch(/^v1\./)
    const [jwk] = await publicJwks(t.app)
    expect(jwk).toEqual({ kty: 'OKP', crv: 'Ed25519', x: expect.any(String) as unknown, kid, alg: 'EdDSA', use: 'sig' })
    expect(kid).toBe(await calculateJwkThumbprint(jwk ?? {}))
  })

  const kidsOf = async () => (await publicJwks(t.app)).map(({ kid }) => kid)
  const MINUTE_MS = 60_000

  test('tokens of the previous key stay valid for their lifetime and five minutes; other processes use the new key', async () => {
    t.clock.advance(10 * MINUTE_MS)
    const person = await aPerson(t.app)
    const old = await signingKey(t.app)
    expect(await ask(person.tokens.accessToken, elsewhere)).not.toBeNull()
    await rotateSigningKey(t.app)
    const current = await signingKey(t.app)
    expect(current.kid).not.toBe(old.kid)
    expect(await ask(person.tokens.accessToken)).not.toBeNull()
    const fresh = await aPerson(t.app)
    await waitFor('the other process', () => ask(fresh.tokens.accessToken, elsewhere).catch(() => null))
    expect((await kidsOf()).toSpliced(1, 1)).toEqual([current.kid, old.kid])
    t.clock.advance(20 * MINUTE_MS)
    expect((await kidsOf()).toSpliced(1, 1)).toEqual([current.kid])
  })

  test('a key is published for ten minutes before it signs, also when the operator rotates twice', async () => {
    t.clock.advance(10 * MINUTE_MS)
    const [, next] = await kidsOf()
    await rotateSigningKey(t.app)
    expect((await signingKey(t.app)).kid).toBe(next)
    const [active, following] = await kidsOf()
    expect([active, following === next]).toEqual([next, false])
    t.clock.advance(10 * MINUTE_MS - 1)
    await expect(rotateSigningKey(t.app)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/It can sign from 20\d\d-/) as unknown,
    })
    expect((await signingKey(t.app)).kid).toBe(next)
    t.clock.advance(1)
    await rotateSigningKey(t.app)
    expect((await signingKey(t.app)).kid).toBe(following)
  })

  test('a token that claims the next key is signed by it or refused', async () => {
    const person = await aPerson(t.app)
    const [, next] = await publicJwks(t.app)
    const [, payload, signature] = person.tokens.accessToken.split('.')
    const header = Buffer.from(JSON.stringify({ alg: 'EdDSA', typ: 'at+jwt', kid: next?.kid })).toString('base64url')
    await expect(ask([header, payload, signature].join('.'))).rejects.toMatchObject(refused)
  })

  test('after 90 days the next key signs, for two processes in parallel the same', async () => {
    const old = await signingKey(t.app)
    const [, next] = await kidsOf()
    t.clock.advance(90 * DAY_MS)
    const keys = await Promise.all([t.app, second, t.app, second].map((app) => signingKey(app)))
    expect(new Set(keys.map((key) => key.kid))).toEqual(new Set([next]))
    expect(next).not.toBe(old.kid)
    const states = await t.app.db.selectFrom('signing_keys').select('state').orderBy('state').execute()
    expect(states.map(({ state }) => state)).toEqual(['active', 'next', 'retired'])
  })

  test('an installation from before has no next key: one is published, and signs ten minutes later', async () => {
    await t.app.db.deleteFrom('signing_keys').where('state', '<>', 'active').execute()
    await t.app.db.updateTable('signing_keys').set({ activated_at: null }).execute()
    t.clock.advance(90 * DAY_MS)
    const old = await signingKey(t.app)
    const [active, next] = await kidsOf()
    expect([active, typeof next]).toEqual([old.kid, 'string'])
    t.clock.advance(10 * MINUTE_MS)
    expect((await signingKey(t.app)).kid).toBe(next)
  })
})
