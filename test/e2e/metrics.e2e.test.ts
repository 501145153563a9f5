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
const address = `/metrics?project=${world.project.id}`
const searchOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams
const card = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Headline figures' }).getByRole('region', { name, exact: true })

async function openMetrics(path = address): Promise<Page> {
  const page = await dashboard.openAs(world.person)
  await page.goto(path)
  await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor()
  return page
}

test('answers how healthy the app is, and since which release', async () => {
  const page = await dashboard.openAs(world.person)
  await page.goto('/issues')
  await page.getByRole('navigation', { name: 'Main', exact: true }).getByRole('link', { name: 'Metrics' }).click()
  await page.waitForURL(`**${address}*`)
  await card(page, 'Crash rate')
    .getByText(/^\d\.\d\d/)
    .waitFor()
  await card(page, 'Crash rate').getByText('limit 1.09').waitFor()
  await card(page, 'Events')
    .getByText(/critical/)
    .waitFor()
  await card(page, 'Users')
    .getByText(/Crash-free users \d\d\.\d\d/)
    .waitFor()
  expect(
    await card(page, 'Crash rate')
      .getByText(/^(Good|Watch|Poor)$/)
      .count(),
  ).toBe(1)
  await page.getByRole('img', { name: /^Crash rate: \d\.\d\d.% in this period\. .* since .*, up from/ }).waitFor()
  await page.getByRole('img', { name: /^Events: \d+ in this period, \d+ critical\./ }).waitFor()
  const release = page
    .getByRole('region', { name: 'By release' })
    .first()
    .getByRole('row', { name: /4\.12\.0/ })
  await release
    .getByText(/\d\d\.\d\d.%/)
    .first()
    .waitFor()
})

test('the newest release comes first, and the end of a rate has no label that contradicts its card', async () => {
  const page = await openMetrics()
  const table = page.getByRole('region', { name: 'By release' }).first()
  await table.getByRole('link', { name: /4\.12\.0/ }).waitFor()
  await eventually(() => table.locator('tbody').getByRole('row').first().textContent()).toContain('4.12.0')
  await settled(page)
  for (const name of ['Crash rate', 'ANR rate']) {
    const chart = page.getByRole('figure').filter({ has: page.getByRole('heading', { name }) })
    expect(await chart.getByText(/^0\.00.%$/).count(), name).toBe(0)
  }
  await screenshot(page, 'metrics-order')
})

test('a chart is read with the keys, as a table, and large', async () => {
  const page = await openMetrics()
  const crash = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: 'Crash rate' }) })
  const reader = crash.getByRole('slider')
  await reader.focus()
  await press(page, 'ArrowLeft')
  await press(page, 'ArrowLeft')
  expect(await reader.getAttribute('aria-valuetext')).toMatch(/this week \d\.\d\d.%.*Sessions \d+, Crashed \d+/)
  await press(page, 'Escape')
  await press(page, 'Enter')
  await eventually(() => searchOf(page).get('chart')).toBe('crash_rate')
  await crash.getByText('View as table').click()
  await crash.getByRole('columnheader', { name: 'Sessions' }).waitFor()
  expect(await crash.getByRole('row').count()).toBeGreaterThan(100)
  await page.goBack()
  await eventually(() => searchOf(page).get('chart')).toBeNull()
})

test('a part of the range is selected by dragging and by keys, and is in the address', async () => {
  const page = await openMetrics()
  const crash = page.getByRole('figure').filter({ has: page.getByRole('heading', { name: 'Crash rate' }) })
  const reader = crash.getByRole('slider')
  await settled(page)
  const box = await reader.boundingBox()
  if (box === null) throw new Error('the chart is not shown')
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40)
  await page.mouse.down()
  await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 4 })
  await page.mouse.up()
  await page.getByText(/^Part of the range: /).waitFor()
  const [from, to] = [searchOf(page).get('from') ?? '', searchOf(page).get('to') ?? '']
  expect((Date.parse(to) - Date.parse(from)) / 3_600_000).toBeGreaterThan(30)
  expect((Date.parse(to) - Date.parse(from)) / 3_600_000).toBeLessThan(55)
  // A part of the part, without a pointer.
  await page.mouse.move(0, 0)
  await reader.focus()
  await press(page, 'ArrowRight')
  await press(page, 'Shift+ArrowRight')
  await press(page, 'Shift+ArrowRight')
  await press(page, 'Enter')
  await eventually(() => searchOf(page).get('from')).toBe(from)
  await eventually(() => searchOf(page).get('to')).not.toBe(to)
  await page.reload()
  await page.getByText(/^Part of the range: /).waitFor()
  await page.getByRole('button', { name: 'Show the whole range' }).click()
  await eventually(() => [searchOf(page).get('from'), searchOf(page).get('to')]).toEqual([null, null])
})

test('range, comparison and filters are in the address', async () => {
  const page = await openMetrics()
  await settled(page)
  const compare = page.getByRole('button', { name: 'Compare' })
  expect(await compare.getAttribute('aria-pressed')).toBe('true')
  await press(page, 'l')
  await eventually(() => searchOf(page).get('compare')).toBe('off')
  expect(await compare.getAttribute('aria-pressed')).toBe('false')
  await press(page, '2')
  await eventually(() => searchOf(page).get('range')).toBe('24h')

  await page.getByRole('button', { name: 'All releases' }).click()
  await page.getByRole('checkbox', { name: /4\.12\.0/ }).check()
  await eventually(() => searchOf(page).getAll('release')).toEqual(['com.meadowlark.shopper@4.12.0+41200'])
  await page.getByRole('checkbox', { name: /4\.11\.3/ }).check()
  await eventually(() => searchOf(page).getAll('release').length).toBe(2)
  await press(page, 'Escape')
  await page.getByRole('button', { name: '4.12.0 and 4.11.3' }).waitFor()
  await page.reload()
  await page.getByRole('button', { name: 'Remove filter: Release 4.11.3' }).click()
  await eventually(() => searchOf(page).getAll('release')).toEqual(['com.meadowlark.shopper@4.12.0+41200'])
  await page.getByRole('group', { name: 'Filtered by' }).getByRole('button', { name: 'Clear filters' }).click()
  await eventually(() => searchOf(page).getAll('release')).toEqual([])
})

test('G M opens the page from anywhere, and the palette knows it', async () => {
  const page = await dashboard.openAs(world.person)
  await page.goto('/me/profile')
  await page.getByRole('heading', { level: 1 }).waitFor()
  await press(page, 'g')
  await page.keyboard.press('m')
  // Its only project is opened by itself.
  await page.waitForURL(`**${address}`)
  await page.getByRole('heading', { name: 'Metrics', level: 1 }).waitFor()
  await press(page, 'Control+k')
  await page.getByRole('combobox').fill('perf')
  await page.getByRole('option', { name: 'Performance' }).waitFor()
})

test('with several projects and none in the address, one is chosen', async () => {
  const person = await aFounder(server.url)
  const first = await aProject(person, { name: 'storefront' })
  const second = await aProject(person, { name: 'courier' })
  const page = await dashboard.openAs(person)
  await page.goto('/metrics')
  await page.getByRole('heading', { name: 'Choose a project' }).waitFor()
  await expectAccessible(page, 'choosing a project')
  await page.getByRole('link', { name: 'courier' }).click()
  await eventually(() => searchOf(page).get('project')).toBe(second.id)
  // Without sessions the page says which switch sends them.
  await page.getByRole('heading', { name: 'No sessions in this period' }).waitFor()
  await page.getByText(/enableAutoSessionTracking/).waitFor()
  expect(await card(page, 'Crash rate').getByText('no data', { exact: true }).count()).toBe(1)
  await expectAccessible(page, 'metrics without data')
  await screenshot(page, 'metrics-empty')
  // The picker keeps the page.
  await press(page, 'p')
  await page.getByRole('menuitemcheckbox', { name: 'storefront' }).click()
  await eventually(() => [new URL(page.url()).pathname, searchOf(page).get('project')]).toEqual(['/metrics', first.id])
})

test('a filter that the service refuses is said in its place, and can be cleared', async () => {
  const page = await dashboard.openAs(world.person)
  await page.goto(`${address}&release=${encodeURIComponent('no such release, beta')}`)
  await page.getByRole('heading', { name: 'No sessions in this period' }).waitFor()
  await page.getByRole('group', { name: 'Filtered by' }).getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('img', { name: /^Crash rate: \d/ }).waitFor()
})

test.each(SIZES)('the page is accessible and fits: %s', async (size) => {
  const page = await dashboard.openAs(world.person, { size })
  await page.goto(address)
  await page.getByRole('img', { name: /^Users: / }).waitFor()
  await expectAccessibleInThemes(page, `metrics ${size}`)
  await expectNoSideScroll(page, `metrics ${size}`)
  await screenshot(page, `metrics-${size}`, { fullPage: true })
  if (size === 'desk') {
    await page.setViewportSize({ width: 1024, height: 900 })
    await expectNoSideScroll(page, `metrics 1024`)
    await screenshot(page, `metrics-1024`, { fullPage: true })
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    await page.getByRole('group', { name: 'Operating system' }).waitFor()
    await expectAccessibleInThemes(page, `filters`)
    await screenshot(page, `metrics-filters`)
  } else {
    await page.setViewportSize({ width: 320, height: 800 })
    await page.reload()
    await page.getByRole('img', { name: /^Users: / }).waitFor()
    await expectNoSideScroll(page, `metrics 320`)
  }
})
