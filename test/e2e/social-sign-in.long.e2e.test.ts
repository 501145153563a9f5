import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { fakeGithub, GITHUB_CLIENT } from '../kit/fake-github.ts'
import { FAKE_CLIENT, fakeOidc } from '../kit/fake-oidc.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const github = await fakeGithub()
const oidc = await fakeOidc(() => new Date())
const google = oidc.tenant()
afterAll(async () => {
  await github.close()
  await oidc.close()
})
const dashboard = await testDashboard({
  localhost: true,
  env: {
    OAUTH_GITHUB_CLIENT_ID: GITHUB_CLIENT.id,
    OAUTH_GITHUB_CLIENT_SECRET: GITHUB_CLIENT.secret,
    OAUTH_GITHUB_BASE_URL: github.url,
    OAUTH_GOOGLE_CLIENT_ID: FAKE_CLIENT.client_id,
    OAUTH_GOOGLE_CLIENT_SECRET: FAKE_CLIENT.client_secret,
    OAUTH_GOOGLE_ISSUER: google.issuer,
  },
})
const { server } = dashboard

const PROVIDERS = [
  {
    name: 'GitHub',
    url: github.url,
    signIn: (n: number) => github.signIn({ id: 583_231 + n, login: `octocat-${n}` }),
  },
  {
    name: 'Google',
    url: google.issuer,
    signIn: (n: number) => google.signIn({ sub: `user-${n}`, email: `user-${n}@example.com`, email_verified: true }),
  },
] as const

/** From a page of ours, through the page of the provider, back to us. */
async function through(page: Page, link: Locator, provider: (typeof PROVIDERS)[number]): Promise<void> {
  await link.click()
  await page.waitForURL(`${provider.url}/**`)
  await page.getByRole('link', { name: 'Allow' }).click()
  await page.waitForURL(`${server.url}/**`)
}

const toProvider = (page: Page, { name }: { readonly name: string }) =>
  page.getByRole('link', { name: `Continue with ${name}` })

test.each(PROVIDERS)(
  '$name: an account that is linked while signed in signs in, until it is unlinked',
  async (provider) => {
    const { person } = await aTeam(server)
    provider.signIn(1)
    const page = await dashboard.openAs(person)
    await page.goto('/me/security')
    const row = page.getByRole('listitem').filter({ hasText: provider.name })
    await through(page, row.getByRole('link', { name: 'Link' }), provider)
    await page.getByText(`${provider.name} is linked. You can log in with it from now on.`).waitFor()

    const fresh = await dashboard.open()
    await fresh.goto('/login')
    await through(fresh, toProvider(fresh, provider), provider)
    await fresh.waitForURL(/\/(onboarding|issues)/)
    await fresh.goto('/me/sessions')
    await fresh.getByText('logged in with a linked account').first().waitFor()

    await page.goto('/me/security')
    await row.getByRole('button', { name: 'Unlink' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click()
    await row.getByText('Not linked').waitFor()
    const later = await dashboard.open()
    await later.goto('/login')
    await through(later, toProvider(later, provider), provider)
    await later.getByText('This account is not linked to a Faultline user yet.').waitFor()
  },
)

test.each(PROVIDERS)('$name: an unknown account creates none; the password links it once', async (provider) => {
  const { person } = await aTeam(server)
  provider.signIn(2)
  const users = async () => (await server.app.db.query('select count(*) from users')).rows
  const before = await users()
  const page = await dashboard.open()
  await page.goto('/login')
  await through(page, toProvider(page, provider), provider)
  await page.getByText('This account is not linked to a Faultline user yet.').waitFor()
  expect(await users()).toEqual(before)
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(onboarding|issues)/)
  await page.getByText('The account is linked. You can log in with it from now on.').waitFor()

  const again = await dashboard.open()
  await again.goto('/login')
  await through(again, toProvider(again, provider), provider)
  await again.waitForURL(/\/(onboarding|issues)/)
})

test('a member who goes back at the provider can log in another way', async () => {
  const [provider] = PROVIDERS
  const { person } = await aTeam(server)
  provider.signIn(3)
  const page = await dashboard.open()
  await page.goto('/login')
  await toProvider(page, provider).click()
  await page.waitForURL(`${provider.url}/**`)
  const state = new URL(page.url()).searchParams.get('state') ?? ''
  await page.goto(`/api/auth/oauth/github/callback?error=access_denied&state=${state}`)
  await page.getByText('The sign-in was cancelled. Try again, or log in another way.').waitFor()
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(onboarding|issues)/)
})
