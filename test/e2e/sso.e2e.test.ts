import { once } from 'node:events'
import { createServer } from 'node:http'
import { exportJWK, generateKeyPair } from 'jose'
import Provider from 'oidc-provider'
import type { Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { verifyDomainByOperator } from '#server/identity/external-identity/verify-domain.ts'
import { aMemberClient } from '../kit/member-client.ts'
import { GOOD_PASSWORD } from '../kit/members.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard({ localhost: true })
const { server } = dashboard
const DOMAIN = 'meadowlark.example'
const CLIENT = { client_id: 'faultline', client_secret: 'a secret of the provider' }

/** A certified provider, with its own pages of log-in and consent. */
async function startProvider(): Promise<string> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  afterAll(async () => {
    listener.close()
    listener.closeAllConnections()
    await once(listener, 'close')
  })
  const address = listener.address()
  const issuer = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(issuer, {
    clients: [{ ...CLIENT, redirect_uris: [`${server.url}/api/auth/sso/callback`] }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    features: { devInteractions: { enabled: true } },
    cookies: { keys: ['a key of cookies'] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'one' }] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@${DOMAIN}`, email_verified: true, name: 'Ada Lovelace' }),
    }),
  })
  const respond = provider.callback()
  listener.on('request', (request, response) => void respond(request, response))
  return issuer
}

const issuer = await startProvider()

/** Single sign-on of the organisation, whose short name it returns. */
async function setUp(person: Person, { jit }: { jit: boolean }): Promise<string> {
  const body = { issuer, ...CLIENT, domains: [DOMAIN], jit }
  const answer = await person.request('PUT', '/api/auth/sso/config', { body })
  expect(answer.status, answer.text).toBe(200)
  return (await person.get('/api/me')).as<{ org: { slug: string } }>().org.slug
}

/** From the log-in page through the provider's pages, back to the dashboard. */
async function signIn(page: Page, org: string, login: string): Promise<void> {
  await page.goto('/login')
  await page.getByRole('link', { name: 'Continue with single sign-on' }).click()
  await page.getByLabel('Organisation').fill(org)
  await page.keyboard.press('Enter')
  await page.waitForURL(`${issuer}/**`)
  await page.locator('input[name="login"]').fill(login)
  await page.locator('input[name="password"]').fill('anything')
  await page.locator('button[type="submit"]').click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.waitForURL(`${server.url}/**`)
}

test('a new member signs in at the identity provider of the organisation', async () => {
  const { person } = await aTeam(server)
  const org = await setUp(person, { jit: true })
  await verifyDomainByOperator(server.app, { org, domain: DOMAIN })
  const page = await dashboard.open()
  await signIn(page, org, 'ada')
  await page.goto('/me/sessions')
  await page.getByText(/logged in with single sign-on/).waitFor()
  await page.getByRole('button', { name: /account of Ada Lovelace/ }).waitFor()
  await page.goto('/me/profile')
  await page.getByText(`ada@${DOMAIN}`).waitFor()
  // Without a password there is none to change, and none is asked for.
  expect(await page.getByRole('textbox', { name: 'Password' }).count()).toBe(0)
  await page.goto('/me/security')
  await page.getByText('None set. You log in another way.').waitFor()
})

test('a member with a password links the sign-in with it, once', async () => {
  const { person } = await aTeam(server)
  const org = await setUp(person, { jit: false })
  await aMemberClient(server.app, server.url, person, { name: 'Grace Hopper', email: `grace@${DOMAIN}` })
  const page = await dashboard.open()
  await signIn(page, org, 'grace')
  await page.getByRole('heading', { name: 'Link your account' }).waitFor()
  const password = page.getByRole('textbox', { name: 'Password' })
  await password.fill('not the password')
  await page.keyboard.press('Enter')
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .waitFor()
  await password.fill(GOOD_PASSWORD)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(onboarding|issues)/)

  const again = await dashboard.open()
  await signIn(again, org, 'grace')
  await again.waitForURL(/\/(onboarding|issues)/)
})

test('someone whom the provider knows and the organisation does not reads what to do', async () => {
  const { person } = await aTeam(server)
  const org = await setUp(person, { jit: false })
  const page = await dashboard.open()
  await signIn(page, org, 'stranger')
  await page.getByText('Your identity provider knows you, but you are not a member here.').waitFor()
})
