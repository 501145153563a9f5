import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { aProject } from '../kit/founder.ts'
import { dsnParts } from '../kit/sdk.ts'
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
import { aTeam, testDashboard, type Person } from './dashboard.ts'
import { NIGHTLY, pastRuns } from './monitors-world.ts'

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)

/** A project with monitors in several states. */
async function aWorld() {
  const project = await aProject(team.person, { name: 'storefront' })
  // The runs of 15 and 10 minutes ago are good, the one 5 minutes ago did not come.
  await pastRuns(
    server,
    project.id,
    'price-feed',
    [48, 43, 38, 33, 28, 23, 18, 13].map((minutesAgo) => ({ minutesAgo, release: minutesAgo > 25 ? '311' : '312' })),
  )
  await pastRuns(server, project.id, 'settle-pay', [
    { minutesAgo: 3_000, config: NIGHTLY },
    { minutesAgo: 2, status: 'error', config: null },
  ])
  await pastRuns(server, project.id, 'import-catalogue', [
    { minutesAgo: 60, config: null, environment: 'staging' },
    { minutesAgo: 30, config: null, environment: 'staging' },
  ])
  return project
}

const project = await aWorld()
const member = await server.member(team.person, { name: 'Vera Viewer', role: 'viewer' })
const viewer = { ...team.person, ...member }

const openList = async (as: Person = team.person, search = `?project=${project.id}`): Promise<Page> => {
  const page = await dashboard.openAs(as)
  await page.goto(`/monitors${search}`)
  await page.getByRole('heading', { name: 'Monitors', level: 1 }).waitFor()
  return page
}

async function openMonitor(slug: string, as: Person = team.person): Promise<Page> {
  const page = await openList(as)
  await page.getByRole('link', { name: slug }).click()
  await page.getByRole('heading', { name: slug, level: 1 }).waitFor()
  return page
}

/** A monitor of its own, which a test may change. */
async function aMonitor(slug: string): Promise<string> {
  await pastRuns(server, project.id, slug, [
    { minutesAgo: 3_000, config: NIGHTLY },
    { minutesAgo: 1, config: null },
  ])
  return slug
}

test('without monitors, the page says how to send a check-in, and the first one creates its monitor', async () => {
  const page = await openList(team.person, `?project=${team.project.id}`)
  await page.getByRole('heading', { name: 'No check-ins yet' }).waitFor()
  const line = await page.getByRole('region', { name: 'Send the first check-in' }).textContent()
  const address = /'(?<url>[^']+)'/.exec(line ?? '')?.groups?.['url'] ?? ''
  const { key, projectNumber } = dsnParts(team.project.dsn)
  expect(new URL(address).pathname).toBe(`/api/${projectNumber}/cron/nightly-backup/${key}/`)
  await expectAccessible(page, 'no monitors')
  const { pathname, search } = new URL(address)
  expect((await fetch(`${server.url}${pathname}${search}`)).status).toBe(202)
  await eventually(async () => {
    await page.reload()
    return page.getByRole('link', { name: 'nightly-backup' }).count()
  }).toBe(1)
  const row = page.getByRole('row', { name: /nightly-backup/ })
  await row.getByText('Every day at 03:00').waitFor()
  await row.getByRole('img', { name: 'Last run: OK' }).waitFor()
})

test('those that need a person are first, with their reason', async () => {
  const page = await openList()
  const row = page.getByRole('row', { name: /price-feed/ })
  await row.getByText('Missed').waitFor()
  await row.getByText(/^(since|\d in a row, since) /).waitFor()
  await row.getByText('Every 5 minutes').waitFor()
  await row.getByRole('img', { name: /^Last \d+ runs: 8 OK, \d missed$/ }).waitFor()
  const names = () => page.getByRole('rowheader').getByRole('link').allTextContents()
  expect(await names()).toEqual(['price-feed', 'settle-pay', 'import-catalogue, staging'])
  await page
    .getByRole('row', { name: /settle-pay/ })
    .getByText('Every day at 02:30')
    .waitFor()
  await press(page, 'j')
  await eventually(() => page.evaluate('document.activeElement.textContent')).toBe('price-feed')
  await page.getByRole('link', { name: /^Needs attention/ }).click()
  await eventually(names).toEqual(['price-feed', 'settle-pay'])
  expect(new URL(page.url()).searchParams.get('state')).toBe('attention')
  await page.getByRole('button', { name: 'Environment' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'staging' }).click()
  await page.getByRole('heading', { name: 'No monitor needs attention' }).waitFor()
})

test('the page of a monitor says why it is not OK, counts its runs and lists them', async () => {
  const page = await openMonitor('price-feed')
  await page.getByText(/^No check-in at \d\d:\d\d/).waitFor()
  await page.getByText(/The last good run began at/).waitFor()
  await page.getByRole('img', { name: /^\d+ runs, \d not OK, half of them took up to 41/ }).waitFor()
  const runs = page.getByRole('region', { name: 'Runs', exact: true })
  await runs.getByText('no check-in').first().waitFor()
  await page.getByRole('button', { name: /^Missed \d/ }).click()
  await eventually(() => new URL(page.url()).searchParams.get('kind')).toBe('missed')
  await eventually(() => runs.getByText('OK', { exact: true }).count()).toBe(0)
  await page.getByText('No rule watches this monitor', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'curl' }).click()
  await page.getByText(/cron\/price-feed\//).waitFor()
  await expectAccessible(page, 'a monitor')
  await page.getByRole('link', { name: 'New rule' }).click()
  await page.waitForURL(/\/alerts\/rules\/new\?.*trigger=monitor&monitor=price-feed/)
  await eventually(() => page.getByRole('textbox', { name: 'Monitor' }).inputValue()).toBe('price-feed')
})

test('pausing is undone, and a muted monitor says so', async () => {
  const page = await openMonitor(await aMonitor('pausable'))
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('No run is expected', { exact: false }).waitFor()
  await page.getByText('pausable is paused.').waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await eventually(async () => (await page.getByText('No run is expected', { exact: false }).count()) === 0).toBe(true)
  await press(page, 'm')
  await page.getByText('No alert fires.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Unmute' }).waitFor()
})

test('the schedule is edited, which says what replaces it, and undone', async () => {
  const page = await openMonitor(await aMonitor('editable'))
  await press(page, 'e')
  const dialog = page.getByRole('dialog', { name: 'Edit monitor' })
  await dialog.getByText('A check-in that carries a schedule replaces').waitFor()
  await eventually(() => dialog.getByRole('listitem').count()).toBe(5)
  await expectAccessible(page, 'the dialog of a monitor')
  const crontab = dialog.getByRole('textbox', { name: 'Crontab' })
  await crontab.fill('15 2 *')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText('Enter a crontab with five fields.').waitFor()
  await crontab.fill('15 * * * *')
  await eventually(() => dialog.getByRole('listitem').filter({ hasText: ':15' }).count()).toBe(5)
  await dialog.getByRole('textbox', { name: 'Grace in minutes' }).fill('10')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('editable is changed.').waitFor()
  const settings = page.getByRole('region', { name: 'Settings' })
  await settings.getByText('Every hour at :15').waitFor()
  await settings.getByText(/^10\s?min$/).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await settings.getByText('Every day at 02:30').waitFor()
})

test('a monitor is deleted after it is confirmed', async () => {
  const page = await openMonitor(await aMonitor('removable'))
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete monitor…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL(/\/monitors(\?|$)/)
  await page.getByText('removable is deleted.').waitFor()
  await page.getByRole('link', { name: 'price-feed' }).waitFor()
  await eventually(() => page.getByRole('link', { name: 'removable' }).count()).toBe(0)
})

test('a viewer sees what only members may do, and why', async () => {
  const page = await openMonitor('price-feed', viewer)
  for (const name of ['Mute', 'Pause', 'Edit', 'New rule']) {
    const button = page.getByRole('button', { name, exact: true })
    expect(await button.getAttribute('aria-disabled'), name).toBe('true')
    expect(await button.getAttribute('title'), name).toMatch(/member/)
  }
})

test.each(SIZES)('both pages are accessible and fit: %s', async (size) => {
  const page = await dashboard.openAs(team.person, { size })
  for (const [name, address, text] of [
    ['monitors', `/monitors?project=${project.id}`, 'Every 5 minutes'],
    ['monitor', `/monitors/${await idOf('price-feed')}`, 'no check-in'],
  ] as const) {
    await page.goto(address)
    await page.getByText(text).first().waitFor()
    await settled(page)
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
})

async function idOf(slug: string): Promise<string> {
  const { items } = (await team.person.get(`/api/monitors?projectId=${project.id}&limit=100`)).as<{
    items: { id: string; slug: string }[]
  }>()
  return items.find((one) => one.slug === slug)?.id ?? ''
}
