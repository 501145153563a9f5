import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aProject } from '../kit/founder.ts'
import { queuedMails } from '../kit/queued-mails.ts'
import { insertMessage } from '../kit/route-examples.ts'
import {
  eventually,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  SIZES,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard
const team = await aTeam(server)
const project = await aProject(team.person, { name: 'storefront' })
const MARA = 'mara@example.org'

const issue = await server.issue({ project, by: team.person })
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)
const message = (text: string, minutes: number, fields: object = {}) =>
  insertMessage(server.app, project.id, { message: text, receivedAt: minutesAgo(minutes), ...fields })
await message('The checkout button does nothing. I tried six times and loaded the page again.', 3, {
  name: 'Mara L.',
  email: MARA,
  issueId: issue.id,
  url: 'https://shop.example/basket',
  release: '311',
  context: {
    browser: 'Chrome 142',
    os: null,
    device: null,
    language: 'en-GB',
    view: null,
    user: 'u_51',
    trace_id: null,
  },
})
await message('<img src=x onerror="document.title=1"> <script>document.title=1</script>', 20, { name: '<b>Eve</b>' })
await message(`${'שלום עולם '.repeat(60)}👩‍👩‍👧 ${'x'.repeat(400)}`, 60, { email: 'no address' })
await message('Search is better now. Thank you.', 120)

const member = await server.member(team.person, { name: 'Vera Viewer', role: 'viewer' })
const viewer = { ...team.person, ...member }

async function openInbox(as: Person = team.person, search = ''): Promise<Page> {
  const page = await dashboard.openAs(as)
  await page.goto(`/feedback?project=${project.id}${search}`)
  await page.getByRole('link', { name: /The checkout button/ }).waitFor()
  return page
}

test('a message is read, answered to the address that was shown, and resolved, which shows the next one', async () => {
  const page = await openInbox()
  await page.getByRole('link', { name: 'Not read: The checkout button does nothing' }).click()
  const detail = page.getByRole('region', { name: 'From Mara L.' })
  await detail.getByText('I tried six times', { exact: false }).waitFor()
  await detail
    .getByRole('region', { name: 'Linked issue' })
    .getByText(/names an event of this issue/)
    .waitFor()
  await page.getByRole('link', { name: 'The checkout button does nothing', exact: true }).waitFor()
  await press(page, 'c')
  const field = detail.getByRole('textbox', { name: `Reply to ${MARA}` })
  await field.fill('It works again.\nPlease try.')
  await detail.getByRole('button', { name: /^Send/ }).click()
  await detail.getByText(`replied to ${MARA}`, { exact: false }).waitFor()
  expect(await queuedMails(server.app, MARA)).toMatchObject([{ paragraphs: ['It works again.', 'Please try.'] }])
  await detail.getByText(/gets one mail when .* is resolved/).waitFor()
  await detail.getByRole('heading', { name: 'From Mara L.' }).click()
  await press(page, 'r')
  await page.getByText('The message is resolved.').waitFor()
  await page.getByRole('region', { name: 'From <b>Eve</b>' }).waitFor()
  await eventually(() => page.getByRole('link', { name: /The checkout button/ }).count()).toBe(0)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('link', { name: /The checkout button/ }).waitFor()
  // Markup of a message is text.
  expect(await page.title()).toContain('Feedback')
  await page.getByRole('region', { name: 'From <b>Eve</b>' }).getByText('<script>', { exact: false }).first().waitFor()
})

test('without an address only a note is possible, spam is hidden, and the issue leads here and back', async () => {
  const page = await openInbox()
  await page.getByRole('link', { name: /Search is better now/ }).click()
  const detail = page.getByRole('region', { name: 'From Anonymous' })
  await detail.getByText('This person left no address', { exact: false }).waitFor()
  await detail.getByRole('textbox', { name: 'Note' }).fill('Nice.')
  await detail.getByRole('button', { name: /^Add note/ }).click()
  await detail.getByText('wrote a note', { exact: false }).waitFor()
  await detail.getByRole('heading', { name: 'From Anonymous' }).click()
  await press(page, 'u')
  await page.getByText('The message is marked as spam.').waitFor()
  await eventually(() => page.getByRole('link', { name: /Search is better now/ }).count()).toBe(0)
  await page.getByRole('link', { name: /^Spam/ }).click()
  await page.getByRole('link', { name: /Search is better now/ }).waitFor()
  await page.goto(`/issues/${issue.id}`)
  await page.getByRole('link', { name: 'Answer Mara L.' }).click()
  await page.waitForURL(/\/feedback\?.*issue=/)
  await page.getByRole('link', { name: 'Back to the issue' }).click()
  await page.waitForURL(new RegExp(`/issues/${issue.id}`))
})

test('a viewer reads, and sees why the rest is disabled', async () => {
  const page = await openInbox(viewer)
  await page.getByRole('link', { name: /The checkout button/ }).click()
  const resolve = page.getByRole('button', { name: /^Resolve/ })
  expect(await resolve.getAttribute('title')).toMatch(/member/)
})

test.each(SIZES)('the inbox is accessible and fits: %s', async (size) => {
  const page = await dashboard.openAs(team.person, { size })
  await page.goto(`/feedback?project=${project.id}`)
  const link = page.getByRole('link', { name: /The checkout button/ })
  await link.waitFor()
  for (const name of ['feedback', 'feedback-message'] as const) {
    if (name === 'feedback-message') {
      await link.click()
      await page.getByRole('region', { name: 'From Mara L.' }).waitFor()
    }
    await settled(page)
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
})
