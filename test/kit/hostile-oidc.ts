import { createSecretKey } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { FAKE_CLIENT, type Claims, type FakeOidc, type Plan } from './fake-oidc.ts'

/** One thing that a provider, or a page between it and us, does wrong. An honest user follows, and must not get in. */
export type HostileCase = {
  readonly name: string
  readonly plan?: Plan
  /** Claims about the user, beside a right subject and a verified address of a verified domain. */
  readonly user?: Claims
  /** A change of the query on the way back. */
  readonly query?: (query: URLSearchParams) => void
}

const METADATA = 'http://169.254.169.254/latest/meta-data/'
const HUGE = { padding: 'x'.repeat(10 * 1024 * 1024) }
const MINUTE = 60

const document = (name: string, change: Claims): HostileCase => ({
  name: `discovery: ${name}`,
  plan: { discovery: (honest) => ({ body: { ...honest, ...change } }) },
})
const claim = (name: string, change: (claims: Claims) => Claims): HostileCase => ({
  name: `ID token: ${name}`,
  plan: { claims: (claims) => ({ ...claims, ...change(claims) }) },
})
const idToken = (name: string, make: (claims: Claims, provider: FakeOidc) => Promise<string>): HostileCase => ({
  name: `ID token: ${name}`,
  plan: { idToken: make },
})
const without = (name: string): HostileCase => claim(`no ${name}`, () => ({ [name]: undefined }))
const later = (claims: Claims, name: string, seconds: number): Claims => ({ [name]: Number(claims[name]) + seconds })
const query = (name: string, change: (query: URLSearchParams) => void): HostileCase => ({
  name: `way back: ${name}`,
  query: change,
})
const profile = (name: string, user: Claims): HostileCase => ({ name: `profile: ${name}`, user })

export const HOSTILE_CASES: readonly HostileCase[] = [
  document('another issuer', { issuer: 'https://accounts.example.com' }),
  {
    name: 'discovery: the issuer with a slash',
    plan: { discovery: (d, issuer) => ({ body: { ...d, issuer: `${issuer}/` } }) },
  },
  {
    name: 'discovery: the issuer in upper case',
    plan: { discovery: (d, issuer) => ({ body: { ...d, issuer: issuer.replace('http', 'HTTP') } }) },
  },
  document('no issuer', { issuer: undefined }),
  document('10 MB', HUGE),
  document('no token endpoint', { token_endpoint: undefined }),
  document('the token endpoint is a metadata address', { token_endpoint: METADATA }),
  document('the keys are at a metadata address', { jwks_uri: METADATA }),
  document('the keys are a file', { jwks_uri: 'file:///etc/passwd' }),
  document('log-in is a script', { authorization_endpoint: 'javascript:alert(1)' }),
  document('only shared secrets sign', { id_token_signing_alg_values_supported: ['HS256', 'none'] }),
  {
    name: 'discovery: redirect to a metadata address',
    plan: { discovery: () => ({ status: 302, headers: { location: METADATA }, body: {} }) },
  },
  { name: 'discovery: a page', plan: { discovery: () => ({ body: '<html>' }) } },
  { name: 'discovery: an error', plan: { discovery: (d) => ({ status: 500, body: d }) } },
  {
    name: 'token: redirect to a metadata address',
    plan: { token: () => ({ status: 307, headers: { location: METADATA }, body: {} }) },
  },
  { name: 'token: 10 MB', plan: { token: (made) => ({ body: { ...made, ...HUGE } }) } },
  { name: 'token: a page', plan: { token: () => ({ body: '<html>' }) } },
  { name: 'token: no ID token', plan: { token: (made) => ({ body: { ...made, id_token: undefined } }) } },
  { name: 'token: an error', plan: { token: () => ({ status: 400, body: { error: 'invalid_grant' } }) } },
  { name: 'keys: none', plan: { keys: () => ({ body: { keys: [] } }) } },
  { name: 'keys: 10 MB', plan: { keys: (keys) => ({ body: { keys, ...HUGE } }) } },
  {
    name: 'keys: redirect to a metadata address',
    plan: { keys: () => ({ status: 302, headers: { location: METADATA }, body: {} }) },
  },
  {
    name: 'keys: swapped for those of another key pair',
    plan: {
      keys: ([key]) => ({
        body: { keys: [{ ...key, n: (key?.n ?? '').split('').reverse().join('') }] },
      }),
    },
  },
  idToken('alg none', (claims) => Promise.resolve(new UnsecuredJWT({ ...claims }).encode())),
  idToken('HS256 with the client secret', (claims) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(createSecretKey(Buffer.from(FAKE_CLIENT.client_secret))),
  ),
  idToken('another key with the same name', async (claims, provider) =>
    provider.sign(claims, {}, (await generateKeyPair('RS256')).privateKey),
  ),
  idToken('the key in its own header', async (claims, provider) => {
    const { publicKey, privateKey } = await generateKeyPair('RS256')
    return provider.sign(claims, { kid: undefined, jwk: await exportJWK(publicKey) }, privateKey)
  }),
  idToken('the address of keys in its own header', async (claims, provider) =>
    provider.sign(claims, { kid: 'unknown', jku: `${provider.url}/keys` }, (await generateKeyPair('RS256')).privateKey),
  ),
  idToken('RS512', async (claims, provider) =>
    provider.sign(claims, { alg: 'RS512' }, (await generateKeyPair('RS512')).privateKey),
  ),
  idToken('no signature', async (claims, provider) => (await provider.sign(claims)).replace(/[^.]*$/, '')),
  idToken('changed after signing', async (claims, provider) => {
    const [header = '', , signature = ''] = (await provider.sign(claims)).split('.')
    const changed = Buffer.from(JSON.stringify({ ...claims, sub: 'another' })).toString('base64url')
    return `${header}.${changed}.${signature}`
  }),
  idToken('an unknown critical header', (claims, provider) =>
    provider.sign(claims).then((token) => {
      const header = Buffer.from(JSON.stringify({ alg: 'RS256', crit: ['x'], x: 1 })).toString('base64url')
      return token.replace(/^[^.]*/, header)
    }),
  ),
  claim('another issuer', () => ({ iss: 'https://accounts.example.com' })),
  claim('the issuer with a slash', ({ iss }) => ({ iss: `${String(iss)}/` })),
  claim('another audience', () => ({ aud: 'another-client' })),
  claim('several audiences without azp', ({ aud }) => ({ aud: [aud, 'another-client'] })),
  claim('several audiences, issued to the other', ({ aud }) => ({
    aud: [aud, 'another-client'],
    azp: 'another-client',
  })),
  claim('issued to another client', () => ({ azp: 'another-client' })),
  claim('expired', (claims) => later(claims, 'exp', -300 - 2 * MINUTE)),
  claim('from the future', (claims) => later(claims, 'iat', 5 * MINUTE)),
  claim('older than the sign-in', (claims) => later(claims, 'iat', -60 * MINUTE)),
  claim('not valid yet', (claims) => ({ nbf: Number(claims['iat']) + 5 * MINUTE })),
  claim('another nonce', () => ({ nonce: 'x'.repeat(43) })),
  claim('a time that is text', () => ({ exp: 'tomorrow' })),
  claim('a subject that is a number', () => ({ sub: 42 })),
  claim('an empty subject', () => ({ sub: '' })),
  claim('a subject with NUL', () => ({ sub: 'a\0b' })),
  without('nonce'),
  without('sub'),
  without('exp'),
  without('iat'),
  without('aud'),
  query('another issuer', (back) => back.set('iss', 'https://accounts.example.com')),
  query('no issuer, although it is announced', (back) => back.delete('iss')),
  query('another state', (back) => back.set('state', 'x'.repeat(43))),
  query('no state', (back) => back.delete('state')),
  query('two states', (back) => back.append('state', back.get('state') ?? '')),
  query('no code', (back) => back.delete('code')),
  query('two codes', (back) => back.append('code', 'x')),
  query('a code that the provider does not know', (back) => back.set('code', 'x')),
  query('an error', (back) => back.set('error', 'access_denied')),
  profile('an address that is not verified', { email_verified: false }),
  profile('verified as text', { email_verified: 'true' }),
  profile('verified as a number', { email_verified: 1 }),
  profile('no address', { email: null }),
  profile('an address of another domain', { email: 'victim@example.org' }),
  profile('an address below the domain', { email: 'victim@sub.domain.example' }),
  profile('two addresses in one', { email: 'a@example.org,b@example.org' }),
  {
    name: 'profile: of another subject',
    plan: {
      claims: ({ email: _email, email_verified: _verified, ...claims }) => claims,
      userinfo: (user) => ({ body: { ...user, sub: 'another' } }),
    },
  },
]
