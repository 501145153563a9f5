import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { dsnParts } from '../kit/sdk.ts'
import { expectAccessible, expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
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

/** A checkout whose payment fails, and the error. */
async function aFailedCheckout(): Promise<string> {
  const { key, projectNumber } = dsnParts(team.project.dsn)
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
  const transaction = {
    type: 'transaction',
    transaction: 'POST /checkout',
    start_timestamp: start,
    timestamp: start + 0.94,
    contexts: { trace: { trace_id: trace, span_id: root, op: 'http.server', status: 'internal_error' } },
    spans,
  }
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n{"type":"transaction"}\n${JSON.stringify(transaction)}\n`,
  })
  expect(answer.status).toBe(200)
  await server.event({
    project: team.project,
    error: 'Payment',
    contexts: { trace: { trace_id: trace, span_id: ids[5] } },
  })
  return trace
}

const trace = await aFailedCheckout()

test('an issue leads to the waterfall of its trace, which leads back to the issue', async () => {
  const page = await dashboard.openAs(team.person)
  const [issue] = await server.issues(team.person)
  await page.goto(`/issues/${issue?.id}`)
  await page.getByRole('link', { name: 'Open trace' }).click()
  await page.waitForURL(`**/projects/${team.project.id}/traces/${trace}`)
  await page.getByRole('heading', { name: 'POST /checkout', level: 1 }).waitFor()
  const rail = (name: string) => page.getByRole('navigation', { name }).locator('[aria-current="page"]')
  expect(await rail('Main').allTextContents()).toEqual(['Performance'])
  expect(await rail('Settings').count()).toBe(0)
  const waterfall = page.getByRole('region', { name: 'Waterfall' })
  const payment = waterfall.getByRole('button', { name: 'http.client POST https://payments.example/charges Failed' })
  await payment.click()
  await waterfall.getByText('http.response.status_code').waitFor()
  await page.getByText('Arrived in the last few minutes. Faultline decides shortly whether to keep it.').waitFor()
  await expectAccessible(page, 'a trace')
  await page.getByRole('region', { name: 'Errors in this trace' }).getByRole('link').click()
  await page.waitForURL(`**/issues/${issue?.id}*`)
})

test('says so when a trace was not kept', async () => {
  const page = await dashboard.openAs(team.person)
  await page.goto(`/projects/${team.project.id}/traces/${id(16)}`)
  await page.getByRole('heading', { name: 'This trace is not stored' }).waitFor()
  await expectAccessible(page, 'a missing trace')
})

test.each(SIZES)('is accessible and fits: %s', async (width) => {
  const page = await dashboard.openAs(team.person, { size: width })
  await page.goto(`/projects/${team.project.id}/traces/${trace}`)
  await page.getByRole('heading', { name: 'POST /checkout', level: 1 }).waitFor()
  await expectAccessibleInThemes(page, `a trace, ${width}`)
  await expectNoSideScroll(page, `a trace, ${width}`)
  await screenshot(page, `trace-${width}`)
})
