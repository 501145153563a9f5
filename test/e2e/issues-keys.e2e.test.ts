import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestProject } from '../kit/founder.ts'
import { seedIssues } from '../kit/seed-issues.ts'
import { eventually, expectAccessible, hasFocus, press, settled } from './browser.ts'
import { aTeam, issueRows, testDashboard, type Person } from './dashboard.ts'
import { queryField } from './query-field.ts'

/** Focus and selection survive live messages, menus and dialogs, a visit to an issue, and refusals. */

const dashboard = await testDashboard({ jobs: true })

const rowAt = (page: Page, index: number) => issueRows(page).nth(index)
const linkAt = (page: Page, index: number) => rowAt(page, index).getByRole('rowheader').getByRole('link')
const bar = (page: Page, count: number) =>
  page.getByRole('toolbar', { name: `Actions for ${count} selected issue${count === 1 ? '' : 's'}` })

async function opened(person: Person): Promise<Page> {
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('rowheader').first().waitFor()
  return page
}

const sendOne = (project: TestProject, type: string) =>
  dashboard.server.event({ project, error: { type, value: `${type} happened` } })

test('keys pressed in menus, panels and dialogs do not reach the page', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 3)
  const page = await opened(person)
  await press(page, 'j')
  await eventually(() => hasFocus(linkAt(page, 0))).toBe(true)

  const nothingHappens = async () => {
    for (const key of ['x', 'r', 'i', 'm', 'Control+a']) await page.keyboard.press(key)
    await settled(page)
    expect(await page.getByRole('toolbar', { name: /^Actions for/ }).count()).toBe(0)
    expect((await person.get('/api/issues?status=unresolved&limit=1')).body['total']).toBe(3)
  }
  await press(page, '?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  await nothingHappens()
  await press(page, 'Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await eventually(() => hasFocus(linkAt(page, 0))).toBe(true)

  await press(page, 'f')
  await page.getByRole('tab', { name: 'Severity' }).click()
  await page.getByRole('checkbox', { name: 'Low' }).waitFor()
  await nothingHappens()
  await press(page, 'Escape')
  await page.getByRole('checkbox', { name: 'Low' }).waitFor({ state: 'hidden' })

  await eventually(() => hasFocus(page.getByRole('button', { name: /^Filter/ }))).toBe(true)

  // Typed as text, not run as a shortcut.
  const searchBox = queryField(page)
  await press(page, '/')
  await page.keyboard.type('thing 2 rix')
  await eventually(async () => [await searchBox.inputValue(), await hasFocus(searchBox)]).toEqual(['thing 2 rix', true])
  expect((await person.get('/api/issues?status=unresolved&limit=1')).body['total']).toBe(3)
})

test('text typed while the list updates is kept', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 3)
  const page = await opened(person)
  // A letter typed after the list was requested and before the address has changed.
  await page.evaluate(`(() => {
    const real = window.fetch
    window.fetch = (input, init) => {
      if (String(input.url ?? input).includes('q=thing')) {
        window.fetch = real
        document.execCommand('insertText', false, '+')
      }
      return real(input, init)
    }
  })()`)
  const searchBox = queryField(page)
  await press(page, '/')
  await page.keyboard.type('thing')
  await page.waitForURL(/q=thing/)
  await page.keyboard.type('2')
  await eventually(async () => [await searchBox.inputValue(), await hasFocus(searchBox)]).toEqual(['thing+2', true])
  await page.waitForURL((url) => url.searchParams.get('q') === 'thing+2')

  // Back and cleared filters still change the text.
  await press(page, 'Escape')
  await eventually(() => searchBox.inputValue()).toBe('')
  await page.waitForURL((url) => !url.searchParams.has('q'))
})

test('the focused row keeps the focus when live messages arrive and when the selection is cleared', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await sendOne(project, 'FirstError')
  await sendOne(project, 'SecondError')
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(2)
  const page = await opened(person)
  await page.getByText('Live', { exact: true }).waitFor()
  await press(page, 'j')
  await page.keyboard.press('j')
  await eventually(() => hasFocus(linkAt(page, 1))).toBe(true)
  await sendOne(project, 'FirstError')
  await sendOne(project, 'ThirdError')
  await rowAt(page, 1).getByTitle('2 events').waitFor()
  await page.getByRole('button', { name: /1 new issue since/ }).waitFor()
  await settled(page)
  expect(await hasFocus(linkAt(page, 1))).toBe(true)
  expect(await linkAt(page, 1).locator('b').textContent()).toBe('FirstError')

  await press(page, 'x')
  await bar(page, 1).waitFor()
  await press(page, 'Escape')
  await bar(page, 1).waitFor({ state: 'hidden' })
  await settled(page)
  expect(await hasFocus(linkAt(page, 1))).toBe(true)
})

test('the selection survives a visit to an issue', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 5)
  const page = await opened(person)
  await press(page, 'j')
  await page.keyboard.press('x')
  await page.keyboard.press('Shift+J')
  await bar(page, 2).waitFor()
  await press(page, 'j')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /^SeedError/, level: 1 }).waitFor()
  await page.goBack()
  await bar(page, 2).waitFor()
  await settled(page)
  expect(await rowAt(page, 0).getByRole('checkbox').isChecked()).toBe(true)
  expect(await rowAt(page, 2).getByRole('checkbox').isChecked()).toBe(false)
  // Another list starts without a selection.
  await page.getByRole('link', { name: /^Unresolved/ }).click()
  await page.waitForURL(/status=unresolved/)
  await bar(page, 2).waitFor({ state: 'hidden' })
})

test('Shift with a press selects everything between', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 6)
  const page = await opened(person)
  await rowAt(page, 1).hover()
  await rowAt(page, 1).getByRole('checkbox').click()
  await rowAt(page, 4).hover()
  await rowAt(page, 4)
    .getByRole('checkbox')
    .click({ modifiers: ['Shift'] })
  await bar(page, 4).waitFor()
  await settled(page)
  expect(await rowAt(page, 0).getByRole('checkbox').isChecked()).toBe(false)
  expect(await rowAt(page, 3).getByRole('checkbox').isChecked()).toBe(true)
})

test('issues that could not be changed are named with their reasons', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const ids = await seedIssues(dashboard.server.app, project.id, 5)
  const page = await opened(person)
  await press(page, 'Control+a')
  await bar(page, 5).waitFor()
  // Another member was faster.
  await dashboard.server.app.db.query('delete from issues where id = any($1)', [ids.slice(0, 2)])
  await press(page, 'r')
  await page.getByText('3 issues resolved').waitFor()
  const alert = page.getByRole('alert').filter({ hasText: '2 issues could not be changed.' })
  await alert.getByRole('button', { name: 'Show reasons' }).click()
  const dialog = page.getByRole('dialog', { name: '2 issues could not be changed' })
  await dialog.getByRole('link', { name: 'SHOPPER-WEB-1', exact: true }).waitFor()
  await settled(page)
  expect(await dialog.getByRole('listitem').count()).toBe(2)
  await expectAccessible(page, 'what could not be changed')
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'hidden' })
})

test('an older change is undone without the newer one', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 4)
  const page = await opened(person)
  const ids = () => issueRows(page).locator('[data-short-id]').allTextContents()
  await press(page, 'j')
  await page.keyboard.press('r')
  const first = page.getByRole('status').filter({ hasText: 'SHOPPER-WEB-1 resolved' })
  await first.waitFor()
  await first.getByText('SHOPPER-WEB-1 resolved').hover()
  await press(page, 'r')
  await page.getByText('SHOPPER-WEB-2 resolved').waitFor()
  await eventually(ids).toEqual(['SHOPPER-WEB-3', 'SHOPPER-WEB-4'])
  await page
    .locator('[data-toast]')
    .filter({ hasText: 'SHOPPER-WEB-1 resolved' })
    .getByRole('button', { name: 'Undo' })
    .click()
  await eventually(ids).toEqual(['SHOPPER-WEB-1', 'SHOPPER-WEB-3', 'SHOPPER-WEB-4'])
  await eventually(async () => (await person.get('/api/issues?status=resolved&limit=1')).body['total']).toBe(1)
  expect(await ids()).toEqual(['SHOPPER-WEB-1', 'SHOPPER-WEB-3', 'SHOPPER-WEB-4'])
  await page.getByRole('link', { name: 'Resolved 1', exact: true }).waitFor()
})

test('a change that is refused late restores only its own issue', async () => {
  const { person, project } = await aTeam(dashboard.server)
  await seedIssues(dashboard.server.app, project.id, 3)
  const page = await opened(person)
  const ids = () => issueRows(page).locator('[data-short-id]').allTextContents()
  let refuse: () => void = () => undefined
  let isFirst = true
  await page.route('**/api/issues', async (route) => {
    if (route.request().method() !== 'PATCH' || !isFirst) return route.continue()
    isFirst = false
    await new Promise<void>((done) => (refuse = done))
    return route.fulfill({ status: 403, json: { error: 'Your role cannot do this.' } })
  })
  // A busy browser lets requests through for a moment after the route was set: reload the page first.
  await page.reload()
  await issueRows(page).first().waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('r')
  await eventually(ids).toEqual(['SHOPPER-WEB-2', 'SHOPPER-WEB-3'])
  await page.keyboard.press('r')
  await page.getByText('SHOPPER-WEB-2 resolved').waitFor()
  refuse()
  await page.getByRole('alert').filter({ hasText: 'Your role cannot do this.' }).waitFor()
  await eventually(ids).toEqual(['SHOPPER-WEB-1', 'SHOPPER-WEB-3'])
})
