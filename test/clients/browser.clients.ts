import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { build } from 'vite'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Issue } from '../../server/issues/rules/issue.api.ts'
import { findChromium } from '../e2e/chromium.ts'
import { aFounder, aProject } from '../kit/founder.ts'
import { testServer } from '../kit/test-server.ts'
import { waitFor } from '../kit/wait.ts'
import { complaints, outcomesOf } from './outcomes.ts'
import { noteRun, writeTableWhenAsked } from './table.ts'

/** The published browser SDKs in a real browser, on a page of another origin. */

const server = await testServer({ realTime: true, digestion: 'inline' })
server.onClose(writeTableWhenAsked)

const SDKS = [
  { name: '@sentry/browser 10.78.0', packageName: 'sentry-browser-10', traces: 'transaction' },
  { name: '@sentry/browser 11.12.0', packageName: 'sentry-browser-11', traces: 'span' },
] as const

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
  for (const { packageName } of SDKS) {
    const code = await bundle(packageName)
    const site = createServer((request, response) => {
      const isScript = request.url === '/app.js'
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
      response.end(isScript ? code : '<!doctype html><title>Shop</title><script type="module" src="/app.js"></script>')
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

describe.each(SDKS)('$name', ({ name, packageName, traces }) => {
  test.skipIf(!existsSync(join(import.meta.dirname, 'node_modules', packageName)))(
    'everything it sends is accepted without processing errors',
    async () => {
      const person = await aFounder(server.url)
      const project = await aProject(person)
      const dsn = new URL(project.dsn)
      dsn.host = new URL(server.url).host
      const page = await browser.newPage({ locale: 'en-US' })
      await page.goto(`${pages.get(packageName)}?dsn=${encodeURIComponent(dsn.toString())}`)
      await page.evaluate('act()')
      await page.evaluate('crash()')
      const wanted = ['error', 'session', 'feedback', 'attachment', traces]
      await waitFor(
        wanted.join(', '),
        async () => {
          const outcomes = await outcomesOf(server.app, project.number)
          return wanted.every((category) =>
            outcomes.some((one) => one.category === category && one.outcome === 'accepted'),
          )
        },
        20_000,
      )
      await page.close()
      const outcomes = await outcomesOf(server.app, project.number)
      expect(complaints(outcomes)).toEqual([])
      const items = await waitFor('all three issues', async () => {
        const answer = (await person.get('/api/issues')).as<{ items: Issue[] }>()
        return answer.items.length >= 3 ? answer.items : false
      })
      expect(items.map((issue) => issue.title).sort()).toEqual([
        'RangeError: the pool is exhausted',
        'TypeError: card number is missing',
        'stock is low',
      ])
      noteRun('live', name, outcomes)
    },
  )
})
