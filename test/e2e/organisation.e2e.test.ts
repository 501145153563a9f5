import { expect, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import { eventually, expectAccessible, expectNoSideScroll, press, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard

const LOOKS = [
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const

test('an admin invites, sends again and revokes', async () => {
  const { person } = await aTeam(server)
  await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai', email: 'tomo@example.com' })
  const page = await dashboard.openAs(person)
  await page.goto('/org')
  await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor()
  const members = page.getByRole('region', { name: 'Members' })
  await members.getByText('2 members').waitFor()

  await press(page, 'n')
  const dialog = page.getByRole('dialog', { name: 'Invite to the organisation' })
  await dialog.getByRole('button', { name: 'Send invite' }).click()
  await dialog.getByText('Enter at least one address.').waitFor()
  await dialog
    .getByLabel('E-mail addresses')
    .fill('Ines <ines@example.com>, joon@example.com\ntomo@example.com; nonsense')
  await dialog.getByLabel('Role').selectOption('viewer')
  await dialog.getByRole('button', { name: 'Send 4 invites' }).click()
  await dialog.getByText('2 invites sent').waitFor()
  await dialog.getByText(/^tomo@example.com: /).waitFor()
  // An address that is none is refused by name, like every other.
  await dialog.getByText(/^nonsense: /).waitFor()
  expect(await dialog.getByLabel('E-mail addresses').inputValue()).toBe('tomo@example.com\nnonsense')
  await screenshot(page, 'invite-results')
  await dialog.getByRole('button', { name: 'Close' }).click()

  const invites = page.getByRole('region', { name: 'Open invites' })
  await eventually(() => invites.getByRole('rowheader').allTextContents()).toEqual([
    'ines@example.com',
    'joon@example.com',
  ])
  await invites.getByRole('button', { name: 'Send again: ines@example.com' }).click()
  await page.getByText('Sent again to ines@example.com. The link sent before no longer works.').waitFor()
  await invites.getByRole('button', { name: 'Revoke: joon@example.com' }).click()
  await page.getByText('The invite of joon@example.com is revoked').waitFor()
  await eventually(() => invites.getByRole('rowheader').allTextContents()).toEqual(['ines@example.com'])
})

test('roles change in place, members are disabled and removed, the last owner stays', async () => {
  const { person } = await aTeam(server)
  const tomo = await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai', email: 'tomo2@example.com' })
  const page = await dashboard.openAs(person)
  await page.goto('/org/members')
  const row = page.getByRole('row').filter({ hasText: 'Tomo Arai' })
  await row.getByRole('button', { name: 'Role of Tomo Arai: Member' }).click()
  await page.getByRole('menuitemcheckbox', { name: /^Admin/ }).click()
  await page.getByText('Tomo Arai is now Admin').waitFor()
  await row.getByRole('button', { name: 'Role of Tomo Arai: Admin' }).waitFor()

  await row.getByRole('button', { name: 'Actions for Tomo Arai' }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await row.getByText('Disabled').waitFor()
  expect((await tomo.get('/api/me')).status).toBe(401)
  await row.getByRole('button', { name: 'Actions for Tomo Arai' }).click()
  await page.getByRole('menuitem', { name: 'Remove from the organisation' }).click()
  await page.getByRole('dialog', { name: 'Remove Tomo Arai?' }).getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Tomo Arai was removed').waitFor()
  await eventually(() => page.getByRole('region', { name: 'Members' }).getByRole('rowheader').count()).toBe(1)

  const own = page.getByRole('region', { name: 'Members' }).getByRole('row').filter({ hasText: 'You' })
  await own.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Leave the organisation' }).click()
  const leave = page.getByRole('dialog', { name: 'Leave this organisation?' })
  await leave.getByRole('button', { name: 'Leave' }).click()
  await leave.getByRole('alert').waitFor()
  await screenshot(page, 'last-owner')
})

test('a member sees the team and cannot change it', async () => {
  const { person } = await aTeam(server)
  const member = await aMemberClient(server.app, server.url, person, { name: 'Joon Park', email: 'joon@example.com' })
  const page = await dashboard.openAs({ ...person, cookies: member.cookies })
  await page.goto('/org/members')
  await page.getByText('2 members').waitFor()
  // The own API keys are reached from the rail and from the account menu; pages for admins are not offered.
  await page.goto('/issues')
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Organisation' }).click()
  const topics = page.getByRole('navigation', { name: 'Organisation settings' })
  await eventually(() => topics.getByRole('link').allTextContents()).toEqual([
    'General',
    'Members',
    'API keys',
    'Assistant',
  ])
  await topics.getByRole('link', { name: 'API keys' }).click()
  await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
  await page.getByRole('button', { name: /account of Joon Park/ }).click()
  await page.getByRole('menuitem', { name: 'API keys' }).waitFor()
  await page.getByRole('menuitem', { name: 'Notifications' }).click()
  await page.waitForURL('**/me/notifications')
  await page.goto('/org/members')
  await page.getByText('2 members').waitFor()
  expect(await page.getByRole('button', { name: /^Invite/ }).getAttribute('aria-disabled')).toBe('true')
  expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
  await page.goto('/org/sso')
  await page.getByRole('heading', { name: 'This page is for the owner role' }).waitFor()
})

test('a key is shown once, acts within its scopes, and is revoked', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/org/api-keys')
  await page.getByRole('heading', { name: 'No API keys yet' }).waitFor()
  await press(page, 'n')
  const dialog = page.getByRole('dialog', { name: 'Create an API key' })
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await dialog.getByText('Choose at least one scope.').waitFor()
  await dialog.getByLabel('Name').fill('Triage bot')
  // A preset chooses its scopes, which can be changed.
  await dialog.getByRole('button', { name: 'Uploads from CI' }).click()
  expect(await dialog.getByRole('checkbox', { checked: true }).count()).toBe(4)
  await dialog.getByLabel('uploads:write').uncheck()
  expect(await dialog.getByRole('button', { name: 'Uploads from CI' }).getAttribute('aria-pressed')).toBe('false')
  for (const scope of ['projects:read', 'releases:read', 'releases:write']) await dialog.getByLabel(scope).uncheck()
  await dialog.getByLabel('issues:read').check()
  await screenshot(page, 'api-key-new')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Copy “Triage bot” now. It is not shown again.').waitFor()
  const key = await page.getByLabel('API key', { exact: true }).inputValue()
  expect(key).toMatch(/^svc_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
  await screenshot(page, 'api-key-fresh')
  const ask = (path: string) => fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  expect((await ask('/api/issues')).status).toBe(200)
  expect((await ask('/api/releases')).status).toBe(403)

  // It is not lost by leaving the page unnoticed.
  await page.getByRole('link', { name: 'Members', exact: true }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave without storing it?' })
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  expect(await page.getByLabel('API key', { exact: true }).count()).toBe(0)

  await page.getByRole('button', { name: 'Revoke Triage bot' }).click()
  await page.getByRole('dialog', { name: 'Revoke Triage bot?' }).getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('Triage bot is revoked').waitFor()
  expect((await ask('/api/issues')).status).toBe(401)
})

test.each(LOOKS)('single sign-on: provider, domain and access: $theme, $size', async (look) => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person, look)
  await page.goto('/org/sso')
  const provider = page.getByRole('region', { name: 'Provider' })
  await provider.getByRole('button', { name: 'Save' }).click()
  await provider.getByText('Enter the issuer.').waitFor()
  await provider.getByLabel('Issuer').fill('ftp://login.example.com')
  await provider.getByLabel('Client ID').fill('faultline')
  await provider.getByLabel('Client secret').fill('a-client-secret')
  await provider.getByRole('button', { name: 'Save' }).click()
  await provider.getByRole('alert').waitFor()
  await provider.getByLabel('Issuer').fill('https://login.example.com')
  await provider.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Provider saved').waitFor()
  await eventually(() => provider.getByLabel('Client secret').inputValue()).toBe('')
  await provider.getByText('Set up', { exact: true }).waitFor()

  const domains = page.getByRole('region', { name: 'Domains' })
  const domain = `${look.size}-${look.theme}.example.com`
  await domains.getByLabel('Domain', { exact: true }).fill(domain)
  await domains.getByRole('button', { name: 'Add domain' }).click()
  await domains.getByText('Not verified').waitFor()
  await domains.getByText(`_svc-verify.${domain}`).waitFor()
  await page.getByRole('switch', { name: 'Require single sign-on' }).waitFor()
  await expectAccessible(page, `sso, ${look.size}`)
  await expectNoSideScroll(page, `sso, ${look.size}`)
  await screenshot(page, `sso-${look.theme}-${look.size}`)

  await provider.getByRole('button', { name: 'Remove single sign-on' }).click()
  await page.getByRole('dialog', { name: 'Remove single sign-on?' }).getByRole('button', { name: 'Remove' }).click()
  await provider.getByText('Not set up').waitFor()
})

test.each(LOOKS)('the pages of members and keys with content: $theme, $size', async (look) => {
  const { person } = await aTeam(server)
  const id = `${look.size}-${look.theme}`
  await aMemberClient(server.app, server.url, person, {
    name: 'Maximiliane Featherstonehaugh-Oberhuber',
    email: `maximiliane.featherstonehaugh.${id}@a-rather-long-company-name.example.com`,
  })
  await person.post('/api/invites', { emails: [`open.${id}@example.com`], role: 'member' })
  await person.post('/api/api-keys', { name: 'Weekly report of the mobile team', scopes: ['read'] })
  const page = await dashboard.openAs(person, look)
  for (const [address, text] of [
    ['/org/members', 'Open invites'],
    ['/org/api-keys', 'Weekly report of the mobile team'],
  ] as const) {
    await page.goto(address)
    await page.getByText(text).first().waitFor()
    await expectAccessible(page, `${address}, ${look.size}`)
    await expectNoSideScroll(page, `${address}, ${look.size}`)
    await screenshot(page, `${address.slice(5)}-${look.theme}-${look.size}`)
  }
})
