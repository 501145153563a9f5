import { expect, test } from 'vitest'
import { eventually, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

const shownBackground = 'getComputedStyle(document.documentElement).backgroundColor'

test('the theme follows the system, is switched in the bar, remembered, and there before the first paint', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { theme: 'light' })
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  const light = await page.evaluate<string>(shownBackground)
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await page.evaluate<string>(shownBackground)
  expect(dark).not.toBe(light)
  await page.getByRole('button', { name: 'Switch to light theme' }).waitFor()
  await page.emulateMedia({ colorScheme: 'light' })

  await page.getByRole('button', { name: 'Switch to dark theme' }).click()
  await eventually(() => page.evaluate<string>(shownBackground)).toBe(dark)
  await eventually(() => page.getByRole('button', { name: 'Dark', exact: true }).getAttribute('aria-pressed')).toBe(
    'true',
  )

  // As soon as there is a body, before the app's code has run.
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto('/me/appearance', { waitUntil: 'domcontentloaded' })
  expect(await page.evaluate<string>(shownBackground)).toBe(dark)
  await page.unroute('**/assets/*.js')

  await page.goto('/me/appearance')
  await page.getByRole('group', { name: 'Theme' }).getByRole('button', { name: 'System' }).click()
  await eventually(() => page.evaluate<string>(shownBackground)).toBe(light)
})

test('times are local or UTC, by choice', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/appearance')
  await page.getByRole('button', { name: 'UTC' }).click()
  await page.goto(`/projects/${project.id}/settings/keys`)
  await settled(page)
  expect(await page.locator('time').first().getAttribute('title')).toMatch(/ UTC$/)
})

test('a cut stream shows a mark, later a banner, and recovers', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { fresh: true })
  await page.clock.install()
  await page.route('**/api/live', (route) => route.abort())
  await page.goto('/me/appearance')
  await page.getByText(/\d\d:\d\d, reconnecting/).waitFor()
  expect(await page.getByText('Connection lost').count()).toBe(0)
  await page.clock.runFor(12_000)
  await page.getByText(/Connection lost at \d\d:\d\d/).waitFor()
  await Promise.all([page.waitForRequest('**/api/live'), page.getByRole('button', { name: 'Reconnect now' }).click()])
  await page.unroute('**/api/live')
  // The clock stops at the answer: more of it without a message from the server would end this stream too.
  let isAnswered = false
  page.on('response', (response) => {
    isAnswered ||= response.url().endsWith('/api/live') && response.ok()
  })
  await eventually(async () => {
    await page.clock.runFor(isAnswered ? 10 : 5_000)
    return page.getByText('Live', { exact: true }).count()
  }).toBe(1)
  await eventually(() => page.getByText('Connection lost').count()).toBe(0)
})

test('a failed read shows the reason in place of its data and can be retried', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.route(`**/api/projects/${project.id}/settings`, (route) =>
    route.fulfill({ status: 404, json: { error: 'Project not found.' }, headers: { 'x-request-id': 'req-7' } }),
  )
  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByRole('alert').filter({ hasText: 'Project not found.' }).waitFor()
  await page.getByRole('button', { name: 'Copy request ID' }).click()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe('req-7')
  await page.unroute(`**/api/projects/${project.id}/settings`)
  await page.keyboard.press('.')
  await page.getByLabel('Short name').waitFor()
})

test('a file that is missing after an upgrade is fetched by reloading the page', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/appearance')
  await page.getByRole('heading', { name: 'Appearance' }).waitFor()
  let gone = true
  await page.route(/\/assets\/security-.*\.js$/, (route) => (gone ? route.abort() : route.continue()))
  // The reloaded page knows the file's new name.
  page.on('load', () => {
    gone = false
  })
  dashboard.browser.forgive(/Failed to fetch dynamically imported module/)
  await page.getByRole('link', { name: 'Security' }).click()
  await page.getByRole('heading', { name: 'Security', level: 1 }).waitFor()
  expect(gone).toBe(false)
})
