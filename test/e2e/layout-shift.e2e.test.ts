import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { aMemberClient } from '../kit/member-client.ts'
import { settled } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** Parts of a page do not move while the rest of it loads. */

const dashboard = await testDashboard()
const { server } = dashboard

/** The sum of layout shifts since the page was opened, as browsers report it; what moves less is not noticed. */
const MAX_SHIFT = 0.02

const READ_SHIFT = `new Promise((done) => {
  let sum = 0
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value
  }).observe({ type: 'layout-shift', buffered: true })
  requestAnimationFrame(() => requestAnimationFrame(() => done(sum)))
})`

async function shiftOf(page: Page, path: string): Promise<number> {
  await page.goto(path)
  await settled(page)
  return z.number().parse(await page.evaluate(READ_SHIFT))
}

test('members, an issue and its events', async () => {
  const { person, project } = await aTeam(server)
  for (const name of ['Ines', 'Joon', 'Tomo'])
    await aMemberClient(server.app, server.url, person, { name, email: `${name}@example.com`.toLowerCase() })
  await person.post('/api/invites', { emails: ['ada@example.com', 'bob@example.com'], role: 'member' })
  await server.events(
    project,
    [1, 2, 3, 4, 5].map((n) => ({
      error: 'alpha',
      release: `shop@2.${n}.0`,
      timestamp: Date.now() / 1000 - n * 86_400,
      user: { id: `u${n}` },
    })),
  )
  const id = (await server.issues(person))[0]?.id ?? ''
  const page = await dashboard.openAs(person)
  for (const path of ['/org/members', `/issues/${id}`, `/issues/${id}/events`])
    expect(await shiftOf(page, path), path).toBeLessThan(MAX_SHIFT)
})
