import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { build } from 'vite'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { findChromium } from '../e2e/chromium.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { testServer } from '../kit/test-server.ts'
import { PAGE_CLIENTS } from './clients.ts'
import { complaints, outcomesOf } from './outcomes.ts'
import { expectShown } from './reader.ts'
import { noteRun, writeTableWhenAsked } from './table.ts'

/** The published browser SDKs in a real browser, on a page of another origin. */

const server = await testServer({ realTime: true, digestion: 'inline' })
server.onClose(writeTableWhenAsked)

const PAGE = `<!doctype html><title>Shop</title><button id="pay">Pay</button><button id="crash">Crash</button>
<script type="module" src="/app.js"></script>`

let browser: Browser
const pages = new Map<string, string>()

beforeAll(async () => {
  const { executablePath, env } = await findChromium()
  browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-background-networking'],
    env: { PATH: '/usr/bin:/bin', ...env },
    headless: true,
  })
  server.onClose(() => browser.close())
  for (const { packageName } of PAGE_CLIENTS) {
    const code = await bundle(packageName)
    const site = createServer((request, response) => {
      const isScript = request.url === '/app.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? code : PAGE)
    })
    await new Promise<void>((resolve) => {
      site.listen(0, '127.0.0.1', resolve)
    })
    server.onClose(async () => {
      site.closeAllConnections()
      await new Promise((resolve) => {
        site.close(resolve)
      })
    })
    const address = site.address()
    pages.set(packageName, `http://localhost:${typeof address === 'object' && address !== null ? address.port : 0}/`)
  }
}, 180_000)

async function bundle(packageName: string): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    resolve: { alias: { sdk: join(import.meta.dirname, 'node_modules', packageName) } },
    build: { write: false, minify: false, rolldownOptions: { input: join(import.meta.dirname, 'apps/browser.js') } },
  })
  const Output = z.object({ output: z.array(z.object({ code: z.string().optional() })) })
  const { output } = Output.parse(Array.isArray(result) ? result[0] : result)
  const code = output.find((chunk) => chunk.code !== undefined)?.code
  if (code === undefined) throw new Error('no bundle')
  return code
}

for (const { name, packageName, shows } of PAGE_CLIENTS) {
  describe.skipIf(!existsSync(join(import.meta.dirname, 'node_modules', packageName)))(name, () => {
    test('a member reads what it sends', async () => {
      const person = await aFounder(server.url)
      const project = await aProject(person)
      const dsn = new URL(project.dsn)
      dsn.host = new URL(server.url).host
      const page = await browser.newPage({ locale: 'en-US' })
      await page.goto(`${pages.get(packageName)}?dsn=${encodeURIComponent(dsn.toString())}`)
      await page.click('#pay')
      await page.click('#crash')
      await expectShown(person, project, shows)
      await page.close()
      const outcomes = await outcomesOf(server.app, project.number)
      expect(complaints(outcomes)).toEqual([])
      noteRun('live', name, outcomes)
    })
  })
}
