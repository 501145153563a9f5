import axe from 'axe-core'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { chromium, type Browser, type Page } from 'playwright-core'
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

const SHOP_PAGE = '<!doctype html><title>Shop</title><body><script type="module" src="/shop.js"></script>'

/** A page that allows scripts and requests of the service, and no styles but its own. */
const STRICT_POLICY = `default-src 'none'; script-src 'self' ${server.url}; connect-src ${server.url}; style-src 'self'`
const HOSTILE_LINK = '<!doctype html><link rel="stylesheet" href="/hostile.css">'
const HOSTILE_STYLES =
  '* { display: none !important; visibility: hidden !important; color: red !important; position: static !important } html, body { display: block !important }'

let browser: Browser
let pageUrl: string

beforeAll(async () => {
  const bundle = await bundleShop()
  const site = createServer((request, response) => {
    const path = request.url?.split('?', 1)[0] ?? ''
    if (path === '/strict') response.setHeader('content-security-policy', STRICT_POLICY)
    const [type, content] =
      path === '/shop.js'
        ? ['text/javascript', bundle]
        : path === '/hostile.css'
          ? ['text/css', HOSTILE_STYLES]
          : ['text/html', path === '/strict' ? `${HOSTILE_LINK}${SHOP_PAGE}` : SHOP_PAGE]
    response.setHeader('content-type', type)
    response.end(content)
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

async function aShop() {
  const person = await aFounder(server.url)
  const project = await aProject(person)
  const dsn = new URL(project.dsn)
  dsn.host = new URL(server.url).host
  return { person, project, dsn }
}

async function press(action: string): Promise<IssueDetail> {
  const { person, dsn } = await aShop()
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

/** Violations that axe finds in the form; the page around it belongs to the shop. */
async function violationsOf(page: Page): Promise<unknown> {
  await page.evaluate(axe.source)
  return page.evaluate(`axe.run(document.querySelector('faultline-report-dialog')).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 160)).join()))`)
}

/** Opens the form of showReportDialog() on a page of the shop. */
async function openDialog(path: string) {
  const shop = await aShop()
  const page = await browser.newPage({ locale: 'en-US' })
  await page.goto(`${pageUrl}${path}?dsn=${encodeURIComponent(shop.dsn.toString())}`)
  // The hostile styles of the page hide its buttons.
  await page.locator('#report').focus()
  await page.locator('#report').dispatchEvent('click')
  const dialog = page.getByRole('dialog', { name: 'Was ist passiert?' })
  await dialog.waitFor()
  const state = () => page.evaluate<string>('document.body.dataset.dialog ?? ""')
  return { ...shop, page, dialog, state }
}

test.each(['', 'strict'])('showReportDialog() on the page /%s sends feedback of its event', async (path) => {
  const { person, project, page, dialog, state } = await openDialog(path)
  expect(await dialog.isVisible()).toBe(true)
  expect(await dialog.getAttribute('lang')).toBe('de')
  await until('onLoad', async () => (await state()) === 'loaded')
  expect(await dialog.getByLabel('Name').inputValue()).toBe('Grace')
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    expect(await violationsOf(page), colorScheme).toEqual([])
  }

  // Nothing is sent without a text, and what is missing has the focus.
  await dialog.getByRole('button', { name: 'Send report' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'Please describe what happened' }).waitFor()
  await page.keyboard.type('Ich habe bezahlt.')
  await dialog.getByLabel('Email').fill('grace@example.com')
  await page.keyboard.press('Enter')
  await dialog.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor()
  await page.keyboard.press('Enter')
  await until('onClose', async () => (await state()) === 'closed')
  expect(await dialog.count()).toBe(0)

  const [feedback] = await until('the feedback', async () => {
    const { items } = (await person.get(`/api/projects/${project.id}/feedback`)).as<{
      items: { message: string; email: string; issue_id: string | null }[]
    }>()
    return items.length > 0 && items[0]?.issue_id !== null ? items : false
  })
  expect(feedback).toMatchObject({ message: 'Ich habe bezahlt.', email: 'grace@example.com', name: 'Grace' })
  await page.close()
})

test('the report dialog keeps the focus, closes with Escape, and gives the focus back', async () => {
  const { page, dialog, state } = await openDialog('')
  const focused = () =>
    page.evaluate<string>(
      `(() => { const at = document.activeElement?.shadowRoot?.activeElement; return at?.id || at?.type || '' })()`,
    )
  expect(await focused()).toBe('email')
  const seen: string[] = []
  for (let times = 0; times < 6; times++) {
    seen.push(await focused())
    await page.keyboard.press('Tab')
  }
  expect(seen).toEqual(['email', 'comments', 'button', 'submit', 'name', 'email'])
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  expect(await focused()).toBe('submit')
  await page.keyboard.press('Escape')
  await until('onClose', async () => (await state()) === 'closed')
  expect(await dialog.count()).toBe(0)
  expect(await page.evaluate<string>('document.activeElement.id')).toBe('report')
  await page.close()
})

test('the report dialog says that a report could not be sent, and keeps the text', async () => {
  const { page, dialog } = await openDialog('')
  await page.route('**/api/embed/error-page/**', (route) => route.abort())
  await dialog.getByLabel('Ihre Beschreibung').fill('Ich habe bezahlt.')
  await dialog.getByRole('button', { name: 'Send report' }).click()
  await dialog.getByRole('alert').filter({ hasText: 'could not be sent' }).waitFor()
  expect(await dialog.getByLabel('Ihre Beschreibung').inputValue()).toBe('Ich habe bezahlt.')
  await page.unroute('**/api/embed/error-page/**')
  await dialog.getByRole('button', { name: 'Send report' }).click()
  await dialog.getByRole('status').filter({ hasText: 'Thank you.' }).waitFor()
  await page.close()
})
