import { expect, test } from 'vitest'
import { eventually, hasFocus, press, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

test('a wrong password shows one sentence and focuses the field; logging in continues to the page', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.open()
  await page.goto(`/projects/${project.id}/settings/keys`)
  await page.waitForURL(/\/login\?next=/)
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill('not the password')
  await press(page, 'Enter')
  const sentence = page.getByRole('alert').filter({ hasText: /password/i })
  await sentence.waitFor()
  await eventually(() => hasFocus(page.getByRole('textbox', { name: 'Password' }))).toBe(true)

  await page.getByRole('button', { name: 'Show password' }).click()
  await eventually(() => page.getByRole('textbox', { name: 'Password' }).getAttribute('type')).toBe('text')
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await press(page, 'Enter')
  await page.waitForURL(`**/projects/${project.id}/settings/keys`)
  await page.getByRole('heading', { name: 'Client keys' }).waitFor()
})

test('an expired access token is renewed in the background', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  const refreshes: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/auth/refresh')) refreshes.push(request.url())
  })
  await page.context().clearCookies({ name: /svc_access$/ })
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  expect(refreshes).toHaveLength(1)
})

test('logging out in one tab ends the other', async () => {
  const { person } = await aTeam(dashboard.server)
  const first = await dashboard.openAs(person)
  await first.goto('/me/appearance')
  const second = await first.context().newPage()
  await second.goto('/issues')
  await second.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()

  await first.getByRole('button', { name: /account of/ }).click()
  await first.getByRole('menuitem', { name: 'Log out' }).click()
  await first.waitForURL(/\/login/)
  await second.waitForURL(/\/login\?next=%2Fissues/)
  await second.goto('/issues')
  await second.waitForURL(/\/login/)
})

test('changing the password ends other sessions and keeps this one', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const other = await dashboard.open()
  await other.goto('/login')
  await other.getByLabel('E-mail').fill(person.email)
  await other.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await other.keyboard.press('Enter')
  await other.waitForURL(/\/(onboarding|issues)/)

  await page.goto('/me/security')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByRole('textbox', { name: 'Current password' }).fill('wrong one entirely')
  await page.getByRole('textbox', { name: 'New password' }).fill('granite-willow-compass-9')
  await page.getByRole('button', { name: 'Change password' }).click()
  await page
    .getByRole('alert')
    .filter({ hasText: /password/i })
    .waitFor()
  await page.getByRole('textbox', { name: 'Current password' }).fill(person.password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await page.getByText('Password changed. Your other sessions were logged out.').waitFor()
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  await other.goto('/issues')
  await other.waitForURL(/\/login/)
})

test('a first visit asks for a session once', async () => {
  const page = await dashboard.open({ fresh: true })
  const refused: string[] = []
  page.on('response', (response) => {
    if (response.status() === 401) refused.push(new URL(response.url()).pathname)
  })
  await page.goto('/issues')
  await page.getByRole('button', { name: 'Log in', exact: true }).waitFor()
  await settled(page)
  expect(refused).toEqual(['/api/me', '/api/auth/refresh'])
})
