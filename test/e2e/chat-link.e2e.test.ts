import { expect, test } from 'vitest'
import { makeUnsubscribeToken } from '#server/alerts/alert-mails/unsubscribe-token.ts'
import { offerLink } from '#server/alerts/chat/press-button.ts'
import { newId } from '#server/platform/kernel/ids.ts'
import { expectAccessible, screenshot } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard

test('a member links the chat user of a link, and removes it', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  const url = new URL(await offerLink(server.app, { teamId: 'T1', teamName: 'acme', userId: newId(), userName: 'ada' }))
  await page.goto(url.pathname + url.hash)
  await page.getByText('Buttons that ada presses in the chat of acme').waitFor()
  expect(page.url()).not.toContain('token')
  await expectAccessible(page, 'the page that links a chat user')
  await screenshot(page, 'chat-link')
  await page.getByRole('button', { name: 'Link', exact: true }).click()
  await page.getByRole('heading', { name: 'Chat user linked' }).waitFor()
  await page.getByRole('link', { name: 'Show linked chat users' }).click()
  await page.getByText('ada in acme').waitFor()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByText('ada in acme').waitFor({ state: 'detached' })
  await page.goto(url.pathname + url.hash)
  await page.getByRole('heading', { name: 'This link no longer works' }).waitFor()
})

test('a receiver unsubscribes without a log-in, and undoes it', async () => {
  const page = await dashboard.open()
  const token = makeUnsubscribeToken(server.app, {
    orgId: newId(),
    ruleId: newId(),
    receiver: { addressHash: Buffer.alloc(16) },
  })
  await page.goto(`/unsubscribe#token=${token}`)
  await page.getByRole('button', { name: 'Stop e-mails from this alert rule' }).click()
  await page.getByText('The alert rule was deleted').waitFor()
  await expectAccessible(page, 'the page that unsubscribes')
  await screenshot(page, 'unsubscribe')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('heading', { name: 'Subscribed again' }).waitFor()
  const another = await dashboard.open()
  await another.goto('/unsubscribe')
  await another.getByRole('heading', { name: 'This link does not work' }).waitFor()
})
