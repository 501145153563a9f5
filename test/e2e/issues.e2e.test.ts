import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aProject, type TestProject } from '../kit/founder.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  holdToast,
  press,
  screenshot,
  settled,
  SIZES,
  steadyBox,
  WIDTHS,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'
import { queryField } from './query-field.ts'

const dashboard = await testDashboard()

/** An issue of each type; the first is at the top of the list, since it happened last. */
const issuesOf = (project: TestProject, types: readonly string[]) =>
  dashboard.server.events(
    project,
    types.map((type, index) => ({
      timestamp: Date.now() / 1000 - 60 * (index + 1),
      user: { id: `u${index}` },
      error: { type, value: `${type} happened` },
    })),
  )

const Listed = z.object({ items: z.array(z.object({ id: z.string() })) })
const Me = z.object({ user: z.object({ id: z.string() }) })

const row = (page: Page, type: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: type }) })
const titles = (page: Page) => page.getByRole('rowheader').getByRole('link').locator('b').allTextContents()
const openStream = async (page: Page, search = '') => {
  await page.goto(`/issues${search}`)
  await page.getByRole('rowheader').first().waitFor()
}

test('an event sent to the DSN is in the stream with its main facts', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['PaymentError'])
  const page = await dashboard.openAs(person)
  const reads: string[] = []
  page.on('request', (request) => {
    if (request.resourceType() === 'fetch') reads.push(request.url())
  })
  await openStream(page)
  const first = row(page, 'PaymentError')
  await first.getByText('PaymentError happened').waitFor()
  await first.getByText('confirmPayment').waitFor()
  await first.getByText('Unresolved').waitFor()
  await first.getByText('New', { exact: true }).waitFor()
  await first.getByRole('img', { name: /1 event, peak 1 per hour/ }).waitFor()
  await page.getByRole('link', { name: 'Open 1' }).waitFor()
  await page.getByRole('slider', { name: 'Values over time' }).waitFor()
  await settled(page)
  expect(await page.getByRole('table', { name: 'Issues' }).getAttribute('aria-rowcount')).toBe('2')
  await page.getByText('Live', { exact: true }).waitFor()
  await settled(page)
  expect(reads.toSorted(), 'each is read once').toEqual([...new Set(reads)].toSorted())
})

test('a row says when its issue was last seen, at every width', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['PaymentError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  for (const width of [1440, 1024, 768, 390]) {
    await page.setViewportSize({ width, height: 844 })
    await settled(page)
    const times = row(page, 'PaymentError').locator('time').filter({ visible: true })
    await eventually(() => times.first().textContent(), 10_000).toMatch(/^1.min/)
    await expectNoSideScroll(page, `stream at ${width}`)
    await screenshot(page, `stream-time-${width}`)
  }
})

test('triage without a pointer: move, select, resolve, undo, ignore, open', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError', 'BError', 'CError', 'DError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  await settled(page)
  expect(await titles(page)).toEqual(['AError', 'BError', 'CError', 'DError'])

  await press(page, 'j')
  await eventually(() => hasFocus(row(page, 'AError').getByRole('link'))).toBe(true)
  await press(page, 'j')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+J')
  const bar = page.getByRole('toolbar', { name: 'Actions for 2 selected issues' })
  await bar.waitFor()
  await settled(page)
  expect(await row(page, 'BError').getByRole('checkbox').isChecked()).toBe(true)

  await press(page, 'r')
  await holdToast(page, '2 issues resolved')
  await eventually(() => titles(page)).toEqual(['AError', 'DError'])
  await eventually(() => hasFocus(row(page, 'DError').getByRole('link'))).toBe(true)
  await page.getByRole('link', { name: 'Resolved 2', exact: true }).waitFor()
  await eventually(async () => (await person.get('/api/issues?status=resolved')).body['total']).toBe(2)

  await press(page, 'z')
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'CError', 'DError'])
  await eventually(async () => (await person.get('/api/issues?status=resolved')).body['total']).toBe(0)
  // The cursor is back in the row where it was.
  await eventually(() => hasFocus(row(page, 'CError').getByRole('link'))).toBe(true)

  await press(page, 'i')
  await page.getByText(/ignored$/).waitFor()
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'DError'])

  await press(page, 'k')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/issues\/[0-9a-f-]{36}/)
  await page.getByRole('heading', { name: /^BError/, level: 1 }).waitFor()

  // Back shows the list as it was left.
  await page.goBack()
  await page.waitForURL(/cursor=/)
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'DError'])
  await press(page, 'j')
  await eventually(() => hasFocus(row(page, 'DError').getByRole('link'))).toBe(true)
})

test('assignee and severity are changed from the row, by keys and by pointer', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'j')
  await page.keyboard.press('a')
  await page.getByRole('combobox', { name: 'Find a member' }).waitFor()
  await press(page, 'Escape')
  await eventually(() => hasFocus(row(page, 'AError').getByRole('link'))).toBe(true)
  await press(page, 'a')
  await page.getByRole('option', { name: /Founder/ }).waitFor()
  await press(page, 'Enter')
  await row(page, 'AError')
    .getByRole('button', { name: /^Assignee of .*: Founder/ })
    .waitFor()
  await page.getByText(/assigned to Founder/).waitFor()

  await row(page, 'AError')
    .getByRole('button', { name: /^Severity of/ })
    .click()
  await page.getByRole('menuitemcheckbox', { name: 'Critical' }).click()
  await row(page, 'AError')
    .getByRole('button', { name: /^Severity of .*: Critical/ })
    .waitFor()
  await eventually(async () => (await person.get('/api/issues')).text).toContain(
    '"severity":"critical","severity_pinned":true',
  )
})

test('new issues wait behind the pill while the list stays as it is', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError'])
  const page = await dashboard.openAs(person)
  // A change before the live stream is open shows when it opens.
  const opening = Promise.withResolvers<void>()
  await page.route('**/api/live', async (route) => {
    await opening.promise
    await route.continue()
  })
  await openStream(page)
  await settled(page)
  await dashboard.server.event({ project, error: { type: 'EarlyError' } })
  opening.resolve()
  await page.getByRole('button', { name: /1 new issue since \d\d:\d\d/ }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()

  await dashboard.server.event({ project, error: { type: 'NewError' } })
  await page.getByRole('button', { name: /2 new issues since \d\d:\d\d/ }).waitFor()
  await settled(page)
  expect(await titles(page)).toEqual(['AError'])

  // Another event of an issue in the list is counted in place.
  await dashboard.server.event({ project, error: { type: 'AError', value: 'AError happened' } })
  await row(page, 'AError').getByTitle('2 events').waitFor()
  await settled(page)
  expect(await titles(page)).toEqual(['AError'])

  await press(page, '.')
  await eventually(() => titles(page)).toHaveLength(3)
  await eventually(() => page.getByRole('button', { name: /new issue/ }).count()).toBe(0)
})

test('search, filters and sort are in the address and say what hides the rest', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AlphaError', 'BetaError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, '/')
  await page.keyboard.type('beta')
  await page.waitForURL(/q=beta/)
  await eventually(() => titles(page)).toEqual(['BetaError'])
  await page.reload()
  await eventually(() => titles(page)).toEqual(['BetaError'])
  await eventually(() => queryField(page).inputValue()).toBe('beta')

  await queryField(page).fill('')
  await eventually(() => titles(page)).toHaveLength(2)
  // The suggestions close, then the field is left.
  await queryField(page).press('Escape')
  await queryField(page).press('Escape')
  await press(page, 'f')
  await page.getByRole('tab', { name: 'Severity' }).click()
  await page.getByRole('checkbox', { name: 'Low' }).check()
  await page.waitForURL(/severity=low/)
  await press(page, 'Escape')
  await page.getByRole('heading', { name: 'No issues match these filters' }).waitFor()
  await page.getByText('severity low').first().waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).click()
  await eventually(() => titles(page)).toHaveLength(2)

  await page.getByRole('button', { name: 'Sort by last seen' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'First seen' }).click()
  await page.waitForURL(/sort=-first_seen/)
  await page.getByRole('button', { name: 'Sort by first seen' }).waitFor()
})

test('deleting asks for a typed confirmation, and is for admins', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError', 'BError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  await press(page, 'Control+a')
  await page.getByRole('button', { name: 'Delete 2 issues' }).click()
  const dialog = page.getByRole('dialog', { name: 'Delete 2 issues?' })
  await dialog.waitFor()
  await dialog.getByRole('textbox').fill('delete')
  await dialog.getByRole('textbox').press('Enter')
  await settled(page)
  expect(await dialog.getByRole('button', { name: 'Delete' }).getAttribute('aria-disabled')).toBe('true')
  expect(await dialog.isVisible()).toBe(true)
  await dialog.getByRole('textbox').fill('delete 2')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByText('2 issues deleted').waitFor()
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(0)
})

test('a refused change is undone and reported', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError'])
  const page = await dashboard.openAs(person)
  await openStream(page)
  await page.route('**/api/issues', (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 403, json: { error: 'Your role cannot do this.' } })
      : route.continue(),
  )
  await page.keyboard.press('j')
  await eventually(() => hasFocus(row(page, 'AError').getByRole('link'))).toBe(true)
  await page.keyboard.press('r')
  await page.getByRole('alert').filter({ hasText: 'Could not save the change. Your role cannot do this.' }).waitFor()
  await eventually(() => titles(page)).toEqual(['AError'])
})

test('"no events yet", "no issues" and "did not load" are different messages', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'No events yet' }).waitFor()
  await page.getByRole('link', { name: 'Connect shopper-web' }).waitFor()
  await page.setViewportSize(WIDTHS.phone)
  await expectAccessible(page, 'issues without events, phone')
  await page.setViewportSize(WIDTHS.desk)

  await issuesOf(project, ['AError'])
  await page.goto('/issues?status=regressed')
  await page.getByRole('heading', { name: 'No regressed issues' }).waitFor()

  await page.route('**/api/issues?*', (route) => route.fulfill({ status: 400, json: { error: 'limit is wrong.' } }))
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'Issues did not load' }).waitFor()
  await page.unroute('**/api/issues?*')
  await page.keyboard.press('.')
  await eventually(() => titles(page)).toEqual(['AError'])
})

test('a long list renders few rows, loads pages in the background, and is walked by keys', async () => {
  const { person } = await aTeam(dashboard.server)
  const project = await aProject(person, { name: 'many' })
  const types = Array.from({ length: 230 }, (_, index) => `Error${String(index).padStart(3, '0')}X`)
  await issuesOf(project, types)
  const page = await dashboard.openAs(person)
  await openStream(page, `?project=${project.id}`)
  await eventually(() => page.getByRole('table').getAttribute('aria-rowcount')).toBe('231')
  // Keys would be faster than the pages: the second page is waited for.
  for (let turn = 0; turn < 90; turn++) await page.keyboard.press('j')
  await page.getByText('1–200 of 230').waitFor()
  for (let turn = 0; turn < 60; turn++) await page.keyboard.press('j')
  await eventually(() => hasFocus(row(page, 'Error149X').getByRole('link'))).toBe(true)
  await eventually(() => row(page, 'Error149X').getAttribute('aria-rowindex')).toBe('151')
  await eventually(() => page.getByRole('row').count()).toBeLessThanOrEqual(45)
  for (let turn = 0; turn < 15; turn++) await page.keyboard.press('j')
  await page.getByText('1–230 of 230').waitFor()
})

test('a page that does not load says so and is retried; Back restores the place in a long list', async () => {
  const { person } = await aTeam(dashboard.server)
  const project = await aProject(person, { name: 'long' })
  const types = Array.from({ length: 130 }, (_, index) => `Error${String(index).padStart(3, '0')}X`)
  await issuesOf(project, types)
  const page = await dashboard.openAs(person)
  await page.route(/\/api\/issues\?.*cursor=/, (route) =>
    route.fulfill({ status: 400, json: { error: 'cursor is old.' } }),
  )
  await openStream(page, `?project=${project.id}`)
  for (let turn = 0; turn < 70; turn++) await page.keyboard.press('j')
  const note = page.getByRole('alert').filter({ hasText: 'Could not load more issues. cursor is old.' })
  await note.waitFor()
  await page.unroute(/\/api\/issues\?.*cursor=/)
  await note.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('1–130 of 130').waitFor()

  await page.keyboard.press('k')
  await eventually(() => hasFocus(row(page, 'Error068X').getByRole('link'))).toBe(true)
  const scrolled = await page.evaluate<number>('scrollY')
  expect(scrolled).toBeGreaterThan(1000)
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/issues\/[0-9a-f-]{36}/)
  await page.getByRole('heading', { name: /^Error068X/, level: 1 }).waitFor()
  await page.goBack()
  await row(page, 'Error068X').waitFor()
  await eventually(() => page.evaluate<number>('scrollY')).toBe(scrolled)
})

test('on a phone a long press selects and the bar is above the tabs', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError', 'BError'])
  const page = await dashboard.openAs(person, { size: 'phone' })
  await openStream(page)
  const box = await steadyBox(row(page, 'AError'))
  const at = { x: box.x + 150, y: box.y + 20 }
  const touch = await page.context().newCDPSession(page)
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at] })
  await page.getByRole('toolbar', { name: 'Actions for 1 selected issue' }).waitFor()
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  expect(page.url()).toMatch(/\/issues$/)
  await page
    .getByRole('toolbar')
    .getByRole('button', { name: /^Resolve(?! options)/ })
    .click()
  await eventually(() => titles(page)).toEqual(['BError'])
  await page.getByRole('link', { name: /^BError/ }).tap()
  await page.getByRole('heading', { name: /^BError/, level: 1 }).waitFor()
})

test.each(SIZES)('the stream is accessible and fits: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  await issuesOf(project, ['AError', 'BError', 'CError'])
  const page = await dashboard.openAs(person, { size })
  const [first] = Listed.parse((await person.get('/api/issues')).body).items
  const me = Me.parse((await person.get('/api/me')).body)
  await person.patch(`/api/issues/${first?.id}`, { assignee_id: me.user.id })
  await openStream(page)
  await expectAccessibleInThemes(page, `issues, ${size}`)
  await expectNoSideScroll(page, `issues, ${size}`)
  await press(page, 'j')
  await page.keyboard.press('x')
  await page.getByRole('toolbar').waitFor()
  await expectAccessibleInThemes(page, `issues with a selection, ${size}`)
  await expectNoSideScroll(page, `issues with a selection, ${size}`)
  await screenshot(page, `issues-${size}`)
  await press(page, 'f')
  await page.getByRole('tab', { name: 'Severity' }).click()
  await page.getByRole('checkbox', { name: 'Critical' }).waitFor()
  await expectAccessibleInThemes(page, `filters, ${size}`)
})
