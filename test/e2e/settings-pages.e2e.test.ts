import { expect, test } from 'vitest'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import { eventually, expectAccessible, expectNoSideScroll, press, settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

// First: the first organisation is the one that set up the installation.
const founder = await aTeam(dashboard.server)

test('the installation is shown to its owners, with the quarantine as a concern, and hidden from others', async () => {
  const page = await dashboard.openAs(founder.person)
  await page.goto('/issues')
  await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Installation' }).click()
  await page.getByRole('heading', { level: 1, name: /^(Everything works|Something is lost)/ }).waitFor()
  await page.getByText('Backups.', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Backups' }).getByText('None', { exact: true }).waitFor()
  const queues = page.getByRole('region', { name: 'Test event and queues' })
  expect(await queues.getByRole('rowheader').allTextContents()).toEqual(['Digestion', 'Deliveries', 'Jobs'])
  await expectAccessible(page, 'operator')
  await expectNoSideScroll(page, 'operator')

  const { person } = await aTeam(dashboard.server)
  const other = await dashboard.openAs(person)
  await other.goto('/operator')
  await other.getByRole('heading', { name: 'This page does not exist' }).waitFor()
  expect(await other.getByRole('link', { name: 'Installation' }).count()).toBe(0)
})

test('the organisation is renamed, and the rail shows it', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/org/general')
  await page.getByLabel('Name', { exact: true }).fill('Meadowlark')
  await press(page, 'Control+s')
  await page.getByText('Organisation saved').waitFor()
  await page.getByRole('button', { name: 'Meadowlark' }).click()
  await page.getByRole('menuitem', { name: 'API keys' }).click()
  await page.waitForURL('**/org/api-keys')
})

test('an app is connected with a key of its own, which is disabled and removed', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/keys`)
  await page.getByRole('region', { name: 'Default' }).waitFor()
  await press(page, 'n')
  const adding = page.getByRole('dialog', { name: 'Add a key' })
  await adding.getByLabel('Items per minute').fill('lots')
  await adding.getByRole('button', { name: 'Add key' }).click()
  await adding.getByText('Enter a name, for example Staging.').waitFor()
  await adding.getByText(/^Enter a whole number from 1/).waitFor()
  await adding.getByLabel('Name').fill('default')
  await adding.getByLabel('Items per minute').fill('1,200')
  await press(page, 'Enter')
  await adding.getByText(/^This project has a key named default/).waitFor()
  await adding.getByLabel('Name').fill('Staging')
  await press(page, 'Enter')
  const staging = page.getByRole('region', { name: 'Staging' })
  await staging.getByText('1,200 per min').waitFor()
  const dsn = await staging.getByLabel('DSN').inputValue()
  expect((await sendEvent(dashboard.server.url, dsn, anEvent())).status).toBe(200)

  // The set-up again, with either key.
  await page.getByRole('link', { name: 'Install', exact: true }).click()
  const code = page.getByRole('tabpanel')
  await code.filter({ hasText: project.dsn }).waitFor()
  await page.getByLabel('Key', { exact: true }).selectOption('Staging')
  await code.filter({ hasText: dsn }).waitFor()
  await page.getByRole('tab', { name: /Python/ }).click()
  await code.filter({ hasText: 'pip install' }).waitFor()

  await page.getByRole('link', { name: 'Client keys' }).click()
  await staging.getByRole('button', { name: 'More actions: Staging' }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await staging.getByText('Disabled', { exact: true }).waitFor()
  await eventually(async () => (await sendEvent(dashboard.server.url, dsn, anEvent())).status).toBe(403)
  await staging.getByRole('button', { name: 'More actions: Staging' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await page.getByRole('dialog', { name: 'Remove the key Staging?' }).getByRole('button', { name: 'Remove' }).click()
  await staging.waitFor({ state: 'hidden' })
  // The last key stays.
  await page.getByRole('button', { name: 'More actions: Default' }).click()
  await page.getByRole('menuitem', { name: 'Remove', disabled: true }).waitFor()
})

test('retention is set, and a shorter one says what it hides', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/retention`)
  const days = page.getByLabel('Keep events for')
  expect(await days.inputValue()).toBe('90')
  await days.fill('0')
  await page.getByText('Enter a whole number from 1 to 400.').waitFor()
  await days.fill('30')
  await page.getByText('Data older than 30 days is hidden as soon as you save').waitFor()
  await press(page, 'Control+s')
  await page.getByText('Retention saved').waitFor()
  await page.reload()
  await eventually(() => days.inputValue()).toBe('30')
})

test('density and motion are chosen, remembered, and there before the first paint', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { motion: true })
  await page.goto('/org/audit')
  const row = page.getByRole('row').nth(1)
  const heightPx = async () => (await row.boundingBox())?.height ?? 0
  await settled(page)
  const comfortable = await heightPx()
  await press(page, 'Control+k')
  await page.getByRole('combobox', { name: 'Search or jump to' }).waitFor()
  await page.keyboard.type('compact')
  await press(page, 'Enter')
  await eventually(async () => (await heightPx()) < comfortable).toBe(true)
  await page.goto('/me/appearance')
  await page.getByRole('button', { name: 'Reduced' }).click()
  await page.route('**/assets/*.js', (route) => route.abort())
  await page.goto('/me/appearance', { waitUntil: 'domcontentloaded' })
  expect(await page.evaluate('({ ...document.documentElement.dataset })')).toMatchObject({
    density: 'compact',
    motion: 'reduced',
  })
  await page.unroute('**/assets/*.js')
})

test('a member asks for the weekly digest and mutes a project', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/me/notifications')
  await page.getByRole('switch', { name: 'Weekly digest' }).click()
  const projects = page.getByRole('region', { name: 'Projects' })
  await projects.getByRole('switch', { name: `E-mail about ${project.name}` }).click()
  await projects.getByRole('switch', { name: `Pushes about ${project.name}` }).click()
  await projects.getByText('Muted').waitFor()
  await settled(page)
  await page.reload()
  await projects.getByText('Muted').waitFor()
  expect(await page.getByRole('switch', { name: 'Weekly digest' }).getAttribute('aria-checked')).toBe('true')
  expect((await person.get('/api/me/notifications')).body).toMatchObject({ weekly_digest: { enabled: true } })
})
