import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser } from 'playwright-core'
import { build } from 'vite'
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import type { Issue } from '#server/issues/rules/issue.api.ts'
import type { IssueDetail } from '#server/issues/triage/issues.api.ts'
import { until } from './browser.ts'
import { findChromium } from './chromium.ts'

/** The published browser SDK in a real browser, on a page of another origin, with CORS and keepalive. */

const server = await testServer({ realTime: true, digestion: 'inline' })

let browser: Browser
let pageUrl: string

beforeAll(async () => {
  const bundle = await bundleShop()
  const site = createServer((request, response) => {
    const isScript = request.url?.startsWith('/shop.js') === true
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(
      isScript ? bundle : '<!doctype html><title>Shop</title><body><script type="module" src="/shop.js"></script>',
    )
  })
  await new Promise<void>((resolve) => {
    site.listen(0, '127.0.0.1', resolve)
  })
  const address = site.address()
  pageUrl = `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}/`
  const { executablePath, env } = await findChromium()
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'],
    env: { PATH: '/usr/bin:/bin', ...env },
    headless: true,
  })
  server.onClose(async () => {
    await browser.close()
    site.closeAllConnections()
    await new Promise((resolve) => {
      site.close(resolve)
    })
  })
})

/** Bundles one script; keeps names so that frames can be compared. */
async function bundleShop(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    build: {
      write: false,
      minify: false,
      rolldownOptions: { input: fileURLToPath(new URL('./apps/shop.js', import.meta.url)) },
    },
  })
  const Output = z.object({ output: z.array(z.object({ code: z.string().optional() })) })
  const { output } = Output.parse(Array.isArray(result) ? result[0] : result)
  const code = output.find((chunk) => chunk.code !== undefined)?.code
  if (code === undefined) throw new Error('no bundle')
  return code
}

async function press(action: string): Promise<IssueDetail> {
  const person = await aFounder(server.url)
  const project = await aProject(person)
  const dsn = new URL(project.dsn)
  dsn.host = new URL(server.url).host
  const page = await browser.newPage({ locale: 'en-US' })
  await page.goto(`${pageUrl}?dsn=${encodeURIComponent(dsn.toString())}`)
  await page.click(`#${action}`)
  const [issue] = await until(`the issue of ${action}`, async () => {
    const { items } = (await person.get('/api/issues')).as<{ items: Issue[] }>()
    return items.length > 0 ? items : false
  })
  await page.close()
  return (await person.get(`/api/issues/${issue?.id}`)).as<IssueDetail>()
}

test('a handled error with tags, user, breadcrumbs and a cause', async () => {
  const issue = await press('handled')
  expect(issue).toMatchObject({
    title: 'CheckoutError: the cart cannot be read',
    level: 'error',
    platform: 'javascript',
    is_unhandled: false,
    first_release: 'shop-web@3.1.0',
    user_count: 1,
    event: { environment: 'test', user: { id: 'u-7', username: 'grace' } },
  })
  expect(issue.event?.exceptions.map((one) => one.type)).toEqual(['SyntaxError', 'CheckoutError'])
  expect(issue.event?.exceptions[1]?.stacktrace?.frames.at(-1)).toMatchObject({
    function: 'openCheckout',
    in_app: true,
  })
  expect(issue.event?.tags).toContainEqual({ key: 'theme', value: 'dark' })
  expect(issue.event?.breadcrumbs.map((crumb) => crumb.message)).toContain('added a lamp')
  expect(issue.event?.contexts['browser']).toMatchObject({ name: expect.stringContaining('Chrom') as string })
})

test('an unhandled error', async () => {
  expect(await press('unhandled')).toMatchObject({
    title: 'CheckoutError: the cart cannot be read',
    is_unhandled: true,
    severity: 'high',
  })
})

test('an unhandled rejection', async () => {
  expect(await press('rejection')).toMatchObject({ title: 'RangeError: no stock left', is_unhandled: true })
})

test('a message', async () => {
  expect(await press('message')).toMatchObject({
    title: 'the banner was closed',
    type: null,
    level: 'info',
    severity: 'low',
  })
})
