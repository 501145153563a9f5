import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { summariseTraces } from '#server/telemetry/traces/keep-traces.ts'
import type { TestProject } from '../kit/founder.ts'
import { dsnParts } from '../kit/sdk.ts'
import {
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  SIZES,
  until,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
const storefront = await server.project(team.person, { name: 'storefront' })
const id = (bytes: number): string => randomBytes(bytes).toString('hex')

const SPANS: readonly (readonly [op: string, description: string, fromMs: number, ms: number, below?: number])[] = [
  ['middleware', 'session', 0, 3],
  ['db.query', 'select * from carts where id = $1', 4, 31],
  ['function', 'price the cart and apply every discount that the customer may have', 36, 240],
  ['db.query', 'select * from discounts', 40, 80, 2],
  ['cache.get', 'discounts:7', 39, 0.4, 2],
  ['http.client', 'POST https://payments.example/charges', 280, 610],
  ['template.render', 'checkout.html', 895, 40],
]

/** A checkout from a browser whose payment fails in the service, the error and a log line. */
async function aFailedCheckout(): Promise<string> {
  const trace = id(16)
  const root = id(8)
  const ids = SPANS.map(() => id(8))
  const start = Date.now() / 1_000 - 2
  const spans = SPANS.map(([op, description, from, ms, below], index) => ({
    trace_id: trace,
    span_id: ids[index],
    parent_span_id: below === undefined ? root : ids[below],
    op,
    description,
    start_timestamp: start + from / 1_000,
    timestamp: start + (from + ms) / 1_000,
    status: op === 'http.client' ? 'internal_error' : 'ok',
    data: op === 'http.client' ? { 'http.request.method': 'POST', 'http.response.status_code': 502 } : {},
  }))
  const send = async (project: TestProject, type: string, payload: object, header: object = {}): Promise<void> => {
    const { key, projectNumber } = dsnParts(project.dsn)
    const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
      method: 'POST',
      body: `{}\n${JSON.stringify({ type, ...header })}\n${JSON.stringify(payload)}\n`,
    })
    expect(answer.status).toBe(200)
  }
  const [page, fetched] = [id(8), id(8)]
  await send(storefront, 'transaction', {
    type: 'transaction',
    transaction: 'Pay now',
    release: 'shop@2.0.0',
    tags: { plan: 'gold' },
    start_timestamp: start - 0.06,
    timestamp: start + 1.1,
    contexts: { trace: { trace_id: trace, span_id: page, op: 'ui.click' } },
    spans: [
      {
        trace_id: trace,
        span_id: fetched,
        parent_span_id: page,
        op: 'http.client',
        description: 'POST /checkout',
        start_timestamp: start - 0.04,
        timestamp: start + 1,
      },
    ],
  })
  // The clock of the service is a minute ahead.
  const ahead = 60
  await send(team.project, 'transaction', {
    type: 'transaction',
    transaction: 'POST /checkout',
    start_timestamp: start + ahead,
    timestamp: start + 0.94 + ahead,
    contexts: {
      trace: { trace_id: trace, span_id: root, parent_span_id: fetched, op: 'http.server', status: 'internal_error' },
    },
    spans: spans.map((one) => ({
      ...one,
      start_timestamp: one.start_timestamp + ahead,
      timestamp: one.timestamp + ahead,
    })),
  })
  const line = { timestamp: start + 0.5, trace_id: trace, span_id: ids[5], level: 'warn', body: 'charge: retry 1 of 2' }
  const logs = { item_count: 1, content_type: 'application/vnd.sentry.items.log+json' }
  await send(storefront, 'log', { items: [line] }, logs)
  await server.event({
    project: team.project,
    error: 'Payment',
    contexts: { trace: { trace_id: trace, span_id: ids[5] } },
  })
  await server.service.drain()
  await summariseTraces(server.app)
  return trace
}

const trace = await aFailedCheckout()

test('an issue leads to its trace across projects, which leads back to the issue', async () => {
  const page = await dashboard.openAs(team.person)
  const [issue] = await server.issues(team.person)
  await page.goto(`/issues/${issue?.id}`)
  await page.getByRole('link', { name: 'Open trace' }).click()
  await page.waitForURL(`**/traces/${trace}`)
  await page.getByRole('heading', { name: /^Pay now/, level: 1 }).waitFor()
  const rail = (name: string) => page.getByRole('navigation', { name }).locator('[aria-current="page"]')
  expect(await rail('Main').allTextContents()).toEqual(['Traces'])
  const waterfall = page.getByRole('region', { name: 'Waterfall' })
  expect(await waterfall.getByRole('listitem').count()).toBe(12)
  await page.getByText(/^The clock of .* was 60.s ahead\. Its times are moved to fit\.$/).waitFor()
  await waterfall.getByText('charge: retry 1 of 2').waitFor()
  await page.getByText(/Faultline decides shortly whether to keep it/).waitFor()

  await waterfall.getByRole('link', { name: /POST https:\/\/payments/ }).click()
  const detail = page.getByRole('region', { name: 'POST https://payments.example/charges' })
  await detail.getByText('http.response.status_code').waitFor()
  await page.waitForURL(/\?span=[0-9a-f]{16}$/)
  await expectAccessible(page, 'a trace with a span')
  await press(page, 'z')
  await page.getByRole('button', { name: 'Show all' }).click()
  await waterfall.getByRole('searchbox', { name: 'Find in this trace' }).fill('discounts:7')
  await until('only the found span and its callers', async () => (await waterfall.getByRole('listitem').count()) === 5)
  await waterfall.getByRole('searchbox').fill('')
  await waterfall
    .getByRole('link', { name: /Payment/ })
    .first()
    .click()
  await page.waitForURL(`**/issues/${issue?.id}*`)
})

test('the list of traces is filtered by facets and tags, and a pasted trace ID opens its trace', async () => {
  const page = await dashboard.openAs(team.person)
  await page.goto('/traces')
  const row = page.getByRole('row', { name: /Pay now/ })
  await row.waitFor()
  await page.getByRole('img', { name: 'Duration and time of each trace' }).waitFor()
  await page.getByRole('group', { name: 'Status' }).getByRole('checkbox', { name: /error/ }).check()
  await page.waitForURL('**/traces?result=error')
  await page.getByRole('textbox', { name: 'Add tag' }).fill('plan:tin')
  await page.keyboard.press('Enter')
  await page.getByText('No trace matches these filters').waitFor()
  await page.getByRole('link', { name: 'Remove Tag plan:tin' }).click()
  await row.waitFor()
  const field = page.getByRole('searchbox', { name: 'Search traces' })
  await field.fill(trace.toUpperCase())
  await field.press('Enter')
  await page.waitForURL(`**/traces/${trace}`)
})

test('says so when a trace was not kept; an address from before leads to the trace', async () => {
  const page = await dashboard.openAs(team.person)
  const missing = id(16)
  await page.goto(`/projects/${team.project.id}/traces/${missing}`)
  await page.getByRole('heading', { name: 'This trace is not stored' }).waitFor()
  await page.waitForURL(`**/traces/${missing}`)
  await expectAccessible(page, 'a missing trace')
})

test.each(SIZES)('is accessible and fits: %s', async (width) => {
  const page = await dashboard.openAs(team.person, { size: width })
  for (const [name, address, heading] of [
    ['trace', `/traces/${trace}`, /^Pay now/],
    ['traces', '/traces', 'Traces'],
  ] as const) {
    await page.goto(address)
    await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
    await expectAccessibleInThemes(page, `${name}, ${width}`)
    await expectNoSideScroll(page, `${name}, ${width}`)
    await screenshot(page, `${name}-${width}`)
  }
})
