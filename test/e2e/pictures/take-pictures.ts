import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type BrowserContext, type Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { Client } from '../../kit/client.ts'
import { testServer } from '../../kit/test-server.ts'
import { WIDTHS as TESTED } from '../browser.ts'
import { findChromium } from '../chromium.ts'
import { makeWorld, NOW } from './world.ts'
import { scenesOf, type Scene } from './scenes.ts'

/** Run by `npm run pictures` (scripts/pictures.mjs), not by `npm test`. */

const folder = process.env['PICTURES_DIR'] ?? ''
const only = (process.env['PICTURES_ONLY'] ?? '').split(',').filter((part) => part !== '')
const STATE_PATIENCE_MS = 8_000

/** The sizes of the tests; `--between` adds those where the layout changes. */
const WIDTHS: Record<string, { readonly width: number; readonly height: number }> = {
  ...TESTED,
  ...(process.env['PICTURES_BETWEEN'] === 'yes'
    ? { laptop: { width: 1024, height: 768 }, tablet: { width: 768, height: 1024 } }
    : {}),
}

const server = await testServer()
const world = await makeWorld(server)
const scenes = scenesOf(world).filter(({ name }) => only.length === 0 || only.some((part) => name.startsWith(part)))

/** Values that differ between runs: the port, keys, random ids, and the hues derived from them. */
const MASK = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const masked = (text) => text
    .replace(/127\\.0\\.0\\.1:\\d+/g, '127.0.0.1:8000')
    .replace(/\\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\\b/g, '01234567-89ab-7cde-8f01-23456789abcd')
    .replace(/(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g, '0123456789abcdef'.repeat(4))
    .replace(/whsec_[\\w+/]{6}/g, 'whsec_4kQ8aa')
    .replace(/(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/g, '0123456789abcdef0123456789abcdef')
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = masked(node.nodeValue)
    if (text !== node.nodeValue) node.nodeValue = text
  }
  // A member's hue derives from the id.
  for (const one of document.querySelectorAll('span'))
    if (/^[A-Z]{1,2}$/.test(one.textContent) && getComputedStyle(one).borderRadius === '50%') one.style.background = 'var(--slate-line)'
  for (const field of document.querySelectorAll('input[readonly]')) {
    const text = masked(field.value)
    if (text !== field.value) field.value = text
  }
})()`

const READY = `document.querySelector('h1, [role=dialog]') !== null
  && document.querySelector('[aria-busy=true], [class*=skel]') === null && document.fonts.status === 'loaded'`

test('pictures', { timeout: 3_600_000 }, async () => {
  mkdirSync(folder, { recursive: true })
  const { executablePath, env } = await findChromium()
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--font-render-hinting=none',
      '--force-color-profile=srgb',
    ],
    env: { PATH: process.env['PATH'] ?? '', ...env },
  })
  const missed: string[] = []
  try {
    for (const [size, viewport] of Object.entries(WIDTHS)) {
      // A scene has steps for wide pages and for those of phones.
      const kind = viewport.width < 860 ? 'phone' : 'desk'
      for (const as of ['visitor', 'newcomer', 'owner'] as const) {
        const context = await browser.newContext({
          baseURL: server.url,
          locale: 'en-US',
          timezoneId: 'UTC',
          reducedMotion: 'reduce',
          viewport,
          ...(kind === 'phone' ? { hasTouch: true } : {}),
          ...(as === 'visitor' ? {} : { storageState: sessionOf(world[as]) }),
        })
        context.setDefaultTimeout(STATE_PATIENCE_MS)
        for (const scene of scenes)
          if (scene.as === as && (scene.only ?? kind) === kind)
            missed.push(...(await takeScene(context, scene, { kind, size, width: viewport.width })))
        await context.close()
      }
    }
  } finally {
    await browser.close()
  }
  expect(missed, 'states that could not be reached').toEqual([])
})

/** Takes both themes; returns the errors. */
async function takeScene(
  context: BrowserContext,
  scene: Scene,
  { kind, size, width }: { kind: 'desk' | 'phone'; size: string; width: number },
): Promise<string[]> {
  const page = await context.newPage()
  try {
    await page.clock.setFixedTime(NOW)
    await page.goto(scene.address)
    await ready(page)
    await scene.steps?.(page, kind)
    await page.mouse.move(0, 0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      writeFileSync(join(folder, `${scene.name}-${colorScheme}-${width}.png`), await steadyPicture(page))
    }
    return []
  } catch (error) {
    return [`${scene.name}, ${size}: ${error instanceof Error ? error.message.split('\n', 1)[0] : String(error)}`]
  } finally {
    await page.close()
  }
}

/** Waits until the page shows what it loads; a page that never settles is taken as it is. */
async function ready(page: Page): Promise<void> {
  const deadline = Date.now() + STATE_PATIENCE_MS
  while (!(await page.evaluate<boolean>(READY)) && Date.now() < deadline) await page.waitForTimeout(50)
}

/** The picture, once two in a row are the same. */
async function steadyPicture(page: Page): Promise<Buffer> {
  let last: Buffer = Buffer.alloc(0)
  for (let attempt = 0; ; attempt++) {
    await ready(page)
    await page.evaluate(MASK)
    const picture = await page.screenshot({ fullPage: true, animations: 'disabled', caret: 'hide' })
    if (last.equals(picture) || attempt === 12) return picture
    last = picture
    await page.waitForTimeout(120)
  }
}

function sessionOf(person: Client) {
  const { hostname } = new URL(server.url)
  const cookies = [...person.cookies].map(([name, value]) => ({
    name,
    value,
    domain: hostname,
    path: name.endsWith('refresh') ? '/api/auth' : '/',
    httpOnly: true,
    secure: false,
    sameSite: 'Lax' as const,
    expires: -1,
  }))
  return { cookies, origins: [] }
}
