import { afterAll, expect, test } from 'vitest'
import { LINEAR_KEY, startLinear } from '../kit/tracker-linear.ts'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import { waitFor } from '../kit/wait.ts'
import { expectAccessibleInThemes, expectNoSideScroll, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const linear = await startLinear()
// Before the service: it is closed after it.
afterAll(() => linear.receiver.close())
const dashboard = await testDashboard({ jobs: true, deliveries: true })
const { server } = dashboard

test('a tracker is connected, an issue gets its ticket once, and closing the ticket resolves the issue', async () => {
  const { person, project } = await aTeam(server)
  await sendEvent(server.url, project.dsn, anEvent({ error: 'cart is undefined' }))
  const issueId = await waitFor(
    'the issue',
    async () => (await person.get('/api/issues')).as<{ items: { id: string }[] }>().items[0]?.id,
  )
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${issueId}`)
  await page.getByText('No tracker. Connect Linear, Jira').waitFor()
  await page.getByRole('link', { name: 'Connect a tracker' }).click()

  const card = page.getByRole('region', { name: 'Tracker', exact: true })
  await card.getByText('Not connected', { exact: true }).waitFor()
  await card.getByLabel('Address, if it is not api.linear.app').fill(linear.url)
  await card.getByLabel('API key').fill('lin_api_wrong')
  await card.getByRole('button', { name: 'Look up teams' }).click()
  await card.getByRole('alert').waitFor()
  await card.getByLabel('API key').fill(LINEAR_KEY)
  await card.getByRole('button', { name: 'Look up teams' }).click()
  await card.getByLabel('Team or project').waitFor()
  await expectAccessibleInThemes(page, 'the form of a tracker')
  await card.getByRole('button', { name: 'Connect', exact: true }).click()
  const secretBox = page.getByText('Enter this in the webhook settings of the tracker')
  await secretBox.waitFor()
  const connected = page.getByRole('region', { name: 'Linear' })
  await connected.getByText('Works', { exact: true }).waitFor()
  await screenshot(page, 'tracker-connected', { fullPage: true })
  await expectNoSideScroll(page, 'integrations with a tracker')

  // The test plays Linear, which makes the secret of its webhook itself.
  await connected.getByRole('button', { name: 'Change connection' }).click()
  const follows = connected.getByRole('checkbox', { name: 'Follow states both ways' })
  expect(await follows.isChecked()).toBe(true)
  await follows.uncheck()
  await connected.getByLabel('Webhook secret').fill('the secret of the webhook')
  await connected.getByRole('button', { name: 'Look up teams' }).click()
  await connected.getByRole('button', { name: 'Connect', exact: true }).click()
  await connected.getByLabel('Team or project').waitFor({ state: 'detached' })
  await connected.getByText('Not followed').waitFor()
  // The form begins with what is stored.
  await connected.getByRole('button', { name: 'Change connection' }).click()
  expect(await follows.isChecked()).toBe(false)
  await follows.check()
  await screenshot(page, 'tracker-form', { fullPage: true })
  await connected.getByRole('button', { name: 'Look up teams' }).click()
  await connected.getByRole('button', { name: 'Connect', exact: true }).click()
  await connected.getByLabel('Team or project').waitFor({ state: 'detached' })
  await connected.getByText('A closed ticket resolves its issue').waitFor()
  const made = await person.post(`/api/projects/${project.id}/integrations/tracker`, { provider: 'tracker_a' })
  expect(made.status, made.text).toBe(201)
  const { webhook } = made.as<{ webhook: { url: string } }>()
  await page.goto(`/issues/${issueId}`)
  await page.getByRole('button', { name: 'Create ticket' }).click()
  const ticket = page.getByRole('region', { name: 'Ticket' })
  const link = ticket.getByRole('link')
  await link.waitFor()
  const key = (await link.textContent()) ?? ''
  await screenshot(page, 'ticket-created')
  const [created] = linear.tickets
  expect([created?.identifier, created?.title]).toEqual([key, expect.stringContaining('cart is undefined')])
  if (created === undefined) return

  linear.close(created)
  const { headers, body } = linear.delivery(created, 'the secret of the webhook')
  const { pathname, search } = new URL(webhook.url)
  const answer = await fetch(`${server.url}${pathname}${search}`, { method: 'POST', headers, body })
  expect(answer.status).toBe(200)
  await page.getByText('Resolved', { exact: true }).first().waitFor()
})
