import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { aProject, type TestProject } from '../kit/founder.ts'
import { dsnParts } from '../kit/sdk.ts'
import { expectAccessible, expectAccessibleInThemes, expectNoSideScroll, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
const id = (bytes: number): string => randomBytes(bytes).toString('hex')

async function send(project: TestProject, fields: object): Promise<void> {
  const { key, projectNumber } = dsnParts(project.dsn)
  const answer = await fetch(`${server.url}/api/${projectNumber}/envelope/?sentry_key=${key}`, {
    method: 'POST',
    body: `{}\n{"type":"transaction"}\n${JSON.stringify({ type: 'transaction', ...fields })}\n`,
  })
  expect(answer.status).toBe(200)
  await answer.text()
}

/** A server: 30 checkouts, every tenth of which fails, with two queries, a payment and a cache each. */
async function aServer(): Promise<{ project: TestProject; trace: string }> {
  const project = await aProject(team.person, { name: 'orders-api' })
  let trace = ''
  for (let index = 0; index < 30; index++) {
    trace = id(16)
    const [root, end] = [id(8), Date.now() / 1_000 - 60 - index]
    const start = end - (100 + index * 10) / 1_000
    const span = (op: string, description: string, fromMs: number, ms: number, data: object = {}) => ({
      trace_id: trace,
      span_id: id(8),
      parent_span_id: root,
      op,
      description,
      data,
      start_timestamp: start + fromMs / 1_000,
      timestamp: start + (fromMs + ms) / 1_000,
    })
    await send(project, {
      transaction: 'POST /v2/checkout/{id}',
      transaction_info: { source: 'route' },
      user: { id: `u${index % 7}` },
      release: index < 15 ? 'orders@1.1.0' : 'orders@1.0.0',
      start_timestamp: start,
      timestamp: end,
      contexts: {
        trace: {
          trace_id: trace,
          span_id: root,
          op: 'http.server',
          status: index % 10 === 0 ? 'internal_error' : 'ok',
        },
      },
      spans: [
        span('db', `SELECT * FROM carts WHERE id = ${index}`, 1, 20),
        span('db', `SELECT * FROM carts WHERE id = ${index + 1}`, 22, 20),
        span('http.client', 'POST https://pay.example/v1/charges', 45, 40),
        span('cache.get', 'basket:12', 86, 1, { 'cache.hit': index % 2 === 0 }),
      ],
    })
  }
  await server.event({ project, error: 'Stock', contexts: { trace: { trace_id: trace, span_id: id(8) } } })
  return { project, trace }
}

/** A page in browsers: of 25 views 20 are good, 3 need work and 2 are poor. */
async function aWebsite(): Promise<TestProject> {
  const project = await aProject(team.person, { name: 'storefront' })
  for (let index = 0; index < 25; index++) {
    const end = Date.now() / 1_000 - 60 - index
    const lcp = index < 20 ? 1_200 : index < 23 ? 3_000 : 6_000
    await send(project, {
      platform: 'javascript',
      transaction: '/basket',
      transaction_info: { source: 'route' },
      start_timestamp: end - lcp / 1_000,
      timestamp: end,
      measurements: { lcp: { value: lcp, unit: 'millisecond' }, cls: { value: 0.02 } },
      contexts: { trace: { trace_id: id(16), span_id: id(8), op: 'pageload' } },
    })
  }
  return project
}

const { project, trace } = await aServer()
const website = await aWebsite()

const open = async (path: string): Promise<Page> => {
  const page = await dashboard.openAs(team.person)
  await page.goto(path)
  return page
}

test('a server has requests instead of starts, and leads from a transaction to a trace and an issue', async () => {
  const page = await open(`/performance?project=${project.id}&range=24h`)
  await page.getByRole('heading', { name: 'Transactions' }).waitFor()
  const figures = page.getByRole('group', { name: 'Headline figures' })
  await figures.getByText('30 requests').waitFor()
  await figures.getByText('10.00\u202f%').waitFor()
  await figures.getByText('3 failed').waitFor()
  const tabs = page.getByRole('navigation', { name: 'Performance' })
  expect(await tabs.getByRole('link').allTextContents()).toEqual(['Overview', 'Pages and transactions'])
  const query = page.getByRole('row', { name: 'SELECT * FROM carts WHERE id = ?' })
  expect(await query.getByRole('cell').allTextContents()).toEqual(
    expect.arrayContaining(['60', '2', '20\u202fms', '1.20\u202fs']),
  )
  // Counted from every span: no stored traces are named.
  expect(await page.getByText(/stored traces/).count()).toBe(0)
  await page.getByRole('row', { name: 'basket:*' }).getByText('50.00\u202f%').waitFor()
  expect(await page.getByRole('heading', { name: 'Queues' }).count()).toBe(0)
  await expectAccessibleInThemes(page, 'performance of a server')
  await screenshot(page, 'performance-server', { fullPage: true })

  await page.getByRole('link', { name: 'POST /v2/checkout/{id}' }).first().click()
  await page.getByRole('heading', { name: 'POST /v2/checkout/{id}', level: 2 }).waitFor()
  await page.getByRole('heading', { name: 'Where the time goes' }).waitFor()
  await page.getByRole('row', { name: 'pay.example' }).getByText('40\u202fms').waitFor()
  await page.getByRole('row', { name: '1.1.0' }).waitFor()
  expect(await page.getByRole('group', { name: 'Headline figures' }).textContent()).toContain('Users7')
  await expectAccessibleInThemes(page, 'transaction')
  await screenshot(page, 'performance-transaction', { fullPage: true })
  // The address alone shows the same page.
  await page.reload()
  await page.getByRole('link', { name: /With an error/ }).click()
  await page.waitForURL(`**/traces/${trace}`)
  await page.goBack()
  await page.getByRole('link', { name: /Stock/ }).click()
  await page.waitForURL('**/issues/*')
})

test('the metrics of a server are errors among its requests', async () => {
  const page = await open(`/metrics?project=${project.id}&range=24h`)
  const rate = page.getByRole('region', { name: 'Errors per 1,000 requests' }).first()
  // One error of 30 requests.
  await rate.getByText('33.3').first().waitFor()
  await page.getByRole('region', { name: 'Failed requests' }).first().getByText('3', { exact: true }).waitFor()
  expect(await page.getByRole('heading', { name: 'Crash rate' }).count()).toBe(0)
  await page
    .getByRole('row', { name: /POST \/v2\/checkout/ })
    .getByText('10.00\u202f%')
    .waitFor()
  await expectAccessible(page, 'metrics of a server')
  await screenshot(page, 'metrics-server', { fullPage: true })
})

test('the limits of a server are set once and judge it on three pages', async () => {
  const page = await open(`/projects/${project.id}/settings/general`)
  const form = page.getByRole('form', { name: 'Limits of requests' })
  await form.getByLabel('P95').fill('fast')
  await form.getByText('Enter a whole number from 1 to 600,000, or nothing.').waitFor()
  await form.getByLabel('P95').fill('300')
  await form.getByLabel('Failed requests').fill('20')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Limits saved').waitFor()

  await page.goto(`/overview?project=${project.id}`)
  const card = page.getByRole('region', { name: 'P95 of requests' })
  await card.getByText('Poor').waitFor()
  await card.getByText(/imit 300\u202fms/).waitFor()
  await page.getByText(/^Poor\. P95 of requests is/).waitFor()
  await expectAccessible(page, 'overview of a server with limits')
  await page.goto(`/metrics?project=${project.id}&range=24h`)
  await page.getByRole('region', { name: 'P95 of requests' }).getByText('Poor').waitFor()
  // Three failures are too few to be over a limit of 20 % beyond chance, or below it.
  await page
    .getByRole('region', { name: 'Failed requests' })
    .first()
    .getByText(/limit 20\.00\u202f%/)
    .waitFor()
  await page.goto(`/performance?project=${project.id}&range=24h`)
  await page
    .getByRole('group', { name: 'Headline figures' })
    .getByText(/limit 300\u202fms/)
    .waitFor()
})

test('a website has vitals with their shares', async () => {
  const page = await open(`/performance?project=${website.id}&range=24h`)
  const lcp = page.getByRole('row', { name: /Largest contentful paint/ })
  await lcp.waitFor()
  expect(await lcp.getByRole('cell').allTextContents()).toEqual(
    expect.arrayContaining(['80\u202f%', '12\u202f%', '8\u202f%', '25']),
  )
  await page.getByRole('heading', { name: 'Largest contentful paint over time' }).waitFor()
  expect(await page.getByRole('heading', { name: 'Queries' }).count()).toBe(0)
  await expectAccessibleInThemes(page, 'performance of a website')
  await screenshot(page, 'performance-web', { fullPage: true })
})

test('the pages fit a phone', async () => {
  const page = await dashboard.openAs(team.person, { size: 'phone' })
  for (const [name, path, text] of [
    ['performance-server', `/performance?project=${project.id}&range=24h`, 'Transactions'],
    [
      'performance-transaction',
      `/performance/t/${encodeURIComponent('POST /v2/checkout/{id}')}?project=${project.id}&range=24h`,
      'Sample traces',
    ],
    ['metrics-server', `/metrics?project=${project.id}&range=24h`, 'Failing transactions'],
    ['performance-web', `/performance?project=${website.id}&range=24h`, 'Page views by word'],
  ] as const) {
    await page.goto(path)
    await page.getByRole('heading', { name: text }).waitFor()
    await expectNoSideScroll(page, name)
    await screenshot(page, `${name}-phone`, { fullPage: true })
  }
})
