import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { recordSessions, type ReceivedSession } from '#server/telemetry/app-health/record-sessions.ts'
import { anAttribute, countsFact } from '#server/telemetry/app-health/sessions.fixture.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { anEvent } from '../kit/sdk.ts'
import {
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  SIZES,
  until,
  type WidthName,
  visit,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'
import { layoutFaultsAt, LAYOUT_WIDTHS } from './layout.ts'

const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard
const HOUR_MS = 3_600_000
const NAME = 'com.meadowlark.shopper'

/** Releases of a month, each replacing the one before; the newest is eight hours old and crashes. */
const RELEASES = [
  { version: `${NAME}@4.10.6+41006`, daysAgo: 39, crashes: 0.0042 },
  { version: `${NAME}@4.11.0+41100`, daysAgo: 23, crashes: 0.0039 },
  { version: `${NAME}@4.11.2+41102`, daysAgo: 17, crashes: 0.0035 },
  { version: `${NAME}@4.11.3+41103`, daysAgo: 10, crashes: 0.0033 },
  { version: `${NAME}@4.12.0+41200`, daysAgo: 0.33, crashes: 0.0082 },
]

async function aRollout() {
  const person = await aFounder(server.url)
  const project = await aProject(person, { name: 'shopper-android', platform: 'android' })
  const now = Date.now()
  const ids: string[] = []
  for (const { version, daysAgo } of RELEASES) {
    const released = new Date(now - daysAgo * 24 * HOUR_MS).toISOString()
    const answer = await person.post('/api/releases', { projectId: project.id, version, released_at: released })
    expect(answer.status).toBe(201)
    ids.push(String(answer.body['id']))
  }
  const facts: ReceivedSession[] = []
  // Whole crashes: the rest of one hour is added to the next.
  const due = RELEASES.map(() => 0)
  for (let hoursAgo = 30 * 24; hoursAgo >= 0; hoursAgo--) {
    const ages = RELEASES.map(({ daysAgo }) => daysAgo * 24 - hoursAgo)
    // Adoption of each release: half of the users update within three days.
    const reach = ages.map((age, index) =>
      index === 0 ? 1 : age <= 0 ? 0 : 0.97 / (1 + Math.exp((80 - age * 1.2) / 14)),
    )
    if (ages[4] !== undefined && ages[4] > 0) reach[4] = Math.min(0.45, ages[4] * 0.055)
    for (const [index, { version, crashes }] of RELEASES.entries()) {
      const left = reach.slice(index + 1).reduce((rest, share) => rest * (1 - share), 1)
      const sessions = Math.round((reach[index] ?? 0) * left * (4_000 + 900 * Math.sin(hoursAgo / 3.8)))
      const crash = (due[index] ?? 0) + sessions * crashes * (1 + 0.2 * Math.sin(hoursAgo))
      const crashed = Math.min(sessions, Math.floor(crash))
      due[index] = crash - crashed
      if (sessions === 0) continue
      facts.push(
        countsFact(
          project.id,
          [{ startedAt: now - hoursAgo * HOUR_MS, exited: sessions - crashed, crashed }],
          anAttribute({
            release: version,
            environment: hoursAgo % 40 === 7 ? 'staging' : 'production',
            device: ['Pixel 7a', 'SM-A125F', null][hoursAgo % 3] ?? null,
          }),
        ),
      )
    }
  }
  await server.app.tx((tx) => recordSessions(tx, new Date(now), facts))
  const newest = ids.at(-1) ?? ''
  await person.post(`/api/releases/${newest}/commits`, {
    commits: [
      {
        id: '9f2c1d07be',
        message: 'Pay once, however often the button is pressed\n\nFixes the till.',
        author_name: 'Ines K.',
        timestamp: new Date(now - 12 * HOUR_MS).toISOString(),
      },
      {
        id: '51aa0c3f22',
        message: 'Checkout: keep the fragment while the sheet is open',
        author_name: 'Tom B.',
        timestamp: new Date(now - 30 * HOUR_MS).toISOString(),
      },
      { id: 'c0ffee0042', message: null },
    ],
  })
  await person.post(`/api/releases/${newest}/deploys`, {
    environment: 'production',
    name: '20 %',
    started_at: new Date(now - 8.2 * HOUR_MS).toISOString(),
    finished_at: new Date(now - 8 * HOUR_MS).toISOString(),
  })
  await person.post(`/api/releases/${newest}/deploys`, { environment: 'staging' })
  const error = (type: string, release: string) =>
    anEvent({
      platform: 'android',
      release,
      error: { type, value: 'Fragment not attached to a context' },
    })
  const old = RELEASES[3]?.version ?? ''
  const newestVersion = RELEASES[4]?.version ?? ''
  await server.event({ project, ...error('IllegalStateException', old) })
  await server.event({ project, ...error('SlotPickerError', newestVersion) })
  const issuesOf = async () =>
    (await person.get(`/api/issues?projectId=${project.id}&sort=first_seen`)).as<{
      items: { id: string; type: string; status: string }[]
    }>().items
  await until('both issues', async () => (await issuesOf()).length === 2)
  const came = (await issuesOf()).find((issue) => issue.type === 'IllegalStateException')
  await person.patch(`/api/issues/${came?.id}`, { status: 'resolved', resolution: { in_release: newestVersion } })
  await server.event({ project, ...error('IllegalStateException', newestVersion) })
  await until('the regression', async () => (await issuesOf()).some((issue) => issue.status === 'regressed'))
  return { person, project, newest }
}

const rollout = await aRollout()
const address = `/releases?project=${rollout.project.id}`

test('shows the verdict of the rollout and its reasons', async () => {
  const page = await dashboard.openAs(rollout.person)
  await page.goto('/issues')
  await page.getByRole('link', { name: 'Releases' }).click()
  await page.waitForURL(`**${address}*`)
  await page.getByRole('heading', { name: 'Releases', level: 1 }).waitFor()
  const row = page.getByRole('row', { name: /4\.12\.0/ })
  await row.getByText('Hold rollout').waitFor()
  await row.getByText('build 41200').waitFor()
  await settled(page)
  expect(await row.textContent()).toMatch(/−0\.\d\d/)
  await page
    .getByRole('row', { name: /4\.11\.3/ })
    .getByText('Healthy')
    .waitFor()
  await page.getByRole('img', { name: /^Share of sessions per release\. The newest, 4\.12\.0, has/ }).waitFor()
  await page
    .getByRole('img', { name: /^Crash-free sessions since each release: 4\.12\.0 at 99\.\d+.% after/ })
    .waitFor()

  // A chart is read with the arrow keys, and as a table.
  const reader = page.getByRole('slider').first()
  await reader.focus()
  await reader.press('ArrowLeft')
  await settled(page)
  expect(await reader.getAttribute('aria-valuetext')).toMatch(/: 4\.12\.0 \d+.%, 4\.11\.3 \d+.%/)
  await page.getByText('View as table').first().click()
  await page.getByRole('columnheader', { name: 'Release' }).first().waitFor()

  // Each environment has its own address.
  await page.getByRole('button', { name: 'All environments' }).click()
  await page
    .getByRole('menuitemcheckbox', { name: 'staging' })
    .or(page.getByRole('menuitem', { name: 'staging' }))
    .or(page.getByRole('menuitemradio', { name: 'staging' }))
    .first()
    .click()
  await page.waitForURL('**environment=staging*')
  await row.getByText('Too early').or(row.getByText('No sessions')).waitFor()
})

test('a release: reasons, issues, commits, deploys; archived and restored', async () => {
  const page = await dashboard.openAs(rollout.person)
  await page.goto(address)
  await page.getByRole('link', { name: '4.12.0' }).click()
  await page.waitForURL(`**/releases/${rollout.newest}*`)
  await page.getByRole('heading', { name: '4.12.0', level: 1 }).waitFor()
  await page
    .getByText(/Crash-free sessions fell by 0\.\d\d points compared with com\.meadowlark\.shopper@4\.11\.3/)
    .waitFor()
  const issues = page.getByRole('region', { name: 'Issues' })
  await issues.getByText('SlotPickerError').waitFor()
  await issues.getByText('IllegalStateException').waitFor()
  const devices = page.getByRole('region', { name: 'Devices' })
  await devices.getByRole('row', { name: /Pixel 7a/ }).waitFor()
  const commits = page.getByRole('region', { name: 'Commits' })
  await commits.getByText('Pay once, however often the button is pressed', { exact: false }).waitFor()
  await page.getByRole('region', { name: 'Deploys' }).getByText('staging').waitFor()
  await page.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Restore' }).click()
  await page.getByRole('button', { name: 'Archive' }).waitFor()
  await issues.getByRole('link', { name: /SlotPickerError/ }).click()
  await page.waitForURL('**/issues/*')
})

test('created by hand with N: an invalid name, an existing one, a new one', async () => {
  const page = await dashboard.openAs(rollout.person)
  await page.goto(address)
  await page.getByRole('row', { name: /4\.12\.0/ }).waitFor()
  await press(page, 'n')
  const dialog = page.getByRole('dialog', { name: 'Create release' })
  await dialog.getByLabel('Version').fill('latest')
  await dialog.getByRole('button', { name: 'Create release' }).click()
  await dialog.getByText('Enter 1 to 200 characters.').waitFor()
  await dialog.getByLabel('Version').fill(RELEASES[0]?.version ?? '')
  await dialog.getByRole('button', { name: 'Create release' }).click()
  await dialog.getByText(/The project already has a release .*\./).waitFor()
  await dialog.getByLabel('Version').fill('5.0.0')
  await dialog.getByLabel('Version').press('Enter')
  await page.getByRole('heading', { name: '5.0.0', level: 1 }).waitFor()
  await page.getByText('No event or session has arrived yet.').waitFor()
})

test('changes by other members and new data appear without a reload', async () => {
  const { person, project } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto(`/releases?project=${project.id}`)
  await page.getByText('Live', { exact: true }).waitFor()
  const made = await person.post('/api/releases', { projectId: project.id, version: '7.0.0' })
  await page.getByRole('row', { name: /7\.0\.0/ }).waitFor()
  await server.event({ project, release: '7.1.0' })
  await page.getByRole('row', { name: /7\.1\.0/ }).waitFor()
  await page.getByRole('link', { name: '7.0.0' }).click()
  const deploys = page.getByRole('region', { name: 'Deploys' })
  await deploys.waitFor()
  await person.post(`/api/releases/${String(made.body['id'])}/deploys`, { environment: 'canary' })
  await deploys.getByText('canary').waitFor()
})

async function judge(page: Page, name: string, size: WidthName): Promise<void> {
  await expectAccessibleInThemes(page, `${name}, ${size}`)
  await expectNoSideScroll(page, `${name}, ${size}`)
  await screenshot(page, `${name}-${size}`)
}

test.each(SIZES)('the pages are accessible and fit: %s', async (size) => {
  const page = await dashboard.openAs(rollout.person, { size })
  await page.goto(address)
  await page.getByRole('row', { name: /4\.12\.0/ }).waitFor()
  await page.getByRole('img', { name: /^Share of sessions/ }).waitFor()
  await judge(page, 'releases', size)
  await page.getByRole('button', { name: 'Create release' }).click()
  await page.getByRole('dialog', { name: 'Create release' }).waitFor()
  await judge(page, 'releases-create', size)
  await press(page, 'Escape')
  await visit(page, `/releases/${rollout.newest}`)
  await page.getByRole('heading', { name: 'Commits' }).waitFor()
  await judge(page, 'release', size)
  await screenshot(page, `release-whole-${size}`, { fullPage: true })
})

test.each(SIZES)('without releases there is a line to copy: %s', async (size) => {
  const team = await aTeam(server)
  const page = await dashboard.openAs(team.person, { size })
  await page.goto('/releases')
  await page.getByText('No releases yet').waitFor()
  await page.getByText("Sentry.init({ dsn, release: 'shopper-web@1.0.0' })").waitFor()
  await judge(page, 'releases-empty', size)
})

test.each(['desk', 'phone'] as const)('a name of 200 characters does not widen the page: %s', async (size) => {
  const project = await aProject(rollout.person, { name: `long-${size}`, platform: 'web' })
  const version = `<b>${'x'.repeat(196)}`.slice(0, 199).replace('/', '') + size.slice(0, 1)
  const made = await rollout.person.post('/api/releases', {
    projectId: project.id,
    version,
    ref: 'y'.repeat(250),
    url: `https://example.com/${'z'.repeat(300)}`,
    commits: [{ id: 'c'.repeat(128), message: 'm'.repeat(400), author_name: 'a'.repeat(200) }],
  })
  await rollout.person.post(`/api/releases/${String(made.body['id'])}/deploys`, {
    environment: 'e'.repeat(64),
    name: 'n'.repeat(200),
  })
  const page = await dashboard.openAs(rollout.person, { size })
  for (const path of [`/releases?project=${project.id}`, `/releases/${String(made.body['id'])}`]) {
    await page.goto(path)
    await page.getByText(version.slice(0, 20)).first().waitFor()
    await expectNoSideScroll(page, path)
    await screenshot(page, `release-long-${path.includes('?') ? 'list' : 'one'}-${size}`, { fullPage: true })
  }
})

test('at 320 pixels no page scrolls sideways', async () => {
  const page = await dashboard.openAs(rollout.person)
  await page.setViewportSize({ width: 320, height: 700 })
  for (const path of [address, `/releases/${rollout.newest}`]) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.getByText('4.12.0').first().waitFor()
    await expectNoSideScroll(page, `${path} at 320`)
  }
})

/** Sends what a command for a terminal says, with a commit for `git rev-parse HEAD`. */
async function runCommand(person: Awaited<ReturnType<typeof aTeam>>['person'], command: string): Promise<void> {
  const [, body = ''] = /-d '(.*)' \\\n/.exec(command) ?? []
  const address = command.trim().split(/\s+/).at(-1) ?? ''
  const sent: unknown = JSON.parse(body.replace(`'"$(git rev-parse HEAD)"'`, 'c0ffee00'.repeat(5)))
  expect(new URL(address).origin).toBe(server.url)
  const answer = await person.post(new URL(address).pathname, sent)
  expect(answer.status, command).toBeLessThan(300)
}

test('empty states give commands that work; issues of a release are rows as in the stream', async () => {
  const { person, project } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto(`/releases?project=${project.id}`)
  const create = page.getByRole('region', { name: 'Before release, from your pipeline' })
  await runCommand(person, (await create.textContent()) ?? '')
  await page.reload()
  await page.getByRole('row', { name: /1\.0\.0/ }).waitFor()

  const made = await person.post('/api/releases', { projectId: project.id, version: '2.0.0' })
  await page.goto(`/releases/${String(made.body['id'])}`)
  for (const [name, shown] of [
    ['Commits', 'c0ffee00'],
    ['Deploys', 'production'],
  ] as const) {
    const card = page.getByRole('region', { name, exact: true })
    await runCommand(person, (await card.getByRole('region', { name: 'From your pipeline' }).textContent()) ?? '')
    await page.reload()
    await card.getByText(shown).waitFor()
  }

  const rows = await dashboard.openAs(rollout.person)
  await rows.goto(`/releases/${rollout.newest}`)
  const issue = rows
    .getByRole('region', { name: 'Issues' })
    .getByRole('listitem')
    .filter({ hasText: 'SlotPickerError' })
  await issue.getByRole('img', { name: /in the last 24 hours/ }).waitFor()
  await issue.getByText('event', { exact: true }).waitFor()
})

test('nothing overlaps or is cut off at any width, charts included: the list and a release', async () => {
  const faults: string[] = []
  const page = await dashboard.openAs(rollout.person)
  for (const path of [address, `/releases/${rollout.newest}`]) {
    await page.goto(path)
    await page.getByRole('img', { name: /Crash-free sessions since/ }).waitFor()
    await settled(page)
    for (const width of [320, ...LAYOUT_WIDTHS]) {
      await page.setViewportSize({ width, height: 900 })
      faults.push(...(await layoutFaultsAt(page, `${path} at ${width}`)))
      await screenshot(page, `layout-release${path === address ? 's' : ''}-${width}`, { fullPage: true })
    }
  }
  expect(faults).toEqual([])
})
