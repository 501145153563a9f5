import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import {
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  BOTH_SIZES,
  visit,
  type WidthName,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const team = await aTeam(dashboard.server)

async function judge(page: Page, name: string, size: WidthName): Promise<void> {
  await expectAccessibleInThemes(page, `${name}, ${size}`)
  await expectNoSideScroll(page, `${name}, ${size}`)
  await screenshot(page, `${name}-${size}`)
}

test.each(BOTH_SIZES)('pages without a session: %s', async (size) => {
  const page = await dashboard.open({ size })
  await page.goto('/login')
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await judge(page, 'login', size)
  await page.goto('/signup')
  await page.getByRole('button', { name: 'Create organisation' }).click()
  await page.getByText('Enter your name.').waitFor()
  await judge(page, 'signup', size)
  await page.goto('/no/such/page')
  await page.getByRole('heading', { name: 'This page does not exist' }).waitFor()
  await judge(page, 'not-found', size)
})

test('a mistake that only one theme shows is found', async () => {
  const page = await dashboard.open()
  await page.goto('/login')
  await page.getByRole('button', { name: 'Log in' }).waitFor()
  await page.evaluate(`{
    const text = Object.assign(document.createElement('p'), { className: 'faint', textContent: 'Faint words' })
    const image = Object.assign(new Image(9, 9), { className: 'nameless', src: '/mark.svg' })
    document.querySelector('main').append(text, image)
  }`)
  for (const [style, rule] of [
    [
      '.faint { color: light-dark(#777, #fff); background: light-dark(#888, #000) } .nameless { display: none }',
      'color-contrast',
    ],
    ['@media (prefers-color-scheme: dark) { .nameless { display: none } }', 'image-alt'],
  ] as const) {
    await page.evaluate(`{
      const sheet = new CSSStyleSheet()
      sheet.replaceSync(${JSON.stringify(style)})
      document.adoptedStyleSheets = [sheet]
    }`)
    await expect(expectAccessibleInThemes(page, 'wrong')).rejects.toMatchObject({
      message: expect.stringContaining('wrong, light: accessibility') as unknown,
      actual: [expect.stringMatching(`^${rule}: `)],
    })
  }
})

test.each(BOTH_SIZES)('pages with a session: %s', async (size) => {
  const page = await dashboard.openAs(team.person, { size })
  const pages: [name: string, address: string, heading: string][] = [
    ['onboarding-project', '/onboarding?step=project', 'Create a project'],
    ['onboarding-send', '/onboarding', 'Send your first event'],
    ['settings-general', `/projects/${team.project.id}/settings/general`, 'General'],
    ['settings-keys', `/projects/${team.project.id}/settings/keys`, 'Client keys'],
    ['settings-install', `/projects/${team.project.id}/settings/install`, 'Install'],
    ['settings-retention', `/projects/${team.project.id}/settings/retention`, 'Retention'],
    ['organisation', '/org/general', 'General'],
    ['members', '/org/members', 'Members'],
    ['sso', '/org/sso', 'Single sign-on'],
    ['api-keys', '/org/api-keys', 'API keys'],
    ['webhooks-empty', '/org/webhooks', 'Webhooks'],
    ['audit', '/org/audit', 'Audit log'],
    ['notifications', '/me/notifications', 'Notifications'],
    ['appearance', '/me/appearance', 'Appearance'],
    ['security', '/me/security', 'Security'],
  ]
  await page.goto('/issues')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const [name, address, heading] of pages) {
    await visit(page, address)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    if (name === 'webhooks-empty') await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
    if (name === 'members') await page.getByText('1 member', { exact: true }).waitFor()
    if (name === 'sso') await page.getByLabel('Issuer').waitFor()
    if (name === 'api-keys') await page.getByRole('heading', { name: 'No API keys yet' }).waitFor()
    if (name === 'audit') await page.getByRole('link', { name: 'project.created' }).waitFor()
    if (name.startsWith('settings'))
      await page.getByText(/^(Short name|Rate limit|Add the SDK|Keep events for)$/).waitFor()
    await judge(page, name, size)
  }
})

test.each(BOTH_SIZES)('dialogs, menus and panels: %s', async (size) => {
  const page = await dashboard.openAs(team.person, { size, motion: true })
  await page.goto(`/projects/${team.project.id}/settings/keys`)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog', { name: 'Rotate the key?' }).waitFor()
  await judge(page, 'rotate', size)
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await press(page, 'p')
  await page.getByRole('menu').waitFor()
  await judge(page, 'project-menu', size)
  await press(page, 'Escape')
  await page.getByRole('menu').waitFor({ state: 'hidden' })

  await page.getByRole('button', { name: size === 'phone' ? /^More$/ : /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).waitFor()
  await judge(page, 'account-menu', size)
  await press(page, 'Escape')
  await page.getByRole('menu').waitFor({ state: 'hidden' })

  await press(page, '?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await judge(page, 'keys', size)
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })

  await press(page, 'Control+k')
  await page.keyboard.type('shop')
  await page.getByRole('option').first().waitFor()
  await judge(page, 'palette', size)
})

test('at 320 pixels, which is 400 % zoom, no page scrolls sideways', async () => {
  const page = await dashboard.openAs(team.person)
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto('/issues')
  await settled(page)
  for (const address of [
    '/onboarding',
    '/onboarding?step=project',
    `/projects/${team.project.id}/settings/general`,
    `/projects/${team.project.id}/settings/keys`,
    `/projects/${team.project.id}/settings/install`,
    '/org/general',
    '/org/members',
    '/org/sso',
    '/org/api-keys',
    '/org/webhooks',
    '/org/audit',
    '/me/profile',
    '/me/security',
    '/me/sessions',
    '/me/notifications',
    '/me/appearance',
  ]) {
    await visit(page, address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectNoSideScroll(page, `${address} at 320`)
  }
})
