import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { summariseTraces } from '#server/telemetry/traces/keep-traces.ts'
import { insertMessage } from '../kit/route-examples.ts'
import { dsnParts } from '../kit/sdk.ts'
import { eventually, expectNoSideScroll, press, visit } from './browser.ts'
import { aTeam, issueRows, testDashboard } from './dashboard.ts'
import { writeLines } from './logs-world.ts'
import { pastRuns } from './monitors-world.ts'

/** Pages with odd texts: long, foreign, hostile; with nothing at all; and with an answer that fails. */

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
const SCRIPT = `<script>window.__ran=1</script><img src=x onerror="window.__ran=1">`
const odd = await server.project(team.person, { name: `${SCRIPT.slice(0, 40)} שלום 👩‍👩‍👧` })
const long = `${SCRIPT}\u202e${'مرحبا'.repeat(400)}${'x'.repeat(4_000)}`
const release = `shop@${SCRIPT.replaceAll('/', '-')}${'9'.repeat(300)}`.slice(0, 200)
const [trace, root] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')]

async function send(type: string, payload: object): Promise<void> {
  const { key, projectNumber } = dsnParts(odd.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n${JSON.stringify({ type })}\n${JSON.stringify(payload)}\n`,
  })
  expect(answer.status).toBe(200)
}

const end = Date.now() / 1_000 - 60
await send('transaction', {
  type: 'transaction',
  transaction: long,
  transaction_info: { source: 'route' },
  release,
  tags: { [SCRIPT.slice(0, 30)]: long.slice(0, 200) },
  start_timestamp: end - 1,
  timestamp: end,
  contexts: { trace: { trace_id: trace, span_id: root, op: 'http.server', status: 'internal_error' } },
  spans: ['db', 'http.client', 'cache.get', SCRIPT].map((op) => ({
    trace_id: trace,
    span_id: randomBytes(8).toString('hex'),
    parent_span_id: root,
    op,
    description: long,
    data: { [SCRIPT]: long },
    start_timestamp: end - 0.9,
    timestamp: end - 0.1,
  })),
})
await server.event({
  project: odd,
  error: 'Odd',
  release,
  exception: { values: [{ type: SCRIPT, value: long }] },
  contexts: { trace: { trace_id: trace, span_id: root } },
})
await writeLines(server, odd.id, [
  { level: 'fatal', body: long, minutesAgo: 1, attributes: { [SCRIPT]: { value: long, type: 'string' } } },
])
await pastRuns(server, odd.id, SCRIPT.slice(0, 50), [{ minutesAgo: 9 }, { minutesAgo: 4, status: 'error', release }])
await insertMessage(server.app, odd.id, { message: long, name: SCRIPT, email: 'eve@example.org', url: SCRIPT, release })
await summariseTraces(server.app)

const NEW_PAGES = ['overview', 'logs', 'trace-metrics', 'traces', 'performance', 'metrics', 'monitors', 'feedback']

test('no text of an app runs, and none widens a phone', async () => {
  const page = await dashboard.openAs(team.person, { size: 'phone' })
  await page.goto('/issues')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const path of NEW_PAGES.filter((name) => name !== 'feedback').map(
    (name) => `/${name}?project=${odd.id}&range=24h`,
  )) {
    await visit(page, path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectNoSideScroll(page, path.slice(0, 60))
    expect(await page.evaluate('window.__ran ?? 0'), path.slice(0, 60)).toBe(0)
  }
})

test('without any data each page says so, and a call that fails leaves the rest of the page', async () => {
  const empty = await server.project(team.person)
  const page = await dashboard.openAs(team.person)
  await page.goto('/issues')
  await page.getByRole('heading', { level: 1 }).waitFor()
  for (const name of NEW_PAGES) {
    await visit(page, `/${name}?project=${empty.id}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    expect(await page.getByText('NaN').count(), name).toBe(0)
  }
  // The first organisation operates the installation.
  const gauge = page.getByRole('link', { name: /0 dropped in 24 h/ })
  await gauge.waitFor()
  expect(await gauge.getAttribute('href')).toBe('/operator')
  const failing = (url: URL) => url.pathname === '/api/releases'
  await page.route(failing, (route) => route.fulfill({ status: 500, json: { error: 'Internal error' } }))
  await visit(page, `/overview?project=${odd.id}&range=24h`)
  await page.getByRole('heading', { name: 'New and back' }).waitFor()
  const retry = page.getByRole('button', { name: /^Try again/ }).first()
  await retry.waitFor()
  await page.unroute(failing)
  await retry.click()
  await page.getByRole('heading', { name: 'Releases', exact: true }).waitFor()
  await page.getByRole('heading', { name: 'Releases did not load' }).waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'All', exact: true }).first().waitFor()
})

test.each([-1, 1])('a browser whose clock is %s day off shows times by the clock of the service', async (days) => {
  const page = await dashboard.openAs(team.person, { fresh: true })
  await page.clock.setSystemTime(Date.now() + days * 86_400_000)
  await page.goto(`/issues?project=${odd.id}`)
  await issueRows(page).first().waitFor()
  const shown = issueRows(page).first().locator('time').last()
  await eventually(() => shown.textContent()).toMatch(/^(now|\d+\s(s|min))$/)
  // The tail asks from the present on: by a clock that is ahead, it would show nothing.
  await visit(page, `/logs?project=${odd.id}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  const body = `line of day ${days}`
  await press(page, 'l')
  await page.getByText('Following.', { exact: false }).waitFor()
  await writeLines(server, odd.id, [{ level: 'info', body, minutesAgo: 0 }])
  await page.getByText(body).first().waitFor()
})
