import { expect, test } from 'vitest'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import { eventually, expectAccessible, hasFocus, press, screenshot, settled, WIDTHS } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

test('a project is renamed with the keyboard alone, and every page shows the new name', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings`)
  await page.waitForURL('**/settings/general')
  const name = page.getByLabel('Name', { exact: true })
  await name.fill('')
  await page.getByText('Enter a name.').waitFor()
  await name.fill('storefront')
  await page.getByText('Unsaved changes').waitFor()
  await press(page, 'Control+s')
  await page.getByText('Project saved').waitFor()
  await eventually(() => page.getByText('Unsaved changes').count()).toBe(0)
  await page.getByRole('button', { name: 'storefront' }).waitFor()

  // The server's refusal is shown at its field, with the label of the field instead of the name in the API.
  await page.getByLabel('Short name').fill('not a slug')
  await press(page, 'Control+s')
  await page.getByRole('alert').filter({ hasText: 'Short name: takes lower-case letters' }).waitFor()
  expect(await page.getByText(/^slug /).count()).toBe(0)

  // Leaving asks, by a link and by Back; staying keeps what was typed.
  await page.getByRole('link', { name: 'Filters' }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
  await leaving.waitFor()
  await expectAccessible(page, 'leaving unsaved settings')
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await leaving.waitFor({ state: 'hidden' })
  expect(await page.getByLabel('Short name').inputValue()).toBe('not a slug')
  await page.getByRole('link', { name: 'Issues', exact: false }).first().click()
  await leaving.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL('**/issues*')
  // Nothing unsaved: nothing is asked.
  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByLabel('Short name').waitFor()
  await page.getByRole('link', { name: 'Filters' }).click()
  await page.waitForURL('**/settings/filters')
})

test('what is typed while a form is saved stays; what was saved is not unsaved; a switch that fails says so', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const mark = page.getByText('Unsaved changes')
  await page.goto(`/projects/${project.id}/settings/filters`)
  const releases = page.getByRole('textbox', { name: 'Releases' })
  await releases.fill('1.0')
  const held = Promise.withResolvers<void>()
  await page.route('**/api/projects/*/settings', async (route) => {
    if (route.request().method() === 'PATCH') await held.promise
    await route.continue()
  })
  const sent = page.waitForRequest((request) => request.method() === 'PATCH')
  await press(page, 'Control+s')
  await sent
  await releases.fill('1.0\n2.0')
  held.resolve()
  await page.getByText('Filters saved').waitFor()
  expect(await releases.inputValue()).toBe('1.0\n2.0')
  await mark.waitFor()
  await press(page, 'Control+s')
  await eventually(() => mark.count()).toBe(0)
  await page.unroute('**/api/projects/*/settings')

  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByLabel('Name', { exact: true }).fill('store front ')
  await page.getByLabel('Allowed deviation').fill('5.50')
  await press(page, 'Control+s')
  await page.getByRole('button', { name: 'store front' }).waitFor()
  await eventually(() => mark.count()).toBe(0)

  await page.route('**/api/projects/*/settings', (route) => route.fulfill({ status: 400, json: { error: 'No.' } }))
  await page.getByRole('switch').first().click()
  await page.getByText('Could not save the settings. No.').waitFor()
})

test('rotating asks once, shows a new DSN, and counts down the old one', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/keys`)
  await sendEvent(dashboard.server.url, project.dsn, anEvent())
  await eventually(() => page.getByLabel('DSN', { exact: true }).inputValue()).toBe(project.dsn)

  await page.getByRole('button', { name: 'Rotate' }).click()
  const dialog = page.getByRole('dialog', { name: 'Rotate the key?' })
  // The button does nothing before the word is typed.
  await dialog.getByRole('button', { name: 'Rotate' }).click({ force: true })
  await settled(page)
  expect(await dialog.isVisible()).toBe(true)
  await press(page, 'Escape')
  await dialog.waitFor({ state: 'hidden' })
  await eventually(() => hasFocus(page.getByRole('button', { name: 'Rotate' }))).toBe(true)

  await press(page, 'Enter')
  await page.getByLabel('Type “rotate” to confirm').fill('rotate')
  await press(page, 'Enter')
  await page.getByText('New key in use').waitFor()
  await page.getByText(/The old key stops at \d\d:\d\d, in /).waitFor()
  await eventually(() => page.getByLabel('DSN', { exact: true }).inputValue()).not.toBe(project.dsn)
  const fresh = await page.getByLabel('DSN', { exact: true }).inputValue()
  await screenshot(page, 'keys-rotated')

  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.getByText('DSN copied').waitFor()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(fresh)
  // Both keys are accepted during the grace period.
  expect((await sendEvent(dashboard.server.url, project.dsn, anEvent())).status).toBe(200)
  expect((await sendEvent(dashboard.server.url, fresh, anEvent())).status).toBe(200)
})

test('critical paths are listed one per line; what the server refuses is said at the field', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/general`)
  const journeys = page.getByLabel('Journeys')
  const save = page.locator('form').filter({ has: journeys }).getByRole('button', { name: 'Save' })
  await journeys.fill('checkout*\nCHECKOUT*')
  await save.click()
  await page.getByRole('alert').filter({ hasText: 'must not repeat a pattern' }).waitFor()
  await journeys.fill('checkout*\n\n  /login ')
  await save.click()
  await page.getByText('Critical paths saved').waitFor()
  await eventually(() => journeys.inputValue()).toBe('checkout*\n/login')
  await page.reload()
  await eventually(() => journeys.inputValue()).toBe('checkout*\n/login')
})

test('on a phone the current topic is in view', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { size: 'phone' })
  await page.goto(`/projects/${project.id}/settings/ownership`)
  const topic = page.getByRole('link', { name: 'Ownership', exact: true })
  await topic.waitFor()
  const box = await topic.boundingBox()
  expect(box?.x).toBeGreaterThanOrEqual(0)
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(WIDTHS.phone.width)
})

test('every form of settings says that it has unsaved changes, asks before it is left, and discards them', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const type = (name: string) => () => page.getByRole('textbox', { name, exact: true }).fill('7777')
  const add = () => page.getByRole('button', { name: 'Add rule' }).first().click()
  const settings = (part: string) => `/projects/${project.id}/settings/${part}`
  const forms: readonly (readonly [address: string, change: () => Promise<unknown>])[] = [
    [settings('general'), type('Name')],
    [settings('general'), type('Default environment')],
    [settings('general'), type('Allowed deviation')],
    [settings('general'), type('Journeys')],
    [settings('filters'), type('Releases')],
    [settings('scrubbing'), type('More fields to remove')],
    [settings('grouping'), add],
    [settings('ownership'), add],
    [`/intake?project=${project.id}`, type('Items per minute and key')],
    [`/alerts/rules/new?project=${project.id}`, type('Name')],
    ['/org/sso', type('Issuer')],
    ['/me/profile', type('Name')],
    [
      '/me/notifications',
      async () => {
        await page.getByRole('switch', { name: 'Hold back e-mails and pushes' }).click()
        await page.getByLabel('From', { exact: true }).fill('03:33')
      },
    ],
  ]
  const mark = page.getByText('Unsaved changes')
  const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
  let shown = ''
  for (const [address, change] of forms) {
    if (address !== shown) await page.goto(address)
    shown = address
    await change()
    await mark.waitFor()
    await page.getByRole('link', { name: 'Issues', exact: false }).first().click()
    await leaving.getByRole('button', { name: 'Stay' }).click()
    await leaving.waitFor({ state: 'hidden' })
    expect(new URL(page.url()).pathname, address).toBe(new URL(address, page.url()).pathname)
    // One foot has both buttons.
    const foot = page.locator('footer').filter({ has: mark })
    await foot.getByRole('button', { name: /^Save/ }).waitFor()
    await foot.getByRole('button', { name: 'Discard' }).click()
    await mark.waitFor({ state: 'hidden' })
  }
  // Forms that are sent rather than saved ask too.
  await page.goto('/me/security')
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByLabel('Current password').fill('half a password')
  await page.getByRole('link', { name: 'Issues', exact: false }).first().click()
  await leaving.getByRole('button', { name: 'Leave' }).click()
  await page.waitForURL('**/issues*')
})
