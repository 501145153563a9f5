import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Locator, Page } from 'playwright-core'
import { aFounder, aProject, type TestProject } from '../kit/founder.ts'
import type { TestServer } from '../kit/test-server.ts'
import { testServer } from '../kit/test-server.ts'
import { testBrowser, type OpenOptions, type TestBrowser } from './browser.ts'

/** The built dashboard, a real service of its own, and the browser of the process. */
export type Dashboard = {
  readonly server: TestServer
  readonly browser: TestBrowser
  /** A page without a session. */
  open(options?: Omit<OpenOptions, 'baseURL'>): Promise<Page>
  /** A page of a user who is logged in. */
  openAs(person: Person, options?: Omit<OpenOptions, 'baseURL' | 'cookies'>): Promise<Page>
}

export type Person = Awaited<ReturnType<typeof aFounder>>

/**
 * Call it at the top level of a test file. Events are digested as they arrive, on the real clock; jobs run only with
 * `jobs: true`, and webhooks and mails are delivered only with `deliveries: true`. With `localhost: true` the service has
 * a name, which passkeys and links in mails need.
 */
export async function testDashboard({
  localhost = false,
  env: given = {},
  ...options
}: {
  jobs?: boolean
  deliveries?: boolean
  localhost?: boolean
  env?: Readonly<Record<string, string>>
} = {}): Promise<Dashboard> {
  const port = await portOfProcess()
  const env = { PORT: port, ...(localhost ? { PUBLIC_URL: `http://localhost:${port}` } : {}), ...given }
  const server = await testServer({ digestion: 'inline', realTime: true, env, ...options })
  const browser = await testBrowser()
  const open: Dashboard['open'] = (options = {}) => browser.open({ ...options, baseURL: server.url })
  return {
    server,
    browser,
    open,
    async openAs(person, options = {}) {
      const { hostname } = new URL(server.url)
      const cookies = [...person.cookies].map(([name, value]) => ({
        name,
        value,
        domain: hostname,
        path: name.endsWith('refresh') ? '/api/auth' : '/',
        httpOnly: true,
        secure: false,
        sameSite: name.endsWith('refresh') ? ('Strict' as const) : ('Lax' as const),
        expires: -1,
      }))
      return open({ ...options, cookies })
    },
  }
}

let portInUse = 0

/**
 * The same port for every file of this process, which runs them one after the other: the browser's caches belong to an
 * address. Below the ports that the system gives to others meanwhile; where another program took it, another one.
 */
async function portOfProcess(): Promise<string> {
  while (!(await isFree(portInUse))) portInUse = randomInt(20_000, 30_000)
  return String(portInUse)
}

async function isFree(port: number): Promise<boolean> {
  if (port === 0) return false
  const probe = createServer().listen(port, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}

/** A new organisation's owner with one project. */
export async function aTeam(server: TestServer): Promise<{ person: Person; project: TestProject }> {
  const person = await aFounder(server.url)
  return { person, project: await aProject(person, { name: 'shopper-web' }) }
}

/** Rows of the issue list in the page; long lists hold only those near the view. */
export const issueRows = (page: Page): Locator => page.locator('[role=row][data-id]')
