import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import { aProject } from '../kit/founder.ts'
import { anEvent, anException } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  menuOpen,
  press,
  screenshot,
  settled,
  SIZES,
  until,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** Assignees, mentions, following, the inbox and ownership rules. */

const dashboard = await testDashboard()
const { server } = dashboard
const { person: ada, project } = await aTeam(server)
const addMember = async (name: string) => ({
  ...(await aMemberClient(server.app, server.url, ada, { name })),
  password: '',
})
const bob = await addMember('Bob Builder')
const zoe = await addMember('Zoë Müller')
for (const name of ['Grace Hopper', 'Hedy Lamarr', 'Joan Clarke']) await addMember(name)

type Issues = { items: { id: string; assignee: { name: string } | null; team: string | null; type: string }[] }
const issuesOf = async (projectId: string) => (await ada.get(`/api/issues?projectId=${projectId}`)).as<Issues>().items
const eventAt = (path: string) =>
  anEvent({
    exception: {
      values: [
        anException({
          type: `${path}Error`,
          stacktrace: { frames: [{ filename: path, function: path, in_app: true }] },
        }),
      ],
    },
  })

await server.event({ project })
await until('the issue', async () => (await issuesOf(project.id)).length === 1)
const issueId = (await issuesOf(project.id))[0]!.id

test('of many comments the newest are shown, and the earlier ones on demand', async () => {
  await server.event({ project, ...eventAt('talk') })
  await until('the issue', async () => (await issuesOf(project.id)).length === 2)
  const talk = (await issuesOf(project.id)).find(({ type }) => type === 'talkError')!
  for (let number = 1; number <= 103; number++)
    await bob.post(`/api/issues/${talk.id}/comments`, { body: `Said number ${number}` })
  const page = await dashboard.openAs(ada)
  await page.goto(`/issues/${talk.id}`)
  await page.getByText('Said number 103', { exact: true }).waitFor()
  await settled(page)
  expect(await page.getByText('Said number 3', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: '3 earlier comments' }).click()
  await page.getByText('Said number 1', { exact: true }).waitFor()
  const field = page.getByRole('textbox', { name: 'Comment', exact: true })
  await field.fill('Said last')
  await field.press('Control+Enter')
  await page.getByText('Said last', { exact: true }).waitFor()
  // Still there after a reload.
  await bob.post(`/api/issues/${talk.id}/comments`, { body: 'And Bob' })
  await page.getByText('And Bob', { exact: true }).waitFor()
  await settled(page)
  expect(await page.getByText(/^Said /).count()).toBe(104)
  await server.app.db.deleteFrom('issues').where('id', '=', talk.id).execute()
})

test('keys typed before the list of members opens choose the right member', async () => {
  const page = await dashboard.openAs(ada)
  let answer: () => void = () => undefined
  const asked = new Promise<void>((done) => (answer = done))
  await page.route('**/api/team?*', async (route) => {
    await asked
    return route.continue()
  })
  await page.goto(`/issues/${issueId}`)
  await page.getByRole('button', { name: 'Assignee: Unassigned' }).click()
  const box = page.getByRole('combobox', { name: 'Find a member' })
  await eventually(() => hasFocus(box)).toBe(true)
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
  await eventually(() => box.isVisible()).toBe(true)
  answer()
  await page.getByRole('button', { name: 'Assignee: Grace Hopper' }).waitFor()
  await box.waitFor({ state: 'hidden' })
})

test('an issue is assigned to a member found by typing, from the row and from its page', async () => {
  const page = await dashboard.openAs(ada)
  await page.goto('/issues')
  await page.getByRole('link', { name: /PaymentError/ }).waitFor()
  await press(page, 'j')
  await page.keyboard.press('a')
  const box = page.getByRole('combobox', { name: 'Find a member' })
  await box.waitFor()
  await eventually(async () =>
    (await page.getByRole('option').allInnerTexts()).map((text) => text.replace(/^[A-Z]{2}\n/, '')),
  ).toEqual([
    expect.stringContaining('Founder'),
    'Unassigned',
    'Bob Builder',
    'Grace Hopper',
    'Hedy Lamarr',
    'Joan Clarke',
    'Zoë Müller',
  ])
  await page.keyboard.type('mül')
  await page.getByRole('option', { name: 'Zoë Müller' }).waitFor()
  await settled(page)
  expect(await page.getByRole('option').count()).toBe(1)
  await press(page, 'Enter')
  await page.getByText(/assigned to Zoë Müller/).waitFor()
  await page.getByRole('button', { name: /^Assignee of .*: Zoë Müller/ }).waitFor()

  await page.goto(`/issues/${issueId}`)
  await page.getByRole('button', { name: 'Assignee: Zoë Müller' }).click()
  await press(page, 'ArrowDown')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Assignee: Unassigned' }).waitFor()
  await press(page, 'a')
  await page.keyboard.type('no such name')
  await page.getByText('No member matches “no such name”.').waitFor()
  await press(page, 'Escape')
  await box.waitFor({ state: 'hidden' })
  await press(page, 'a')
  await page.getByRole('option', { name: 'Bob Builder' }).click()
  await page.getByRole('button', { name: 'Assignee: Bob Builder' }).waitFor()
})

test('a comment offers members while typing, is shown with links, and can be edited', async () => {
  const page = await dashboard.openAs(ada)
  await page.goto(`/issues/${issueId}`)
  const box = page.getByRole('textbox', { name: 'Comment', exact: true })
  await box.waitFor()
  await press(page, 'c')
  await page.keyboard.type('Ask @zo')
  const list = page.getByRole('listbox', { name: 'Members you can mention' })
  await list.getByRole('option', { name: /Zoë Müller/ }).waitFor()
  await press(page, 'Enter')
  await settled(page)
  expect(await box.inputValue()).toBe('Ask @Zoë Müller ')
  await list.waitFor({ state: 'hidden' })
  await page.keyboard.type('or @')
  await list.getByRole('option').nth(1).waitFor()
  await press(page, 'Escape')
  await list.waitFor({ state: 'hidden' })
  await page.keyboard.type('b')
  await settled(page)
  expect(await list.count()).toBe(0)
  await press(page, 'Backspace')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('@bob')
  await list.getByRole('option', { name: /Bob Builder/ }).click()
  await page.keyboard.type('about it.')
  await settled(page)
  expect(await box.inputValue()).toBe('Ask @Zoë Müller or @Bob Builder about it.')
  await press(page, 'Control+Enter')
  const link = page.getByRole('link', { name: '@Zoë Müller' })
  await link.waitFor()
  await settled(page)
  expect(await link.getAttribute('href')).toBe(`/issues?assignee=${zoe.id}`)
  await page.getByRole('button', { name: 'Following' }).waitFor()

  await page.getByRole('button', { name: 'Comment actions' }).click()
  await menuOpen(page)
  await press(page, 'e')
  const edit = page.getByRole('textbox', { name: 'Edit comment' })
  await edit.waitFor()
  await until('the box to have the keyboard', () => hasFocus(edit))
  await page.keyboard.type(' Soon.')
  await page.keyboard.press('Control+Enter')
  await page.getByText(/about it\. Soon\./).waitFor()
  await page.getByText('edited', { exact: true }).waitFor()
  // Escape discards an edit.
  await page.getByRole('button', { name: 'Comment actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit comment' }).click()
  await edit.fill('Nothing of it.')
  await press(page, 'Escape')
  await page.getByText(/about it\. Soon\./).waitFor()
})

/** Opens the bell and its second tab, with the keyboard. */
async function openInbox(page: Page): Promise<void> {
  await press(page, 'b')
  await page.getByRole('tab', { name: /^Alerts/ }).focus()
  await page.keyboard.press('ArrowRight')
}

test('the bell counts notifications as they arrive, lists them, and subtracts what was read', async () => {
  const page = await dashboard.openAs(bob)
  await page.goto('/issues')
  // Assigned and mentioned.
  await page.getByRole('button', { name: 'Notifications, 2 unread for you' }).waitFor()
  await ada.post(`/api/issues/${issueId}/comments`, { body: 'Any progress?' })
  await page.getByRole('button', { name: 'Notifications, 3 unread for you' }).waitFor()
  await openInbox(page)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  const entry = page.getByRole('link', { name: /Unread: .* commented\./ })
  await screenshot(page, 'inbox')
  await entry.click()
  await page.getByRole('heading', { name: /PaymentError/ }).waitFor()
  await page.getByRole('button', { name: 'Notifications, 2 unread for you' }).waitFor()
  await openInbox(page)
  await page.getByRole('button', { name: 'Mark all as read' }).click()
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await settled(page)
  expect(await page.getByRole('link', { name: /Unread/ }).count()).toBe(0)
  await press(page, 'Escape')

  // A member who stops following is not notified.
  const follow = page.getByRole('button', { name: 'Following' })
  await settled(page)
  expect(await follow.getAttribute('title')).toBe('You follow this issue because it was assigned to you.')
  await follow.click()
  await page.getByRole('button', { name: 'Follow', exact: true }).waitFor()
  await until(
    'that it is saved',
    async () => !(await bob.get(`/api/issues/${issueId}/subscription`)).as<{ subscribed: boolean }>().subscribed,
  )
  await ada.post(`/api/issues/${issueId}/comments`, { body: 'Hello?' })
  await page.getByText('Hello?').waitFor()
  await settled(page)
  expect(await page.getByRole('button', { name: 'Notifications', exact: true }).count()).toBe(1)
})

test('ownership rules: tried out, saved, and applied', async () => {
  const shop = await aProject(ada, { name: 'owned-shop' })
  await server.event({ project: shop, ...eventAt('src/checkout/pay.ts') })
  await server.event({ project: shop, ...eventAt('src/home.ts') })
  await until('two issues', async () => (await issuesOf(shop.id)).length === 2)
  const page = await dashboard.openAs(ada)
  await page.goto(`/projects/${shop.id}/settings/general`)
  await page.getByRole('link', { name: 'Ownership' }).click()
  await page.getByText('No rules. New issues are not assigned.').waitFor()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Enter a pattern.').waitFor()
  const first = page.getByRole('group', { name: 'Rule 1' })
  await first.getByLabel('Pattern').fill('src/checkout/*')
  await first.getByLabel('Assign to').selectOption({ label: 'Bob Builder' })
  await page.getByRole('button', { name: 'Add rule' }).click()
  const second = page.getByRole('group', { name: 'Rule 2' })
  await second.getByLabel('Pattern').fill('src/*')
  await second.getByLabel('Assign to').selectOption('team')
  await second.getByLabel('Team', { exact: true }).fill('web')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('2 of the 2 most recent issues would be assigned.').waitFor()
  // The last rule decides: both are the team's until the order is right.
  const preview = page.getByRole('region', { name: 'Preview' })
  await settled(page)
  expect(await preview.getByText('Bob Builder').count()).toBe(0)
  await page.getByRole('button', { name: 'Move rule 2 up' }).click()
  await page.getByRole('button', { name: 'Preview' }).click()
  await preview.getByText('Bob Builder').waitFor()
  await screenshot(page, 'ownership', { fullPage: true })
  await press(page, 'Control+s')
  await page.getByText('Ownership rules saved').waitFor()
  await server.event({ project: shop, ...eventAt('src/checkout/cart.ts') })
  await until('the new one', async () => (await issuesOf(shop.id)).length === 3)
  const made = (await issuesOf(shop.id)).find(({ type }) => type.includes('cart'))
  expect(made).toMatchObject({ assignee: { name: 'Bob Builder' } })
})

test.each(SIZES)('the issue page is accessible and fits: %s', async (size) => {
  await ada.post(`/api/issues/${issueId}/comments`, { body: 'Please look, @Zoë Müller.' })
  const page = await dashboard.openAs(zoe, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `assignees-${name}-${size}`)
  }
  await page.goto(`/issues/${issueId}`)
  await page.getByRole('textbox', { name: 'Comment', exact: true }).waitFor()
  await page.getByRole('button', { name: /^Notifications, \d+ unread/ }).waitFor()
  await openInbox(page)
  await page
    .getByRole('link', { name: /^Unread/ })
    .first()
    .waitFor()
  await judge('inbox')
  await press(page, 'Escape')

  await page.getByRole('button', { name: size === 'phone' ? 'Assign' : /^Assignee/ }).click()
  await page.getByRole('option', { name: 'Grace Hopper' }).waitFor()
  await judge('owner')
  await press(page, 'Escape')
  // The picker returns the focus to its button; keys pressed before that are lost.
  await page.getByRole('option', { name: 'Grace Hopper' }).waitFor({ state: 'hidden' })

  const comment = page.getByRole('textbox', { name: 'Comment', exact: true })
  await comment.click()
  await comment.pressSequentially('Thanks @')
  await page.getByRole('listbox', { name: 'Members you can mention' }).waitFor()
  await judge('mention')
})

test.each(SIZES)('ownership rules are accessible and fit: %s', async (size) => {
  const reader = await dashboard.openAs(ada, { size })
  await reader.goto(`/projects/${project.id}/settings/ownership`)
  await reader.getByRole('button', { name: 'Add rule' }).click()
  const rule = reader.getByRole('group', { name: 'Rule 1' })
  await rule.getByLabel('Match').selectOption('tag')
  await rule.getByLabel('Pattern').fill('*')
  await rule.getByLabel('Assign to').selectOption('team')
  await reader.getByRole('button', { name: 'Preview' }).click()
  await reader.getByText('Enter a tag.').waitFor()
  await expectAccessibleInThemes(reader, `ownership, wrong, ${size}`)
  await rule.getByLabel('Match').selectOption('path')
  await rule.getByLabel('Team', { exact: true }).fill('checkout')
  await reader.getByRole('button', { name: 'Preview' }).click()
  await reader.getByText('1 of the 1 most recent issue would be assigned.').waitFor()
  await expectAccessibleInThemes(reader, `ownership, ${size}`)
  await expectNoSideScroll(reader, `ownership, ${size}`)
  await screenshot(reader, `assignees-ownership-${size}`, { fullPage: true })
})
