import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import { afterAll, expect, test } from 'vitest'
import { newId } from '#server/platform/kernel/ids.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'
import { visitor, type Visit, type Visitor } from '#test/kit/visitor.ts'
import { updateSsoConfig } from './update-config.ts'
import { verifyDomainByOperator } from './verify-domain.ts'

/** Single sign-on at a certified provider, with its own pages of log-in and consent. */

const server = createServer()
await new Promise<void>((resolve) => {
  server.listen(0, '127.0.0.1', resolve)
})
afterAll(
  () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    }),
)
const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
const t = await testServer({ realTime: true })
const callback = `${t.app.config.publicUrl}/api/auth/sso/callback`
const domain = `${newId()}.example`

const keyOf = async (alg: string) => ({
  ...(await exportJWK((await generateKeyPair(alg, { extractable: true })).privateKey)),
  alg,
  use: 'sig',
  kid: alg,
})
const client = (
  id: string,
  algorithm: 'RS256' | 'PS256' | 'ES256' | 'EdDSA',
  method: 'client_secret_basic' | 'client_secret_post',
) => ({
  client_id: id,
  client_secret: `the secret: of ${id}+/=`,
  redirect_uris: [callback],
  id_token_signed_response_alg: algorithm,
  token_endpoint_auth_method: method,
})
const CLIENTS = [
  client('rs256', 'RS256', 'client_secret_post'),
  client('ps256', 'PS256', 'client_secret_post'),
  client('es256', 'ES256', 'client_secret_post'),
  client('eddsa', 'EdDSA', 'client_secret_post'),
] as const

const provider = new Provider(issuer, {
  clients: [...CLIENTS],
  claims: { email: ['email', 'email_verified'], profile: ['name'] },
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
  cookies: { keys: ['a key of cookies'] },
  jwks: { keys: await Promise.all(['RS256', 'PS256', 'ES256', 'EdDSA'].map((alg) => keyOf(alg))) },
  enabledJWA: { idTokenSigningAlgValues: ['RS256', 'PS256', 'ES256', 'EdDSA'] },
  ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@${domain}`, email_verified: true, name: 'Ada Lovelace' }),
  }),
})
const respond = provider.callback()
server.on('request', (request, response) => void respond(request, response))

/** Follows redirects and fills in the forms of the provider, until it sends the browser back to us. */
async function passProvider(browser: Visitor, location: string, login: string): Promise<Visit> {
  let url = location
  for (let step = 0; step < 12; step += 1) {
    if (url.startsWith(callback)) return browser.go(url.replace(t.app.config.publicUrl, t.url))
    let visit = await browser.go(url)
    const action = /<form[^>]* action="([^"]+)"/.exec(visit.body)?.[1]
    if (visit.location === '' && action !== undefined) {
      const prompt = visit.body.includes('name="login"') ? 'login' : 'consent'
      const body = new URLSearchParams({ prompt, login, password: 'anything' }).toString()
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      visit = await browser.go(new URL(action, url).href, { method: 'POST', body, headers })
    }
    if (visit.location === '') throw new Error(`the provider answers ${visit.status}: ${visit.body.slice(0, 500)}`)
    url = new URL(visit.location, url).href
  }
  throw new Error('the provider sends the browser in circles')
}

test.each(CLIENTS)('a member signs in with ID tokens of $id_token_signed_response_alg', async (registered) => {
  const owner = await aPerson(t.app)
  const { client_id, client_secret } = registered
  await updateSsoConfig(t.app, owner.actor, { issuer, client_id, client_secret, domains: [domain], jit: true })
  await verifyDomainByOperator(t.app, { org: owner.orgSlug, domain })
  const login = `ada-${client_id}`
  for (const round of ['first', 'second']) {
    const browser = visitor()
    const { location } = await browser.go(`${t.url}/api/auth/sso/start?org=${owner.orgSlug}`)
    const visit = await passProvider(browser, location, login)
    expect(visit, round).toMatchObject({ status: 302, location: '/' })
    const me = JSON.parse((await browser.go(`${t.url}/api/me`)).body) as unknown
    expect(me).toMatchObject({
      user: { email: `${login}@${domain}`, name: 'Ada Lovelace', role: 'member' },
      org: { slug: owner.orgSlug },
    })
  }
  await updateSsoConfig(t.app, owner.actor, { issuer, client_id, domains: [] })
})

test('a wrong client secret is refused by the provider, and the owner sees why', async () => {
  const owner = await aPerson(t.app)
  await updateSsoConfig(t.app, owner.actor, { issuer, client_id: 'rs256', client_secret: 'wrong', jit: true })
  const browser = visitor()
  const { location } = await browser.go(`${t.url}/api/auth/sso/start?org=${owner.orgSlug}`)
  expect(await passProvider(browser, location, 'ada')).toMatchObject({ location: '/login?error=sso_failed' })
  const { body } = await visitor().go(`${t.url}/api/auth/sso/config`, { headers: { cookie: owner.cookie } })
  expect(JSON.parse(body)).toMatchObject({ last_error: { text: expect.stringMatching(/invalid_client/) as unknown } })
})
