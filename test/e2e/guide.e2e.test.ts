import { expect, test } from 'vitest'
import { expectAccessibleInThemes, expectNoSideScroll, press } from './browser.ts'
import { testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

test('a visitor finds a page by keys, follows a link and copies a command', async () => {
  const page = await dashboard.open()
  await page.goto('/docs/guide')
  await page.getByRole('heading', { name: 'Documentation', level: 1 }).waitFor()
  await press(page, '/')
  await page.keyboard.type('restore drill')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /results for “restore drill”/ }).waitFor()
  await press(page, '/')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/docs/guide/backup#restore-drill')
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'encrypted' }).click()
  await page.waitForURL('**/docs/guide/backup#encryption')
  const contents = page.getByRole('navigation', { name: 'Contents' })
  expect(await contents.locator('[aria-current]').textContent()).toBe('Backups')
  await expectAccessibleInThemes(page, 'a page of the guide')
})

test('on a phone nothing is wider than the page', async () => {
  const page = await dashboard.open({ size: 'phone' })
  for (const path of ['', '/platforms', '?q=the']) {
    await page.goto(`/docs/guide${path}`)
    await expectNoSideScroll(page, `guide${path}`)
  }
  await expectAccessibleInThemes(page, 'results on a phone')
  await page.getByRole('link', { name: 'Contents' }).click()
  await page.getByRole('link', { name: 'Readable stack traces' }).click()
  await page.getByRole('heading', { name: 'From a build' }).waitFor()
})
