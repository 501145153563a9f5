import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import axe from 'axe-core'
import { chromium, type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core'
import { afterEach, expect } from 'vitest'
import { z } from 'zod'
import { RUNS_LONG } from '../kit/long.ts'
import { hasRoomInMemory } from '../kit/scratch.ts'
import { waitFor } from '../kit/wait.ts'
import { findChromium } from './chromium.ts'
import { lookAt, settled as settledWithin, watchContext } from './settled.ts'

export type Theme = 'light' | 'dark'

/** The two sizes every page is tested at: a desktop and the reference phone. */
export const WIDTHS = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const
export type WidthName = keyof typeof WIDTHS
export const BOTH_SIZES = ['desk', 'phone'] as const satisfies readonly WidthName[]
/**
 * Sizes of the checks of single parts. `npm test` checks each page on the phone once (accessible.e2e.test.ts, layout.e2e.test.ts), and
 * its parts on a desktop.
 */
export const SIZES: readonly WidthName[] = RUNS_LONG ? BOTH_SIZES : ['desk']

const ARGS = [
  '--no-sandbox',
  // Pixels and messages go through shared memory: as files on a disk, they are a tenth of the processor time.
  ...(hasRoomInMemory() ? [] : ['--disable-dev-shm-usage']),
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--no-first-run',
  '--font-render-hinting=none',
  // Pages of one context share a process, and what it has compiled.
  '--renderer-process-limit=1',
  // A process less that draws, no helper threads that collect garbage, and no optimising compilers, which cost more than
  // a short test gains from them: a fifth of the processor time.
  '--in-process-gpu',
  '--js-flags=--single-threaded-gc --no-opt --no-maglev',
]

/** How many times slower pages run, to find what depends on speed: `E2E_SLOWDOWN=5 npm test -- test/e2e`. */
export const SLOWDOWN = Number(process.env.E2E_SLOWDOWN ?? '1')

/** How long to wait for anything: the machine may be slow and busy. */
const PATIENCE_MS = 30_000 * SLOWDOWN

/** Reads again until the value is as expected. */
export const eventually = <T>(read: () => T | Promise<T>, timeoutMs = PATIENCE_MS) =>
  expect.poll(read, { timeout: timeoutMs })

/** Polls until the condition returns a value. */
export const until = <T>(what: string, condition: () => T | Promise<T>) => waitFor(what, condition, PATIENCE_MS)

/** Waits until the page has stopped moving (settled.ts): before a test checks what is absent or where elements are. */
export const settled = (page: Page): Promise<void> => settledWithin(page, PATIENCE_MS)

/** Presses a key when the page has stopped moving: before that, another element may have the focus. */
export async function press(page: Page, key: string): Promise<void> {
  await settled(page)
  await page.keyboard.press(key)
}

async function slowDown(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWDOWN })
}

export type OpenOptions = {
  /** Address of the service, such as `http://127.0.0.1:41234`. */
  baseURL: string
  theme?: Theme
  size?: WidthName
  /** Cookies of a session. */
  cookies?: Cookies
  /**
   * Animations run. Without it the user prefers reduced motion: the frames of what pulses beside "Live" alone are a
   * quarter of the processor time of a test.
   */
  motion?: boolean
  /** Nothing is shared with other tests: for a test that replaces the clock or leaves something else in its context. */
  fresh?: boolean
}
type Cookies = Parameters<BrowserContext['addCookies']>[0]

export type TestBrowser = {
  /** A page in a new context. Its errors fail the test that is running. */
  open(options: OpenOptions): Promise<Page>
  /** Complaints that the running test provokes on purpose. */
  forgive(pattern: RegExp): void
}

let launched: Promise<Browser> | null = null

/** One browser for all test files of a process: it ends with it. A file that finds it gone starts another. */
async function sharedBrowser(): Promise<Browser> {
  const known = await launched
  if (known?.isConnected() === true) return known
  launched = (async () => {
    const { executablePath, env } = await findChromium()
    return chromium.launch({ executablePath, args: ARGS, env: { ...plainEnv(), ...env }, headless: true })
  })()
  return launched
}

/** A context that tests use one after the other; `anchor` is a page without scripts, which keeps its process. */
type Shared = { readonly key: string; readonly context: BrowserContext; readonly anchor: Page; readonly origin: string }

/** Shared contexts that no test uses, of all files of the process, the longest unused first. */
const idle: Shared[] = []
const MAX_IDLE = 4

/**
 * A browser for one test file. Call it at the top level. Console errors, uncaught exceptions and violations of the content
 * policy fail the test in which they happen.
 *
 * A test has a context of its own, without cookies and storage. Tests share its caches, one after the other, also those
 * of files that the process runs one after the other: loading and compiling the dashboard again takes longer than most
 * tests.
 */
export async function testBrowser(): Promise<TestBrowser> {
  const browser = await sharedBrowser()
  /** Contexts of the running test. */
  const own = new Set<BrowserContext>()
  const shared = new Set<Shared>()
  const troubles: string[] = []
  const forgiven: RegExp[] = []

  afterEach(async () => {
    for (const context of own) await context.close()
    own.clear()
    for (const one of shared) if (await emptied(one)) idle.push(one)
    shared.clear()
    for (const { context } of idle.splice(0, Math.max(0, idle.length - MAX_IDLE))) await context.close()
    const patterns = forgiven.splice(0)
    const left = troubles.splice(0).filter((trouble) => !patterns.some((pattern) => pattern.test(trouble)))
    expect(left, 'what the pages complained about').toEqual([])
  })

  const contextFor = async (options: OpenOptions): Promise<BrowserContext> => {
    const { baseURL, size = 'desk', fresh = false } = options
    const key = JSON.stringify([baseURL, size])
    const at = fresh ? -1 : idle.findIndex((one) => one.key === key && one.context.browser() === browser)
    const [known] = at === -1 ? [] : idle.splice(at, 1)
    if (known !== undefined) {
      shared.add(known)
      return known.context
    }
    const context = await browser.newContext({
      baseURL,
      // LANG=C gives the browser a locale that its own Intl refuses.
      locale: 'en-US',
      timezoneId: 'UTC',
      reducedMotion: 'reduce',
      viewport: WIDTHS[size],
      ...(size === 'phone' ? { deviceScaleFactor: 2, hasTouch: true } : {}),
    })
    if (fresh) own.add(context)
    else {
      const anchor = await context.newPage()
      await anchor.goto('/mark.svg')
      shared.add({ key, context, anchor, origin: new URL(baseURL).origin })
    }
    await watchContext(context)
    if (SLOWDOWN > 1) context.on('page', slowDown)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: baseURL })
    return context
  }

  return {
    forgive: (pattern) => void forgiven.push(pattern),
    async open(options) {
      const context = await contextFor(options)
      await context.addCookies(options.cookies ?? [])
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
      const { theme = 'light', motion = false } = options
      await page.emulateMedia({ colorScheme: theme, reducedMotion: motion ? 'no-preference' : 'reduce' })
      page.on('pageerror', (error) => troubles.push(`uncaught: ${error.message}`))
      page.on('console', (message) => {
        // The browser logs each refused request itself; tests look at what the page shows.
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          troubles.push(message.text())
      })
      return page
    },
  }
}

/** Closes the pages, and clears cookies and storage. @returns false when the test closed the context */
async function emptied({ context, anchor, origin }: Shared): Promise<boolean> {
  if (anchor.isClosed()) return false
  for (const page of context.pages()) if (page !== anchor) await page.close()
  await context.clearCookies()
  const devtools = await context.newCDPSession(anchor)
  await devtools.send('Storage.clearDataForOrigin', {
    origin,
    storageTypes: 'local_storage,indexeddb,service_workers,cache_storage',
  })
  await devtools.detach()
  return true
}

const plainEnv = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter((pair): pair is [string, string] => pair[1] !== undefined))

const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

const Violations = z.array(z.object({ id: z.string(), html: z.string(), why: z.string() }))

/**
 * Fails with the rule, the element and the reason of each violation that axe finds of WCAG 2.2 AA and its best
 * practices.
 */
export async function expectAccessible(page: Page, where: string): Promise<void> {
  await expectNoViolations(page, where, false)
}

/** With `again`, a structure without violations need not be looked at again. */
async function expectNoViolations(page: Page, where: string, again: boolean): Promise<void> {
  const found = await lookAt(page, PATIENCE_MS, () => findViolations(page, where, again))
  const reasons = found.map(({ id, html, why }) => `${id}: ${html} (${why})`)
  expect(reasons, `${where}: accessibility`).toEqual([])
}

/** In both themes. The system switches while the page is open: loading it again would take longer than the check. */
export async function expectAccessibleInThemes(page: Page, where: string): Promise<void> {
  const backgrounds: string[] = []
  for (const colorScheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme })
    await expectNoViolations(page, `${where}, ${colorScheme}`, colorScheme === 'light')
    backgrounds.push(await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor'))
  }
  expect(new Set(backgrounds).size, `${where}: backgrounds of the two themes`).toBe(2)
}

/**
 * In the page: all that rules see which do not look at colours, which are the most. A theme that changes nothing of it
 * needs only the others again.
 */
const READ_STRUCTURE = `document.documentElement.outerHTML + [...document.querySelectorAll('*')].map((one) => {
  const { x, y, width, height } = one.getBoundingClientRect()
  return [x, y, width, height, one.checkVisibility({ opacityProperty: true, visibilityProperty: true }), one.value, one.checked]
}).join()`

async function findViolations(page: Page, where: string, again: boolean): Promise<z.infer<typeof Violations>> {
  // In the page itself: AxeBuilder runs in a second page, because of frames of other origins, and takes four times as
  // long to describe what passed. The dashboard has no frames.
  expect(page.frames(), `${where}: frames, which axe would not look into`).toHaveLength(1)
  if (!(await page.evaluate<boolean>("typeof window.axe === 'object'"))) await page.evaluate(axe.source)
  return Violations.parse(
    await page.evaluate(`(async () => {
      const structure = ${READ_STRUCTURE}
      const isSame = ${again} && window.__structureWithoutViolations === structure
      const colours = axe.getRules(${JSON.stringify(RULES)}).filter(({ tags }) => tags.includes('cat.color')).map(({ ruleId }) => ruleId)
      const { violations } = await axe.run(document, {
        runOnly: isSame ? { type: 'rule', values: colours } : ${JSON.stringify(RULES)}, resultTypes: ['violations'], selectors: false,
      })
      if (violations.length === 0) window.__structureWithoutViolations = structure
      return violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => ({ id, html: html.slice(0, 160), why: failureSummary ?? '' })))
    })()`),
  )
}

/**
 * Goes to a page as a link does, without loading the document again: for pages that are only looked at. Returns when the
 * document has changed; what of the page must be there is for the caller to wait for.
 */
export async function visit(page: Page, address: string): Promise<void> {
  await page.evaluate<void>(`{
    window.__visitedAt = performance.now()
    history.pushState(null, '', ${JSON.stringify(address)})
  }`)
  await page.waitForFunction('window.__quietForMs() < performance.now() - window.__visitedAt')
}

/** Fails when the page scrolls sideways. */
export async function expectNoSideScroll(page: Page, where: string): Promise<void> {
  // As a string: the test program has no types for the browser's globals.
  const { wide, seen } = await lookAt(page, PATIENCE_MS, () =>
    page.evaluate<{ wide: number; seen: number }>(
      '({ wide: document.documentElement.scrollWidth, seen: document.documentElement.clientWidth })',
    ),
  )
  expect(wide, `${where}: width of the page`).toBeLessThanOrEqual(seen)
}

/** Whether the element has the focus. */
export const hasFocus = async (element: Locator): Promise<boolean> =>
  (await element.and(element.page().locator(':focus')).count()) === 1

/** Waits until an open menu has the focus: it is shown a moment before. */
export const menuOpen = (page: Page): Promise<void> =>
  page.locator('[role="menu"]:focus, [role="menu"] :focus').first().waitFor()

/** The box of an element when the page has stopped moving: for presses at coordinates. */
export async function steadyBox(element: Locator): Promise<{ x: number; y: number; width: number; height: number }> {
  const box = await lookAt(element.page(), PATIENCE_MS, () => element.boundingBox())
  if (box === null) throw new Error('the element is not shown')
  return box
}

/** Waits for a toast and rests the pointer on it: then it stays, with its Undo, also on a slow machine. */
export const holdToast = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('[data-toast]').filter({ hasText: text }).last().hover()

/** Saves a picture where `SCREENSHOT_DIR` names a folder. */
export async function screenshot(page: Page, name: string, options: { fullPage?: boolean } = {}): Promise<void> {
  const folder = process.env.SCREENSHOT_DIR
  if (folder === undefined || folder === '') return
  mkdirSync(folder, { recursive: true })
  await lookAt(page, PATIENCE_MS, () =>
    page.screenshot({ path: join(folder, `${name}.png`), fullPage: options.fullPage ?? false, animations: 'disabled' }),
  )
}
