import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestProject } from '../kit/founder.ts'
import {
  eventually,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  SIZES,
  steadyBox,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'
import { queryField, replaceQuery } from './query-field.ts'

/** The strip above the stream: its figures, and the time selected in it. */

const dashboard = await testDashboard()
const HOUR_MS = 3_600_000

const titles = (page: Page) => page.getByRole('rowheader').getByRole('link').locator('b').allTextContents()
const reader = (page: Page) => page.getByRole('slider', { name: 'Values over time' })

const figure = (page: Page, name: string) => page.locator('dl div').filter({ hasText: name }).locator('dd')

/** One issue of this week that ended half a day ago, one that started this hour. */
async function anOldAndANew(project: TestProject): Promise<void> {
  const from = (type: string, hoursAgo: number) => ({
    timestamp: (Date.now() - hoursAgo * HOUR_MS) / 1000,
    error: { type, value: `${type} happened` },
  })
  await dashboard.server.events(project, [from('OldError', 72), from('OldError', 12), from('NewError', 0.01)])
}

async function opened(
  person: Person,
  options: Parameters<typeof dashboard.openAs>[1] = {},
  search = '',
): Promise<Page> {
  const page = await dashboard.openAs(person, options)
  await page.goto(`/issues${search}`)
  await page.getByRole('rowheader').first().waitFor()
  await reader(page).waitFor()
  return page
}

/** Drags over a part of the chart, given in fractions of its width. */
async function drag(page: Page, from: number, to: number): Promise<void> {
  const box = await steadyBox(reader(page))
  const at = (fraction: number) => box.x + box.width * fraction
  const y = box.y + 30
  await page.mouse.move(at(from), y)
  await page.mouse.down()
  await page.mouse.move(at((from + to) / 2), y)
  await page.mouse.move(at(to), y)
  await page.mouse.up()
}

test('figures that do not load are not those of the filters before', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await anOldAndANew(project)
  const page = await opened(person)
  await eventually(() => figure(page, 'Events').textContent()).toMatch(/^2/)
  // A query with a mistake keeps them, as the rows.
  await queryField(page).fill('level:eror ')
  await page.locator('mark').waitFor()
  await settled(page)
  expect(await figure(page, 'Events').textContent()).toMatch(/^2/)
  await page.route(/\/api\/issues\/volume/, (route) => route.fulfill({ status: 400, json: { error: 'No.' } }))
  await replaceQuery(queryField(page), 'NewError')
  await eventually(() => titles(page)).toEqual(['NewError'])
  await page.getByText('The chart did not load', { exact: false }).waitFor()
  expect(await figure(page, 'Events').count()).toBe(0)
})

test('a time is selected by dragging, is in the address, and is cleared by Escape', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await anOldAndANew(project)
  const page = await opened(person)
  await settled(page)
  expect(await titles(page)).toEqual(['NewError', 'OldError'])
  // Rows and strip count the range; the lifetime is in the title.
  await page.getByTitle('1 event in the last 24 hours, 2 in total').waitFor()
  await page.getByTitle('1 user in the last 24 hours, 1 in total').first().waitFor()
  await page.getByRole('img', { name: 'In the last 24 hours, 1 event, peak 1 per hour' }).first().waitFor()
  await page.getByRole('columnheader', { name: 'Trend, 24 h' }).waitFor()
  await eventually(() => figure(page, 'Events').textContent()).toMatch(/^2/)

  await drag(page, 0.4, 0.6)
  await page.waitForURL(/from=.*to=/)
  await eventually(() => titles(page)).toEqual(['OldError'])
  await page.getByRole('button', { name: 'Remove filter time' }).waitFor()
  const strip = page.getByRole('region', { name: /^Summary of \d+ \w+( \d{4})?, \d\d:\d\d to / })
  await strip.waitFor()
  await eventually(() => strip.locator('dd').first().textContent()).toBe('1')

  // The address alone restores it.
  await page.reload()
  await eventually(() => titles(page)).toEqual(['OldError'])
  await press(page, 'j')
  await page.keyboard.press('Escape')
  await eventually(() => titles(page)).toEqual(['NewError', 'OldError'])
  expect(page.url()).not.toMatch(/from=/)

  // A press without a drag selects nothing; another range clears the time.
  await reader(page).click()
  expect(page.url()).not.toMatch(/from=/)
  await drag(page, 0.9, 1)
  await eventually(() => titles(page)).toEqual(['NewError', 'OldError'].slice(0, 1))
  await page.getByRole('button', { name: '7d', exact: true }).click()
  await page.waitForURL((url) => url.searchParams.get('range') === '7d' && !url.searchParams.has('from'))
  await page.getByTitle('2 events in the last 7 days, 2 in total').waitFor()
  await page.getByRole('img', { name: /^In the last 7 days, 2 events, peak [12] per 6.h$/ }).waitFor()
  await eventually(() => figure(page, 'Events').textContent()).toMatch(/^3/)
  await page.getByRole('button', { name: 'Sort by last seen' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Events', exact: true }).click()
  await eventually(() => titles(page)).toEqual(['OldError', 'NewError'])
  expect(page.url()).toContain('sort=-event_count_in_range')

  // The strip follows the query, and keeps what it said while the query has a mistake.
  await page.goto('/issues?range=7d&q=OldError')
  await eventually(() => figure(page, 'Events').textContent()).toMatch(/^2/)
  await eventually(() => figure(page, 'Users affected').textContent()).toMatch(/^1/)
  expect(await figure(page, 'Unhandled or fatal').textContent()).toMatch(/^0/)

  // A time that begins before the range has a chart of its own.
  const day = (ago: number) => new Date(Date.now() - ago * 24 * HOUR_MS).toISOString().slice(0, 11)
  await page.goto(`/issues?from=${day(6)}00:00Z&to=${day(1)}00:00Z`)
  await page.getByTitle(/^1 event in .*, 2 in total$/).waitFor()
  await eventually(() => figure(page, 'Events').textContent()).toMatch(/^1/)
  await page.getByRole('columnheader', { name: 'Trend', exact: true }).waitFor()
})

test('without a pointer: arrows read, Shift marks, Enter selects, Escape clears', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await anOldAndANew(project)
  const page = await opened(person)
  await reader(page).focus()
  await press(page, 'ArrowLeft')
  for (let step = 0; step < 8; step++) await page.keyboard.press('Shift+ArrowLeft')
  await eventually(() => reader(page).getAttribute('aria-valuetext')).toMatch(/^Selected: .* to .*All other 1/)
  await press(page, 'Enter')
  await eventually(() => titles(page)).toEqual(['NewError'])
  await page.getByRole('button', { name: 'Remove filter time' }).waitFor()
  await press(page, 'Escape')
  await eventually(() => titles(page)).toEqual(['NewError', 'OldError'])
})

test('an empty time says what hides the rest; an invalid time is dropped', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await anOldAndANew(project)
  const page = await opened(person, {}, '?from=nonsense&to=2026-11-20T06:00Z')
  await settled(page)
  expect(await titles(page)).toHaveLength(2)
  await page.goto('/issues?from=2020-01-01T00:00Z&to=2020-01-01T01:00Z')
  await page.getByRole('heading', { name: 'No issues match these filters' }).waitFor()
  await page.getByText('time 1 Jan 2020, 00:00 to 01:00').first().waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).click()
  await eventually(() => titles(page)).toHaveLength(2)

  // Dates by form, without a pointer; the range has no part in them.
  await press(page, '5')
  const dialog = page.getByRole('dialog', { name: 'Custom dates' })
  const field = (name: string) => dialog.getByLabel(name, { exact: true })
  const local = (hoursAgo: number) => {
    const at = Date.now() - hoursAgo * HOUR_MS
    return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
  }
  await field('From').fill(local(10))
  await field('To').fill(local(14))
  await field('To').press('Enter')
  await dialog.getByText('The end must be after the start.').waitFor()
  await field('To').fill(local(-2))
  await dialog.getByText('This time is in the future.').waitFor()
  await field('To').fill(local(0))
  await field('From').fill(local(91 * 24))
  await dialog.getByText(/^At most 90 days are shown\. Start at/).waitFor()
  await field('From').fill(local(80 * 24))
  await field('To').fill(local(5))
  await field('To').press('Enter')
  await dialog.waitFor({ state: 'detached' })
  await eventually(() => titles(page)).toEqual(['OldError'])
  expect(await page.getByRole('group', { name: 'Time range' }).locator('[aria-pressed="true"]').count()).toBe(0)
  await page.getByRole('button', { name: /^Custom dates: .* to / }).click()
  await dialog.getByRole('button', { name: 'Clear dates' }).click()
  await eventually(() => titles(page)).toHaveLength(2)
  expect(page.url()).not.toMatch(/from=/)
})

test.each(SIZES)('crash-free sessions, users and a selected time: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  await anOldAndANew(project)
  const started = new Date(Date.now() - 2 * HOUR_MS)
  await dashboard.server.sessions({ project, release: 'shop@1.0.0', started, exited: 995, crashed: 5, did: 'ada' })
  const page = await opened(person, { size })
  await eventually(() => figure(page, 'Crash-free sessions').textContent()).toMatch(/^99\.50/)
  await eventually(() => figure(page, 'Users affected').textContent()).toMatch(/^\d/)
  await expectAccessibleInThemes(page, `strip, ${size}`)
  await drag(page, 0.4, 0.7)
  await page.getByRole('button', { name: 'Remove filter time' }).waitFor()
  await expectAccessibleInThemes(page, `a chosen time, ${size}`)
  await expectNoSideScroll(page, `a chosen time, ${size}`)
  await screenshot(page, `issues-time-${size}`)
  if (size === 'desk') await press(page, '5')
  else {
    await page.getByRole('button', { name: /^24h, time range$/ }).click()
    await page.getByRole('menuitemcheckbox', { name: 'Custom dates' }).click()
  }
  await page.getByRole('dialog', { name: 'Custom dates' }).waitFor()
  await expectAccessibleInThemes(page, `custom dates, ${size}`)
  await expectNoSideScroll(page, `custom dates, ${size}`)
  await screenshot(page, `custom-dates-${size}`)
})
