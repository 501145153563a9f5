import { test } from 'vitest'
import { anEvent, anException, sendEvent } from '../kit/sdk.ts'
import { eventually, expectAccessible, expectNoSideScroll, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** Names and texts of the maximum length, without a place to break. */

const dashboard = await testDashboard()
const long = (characters: number, sign: string) => sign.repeat(characters)

test.each([
  { theme: 'light', size: 'desk' },
  { theme: 'dark', size: 'phone' },
] as const)('long texts do not widen a page: $theme, $size', async ({ theme, size }) => {
  const { person, project } = await aTeam(dashboard.server)
  await sendEvent(
    dashboard.server.url,
    project.dsn,
    anEvent({
      level: 'fatal',
      release: `shop@${long(180, '9')}`,
      environment: long(60, 'e'),
      transaction: long(190, 't'),
      user: { id: long(120, 'u'), email: `${long(120, 'm')}@example.com` },
      tags: { [long(30, 'k')]: long(190, 'v'), short: 'tag' },
      breadcrumbs: {
        values: [{ category: long(100, 'c'), message: long(900, 'b'), data: { [long(90, 'd')]: long(400, 'x') } }],
      },
      request: { url: `https://example.com/${long(900, 'p')}`, headers: { [long(90, 'H')]: long(900, 'h') } },
      exception: {
        values: [
          anException({
            type: long(250, 'T'),
            value: long(3000, 'V'),
            stacktrace: {
              frames: [
                {
                  function: long(250, 'f'),
                  filename: `${long(240, 'n')}.js`,
                  lineno: 123_456,
                  in_app: true,
                  context_line: long(600, 'z'),
                  vars: { [long(80, 'a')]: long(600, 'q') },
                },
              ],
            },
          }),
        ],
      },
    }),
  )
  await eventually(async () => (await person.get('/api/issues')).body['total']).toBe(1)
  const page = await dashboard.openAs(person, { theme, size })
  await page.goto('/issues')
  await page.getByRole('rowheader').first().waitFor()
  for (const width of size === 'desk' ? [1440, 1024, 900] : [390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await expectNoSideScroll(page, `stream at ${width}`)
  }
  await page.getByRole('rowheader').getByRole('link').first().click()
  await page.getByRole('heading', { name: 'Stack trace' }).waitFor()
  await page.getByRole('heading', { name: 'Common values' }).waitFor()
  for (const width of size === 'desk' ? [1440, 1024, 900] : [390, 320]) {
    await page.setViewportSize({ width, height: 900 })
    await expectNoSideScroll(page, `issue at ${width}`)
  }
  await expectAccessible(page, `long names, ${theme}, ${size}`)
  await screenshot(page, `issue-long-${theme}-${size}`, { fullPage: true })
})
