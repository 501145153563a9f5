import { expect, test } from 'vitest'
import { aProject } from '../kit/founder.ts'
import { aMemberClient } from '../kit/member-client.ts'
import { eventually, hasFocus, menuOpen, press, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

test('project and range are chosen by keys and are in the address', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const second = await aProject(person, { name: 'courier' })
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()

  await press(page, '3')
  await page.waitForURL(/range=7d/)
  await eventually(() => page.getByRole('button', { name: '7d' }).getAttribute('aria-pressed')).toBe('true')

  await press(page, 'p')
  await page.getByRole('menuitemcheckbox', { name: 'courier' }).waitFor()
  await menuOpen(page)
  await page.keyboard.type('cour')
  await page.locator('[data-highlighted]', { hasText: 'courier' }).waitFor()
  await press(page, 'Enter')
  await page.waitForURL(new RegExp(`project=${second.id}`))
  expect(page.url()).toContain('range=7d')

  await press(page, 'p')
  await menuOpen(page)
  await press(page, '0')
  await page.waitForURL((url) => !url.search.includes('project='))

  await page.goBack()
  await page.waitForURL(new RegExp(`project=${second.id}`))

  // Other pages keep both.
  await page.getByRole('link', { name: 'Project settings' }).click()
  await page.waitForURL(`**/projects/${second.id}/settings/general`)
  await page.getByRole('heading', { name: 'General' }).waitFor()
  await press(page, 'p')
  await page.getByRole('menuitemcheckbox', { name: 'shopper-web' }).click()
  await page.waitForURL(`**/projects/${project.id}/settings/general`)
  await page.getByLabel('Short name').waitFor()
  // The second letter must come within 1.2 s.
  await eventually(async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    return page.url()
  }).toMatch(/\/issues/)
})

test('the palette goes anywhere, and letters typed in a field are text', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  await press(page, 'Control+k')
  const box = page.getByRole('combobox')
  await box.waitFor()
  await page.keyboard.type('shopper')
  const options = page.getByRole('option')
  await options.nth(1).waitFor()
  await settled(page)
  expect(await options.nth(0).getAttribute('aria-selected')).toBe('true')
  await press(page, 'ArrowDown')
  await settled(page)
  expect(await options.nth(1).getAttribute('aria-selected')).toBe('true')
  expect(await box.getAttribute('aria-activedescendant')).toBe(await options.nth(1).getAttribute('id'))
  await press(page, 'Enter')
  await page.waitForURL(`**/projects/${project.id}/settings/general`)

  // The previous place comes first in the empty box.
  await page.getByRole('heading', { name: 'General' }).waitFor()
  await press(page, 'Control+k')
  await settled(page)
  expect(await page.getByRole('option').first().textContent()).toContain('Appearance')
  await press(page, 'Escape')
  await box.waitFor({ state: 'hidden' })

  await page.getByLabel('Short name').fill('')
  await page.getByLabel('Short name').pressSequentially('p1gi')
  await settled(page)
  expect(await page.getByLabel('Short name').inputValue()).toBe('p1gi')
  expect(await page.getByRole('menu').count()).toBe(0)
})

test('the palette finds pages, settings, members and commands before issues that contain the word', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await aMemberClient(dashboard.server.app, dashboard.server.url, person, { name: 'Tomo Arai' })
  await dashboard.server.event({ project, error: 'api' })
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  const type = async (text: string) => {
    await press(page, 'Control+k')
    await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor()
    await page.keyboard.type(text)
  }
  const group = (name: string) => page.getByRole('group', { name }).getByRole('option')
  await type('api')
  await group('Issues').first().waitFor()
  expect(await page.getByRole('option').first().textContent()).toContain('API keys')
  await press(page, 'Escape')

  await type('tomo')
  await group('Members').filter({ hasText: 'Tomo Arai' }).click()
  await page.waitForURL('**/issues?assignee=*')

  await type('dsn')
  await group('Go to').filter({ hasText: 'Client keys' }).click()
  await page.waitForURL(`**/projects/${project.id}/settings/keys`)

  await type('invite')
  await press(page, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Invite to the organisation' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()

  await type('dark')
  await press(page, 'Enter')
  await eventually(() => page.evaluate<string>('document.documentElement.dataset.theme')).toBe('dark')

  await type('documentation')
  await group('Commands').filter({ hasText: 'Open the documentation' }).waitFor()
  await press(page, 'Escape')
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Documentation' }).waitFor()
  await press(page, 'Escape')

  // A new tab knows the places of the others.
  const tab = await page.context().newPage()
  await tab.goto('/issues')
  await tab.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  await press(tab, 'Control+k')
  await tab.getByRole('group', { name: 'Recent' }).getByRole('option').first().waitFor()
})

test('the key sheet lists the shortcuts, and letter keys can be switched off', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  await press(page, '?')
  const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
  await sheet.getByText('Search or jump to').waitFor()
  await press(page, 'Escape')
  await sheet.waitFor({ state: 'hidden' })

  await page.getByRole('switch', { name: 'Single-key shortcuts' }).click()
  await page.getByRole('heading', { name: 'Appearance' }).click()
  await press(page, '?')
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await settled(page)
  expect(await sheet.count()).toBe(0)
})

test('the first stop of Tab is a skip link', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  await press(page, 'Tab')
  const skip = page.getByRole('link', { name: 'Skip to content' })
  await settled(page)
  expect(await hasFocus(skip)).toBe(true)
  await press(page, 'Enter')
  await settled(page)
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('main')
})
