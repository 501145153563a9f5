import { describe, expect, test } from 'vitest'
import { client, type Client } from '#test/kit/client.ts'
import { aPerson, GOOD_PASSWORD } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { newId } from '../../platform/kernel/ids.ts'

const t = await testServer()
const behindHttps = await testServer({
  env: { PUBLIC_URL: 'https://faultline.example.com', COOKIE_PREFIX: '__Host-', FAULTLINE_SIGNUP: 'closed' },
})

const anAccount = () => ({ email: `${newId()}@example.com`, password: GOOD_PASSWORD, name: 'Ada', org: 'Acme' })

async function signedUp(url = t.url): Promise<Client & { email: string }> {
  const browser = client(url)
  const account = anAccount()
  await browser.post('/api/auth/signup', account)
  return { ...browser, email: account.email }
}

const logIn = (browser: Client & { email: string }) =>
  browser.post('/api/auth/login', { email: browser.email, password: GOOD_PASSWORD })

/** `Set-Cookie` lines without values, with sorted attributes. */
const cookiesOf = (headers: Headers): string[] =>
  headers.getSetCookie().map((line) => {
    const [pair = '', ...attributes] = line.split('; ')
    return [pair.split('=')[0], ...attributes.sort()].join('; ')
  })

test('sign-up returns 201 with the slug and sets no cookies; log-in sets both', async () => {
  const browser = client(t.url)
  const account = { ...anAccount(), org: `Shop ${newId()}` }
  const created = await browser.post('/api/auth/signup', account)
  expect(created.status).toBe(201)
  expect(created.body).toEqual({ ok: true, org: account.org.toLowerCase().replace(' ', '-').slice(0, 40) })
  expect(created.headers.getSetCookie()).toEqual([])
  const entered = await browser.post('/api/auth/login', { email: account.email, password: account.password })
  expect(entered.status).toBe(200)
  expect(entered.body).toEqual({ ok: true, org: created.body['org'], role: 'owner' })
  expect(cookiesOf(entered.headers)).toEqual([
    'svc_access; HttpOnly; Max-Age=900; Path=/; SameSite=Lax',
    'svc_refresh; HttpOnly; Max-Age=604800; Path=/api/auth; SameSite=Strict',
    'svc_device; HttpOnly; Max-Age=34560000; Path=/api/auth; SameSite=Lax',
  ])
  const me = await browser.get('/api/me')
  expect(me.body).toMatchObject({
    user: { email: account.email, name: 'Ada', role: 'owner' },
    org: { slug: created.body['org'], name: account.org },
  })
})

test('with https cookies are Secure, and with the prefix __Host- their path is /', async () => {
  const browser = await signedUp(behindHttps.url)
  const entered = await logIn(browser)
  expect(cookiesOf(entered.headers)).toEqual([
    '__Host-svc_access; HttpOnly; Max-Age=900; Path=/; SameSite=Lax; Secure',
    '__Host-svc_refresh; HttpOnly; Max-Age=604800; Path=/; SameSite=Strict; Secure',
    '__Host-svc_device; HttpOnly; Max-Age=34560000; Path=/; SameSite=Lax; Secure',
  ])
  expect((await browser.get('/api/me')).status).toBe(200)
  expect((await browser.post('/api/auth/refresh')).status).toBe(200)
  const second = await client(behindHttps.url).post('/api/auth/signup', anAccount())
  expect(second.status).toBe(403)
})

test('with https every response asks for https, for a year and with subdomains', async () => {
  for (const path of ['/api/me', '/api/auth/jwks.json', '/login', '/healthz', '/nowhere.js'])
    expect([path, (await client(behindHttps.url).get(path)).headers.get('strict-transport-security')]).toEqual([
      path,
      'max-age=31536000; includeSubDomains',
    ])
})

test('refresh needs no body and replaces both cookies; an empty JSON body counts as none', async () => {
  const browser = await signedUp()
  await logIn(browser)
  const before = new Map(browser.cookies)
  const refreshed = await browser.request('POST', '/api/auth/refresh', {
    headers: { 'content-type': 'application/json' },
  })
  expect({ status: refreshed.status, body: refreshed.body }).toEqual({ status: 200, body: { ok: true } })
  for (const name of ['svc_access', 'svc_refresh']) {
    expect(browser.cookies.get(name)).not.toBe(before.get(name))
  }
  browser.cookies.set('svc_refresh', before.get('svc_refresh') ?? '')
  const reused = await browser.post('/api/auth/refresh')
  expect(reused.status).toBe(401)
  expect(reused.headers.getSetCookie()).toEqual([])
  expect((await browser.get('/api/me')).status).toBe(401)
})

test('fifty tabs that refresh in parallel all stay signed in', async () => {
  const browser = await signedUp()
  await logIn(browser)
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => client(t.url).request('POST', '/api/auth/refresh', { headers: { cookie } })),
  )
  expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200))
  const tokens = answers.map(
    (answer) =>
      answer.headers
        .getSetCookie()
        .find((line) => line.startsWith('svc_refresh='))
        ?.split(';')[0],
  )
  expect(new Set(tokens).size).toBe(1)
})

describe('log-out', () => {
  test('ends the session and clears both cookies', async () => {
    const browser = await signedUp()
    await logIn(browser)
    const old = new Map(browser.cookies)
    const left = await browser.post('/api/auth/logout')
    expect({ status: left.status, body: left.body }).toEqual({ status: 200, body: { ok: true } })
    expect(left.headers.getSetCookie().map((line) => line.split(';')[0])).toEqual(['svc_access=', 'svc_refresh='])
    expect(left.headers.getSetCookie().every((line) => line.includes('Max-Age=0'))).toBe(true)
    for (const [name, value] of old) browser.cookies.set(name, value)
    expect((await browser.get('/api/me')).status).toBe(401)
    expect((await browser.post('/api/auth/refresh')).status).toBe(401)
  })

  test('returns 200 also without a session', async () => {
    for (const cookie of ['', 'svc_access=x; svc_refresh=y']) {
      const left = await client(t.url).request('POST', '/api/auth/logout', { headers: { cookie } })
      expect(left.status).toBe(200)
    }
  })
})

test('changing the password sets new cookies and ends the old ones', async () => {
  const browser = await signedUp()
  await logIn(browser)
  const old = new Map(browser.cookies)
  const changed = await browser.post('/api/auth/change-password', {
    currentPassword: GOOD_PASSWORD,
    newPassword: 'password1',
  })
  expect(changed.status).toBe(200)
  expect(changed.body).toEqual({ ok: true, warning: expect.stringMatching('most common') as unknown })
  expect((await browser.get('/api/me')).status).toBe(200)
  const before = client(t.url)
  for (const [name, value] of old) before.cookies.set(name, value)
  expect((await before.get('/api/me')).status).toBe(401)
})

test('429 names the wait and the policy', async () => {
  const person = await aPerson(t.app)
  const attempt = () => client(t.url).post('/api/auth/login', { email: person.email, password: 'wrong one' })
  for (let i = 0; i < 5; i++) expect((await attempt()).status).toBe(401)
  const refused = await attempt()
  expect(refused.status).toBe(429)
  expect(refused.body).toEqual({ error: 'Too many attempts. Try again in 60 s.' })
  expect(refused.headers.get('retry-after')).toBe('60')
  expect(refused.headers.get('ratelimit-policy')).toBe('"login";q=5;w=900')
  expect(refused.headers.get('ratelimit')).toBe('"login";r=0;t=60')
})

test('an unknown address and a wrong password get the same response', async () => {
  const person = await aPerson(t.app)
  const answers = await Promise.all(
    [person.email, `${newId()}@example.com`].map((email) =>
      client(t.url).post('/api/auth/login', { email, password: 'wrong one' }),
    ),
  )
  const visible = answers.map(({ status, body, headers }) => ({
    status,
    body,
    headers: [...headers].filter(([name]) => name !== 'x-request-id' && name !== 'date'),
  }))
  expect(visible[0]).toEqual(visible[1])
})

test('the public keys need no session', async () => {
  await signedUp().then(logIn)
  const { status, body } = await client(t.url).get('/api/auth/jwks.json')
  expect(status).toBe(200)
  const key = { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' }
  // The one that signs, and the next one.
  expect(body).toMatchObject({ keys: [key, key] })
  expect(JSON.stringify(body)).not.toContain('"d"')
})
