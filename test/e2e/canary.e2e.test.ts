import { expect, test } from 'vitest'
import { publishLive } from '#server/platform/live/publish.ts'
import { eventually, expectAccessible, expectNoSideScroll, until } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard({ env: { FAULTLINE_CANARY_MINUTES: '60' } })
const { app } = dashboard.server

/** As a process that watches the end-to-end test stores and publishes it. */
async function setState(state: string, failedStep: string | null, explanation: string): Promise<void> {
  await app.tx(async (tx) => {
    await tx.query('update canary set state = $1, failed_step = $2, explanation = $3', [state, failedStep, explanation])
    await publishLive(tx, [{ orgId: '*', message: { kind: 'canary' } }])
  })
}

test('every page says that alerts do not arrive and what to do, from the moment it is known until they arrive again', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { size: 'phone' })
  await page.goto('/issues')
  await page.getByRole('heading', { name: 'Issues', level: 1 }).waitFor()
  const banner = page.getByRole('status').filter({ hasText: 'Alerts may not arrive.' })
  expect(await banner.count()).toBe(0)

  await setState('late', 'delivery', 'It takes long.')
  // Again until the page, which does not show at this width when it is live, has heard of it.
  await until('the banner', async () => {
    await setState('broken', 'delivery', 'Check that a process with the role deliver runs.')
    return (await banner.count()) > 0
  })
  await eventually(() => banner.textContent()).toContain('Check that a process with the role deliver runs.')
  await page.goto('/me/appearance')
  await banner.waitFor()
  await expectAccessible(page, 'the banner')
  await expectNoSideScroll(page, 'the banner')

  await until('the end of the banner', async () => {
    await setState('ok', null, '')
    return (await banner.count()) === 0
  })
})
