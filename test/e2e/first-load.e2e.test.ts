import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { testDashboard } from './dashboard.ts'
import { firstLoad, firstPages, pageFiles, type FirstLoad } from './first-load.ts'

/** Agreed for every page; docs/performance.md has the sizes. `npm run bench -- web-size` prints them. */
const MAX_JS_BYTES = 200_000
const MAX_CSS_BYTES = 20_000

const dashboard = await testDashboard()
const pages = await firstPages(dashboard)

test('every page shows its first content within the budget of scripts and styles', async () => {
  const loads: Record<string, FirstLoad> = {}
  for (const [route, page] of Object.entries(pages)) loads[route] = await firstLoad(dashboard, page)
  const { WEB_SIZE_FILE = '' } = process.env
  if (WEB_SIZE_FILE !== '') writeFileSync(WEB_SIZE_FILE, JSON.stringify(loads))

  const tooLarge = Object.entries(loads).filter(
    ([, { gzip }]) => gzip.jsBytes > MAX_JS_BYTES || gzip.cssBytes > MAX_CSS_BYTES,
  )
  expect(tooLarge).toEqual([])
  // A page whose files were not counted would be small too.
  for (const [route, { gzip, transferred }] of Object.entries(loads)) {
    expect(transferred.jsBytes, route).toBeGreaterThan(80_000)
    expect(transferred.cssBytes, route).toBeGreaterThan(5_000)
    expect(transferred.jsBytes, route).toBeLessThan(gzip.jsBytes)
  }
  const loaded = new Set(Object.values(loads).flatMap(({ files }) => files))
  expect(pageFiles().filter((file) => !loaded.has(file))).toEqual([])
  // Code that opens on demand is loaded after the first content.
  expect([...loaded].filter((file) => /palette|key-sheet|menu-panel|popover-panel/.test(file))).toEqual([])
}, 180_000)
