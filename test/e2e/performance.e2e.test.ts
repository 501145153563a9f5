import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { aFounder, aProject } from '../kit/founder.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  SIZES,
} from './browser.ts'
import { testDashboard } from './dashboard.ts'
import { aHealthWorld, counted } from './health-world.ts'

const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard
const world = await aHealthWorld(server)
await counted(server)
const query = `project=${world.project.id}`
const searchOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams
const pathOf = (page: Page): string => new URL(page.url()).pathname

async function openPage(path: string): Promise<Page> {
  const page = await dashboard.openAs(world.person)
  await page.goto(`${path}?${query}`)
  await page.getByRole('heading', { name: 'Performance', level: 1 }).waitFor()
  return page
}

test('finds the slow start: figures with words, percentiles, the spread', async () => {
  const page = await dashboard.openAs(world.person)
  await page.goto(`/issues?${query}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await press(page, 'g')
  await page.keyboard.press('p')
  await page.getByRole('heading', { name: 'Performance', level: 1 }).waitFor()
  expect([pathOf(page), searchOf(page).get('project')]).toEqual(['/performance', world.project.id])
  const figures = page.getByRole('group', { name: 'Headline figures' })
  await figures.getByText('Cold start P50').waitFor()
  await figures.getByText('Good, under 3 s').first().waitFor()
  await page.getByRole('img', { name: /^Cold start: P50 \d.*, P75 \d.*, P95 \d.* in this period\. P95 is/ }).waitFor()
  await page.getByRole('img', { name: /^Histogram: half take up to/ }).waitFor()
  await page.getByText(/\d+ starts\./).waitFor()

  const cold = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: 'Cold start', exact: true }) })
  const reader = cold.getByRole('slider')
  await reader.focus()
  await press(page, 'ArrowLeft')
  expect(await reader.getAttribute('aria-valuetext')).toMatch(/P95 .*, P75 .*, P50 .*, Starts \d/)
  await cold.getByText('View as table').click()
  await cold.getByRole('columnheader', { name: 'Starts' }).waitFor()
})

test('finds the slow screen, and opens its spread by device class and release', async () => {
  const page = await openPage('/performance/screens')
  const table = page.getByRole('region', { name: 'Screens, table' })
  const names = () => table.getByRole('rowheader').allTextContents()
  await eventually(names).toEqual(['Checkout', 'ProductDetail', 'Home', 'Account'])
  const checkout = table.getByRole('row', { name: /Checkout/ })
  await checkout.getByText('12.00').waitFor()
  expect(await checkout.getByTitle('Watch').textContent()).toMatch(/^12\.00/)
  expect(await checkout.getByTitle('Poor').textContent()).toMatch(/^1\.50/)
  await table.getByRole('button', { name: 'Loads' }).click()
  await eventually(() => [pathOf(page), searchOf(page).get('order')]).toEqual(['/performance/screens', '-count'])
  await eventually(names).toEqual(['Home', 'ProductDetail', 'Checkout', 'Account'])
  await page.getByRole('link', { name: 'Screens: download CSV' }).waitFor()

  await table.getByRole('link', { name: 'Checkout' }).click()
  await eventually(() => searchOf(page).get('screen')).toBe('Checkout')
  await page.getByRole('heading', { name: 'Checkout', exact: true }).waitFor()
  await page.getByRole('img', { name: /^Checkout: time until it was shown\. P95 is/ }).waitFor()
  await page.getByRole('region', { name: 'By device class', exact: true }).getByRole('row', { name: /^Low/ }).waitFor()
  await page
    .getByRole('region', { name: 'By release', exact: true })
    .getByRole('row', { name: /^4\.12\.0/ })
    .waitFor()
  await settled(page)
  await screenshot(page, 'performance-screen', { fullPage: true })
  await expectAccessible(page, 'one screen')
  await page.goBack()
  await eventually(() => searchOf(page).get('screen')).toBeNull()
})

test('finds the lock: what blocks the main thread leads to its issue', async () => {
  const page = await openPage('/performance/anr')
  await page.getByRole('img', { name: /^\d+ ANRs and app hangs, / }).waitFor()
  const causes = page.getByRole('region', { name: 'What blocks the main thread', exact: true })
  await causes.getByText('100\u202f%').waitFor()
  await causes.getByRole('link', { name: 'All ANR issues' }).click()
  await page.getByRole('heading', { name: /Issues/, level: 1 }).waitFor()
  await page.getByText('ApplicationNotResponding').first().waitFor()
  await page.goBack()
  await causes.getByRole('rowheader').getByRole('link').click()
  await eventually(() => pathOf(page)).toMatch(/^\/issues\/[0-9a-f-]{36}$/)
})

test('[ and ] move between the tabs, which keep the filters', async () => {
  const page = await openPage('/performance')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('group', { name: 'Device class' }).waitFor()
  await press(page, 'Escape')
  await page.goto(`/performance?${query}&device_class=low`)
  await page.getByRole('button', { name: 'Remove filter: Device class Low' }).waitFor()
  const tab = (name: string) => page.getByRole('navigation', { name: 'Performance' }).getByRole('link', { name })
  await press(page, ']')
  await eventually(() => pathOf(page)).toBe('/performance/screens')
  await eventually(() => tab('Screens').getAttribute('aria-current')).toBe('page')
  await eventually(() => tab('Start-up').getAttribute('aria-current')).toBeNull()
  expect(searchOf(page).getAll('device_class')).toEqual(['low'])
  await press(page, '[')
  await press(page, '[')
  await eventually(() => pathOf(page)).toBe('/performance/battery')
  await page.getByRole('heading', { name: 'Battery drain' }).waitFor()
})

test('values that do not load are not missing values', async () => {
  const page = await openPage('/performance')
  await page.route(/\/api\/metrics\/breakdown/, (route) => route.fulfill({ status: 400, json: { error: 'No.' } }))
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  const group = page.getByRole('group', { name: 'Device class' })
  await group.getByText('The values did not load.').waitFor()
  expect(await group.getByText('No values in this period.').count()).toBe(0)
})

test('without transactions the page says which switch sends them', async () => {
  const person = await aFounder(server.url)
  const project = await aProject(person, { name: 'courier', platform: 'ios' })
  const page = await dashboard.openAs(person)
  await page.goto('/performance')
  await page.getByRole('heading', { name: 'No performance data in this period' }).waitFor()
  expect(searchOf(page).get('project')).toBe(project.id)
  await page.getByText('options.tracesSampleRate').waitFor()
  await expectAccessible(page, 'performance without data')
  for (const [path, heading] of [
    ['screens', 'No screens in this period.'],
    ['anr', 'No ANRs in this period.'],
    ['battery', 'No battery levels in this period'],
  ] as const) {
    await page.goto(`/performance/${path}?project=${project.id}`)
    await page.getByRole('heading', { name: heading }).waitFor()
    await expectAccessible(page, `${path} without data`)
  }
})

test.each(SIZES)('the pages are accessible and fit: %s', async (size) => {
  const page = await dashboard.openAs(world.person, { size })
  for (const [name, path] of [
    ['start', '/performance'],
    ['screens', '/performance/screens'],
    ['anr', '/performance/anr'],
    ['battery', '/performance/battery'],
  ] as const) {
    await page.setViewportSize(size === 'desk' ? { width: 1440, height: 900 } : { width: 390, height: 844 })
    await page.goto(`${path}?${query}`)
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await expectAccessibleInThemes(page, `${name} ${size}`)
    await expectNoSideScroll(page, `${name} ${size}`)
    await screenshot(page, `performance-${name}-${size}`, { fullPage: true })
    await page.setViewportSize(size === 'desk' ? { width: 1024, height: 900 } : { width: 320, height: 800 })
    await page.reload()
    await page.getByRole('heading', { level: 2 }).first().waitFor()
    await expectNoSideScroll(page, `${name}, narrower`)
    if (size === 'desk') await screenshot(page, `performance-${name}-1024`, { fullPage: true })
  }
})
