import { createHmac, createPublicKey, generateKeyPairSync } from 'node:crypto'
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWTHeaderParameters,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { publicJwks, signingKey } from '#server/identity/auth/signing-keys.ts'
import type { App } from '#server/platform/context/app.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import type { Person } from '#test/kit/members.ts'

export type ForgedToken = { readonly name: string; readonly token: string }

const text = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/**
 * Tokens for the session of `victim` that only the service can make, or that it must not accept any more: with
 * every header and claim changed, of other keys and algorithms, and with broken signatures.
 */
export async function forgedTokens(app: App, victim: Person, other: Person): Promise<ForgedToken[]> {
  const now = Math.floor(app.clock.now().getTime() / 1000)
  const { kid, key } = await signingKey(app)
  const [publicJwk] = await publicJwks(app)
  if (publicJwk?.x === undefined) throw new Error('there is no public key')
  const x = publicJwk.x
  const claims = {
    iss: app.config.publicUrl,
    aud: `${app.config.publicUrl}/api`,
    sub: victim.actor.userId,
    org: victim.actor.orgId,
    role: victim.actor.role,
    sid: victim.actor.sessionId,
    jti: newId(),
    iat: now,
    exp: now + 900,
  }
  type Header = Partial<JWTHeaderParameters> & Record<string, unknown>
  const signed = (over: Record<string, unknown>, header: Header, by: typeof key | ReturnType<typeof rsaKey> = key) =>
    new SignJWT({ ...claims, ...over }).setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header }).sign(by)

  const [, ownPayload = '', ownSignature = ''] = (await signed({}, {})).split('.')
  /** A header that the library refuses to sign, before the payload and signature of a valid token. */
  const withHeader = (header: unknown): string => `${text(header)}.${ownPayload}.${ownSignature}`

  const changedClaims: Readonly<Record<string, Record<string, unknown>>> = {
    'another issuer': { iss: 'https://elsewhere.example' },
    'the issuer with a slash': { iss: `${app.config.publicUrl}/` },
    'no issuer': { iss: undefined },
    'an issuer list': { iss: [app.config.publicUrl] },
    'another audience': { aud: app.config.publicUrl },
    'no audience': { aud: undefined },
    'an empty audience list': { aud: [] },
    expired: { iat: now - 1_000, exp: now - 100 },
    'expired ten minutes ago, by a clock that is behind': { iat: now - 1_500, exp: now - 600 },
    'no end': { exp: undefined },
    'the end as text': { exp: String(now + 900) },
    'the end as null': { exp: null },
    'a longer lifetime': { iat: now - 2_000, exp: now + 1e6 },
    'made in the future': { iat: now + 60, exp: now + 900 },
    'made ten minutes in the future': { iat: now + 600, exp: now + 1_500 },
    'not yet valid': { nbf: now + 60 },
    'no time': { iat: undefined },
    'no session': { sid: undefined },
    'an unknown session': { sid: newId() },
    'a session id with SQL': { sid: "' or 1=1" },
    'a session list': { sid: [victim.actor.sessionId] },
    'the session of another user': { sid: other.actor.sessionId },
    'another subject': { sub: other.actor.userId },
    'no subject': { sub: undefined },
    'an unknown subject': { sub: newId() },
    'no organisation': { org: undefined },
    'no token id': { jti: undefined },
    'an unknown role': { role: 'root' },
    'no role': { role: undefined },
  }
  const changedHeaders: Readonly<Record<string, Header>> = {
    'the type of an ID token': { typ: 'JWT' },
    'the type of another token': { typ: 'application/logout+jwt' },
    'no type': { typ: undefined },
    'an unknown key id': { kid: 'unknown' },
    'no key id': { kid: undefined },
    'a path as key id': { kid: '../../../../dev/null' },
    'SQL as key id': { kid: "x' union select 'key" },
  }

  const foreign = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true })
  const foreignJwk = await exportJWK(foreign.publicKey)
  const foreignHeaders: Readonly<Record<string, Header>> = {
    'under our key id': {},
    'under its own key id': { kid: await calculateJwkThumbprint(foreignJwk) },
    'with the key in the header': { jwk: foreignJwk },
    'with the key in the header, without key id': { kid: undefined, jwk: foreignJwk },
    'with an address of keys': { jku: 'https://elsewhere.example/jwks.json' },
    'with an address of keys on this host': { jku: `${app.config.publicUrl}/api/auth/jwks.json#${newId()}` },
    'with an address of a certificate': { x5u: 'https://elsewhere.example/cert.pem' },
    'with a certificate': { x5c: [Buffer.from('certificate').toString('base64')] },
  }

  const hmacSecrets: Readonly<Record<string, string | Buffer>> = {
    'the JWK': JSON.stringify(publicJwk),
    x: x,
    'the bytes of x': Buffer.from(x, 'base64url'),
    'the PEM': createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }).export({
      type: 'spki',
      format: 'pem',
    }),
    'the key id': kid,
    'an empty secret': '',
  }
  const hmac = (alg: 'HS256' | 'HS512', secret: string | Buffer): string => {
    const input = `${text({ alg, typ: 'at+jwt', kid })}.${text(claims)}`
    return `${input}.${createHmac(alg === 'HS256' ? 'sha256' : 'sha512', secret)
      .update(input)
      .digest('base64url')}`
  }

  const [header = '', payload = '', signature = ''] = victim.tokens.accessToken.split('.')
  const otherPayload = other.tokens.accessToken.split('.')[1] ?? ''
  const flipped = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const respelled = signature.slice(0, -1) + digits.charAt(digits.indexOf(signature.slice(-1)) ^ 1)

  const of = (names: Readonly<Record<string, string>>): ForgedToken[] =>
    Object.entries(names).map(([name, token]) => ({ name, token }))
  const each = async <T>(
    cases: Readonly<Record<string, T>>,
    what: string,
    make: (one: T, name: string) => Promise<string>,
  ) =>
    Promise.all(
      Object.entries(cases).map(async ([name, one]) => ({ name: `${what}${name}`, token: await make(one, name) })),
    )
  return [
    ...(await each(changedClaims, '', (over) => signed(over, {}))),
    ...(await each(changedHeaders, '', (over) => signed({}, over))),
    ...(await each(foreignHeaders, 'another key ', (over) => signed({}, over, foreign.privateKey))),
    ...(await each({ RS256: rsaKey(), PS512: rsaKey(), ES256: ecKey() }, '', (by, alg) => signed({}, { alg }, by))),
    ...Object.entries(hmacSecrets).flatMap(([name, secret]) => [
      { name: `HS256 with ${name}`, token: hmac('HS256', secret) },
      { name: `HS512 with ${name}`, token: hmac('HS512', secret) },
    ]),
    ...of({
      none: new UnsecuredJWT(claims).encode(),
      'none, with our key id': `${text({ alg: 'none', typ: 'at+jwt', kid })}.${text(claims)}.`,
      'None in capitals': `${text({ alg: 'NONE', typ: 'at+jwt', kid })}.${text(claims)}.`,
      'none with a signature': withHeader({ alg: 'none', typ: 'at+jwt', kid }),
      'an unknown critical header': withHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, crit: ['later'], later: 1 }),
      'no algorithm': withHeader({ typ: 'at+jwt', kid }),
      'an unencoded payload': withHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, b64: false, crit: ['b64'] }),
      'a signature spelled differently': `${header}.${payload}.${respelled}`,
      'an empty signature': `${header}.${payload}.`,
      'a stripped signature': `${header}.${payload}`,
      'a short signature': `${header}.${payload}.${signature.slice(0, -4)}`,
      'a changed signature': `${header}.${payload}.${flipped}`,
      'the signature of another payload': `${header}.${otherPayload}.${signature}`,
      'two signatures': `${header}.${payload}.${signature}.${signature}`,
      'the refresh token': victim.tokens.refreshToken,
      'a text': 'x',
      dots: '..',
      'a long text': 'a'.repeat(7_000),
    }),
  ]
}

const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
