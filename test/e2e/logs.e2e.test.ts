import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { aProject } from '../kit/founder.ts'
import { aRule, fire } from './alerts-world.ts'
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
import { aTeam, testDashboard } from './dashboard.ts'
import { pastLines, writeLines } from './logs-world.ts'
import { pastRuns } from './monitors-world.ts'

/** Logs, trace metrics and the overview. */

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
const project = await aProject(team.person, { name: 'orders-api' })
await pastLines(server, project.id)

const of = `?project=${project.id}`
const rows = (page: Page) => page.getByRole('list', { name: 'Log lines' }).getByRole('listitem')

async function open(address: string, title: string): Promise<Page> {
  const page = await dashboard.openAs(team.person)
  await page.goto(address)
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
  return page
}

test('lines are filtered by level, words and attributes, with the volume and the address', async () => {
  const page = await open(`/logs${of}`, 'Logs')
  await page.getByText('lines in the last hour').first().waitFor()
  await page.getByRole('img', { name: /lines in the last hour, 26 of them errors/ }).waitFor()
  await page.getByRole('checkbox', { name: /^error/ }).check()
  await eventually(() => rows(page).count()).toBe(26)
  await page.getByText('26 of 293 lines in the last hour').waitFor()
  await rows(page)
    .first()
    .getByRole('button', { name: /token exchange refused/ })
    .click()
  await page.getByRole('button', { name: /^Without server.address orders-7d4-/ }).click()
  await eventually(() => new URL(page.url()).searchParams.get('without')).toMatch(/^server\.address=orders-7d4-/)
  await eventually(() => rows(page).count()).toBeLessThan(26)
  await page.getByRole('button', { name: /^Remove filter not server.address/ }).click()
  await page.getByRole('searchbox', { name: 'Search logs' }).fill('refused logger.name=orders.slots')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'No line matches these filters' }).waitFor()
  await page.getByRole('link', { name: 'Clear filters' }).click()
  await eventually(() => rows(page).count()).toBe(100)
  await page.getByRole('button', { name: 'Show more' }).click()
  await eventually(() => rows(page).count()).toBe(200)
})

test('an opened line has its attributes, its trace and the lines around it, by keys too', async () => {
  const page = await open(`/logs${of}&level=error`, 'Logs')
  await rows(page).first().waitFor()
  await press(page, 'j')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'Message' }).getByText('429 Too Many Requests').waitFor()
  const trace = page.getByRole('link', { name: 'Open trace 7c1e4f0a' })
  expect(await trace.getAttribute('href')).toContain('7c1e4f0a7c1e4f0a7c1e4f0a7c1e4f0a')
  await expectAccessible(page, 'an open line')
  await press(page, 'a')
  await page.getByRole('heading', { name: /^Lines around \d\d:\d\d:\d\d\.\d{3}$/ }).waitFor()
  await eventually(() => page.getByText('debug', { exact: true }).count()).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Back to the filters' }).click()
  await eventually(() => rows(page).count()).toBe(26)
})

test('escape codes and markup of a message are text', async () => {
  const page = await open(`/logs${of}&q=not+red`, 'Logs')
  await rows(page).first().getByText('␛[31mnot red␛[0m <img src=x', { exact: false }).waitFor()
  expect(await rows(page).locator('img, script').count()).toBe(0)
  expect(await page.title()).toContain('Logs')
})

test('live tail follows at the top, and holds with a pill when scrolled away', async () => {
  const page = await open(`/logs${of}`, 'Logs')
  await press(page, 'l')
  await page.getByText('Following.', { exact: false }).waitFor()
  await writeLines(
    server,
    project.id,
    Array.from({ length: 60 }, (_, n) => ({ level: 'info' as const, body: `live ${n}`, minutesAgo: 0 })),
  )
  await eventually(() => page.getByText(/^live \d+$/).count()).toBe(60)
  await rows(page).last().scrollIntoViewIfNeeded()
  await page.getByText('Held while you read.', { exact: false }).waitFor()
  await writeLines(server, project.id, [{ level: 'warn', body: 'while away', minutesAgo: 0 }])
  const pill = page.getByRole('button', { name: '1 new line, go to the top' })
  await pill.waitFor()
  expect(await page.getByText('while away').count()).toBe(0)
  await pill.click()
  await page.getByText('while away').waitFor()
})

test('without lines the page says what to do, and when the last one came', async () => {
  const page = await open(`/logs?project=${team.project.id}`, 'Logs')
  await page.getByRole('heading', { name: 'No logs yet' }).waitFor()
  await writeLines(server, team.project.id, [{ level: 'info', body: 'of yesterday', minutesAgo: 1_500 }])
  await page.reload()
  await page.getByText(/^The last line came on /).waitFor()
  await page.getByRole('button', { name: 'Show the last lines' }).click()
  await page.getByText('of yesterday').waitFor()
})

test('the explorer shows a metric by time, by group, and leads to traces', async () => {
  const page = await open(`/trace-metrics${of}`, 'Trace metrics')
  await page
    .getByRole('navigation', { name: 'Metrics' })
    .getByRole('link', { name: /queue\.wait/ })
    .click()
  await page.getByRole('img', { name: /^P95 of queue\.wait: \d+\sms over 900 measurements/u }).waitFor()
  await page.getByRole('combobox', { name: 'Group by' }).selectOption('region')
  const groups = page.getByRole('region', { name: 'Groups' }).first()
  await groups.getByRole('row', { name: /^eu 300 / }).waitFor()
  await page.getByRole('combobox', { name: 'Value to show' }).selectOption('Mean')
  await page.getByRole('img', { name: /^Mean of queue\.wait/ }).waitFor()
  await page.getByRole('link', { name: 'Open trace' }).first().waitFor()
})

test('the overview judges the project, lists what changed, and acknowledges an alert', async () => {
  await server.issue({ project, by: team.person, times: 3, error: 'alpha', level: 'fatal' })
  await pastRuns(server, project.id, 'price-feed', [{ minutesAgo: 12 }, { minutesAgo: 7 }])
  const page = await open(`/overview${of}`, 'orders-api')
  await page
    .getByRole('region', { name: 'Verdict' })
    .getByText(/^(Watch|Poor)\. /)
    .waitFor()
  const rule = await aRule(team.person, { projectId: project.id, name: 'Slow', trigger_type: 'performance_threshold' })
  await fire(server, rule, { title: 'Checkout is slow' })
  const verdict = page.getByRole('region', { name: 'Verdict' })
  await page.reload()
  await verdict.getByText('Poor. 1 alert is firing.').waitFor()
  await page.getByRole('region', { name: 'New and back' }).getByText('alpha').first().waitFor()
  await page.getByRole('region', { name: 'Since yesterday' }).getByRole('link', { name: 'Checkout is slow' }).waitFor()
  await page.getByRole('region', { name: 'Monitors' }).getByRole('link', { name: 'price-feed' }).waitFor()
  // The same figure as on the page of metrics.
  const events = await page.getByRole('region', { name: 'Events', exact: true }).first().textContent()
  expect(events).toMatch(/^Events3/)
  await page.getByRole('button', { name: /^Ack/ }).click()
  await page.getByRole('region', { name: 'Open alerts' }).getByText('Acknowledged').waitFor()
  await eventually(() => verdict.getByText('firing').count()).toBe(0)
})

test('an empty project says how to begin', async () => {
  const empty = await aProject(team.person, { name: 'nothing-yet' })
  const page = await open(`/overview?project=${empty.id}`, 'nothing-yet')
  await page.getByText('Nothing has arrived yet.').waitFor()
  await page.getByRole('link', { name: 'Set up the SDK' }).waitFor()
})

test.each(SIZES)('the pages are accessible and fit: %s', async (size) => {
  const page = await dashboard.openAs(team.person, { size })
  for (const [name, address, text] of [
    ['logs', `/logs${of}&level=error`, 'token exchange refused'],
    ['trace-metrics', `/trace-metrics${of}&name=queue.wait`, 'Open trace'],
    ['overview', `/overview${of}`, 'New and back'],
  ] as const) {
    await page.goto(address)
    await page.getByText(text).first().waitFor()
    await settled(page)
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
})
