import { expect, test } from 'vitest'
import { anEvent, dsnParts, sendEvent } from '../kit/sdk.ts'
import { eventually, expectAccessible, expectNoSideScroll, press, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** How the release of an event is doing, beside the event; and keys of the issue page. */

const dashboard = await testDashboard()

test.each([
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const)('the release of the event is told and led to: $theme, $size', async ({ theme, size }) => {
  const { person, project } = await aTeam(dashboard.server)
  const { key, projectNumber } = dsnParts(project.dsn)
  const item = {
    aggregates: [{ started: new Date(Date.now() - 3_600_000).toISOString(), exited: 90, crashed: 10 }],
    attrs: { release: 'shop@1.0.0' },
  }
  const answer = await fetch(
    `${dashboard.server.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`,
    { method: 'POST', body: `{}\n{"type":"sessions"}\n${JSON.stringify(item)}\n` },
  )
  expect(answer.status).toBe(200)
  await sendEvent(dashboard.server.url, project.dsn, anEvent())
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
  // Not the keys of the page behind it.
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'hidden' })

  await card.getByRole('link', { name: 'Release 1.0.0' }).click()
  await page.waitForURL(/\/releases\/[0-9a-f-]{36}/)
  await page.getByRole('heading', { level: 1, name: /1\.0\.0/ }).waitFor()
})

test('an app without sessions has no such card', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await sendEvent(dashboard.server.url, project.dsn, anEvent())
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(1)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('rowheader').getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Affected releases' }).waitFor()
  await settled(page)
  expect(await page.getByRole('region', { name: /^Release 1/ }).count()).toBe(0)
})
