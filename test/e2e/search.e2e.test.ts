import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aProject, type TestProject } from '../kit/founder.ts'
import {
  eventually,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  holdToast,
  press,
  screenshot,
  settled,
  SIZES,
  steadyBox,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'
import { queryField, queryIn, replaceQuery } from './query-field.ts'

const dashboard = await testDashboard()

const titles = (page: Page) => page.getByRole('rowheader').getByRole('link').locator('b').allTextContents()
const field = (page: Page) => queryField(page)

async function threeIssues(project: TestProject): Promise<void> {
  const plan = [
    { type: 'AError', level: 'fatal', release: '1.2.3', environment: 'production' },
    { type: 'BError', level: 'error', release: '1.2.4', environment: 'staging' },
    { type: 'CError', level: 'warning', release: '2.0.0', environment: 'production', tags: { tenant: 'acme' } },
  ]
  const events = plan.map(({ type, ...fields }, index) => ({
    ...fields,
    timestamp: Date.now() / 1000 - 60 * (index + 1),
    error: { type, value: `${type} happened` },
  }))
  await dashboard.server.events(project, events)
}

async function opened(person: Person, options: Parameters<typeof dashboard.openAs>[1] = {}): Promise<Page> {
  const page = await dashboard.openAs(person, options)
  await page.goto('/issues')
  await page.getByRole('rowheader').first().waitFor()
  return page
}

test('a query narrows the stream and its counts; a mistake is marked while the rows stay', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await opened(person)
  await field(page).fill('release:1.2.* -level:fatal')
  await eventually(() => titles(page)).toEqual(['BError'])
  await page.getByRole('link', { name: 'Open 1' }).waitFor()
  // Terms that were searched are chips; another query is typed behind them.
  await field(page).press('Enter')
  await page.getByTitle('Edit -level:fatal', { exact: true }).waitFor()
  expect(await field(page).inputValue()).toBe('')

  // An incomplete term is not sent; Enter sends it.
  await field(page).fill('level:')
  await field(page).press('Enter')
  await page.getByText('level needs a value.', { exact: true }).waitFor()
  expect(await page.locator('mark').textContent()).toBe('level:')
  expect(await field(page).getAttribute('aria-invalid')).toBe('true')
  expect(await titles(page)).toEqual(['BError'])
  await page.getByRole('link', { name: 'Open 1' }).waitFor()
  expect(await page.getByText(/did not load|q:/).count()).toBe(0)
  // After a reload there is no query before.
  await page.reload()
  await page.getByText('Issues appear here when the query is corrected.').waitFor()
  await replaceQuery(field(page), 'level:[fatal, warning]')
  await eventually(() => titles(page)).toEqual(['AError', 'CError'])
  await eventually(() => page.locator('mark').count()).toBe(0)

  await replaceQuery(field(page), '')
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'CError'])
  await page.getByRole('button', { name: 'Search help' }).click()
  await page.getByRole('button', { name: /^is:unresolved level:\[error, fatal\]/ }).click()
  await eventually(() => titles(page)).toEqual(['AError', 'BError'])
})

test('a mistake is marked at its place beside a time of the chart; the field keeps the focus when a filter goes', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await dashboard.openAs(person)
  const minute = (at: number) => `${new Date(at).toISOString().slice(0, 16)}Z`
  const [from, to] = [minute(Date.now() - 7_200_000), minute(Date.now() + 60_000)]
  const query = (q: string) => `/issues?from=${from}&to=${to}&severity=high&q=${encodeURIComponent(q)}`
  await page.goto(query('AError OR level:warnin'))
  await eventually(() => page.locator('mark').textContent()).toBe('warnin')
  await page.getByRole('button', { name: 'Use warning' }).click()
  await eventually(() => queryIn(field(page))).toBe('AError OR level:warning')
  await page.goto(query('AError OR levle:warning'))
  await page.getByRole('button', { name: 'Use level' }).click()
  await eventually(() => queryIn(field(page))).toBe('AError OR level:warning')
  await page.goto(query('AError OR BError)'))
  await eventually(() => page.locator('mark').textContent()).toBe(')')

  const chip = page.getByRole('button', { name: 'Remove filter severity' })
  await chip.focus()
  await press(page, 'Enter')
  await eventually(() => chip.count()).toBe(0)
  expect(await hasFocus(field(page))).toBe(true)
})

test('keys and values are suggested; terms are chips that are edited, reopened and removed', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  await person.post('/api/views', { name: 'Fatal ones', query: 'level:fatal' })
  const page = await opened(person)
  const option = (name: RegExp) => page.getByRole('option', { name })
  await press(page, '/')
  await page.keyboard.type('lev')
  await option(/^level/).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await option(/^fatal.*1 issue$/).waitFor()
  await page.keyboard.type('wa')
  await eventually(() => page.getByRole('option').count()).toBe(1)
  await page.keyboard.press('ArrowDown')
  await eventually(async () => [
    await field(page).getAttribute('aria-activedescendant'),
    await field(page).getAttribute('aria-expanded'),
  ]).toEqual([await option(/^warning/).getAttribute('id'), 'true'])
  await page.keyboard.press('Tab')
  await page.getByTitle('Edit level:warning', { exact: true }).waitFor()
  await eventually(() => titles(page)).toEqual(['CError'])
  await eventually(() => hasFocus(field(page))).toBe(true)

  // Backspace opens the last term again.
  await page.keyboard.press('Backspace')
  await eventually(() => field(page).inputValue()).toBe('level:warning')
  await page.keyboard.type(' release:2.0.0 ')
  await eventually(() => queryIn(field(page))).toBe('level:warning release:2.0.0')
  await page.getByTitle('Edit level:warning', { exact: true }).click()
  await field(page).fill('level:fatal ')
  await eventually(() => titles(page)).toEqual([])
  await page.getByRole('button', { name: 'Remove release:2.0.0' }).click()
  await eventually(() => titles(page)).toEqual(['AError'])
  await page.waitForURL((url) => url.searchParams.get('q') === 'level:fatal')

  // Escape closes the suggestions, then empties the field, then leaves it.
  await page.keyboard.type('re')
  await option(/^release/)
    .first()
    .waitFor()
  await page.keyboard.press('Escape')
  await eventually(() => page.getByRole('option').count()).toBe(0)
  expect(await queryIn(field(page))).toBe('level:fatal re')
  await page.keyboard.press('Escape')
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'CError'])
  await page.keyboard.press('Escape')
  await eventually(() => hasFocus(field(page))).toBe(false)

  // A key that no issue has is replaced by the one that was meant.
  await field(page).fill('levle:fatal')
  await page.getByText('Did you mean level?').waitFor()
  await page.getByRole('button', { name: 'Use level', exact: true }).click()
  await eventually(() => titles(page)).toEqual(['AError'])
  expect(await queryIn(field(page))).toBe('level:fatal')
  await replaceQuery(field(page), '')

  // Searched queries and saved views are offered again.
  await field(page).click()
  await option(/^level:warning/).waitFor()
  await option(/^Fatal ones/).click()
  await page.waitForURL(/view=/)
  await eventually(() => queryIn(field(page))).toBe('level:fatal')
})

test('environments, the filter panel and the query are one', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await opened(person)
  const query = () => new URL(page.url()).searchParams.get('q')
  await page.getByRole('button', { name: 'Environment: All environments' }).click()
  const production = page.getByRole('dialog', { name: 'Environment' }).getByRole('checkbox', { name: /^production/ })
  await production.check()
  await eventually(query).toBe('environment:production')
  await eventually(() => titles(page)).toEqual(['AError', 'CError'])
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Environment: production' }).waitFor()

  await page.getByRole('button', { name: 'Filter · 1' }).click()
  const panel = page.getByRole('dialog', { name: 'Filters' })
  await eventually(() => panel.getByRole('checkbox', { name: /^production 2/ }).isChecked()).toBe(true)
  await panel.getByRole('checkbox', { name: /^staging 1/ }).check()
  await eventually(query).toBe('environment:[production, staging]')
  await panel.getByRole('tab', { name: 'Level' }).click()
  await panel.getByRole('checkbox', { name: /^fatal 1/ }).check()
  await eventually(query).toBe('environment:[production, staging] level:fatal')
  await eventually(() => titles(page)).toEqual(['AError'])
  await panel.getByRole('tab', { name: 'Platform' }).click()
  // The project is for the web: its JavaScript is called so here as in the row.
  await panel.getByRole('checkbox', { name: /^Web 3/ }).check()
  await page.waitForURL(/platform=javascript/)
  const chip = page.getByRole('button', { name: 'Remove filter platform' }).locator('..')
  await eventually(() => chip.textContent()).toMatch(/^platform *Web$/)
  await page.getByRole('row').getByRole('img', { name: 'Web' }).waitFor()

  // Values of the query are checked in the panel, and cleared without the rest.
  await page.goto('/issues?q=CError tenant:acme release:2.0.0')
  await eventually(() => titles(page)).toEqual(['CError'])
  await page.getByRole('button', { name: 'Filter · 2' }).click()
  await eventually(() => panel.getByRole('checkbox', { name: /^2.0.0/ }).isChecked()).toBe(true)
  await panel.getByRole('tab', { name: 'Tag' }).click()
  await eventually(() => panel.getByRole('combobox').inputValue()).toBe('tenant')
  await panel.getByRole('checkbox', { name: /^acme 1/ }).uncheck()
  await eventually(query).toBe('CError release:2.0.0')
  await panel.getByRole('button', { name: 'Clear filters' }).click()
  await eventually(query).toBe('CError')
})

test('values are rows for a finger, long ones are cut, and a failed read is no empty list', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const environment = 'production-of-the-northern-region-with-a-long-name'
  await dashboard.server.events(project, [{ environment, error: { type: 'AError', value: 'it happened' } }])
  const page = await opened(person, { size: 'phone' })
  await page.getByRole('button', { name: /^Environment/ }).click()
  const row = page.getByRole('checkbox', { name: `${environment} 1 issue` }).locator('..')
  expect((await steadyBox(row)).height).toBeGreaterThanOrEqual(44)
  const cut = `(() => {
    const value = document.querySelector('label > [title="${environment}"]')
    return [getComputedStyle(value).display, value.scrollWidth > value.clientWidth]
  })()`
  expect(await page.evaluate(cut)).toEqual(['block', true])
  await press(page, 'Escape')

  await page.getByRole('button', { name: /^Filter/ }).click()
  const panel = page.getByRole('dialog', { name: 'Filters' })
  expect((await steadyBox(panel.getByRole('tab', { name: 'Level' }))).height).toBeGreaterThanOrEqual(44)
  await panel.getByRole('tab', { name: 'Assignee' }).click()
  expect((await steadyBox(panel.getByRole('radio', { name: 'Unassigned' }).locator('..'))).height).toBe(44)
  await page.route(/\/api\/issues\/suggestions/, (route) => route.fulfill({ status: 400, json: { error: 'No.' } }))
  await panel.getByRole('tab', { name: 'Level' }).click()
  await panel.getByRole('alert').getByText('The values did not load.').waitFor()
  expect(await panel.getByText('No values yet.').count()).toBe(0)
})

test('a view is saved, shared, changed, opened by others, deleted and restored', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await opened(person)
  await field(page).fill('level:fatal')
  await eventually(() => titles(page)).toEqual(['AError'])
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitem', { name: 'Save view…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Save view' })
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Fatal ones')
  await dialog.getByRole('switch').click()
  await dialog.getByRole('button', { name: 'Save view' }).click()
  await page.getByText('Fatal ones saved').waitFor()
  await page.waitForURL(/view=/)

  await page.goto('/issues')
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'CError'])
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Fatal ones' }).click()
  await eventually(() => titles(page)).toEqual(['AError'])
  await eventually(() => queryIn(field(page))).toBe('level:fatal')

  // It is beside the statuses, as the only selected tab until something is changed.
  const tab = page.getByRole('navigation', { name: 'Saved views' }).getByRole('link', { name: /^Fatal ones/ })
  const open = page.getByRole('navigation', { name: 'Status' }).getByRole('link', { name: /^Open/ })
  await eventually(() => tab.getAttribute('aria-current')).toBe('page')
  await eventually(() => open.getAttribute('aria-current')).toBeNull()
  await open.click()
  await page.goto('/issues')
  await tab.click()
  await eventually(() => titles(page)).toEqual(['AError'])

  // Changed, and saved.
  await replaceQuery(field(page), 'level:warning')
  await eventually(() => titles(page)).toEqual(['CError'])
  await tab.getByText('changed').waitFor()
  await eventually(() => open.getAttribute('aria-current')).toBe('page')
  await page.getByRole('button', { name: 'Saved views: Fatal ones' }).click()
  await page.getByRole('menuitem', { name: 'Save changes to Fatal ones' }).click()
  await eventually(async () => (await person.get('/api/views')).text).toContain('"query":"level:warning"')
  await page.getByRole('button', { name: 'Saved views: Fatal ones' }).click()
  await page.getByRole('menuitem', { name: 'Rename or share…' }).click()
  const change = page.getByRole('dialog', { name: 'Edit view' })
  await change.getByRole('textbox', { name: 'Name' }).fill('Warnings')
  await change.getByRole('button', { name: 'Save view' }).click()
  await page.getByRole('button', { name: 'Saved views: Warnings' }).click()
  await page.getByRole('menuitem', { name: 'Delete view' }).click()
  await holdToast(page, 'Warnings deleted')
  await eventually(async () => (await person.get('/api/views')).body['total']).toBe(0)
  await press(page, 'z')
  await eventually(async () => (await person.get('/api/views')).text).toContain('"name":"Warnings"')
})

test.each(SIZES)('help, menu and dialog are accessible and fit: %s', async (size) => {
  const { person } = await aTeam(dashboard.server)
  const project = await aProject(person)
  await threeIssues(project)
  await person.post('/api/views', { name: 'Fatal on phones', query: 'level:fatal' })
  await person.post('/api/views', { name: 'Everybody’s', is_shared: true })
  const page = await opened(person, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`)
  }
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByRole('checkbox', { name: /^production 2/ }).waitFor()
  await judge('filter-panel')
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Environment: All environments' }).click()
  await page.getByRole('checkbox', { name: /^staging 1/ }).waitFor()
  await judge('environments')
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Search help' }).click()
  await page.getByText('Search words match').waitFor()
  await judge('search-help')
  await press(page, 'Escape')
  await field(page).fill('release:1.2.* is:open level:[')
  await field(page).press('Enter')
  await page.locator('mark').waitFor()
  await judge('query-mistake')
  await replaceQuery(field(page), 'release:1.2.* -tag:"a b" ')
  await field(page).pressSequentially('level:')
  await page.getByRole('option', { name: /^fatal/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  await judge('query-suggestions')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Saved views' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Fatal on phones' }).waitFor()
  await judge('saved-views')
  await page.getByRole('menuitem', { name: 'Save view…' }).click()
  await page.getByRole('dialog', { name: 'Save view' }).waitFor()
  await judge('save-view')
})

test('Tab takes the first suggestion for what is typed, and leaves a field in which nothing is', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await opened(person)
  await press(page, '/')
  await page.keyboard.type('lev')
  await page.getByRole('option', { name: /^level/ }).waitFor()
  await page.keyboard.press('Tab')
  await eventually(() => field(page).inputValue()).toBe('level:')
  await page.keyboard.type('wa')
  await page.getByRole('option', { name: /^warning/ }).waitFor()
  await page.keyboard.press('Tab')
  await page.getByTitle('Edit level:warning', { exact: true }).waitFor()
  await eventually(() => titles(page)).toEqual(['CError'])
  await page.keyboard.press('Escape')
  await page.keyboard.press('Tab')
  expect(await hasFocus(field(page))).toBe(false)
})

test('Ctrl A selects the whole query, which Backspace deletes', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await opened(person)
  await field(page).fill('level:[warning, fatal] release:2.0.0 CError')
  await eventually(() => titles(page)).toEqual(['CError'])
  await field(page).press('Enter')
  await page.getByTitle('Edit release:2.0.0', { exact: true }).waitFor()
  await press(page, 'Control+a')
  await eventually(() => field(page).inputValue()).toBe('level:[warning, fatal] release:2.0.0 CError')
  await page.keyboard.press('Backspace')
  await eventually(() => titles(page)).toEqual(['AError', 'BError', 'CError'])
  expect(await queryIn(field(page))).toBe('')
})

test('a mistake of the address is said once, not by the chart too', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await threeIssues(project)
  const page = await dashboard.openAs(person)
  for (const query of ['assigned:tomo', 'is:regresed']) {
    await page.goto(`/issues?q=${query}`)
    await page.getByText('Issues appear here when the query is corrected.').waitFor()
    await settled(page)
    expect(await page.getByText('did not load', { exact: false }).count(), query).toBe(0)
  }
})

test('a misspelt word finds the similar one, and the field says so', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.events(project, [{ error: { type: 'TypeError', value: 'checkout is not a function' } }])
  const page = await opened(person)
  await field(page).fill('checkut TypeEror')
  await page.getByText('No issue has "checkut". These have "checkout".').waitFor()
  await eventually(() => titles(page)).toEqual(['TypeError'])
  await page.getByRole('button', { name: 'Use checkout' }).click()
  await eventually(() => queryIn(field(page))).toBe('checkout TypeEror')
  await eventually(() => titles(page)).toEqual(['TypeError'])
})
