import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aProject } from '../kit/founder.ts'
import { RUNS_LONG } from '../kit/long.ts'
import { seedIssues } from '../kit/seed-issues.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  holdToast,
  press,
  screenshot,
  settled,
  SIZES,
  SLOWDOWN,
} from './browser.ts'
import { aTeam, issueRows, testDashboard, type Person } from './dashboard.ts'

/** Bulk operations: everything that matches, undo, ten thousand rows. */

const dashboard = await testDashboard({ jobs: true })

const totalOf = async (person: Person, status: string) =>
  (await person.get(`/api/issues?status=${status}&limit=1`)).body['total']
const openStream = async (page: Page) => {
  await page.goto('/issues')
  await page.getByRole('rowheader').first().waitFor()
}
const rowsInPage = (page: Page) => issueRows(page).count()

test('everything that matches is resolved in the background, and undone exactly', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 420)
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'Control+A')
  await page.getByRole('toolbar', { name: 'Actions for 100 selected issues' }).waitFor()
  await page.getByRole('button', { name: 'Select all 420 matching issues' }).click()
  await page.getByRole('toolbar', { name: 'Actions for 420 selected issues' }).waitFor()
  await press(page, 'r')
  await holdToast(page, '420 issues resolved')
  await eventually(() => totalOf(person, 'resolved')).toBe(420)
  await page.getByRole('heading', { name: 'No open issues' }).waitFor()
  await press(page, 'z')
  await eventually(() => totalOf(person, 'unresolved')).toBe(420)
  await eventually(() => rowsInPage(page)).toBeGreaterThan(10)
})

test('the menu of one row changes that row, also while everything that matches is selected', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 130)
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'Control+A')
  await page.getByRole('button', { name: 'Select all 130 matching issues' }).click()
  await page.getByRole('toolbar', { name: 'Actions for 130 selected issues' }).waitFor()
  await issueRows(page)
    .first()
    .getByRole('button', { name: /^Severity of/ })
    .click()
  await page.getByRole('menuitemcheckbox', { name: 'Critical' }).click()
  const critical = async () => (await person.get('/api/issues?severity=critical&limit=1')).body['total']
  await eventually(critical).toBe(1)
})

test('issues of different projects are not merged, and M says why', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const other = await aProject(person, { name: 'orders-api' })
  await seedIssues(dashboard.server.app, project.id, 1)
  await seedIssues(dashboard.server.app, other.id, 1)
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'j')
  await page.keyboard.press('m')
  await page.getByText('Select at least two issues to merge.').waitFor()
  await press(page, 'Control+a')
  await press(page, 'm')
  await page.getByText('Issues of different projects cannot be merged. Select issues of one project.').waitFor()
  expect(await page.getByRole('dialog').count()).toBe(0)
})

test('assign to me, merge two, undo', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 3)
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'j')
  await page.keyboard.press('e')
  await holdToast(page, /assigned to Founder/)
  await press(page, 'x')
  await page.keyboard.press('Shift+J')
  await page.keyboard.press('m')
  // The issue of the cursor stays, unless another one is chosen; nothing is merged yet.
  const dialog = page.getByRole('dialog', { name: /^Merge into SHOPPER-WEB-\d\?$/ })
  await dialog.waitFor()
  const stays = dialog.getByRole('radio')
  expect(await stays.count()).toBe(2)
  expect(await stays.nth(1).isChecked()).toBe(true)
  await page.keyboard.press('ArrowUp')
  const chosen = /SHOPPER-WEB-\d/.exec((await dialog.getByRole('heading').textContent()) ?? '')?.[0] ?? 'none'
  expect(await totalOf(person, 'unresolved')).toBe(3)
  await page.keyboard.press('Enter')
  await holdToast(page, `1 issue merged into ${chosen}`)
  // Two toasts offer Undo; the key is on the one that it undoes.
  const toasts = page.locator('[data-toast]')
  expect(await toasts.count()).toBe(2)
  expect(await toasts.locator('kbd').count()).toBe(1)
  expect(await toasts.filter({ hasText: 'merged into' }).locator('kbd').count()).toBe(1)
  await eventually(() => totalOf(person, 'unresolved')).toBe(2)
  await press(page, 'z')
  await eventually(() => totalOf(person, 'unresolved')).toBe(3)

  // At the end, because toasts go while axe looks.
  await openStream(page)
  await press(page, 'Control+a')
  await press(page, 'm')
  await dialog.waitFor()
  await expectAccessible(page, 'merging')
})

test.runIf(RUNS_LONG)(
  'ten thousand rows: about forty are in the page, from the first to the last',
  async () => {
    const { person, project } = await aTeam(dashboard.server)
    await seedIssues(dashboard.server.app, project.id, 10_000)
    const page = await dashboard.openAs(person)
    await openStream(page)
    const table = page.getByRole('table', { name: 'Issues' })
    await settled(page)
    expect(await table.getAttribute('aria-rowcount')).toBe('10001')
    let most = 0
    await eventually(async () => {
      await page.evaluate('scrollTo({ top: document.documentElement.scrollHeight })')
      most = Math.max(most, await rowsInPage(page))
      return issueRows(page).last().getAttribute('aria-rowindex')
    }, 120_000).toBe('10001')
    expect(most).toBeLessThanOrEqual(40)
    // Everything loaded is selected and stays so, however far away.
    await press(page, 'Control+A')
    await page.getByRole('toolbar', { name: 'Actions for 10000 selected issues' }).waitFor()
    await page.evaluate('scrollTo({ top: 0 })')
    await page.locator('[role=row][data-id][aria-rowindex="2"]').waitFor()
    // Processor time of the page, independent of other load. A list that draws all rows takes seconds.
    const session = await page.context().newCDPSession(page)
    await session.send('Performance.enable', { timeDomain: 'threadTicks' })
    const busyMs = async () => {
      const { metrics } = await session.send('Performance.getMetrics')
      return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN)
    }
    const before = await busyMs()
    for (let i = 0; i < 60; i++) await page.keyboard.press('j')
    await page.locator('[role=row][data-cursor]').waitFor()
    const perStepMs = ((await busyMs()) - before) / 60
    expect(perStepMs).toBeGreaterThan(0)
    expect(perStepMs).toBeLessThan(500 * SLOWDOWN)
  },
  180_000,
)

test.each(SIZES)('the bulk bar: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 130)
  const page = await dashboard.openAs(person, { size })
  await openStream(page)
  await press(page, 'Control+A')
  await page.getByRole('button', { name: 'Select all 130 matching issues' }).waitFor()
  await expectAccessibleInThemes(page, `bulk bar ${size}`)
  await expectNoSideScroll(page, `bulk bar ${size}`)
  await screenshot(page, `issues-bulk-${size}`)
})
