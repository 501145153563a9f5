import { expect, test } from 'vitest'
import { z } from 'zod'
import { type EventFields, newEventId } from '../kit/sdk.ts'
import { eventually, screenshot, settled, steadyBox } from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'
import { layoutFaultsAt, LAYOUT_WIDTHS } from './layout.ts'

/** The issue page at every width, with the long names of a real app. */

const dashboard = await testDashboard()
const Listed = z.object({ items: z.array(z.object({ id: z.string(), type: z.string(), event_count: z.number() })) })

async function aLongIssue(): Promise<{ person: Person; issueId: string; sendNewer: () => Promise<void> }> {
  const { person, project } = await aTeam(dashboard.server)
  const now = Date.now() / 1000
  const event = (i: number): EventFields => ({
    error: {
      in: 'pay',
      type: 'IllegalStateException',
      value: 'Fragment CheckoutFragment{4f2a} not attached to a context while the payment sheet was restored',
    },
    event_id: newEventId(),
    timestamp: now - i * 20_000,
    level: 'fatal',
    release: i < 6 ? 'com.meadowlark.shopper@4.12.0+41200' : 'com.meadowlark.shopper@4.11.3+41103',
    environment: 'production-europe-west',
    transaction: 'com.meadowlark.shopper.checkout.CheckoutFragment.onPaymentSheetResult',
    user: { id: `u${i % 3}`, email: `customer.with.a.long.address.${i % 3}@meadowlark.example` },
    tags: { store: 'large', screen: 'CheckoutPaymentSheet', build_flavour: 'production-release', locale: 'en-GB' },
    contexts: {
      device: {
        model: 'SM-A125F',
        manufacturer: 'Samsung',
        memory_size: 4_000_000_000,
        free_memory: 900_000_000,
        storage_size: 128_000_000_000,
        free_storage: 111_000_000_000,
        battery_level: 41,
        charging: false,
      },
      app: { app_version: '4.12.0', app_build: '41200', app_identifier: 'com.meadowlark.shopper' },
      os: { name: 'Android', version: '15', build: 'AP3A.240905.015' },
    },
    breadcrumbs: Array.from({ length: 8 }, (_, n) => ({
      category: 'navigation',
      message: `CheckoutFragment to PaymentSheetFragment, step ${n}`,
      data: { from: 'CheckoutFragment', to: 'PaymentSheetFragment' },
    })),
  })
  await dashboard.server.events(
    project,
    Array.from({ length: 12 }, (_, i) => event(i)),
  )
  const read = async () => Listed.parse((await person.get('/api/issues')).body).items
  await eventually(async () => (await read())[0]?.event_count).toBe(12)
  const issueId = (await read())[0]?.id ?? ''
  return {
    person,
    issueId,
    sendNewer: () =>
      dashboard.server.events(project, [{ ...event(0), timestamp: Date.now() / 1000 }]).then(() => undefined),
  }
}

/** In the page: the places of its parts. */
const PLACES = `(() => {
  const side = document.querySelector('main aside').getBoundingClientRect()
  const main = document.querySelector('main aside').previousElementSibling.getBoundingClientRect()
  return { columns: side.left > main.right - 1 ? 2 : 1, sideTop: side.top, sideBottom: side.bottom, mainBottom: main.bottom }
})()`
const Places = z.object({ columns: z.number(), sideTop: z.number(), sideBottom: z.number(), mainBottom: z.number() })
const HEIGHT = 900

async function open() {
  const issue = await aLongIssue()
  const page = await dashboard.openAs(issue.person)
  // From the list, so that the page knows its neighbours.
  await page.goto('/issues')
  await page.getByRole('rowheader').getByRole('link').first().click()
  await page.getByRole('region', { name: 'Common values' }).getByText('production-release').first().waitFor()
  await page.getByRole('img', { name: /events in the last 14 days/ }).waitFor()
  return { ...issue, page }
}

test('nothing overlaps, breaks, wraps or scrolls sideways at any width, in both themes', async () => {
  const { page, issueId, sendNewer } = await open()
  const faults: string[] = []
  for (const state of ['at rest', 'with a newer event']) {
    if (state !== 'at rest') {
      await sendNewer()
      await page.getByText('A newer event arrived').waitFor()
    }
    await settled(page)
    for (const width of LAYOUT_WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT })
      faults.push(...(await layoutFaultsAt(page, `issue at ${width} ${state}`)))
      const { columns } = Places.parse(await page.evaluate(PLACES))
      if (columns !== (width < 1280 ? 1 : 2)) faults.push(`${columns} columns at ${width}`)
      await screenshot(page, `layout-issue-${width}${state === 'at rest' ? '' : '-newer'}`, { fullPage: true })
    }
  }
  await page.goto(`/issues/${issueId}/events`)
  await page.getByRole('row').nth(3).waitFor()
  await settled(page)
  for (const width of LAYOUT_WIDTHS) {
    await page.setViewportSize({ width, height: HEIGHT })
    faults.push(...(await layoutFaultsAt(page, `events at ${width}`)))
    await screenshot(page, `layout-events-${width}`, { fullPage: true })
  }
  expect(faults).toEqual([])
})

test('the side column stays in view; tags of the event come before its trace; the chart has the only range', async () => {
  const { page } = await open()
  const before = Places.parse(await page.evaluate(PLACES))
  expect(before.columns).toBe(2)
  await page.evaluate('scrollTo(0, 600)')
  await settled(page)
  const after = Places.parse(await page.evaluate(PLACES))
  expect(after.mainBottom, 'the main column continues below the window').toBeGreaterThan(HEIGHT)
  expect(after.sideBottom, 'the end of the side column is in view').toBeLessThanOrEqual(HEIGHT)
  expect(after.sideBottom).toBeGreaterThan(HEIGHT / 2)

  const tags = await steadyBox(page.getByRole('list', { name: 'Tags of this event' }))
  const trace = await steadyBox(page.getByRole('heading', { name: 'Stack trace' }))
  expect(tags.y).toBeLessThan(trace.y)
  await page.getByRole('button', { name: 'store large' }).click()
  await page.waitForURL(/only=store%3Alarge/)

  expect(await page.getByRole('group', { name: 'Time range' }).count()).toBe(0)
  expect(await page.getByRole('group', { name: 'Chart range' }).count()).toBe(1)
})
