import { expect, test } from 'vitest'
import { eventually, expectAccessible, expectNoSideScroll, press, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** Release health beside the event, and keys of the issue page. */

const dashboard = await testDashboard()

test.each([
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const)('the release of the event is shown and linked: $theme, $size', async ({ theme, size }) => {
  const { person, project } = await aTeam(dashboard.server)
  const started = new Date(Date.now() - 3_600_000)
  await dashboard.server.sessions({ project, release: 'shop@1.0.0', started, exited: 90, crashed: 10 })
  await dashboard.server.event({ project })
  const page = await dashboard.openAs(person, { theme, size })
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(1)
  await page.goto('/issues')
  await page.getByRole('rowheader').getByRole('link').first().click()
  const card = page.getByRole('region', { name: 'Release 1.0.0' })
  await card.getByText('90.00').waitFor()
  await card.getByText('Crash-free', { exact: true }).waitFor()
  await expectAccessible(page, `release card, ${theme}, ${size}`)
  await expectNoSideScroll(page, `release card, ${size}`)

  await press(page, 'm')
  const dialog = page.getByRole('dialog', { name: /Merge/ })
  await dialog.waitFor()
  // The keys of the page behind it do not apply.
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'hidden' })

  await card.getByRole('link', { name: 'Release 1.0.0' }).click()
  await page.waitForURL(/\/releases\/[0-9a-f-]{36}/)
  await page.getByRole('heading', { level: 1, name: /1\.0\.0/ }).waitFor()
})

test('an app without sessions has no such card', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.event({ project })
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(1)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('rowheader').getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Affected releases' }).waitFor()
  await settled(page)
  expect(await page.getByRole('region', { name: /^Release 1/ }).count()).toBe(0)
})
