import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { anEvent, dsnParts, envelopeOf } from '../kit/sdk.ts'
import { eventually, expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES, until } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard

/** A team whose project has outcomes of several kinds. */
async function aBusyTeam() {
  const team = await aTeam(server)
  const { key, projectNumber } = dsnParts(team.project.dsn)
  const post = async (body: string): Promise<number> =>
    (await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, { method: 'POST', body })).status
  await team.person.patch(`/api/projects/${team.project.id}/settings`, { rate_limit_per_minute: 30 })
  const event = anEvent()
  expect(await post(envelopeOf(event))).toBe(200)
  await post(envelopeOf(event))
  await post('{}\n{"type":"event"}\nnope')
  // Events of other days arrive now all the same.
  for (const days of [-20, -400, 400])
    expect(await post(envelopeOf(anEvent({ timestamp: Date.now() / 1000 + days * 86_400 })))).toBe(200)
  const lost = (reason: string, quantity: number) => ({ reason, category: 'error', quantity })
  const report = { discarded_events: [lost('before_send', 1_284), lost('ratelimit_backoff', 17)] }
  await post(`{}\n{"type":"client_report"}\n${JSON.stringify(report)}`)
  await until('the limit', async () => (await post(envelopeOf(anEvent()))) === 429)
  expect(await post(envelopeOf(anEvent({ message: 'The till is on fire', exception: null })))).toBe(200)
  const read = async () => (await team.person.get(`/api/projects/${team.project.id}/intake`)).text
  await until('the counts', async () => (await read()).includes('"let_through":1'))
  return team
}

const busy = await aBusyTeam()

test('shows accepted and refused items with reasons, and losses on the client', async () => {
  const page = await dashboard.openAs(busy.person)
  await page.goto('/issues')
  await page.getByRole('link', { name: 'Intake' }).click()
  await page.waitForURL(`**/intake?project=${busy.project.id}*`)
  await page.getByRole('heading', { name: 'Intake', level: 1 }).waitFor()
  await page.getByText('What SDKs sent to shopper-web, by outcome.').waitFor()
  const became = page.getByRole('region', { name: 'Outcomes' })
  await became.getByText('Flood sampling: the first events of this kind were already accepted.').waitFor()
  await became.getByText('Already received. Counted once.').waitFor()
  await became.getByText('Not JSON.').waitFor()
  const lost = page.getByRole('region', { name: 'Lost on the client' })
  await lost.getByText('Dropped by beforeSend.').waitFor()
  await lost.getByText('1,284').waitFor()
  await page.getByText(/^Over the limit for errors at .*\. Flood sampling accepted 1 event of a new issue/).waitFor()

  // Arrived items are the sum of the other figures, and the key page shows the same number of accepted ones.
  const figures = page.getByRole('region', { name: 'In this period' })
  const figure = async (name: string) =>
    Number((await figures.locator('dl > div').filter({ hasText: name }).locator('dd').textContent())?.replace(',', ''))
  const parts = ['Accepted', 'Filtered, duplicate or discarded', 'Rate limited', 'Invalid or dropped']
  const sums = await Promise.all(parts.map(figure))
  expect(await figure('Received')).toBe(sums.reduce((sum, one) => sum + one, 0))
  expect(sums.every((sum) => sum >= 0)).toBe(true)
  expect(sums[1], 'the duplicate is among them').toBeGreaterThan(0)
  // The bars are read with the arrow keys: their sums are the figures, and so are those of the rows below.
  const reader = figures.getByRole('slider')
  const bars = parts.map(() => 0)
  for (let bar = 0; bar <= Number(await reader.getAttribute('aria-valuemax')); bar++) {
    await reader.press('ArrowRight')
    await eventually(async () => reader.getAttribute('aria-valuenow')).toBe(String(bar))
    const text = (await reader.getAttribute('aria-valuetext')) ?? ''
    for (const [index, part] of parts.entries())
      bars[index] = (bars[index] ?? 0) + Number(new RegExp(`${part}:? ([\\d,]+)`).exec(text)?.[1]?.replaceAll(',', ''))
  }
  expect(bars).toEqual(sums)
  const cells = await became.locator('tbody tr > :last-child').allTextContents()
  expect(cells.reduce((sum, cell) => sum + Number(cell.replaceAll(',', '')), 0)).toBe(await figure('Received'))
  await figures.getByText(/^Items by the time at which they arrived/).waitFor()
  await page.goto(`/projects/${busy.project.id}/settings/keys`)
  await page.getByText('Accepted items, 24 h').waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: String(sums[0]), exact: true })
    .click()
  await page.waitForURL(`**/intake?project=${busy.project.id}*`)

  // Another range is another address.
  await page.getByRole('button', { name: '7d' }).click()
  await page.waitForURL('**range=7d*')
  await became.getByText('Not JSON.').waitFor()
})

test('an admin sets limits and the quota here', async () => {
  const team = await aTeam(server)
  const page = await dashboard.openAs(team.person)
  await page.goto(`/intake?project=${team.project.id}`)
  await page.getByText('No data in this period').waitFor()
  const limit = page.getByLabel('Items per minute and key')
  await limit.fill('a lot')
  await page.getByText('Enter a whole number from 1 to 1,000,000, or leave it empty.').waitFor()
  await limit.fill('6,000')
  await limit.press('Enter')
  await page.getByText('Limits saved').waitFor()
  await page.getByText('6,000 per minute, 2,000 in 10 s').waitFor()
  await page.getByLabel('Events per day, whole organisation').fill('0')
  await page.getByLabel('Events per day, whole organisation').press('Enter')
  await page.getByText('Quota saved').waitFor()
  await page.getByText(/^Today’s quota of the organisation is used up/).waitFor()
  await page.getByRole('switch', { name: 'Flood sampling' }).click()
  await eventually(async () => page.getByRole('switch', { name: 'Flood sampling' }).getAttribute('aria-checked')).toBe(
    'false',
  )
  await screenshot(page, 'intake-limits')
  await eventually(async () => (await team.person.get(`/api/projects/${team.project.id}/settings`)).body).toMatchObject(
    { rate_limit_per_minute: 6_000, spike_protection: false },
  )
})

test.each(SIZES)('is accessible and fits: %s', async (size) => {
  const page = await dashboard.openAs(busy.person, { size })
  await page.goto(`/intake?project=${busy.project.id}`)
  await page.getByRole('heading', { name: 'Limits' }).waitFor()
  await expectAccessibleInThemes(page, `intake, ${size}`)
  await expectNoSideScroll(page, `intake, ${size}`)
  await screenshot(page, `intake-${size}`)
})

/** Makes the page show a project whose digestion is behind. */
async function delayDigestion(page: Page): Promise<void> {
  await page.route('**/api/projects/*/intake?*', async (route) => {
    const response = await route.fetch()
    const waiting = { requests: 12_840, bytes: 48_300_000, oldest_seconds: 754 }
    await route.fulfill({ response, json: { ...IntakeAnswer.parse(await response.json()), waiting } })
  })
}
const IntakeAnswer = z.looseObject({ waiting: z.object({ oldest_seconds: z.number() }) })

test.each(SIZES)('shows what waits for digestion: %s', async (size) => {
  const page = await dashboard.openAs(busy.person, { size })
  await delayDigestion(page)
  await page.goto(`/intake?project=${busy.project.id}`)
  await page.getByText(/^12,840 accepted requests \(.* wait to be processed/).waitFor()
  await expectAccessibleInThemes(page, `intake behind, ${size}`)
  await expectNoSideScroll(page, `intake behind, ${size}`)
  await screenshot(page, `intake-behind-${size}`)
})

test('at 320 pixels the page does not scroll sideways', async () => {
  const page = await dashboard.openAs(busy.person)
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto(`/intake?project=${busy.project.id}`)
  await page.getByRole('heading', { name: 'Limits' }).waitFor()
  await expectNoSideScroll(page, 'intake at 320')
})
