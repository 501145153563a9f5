import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import type { TestProject } from '../kit/founder.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  holdToast,
  menuOpen,
  press,
  screenshot,
  settled,
  SIZES,
  steadyBox,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

/** How an issue is resolved and ignored on the dashboard, and how it explains its return. */

const dashboard = await testDashboard()

const anIssue = async (person: Person, project: TestProject): Promise<string> =>
  (await dashboard.server.issue({ project, by: person, release: 'shop@2.3.0' })).id

const state = async (person: Person, id: string) => (await person.get(`/api/issues/${id}`)).body
const holds = (person: Person, id: string, expected: Record<string, unknown>) =>
  eventually(() => state(person, id)).toMatchObject(expected)

test('resolved in this release, another, the next one, a commit; undo restores the earlier state', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const how = page.getByRole('button', { name: 'Resolve options' }).filter({ visible: true })

  await how.click()
  await page.getByRole('menuitem', { name: 'In 2.3.0' }).click()
  await holds(person, id, { status: 'resolved', resolution: { in_release: 'shop@2.3.0' } })

  await how.click()
  await page.getByRole('menuitem', { name: 'In another release…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resolve in a release' })
  const field = dialog.getByLabel('Release')
  await eventually(() => field.inputValue()).toBe('shop@2.3.0')
  await field.fill('latest')
  await dialog.getByRole('button', { name: 'Resolve' }).click()
  await dialog.getByRole('alert').getByText('“latest” is not allowed').waitFor()
  await expectAccessible(page, 'dialog of a release')
  await field.fill('2.3.1, 3.0.2')
  await press(page, 'Enter')
  await dialog.waitFor({ state: 'hidden' })
  await holds(person, id, { resolution: { in_release: ['2.3.1', '3.0.2'] } })
  await page
    .getByRole('region', { name: 'Activity' })
    .getByText('resolved this issue in release 2.3.1 and 3.0.2')
    .waitFor()

  await how.click()
  await menuOpen(page)
  await press(page, 'x')
  await holdToast(page, /resolved/)
  await holds(person, id, { resolution: { in_next_release: true } })
  await press(page, 'z')
  await holds(person, id, { resolution: { in_release: ['2.3.1', '3.0.2'] } })

  await how.click()
  await page.getByRole('menuitem', { name: 'In a commit…' }).click()
  await page.getByRole('dialog').getByLabel('Commit').fill('abcdef1234')
  await press(page, 'Enter')
  await holds(person, id, { resolution: { in_commit: 'abcdef1234' } })
})

test('ignored until it escalates, until more events, until a date, forever', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const until = page.getByRole('button', { name: 'Ignore options' }).filter({ visible: true })

  await until.click()
  await page.getByRole('menuitem', { name: 'It escalates' }).click()
  await holds(person, id, { status: 'ignored', ignore_until: { escalating: true } })

  await until.click()
  await page.getByRole('menuitem', { name: 'More events…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Ignore until more events' })
  await dialog.getByLabel('Events').fill('50')
  await dialog.getByLabel('Within (minutes)').fill('60')
  await dialog.getByRole('button', { name: 'Ignore' }).click()
  await holds(person, id, { ignore_until: { count: 50, window: 60 } })

  await until.click()
  await page.getByRole('menuitem', { name: 'A date…' }).click()
  await page.getByLabel('Date and time').fill('2099-01-01T10:00')
  await press(page, 'Enter')
  await holds(person, id, { ignore_until: { time: '2099-01-01T10:00:00.000Z' } })

  await until.click()
  await page.getByRole('menuitem', { name: 'Forever' }).click()
  await holds(person, id, { status: 'ignored', ignore_until: null })
})

test('from a row of the stream', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('button', { name: /^Status of / }).click()
  await page.getByRole('menuitem', { name: 'More users…' }).click()
  await page.getByRole('dialog').getByLabel('Users').fill('7')
  await press(page, 'Enter')
  await holds(person, id, { status: 'ignored', ignore_until: { users: 7 } })
})

test('a viewer sees no such menus', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  await dashboard.server.app.db.query(
    `update memberships set role = 'viewer' where user_id = (select id from users where email = $1)`,
    [person.email],
  )
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  await page.getByRole('region', { name: 'Activity' }).waitFor()
  await settled(page)
  expect(await page.getByRole('button', { name: 'Resolve options' }).count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Ignore options' }).count()).toBe(0)
})

/** An issue resolved in one release and regressed in a later one. */
async function regressed(page: Page, person: Person, project: TestProject): Promise<string> {
  const id = await anIssue(person, project)
  await person.patch(`/api/issues/${id}`, { status: 'resolved', resolution: { in_release: 'shop@2.3.1' } })
  await dashboard.server.event({ project, release: 'shop@2.4.0' })
  await holds(person, id, { status: 'regressed' })
  await page.goto(`/issues/${id}`)
  return id
}

test('a fresh regression is in the chart at once; times, recipients and long facts are as elsewhere', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const rule = await person.post('/api/alerts', {
    projectId: project.id,
    name: 'New issues by mail',
    trigger_type: 'new_issue',
    conditions: {},
    actions: [{ type: 'email', to: ['ines@example.com', 'joon@example.com'] }],
  })
  expect(rule.status, rule.text).toBe(201)
  const error = {
    type: 'IllegalStateException',
    value: 'Fragment CheckoutFragment not attached to a context '.repeat(3),
  }
  const trace = { trace_id: 'a1b2c3d4e5f60718293a4b5c6d7e8f90', span_id: 'a1b2c3d4e5f60718' }
  await dashboard.server.events(
    project,
    [3, 6, 9].map((days) => ({
      error,
      release: 'shop@2.3.0',
      timestamp: Date.now() / 1000 - days * 86_400,
      contexts: { trace },
    })),
  )
  const id = (await dashboard.server.issues(person))[0]?.id ?? ''
  await person.patch(`/api/issues/${id}`, { status: 'resolved', resolution: { in_release: 'shop@2.3.1' } })
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const reason = page.getByRole('region', { name: 'Resolved' })
  await reason.getByText(/on \d{1,2} \w{3}, \d\d:\d\d\.$/).waitFor()
  await settled(page)
  // One line: the sentence has the room of its box.
  expect((await steadyBox(reason.locator('p'))).height).toBeLessThan(24)
  // The title fills its lines before it breaks.
  const heading = await steadyBox(page.getByRole('heading', { level: 1 }))
  const actions = await steadyBox(page.getByRole('toolbar', { name: 'Actions' }).first())
  expect(actions.x - heading.x - heading.width).toBeLessThan(40)
  expect((await steadyBox(page.getByTitle(trace.trace_id))).height).toBeLessThan(24)
  const activity = page.getByRole('region', { name: 'Activity' })
  await activity
    .getByRole('listitem')
    .filter({ hasText: /E-mail i\S*@example\.com/ })
    .last()
    .waitFor()

  await dashboard.server.events(project, [{ error, release: 'shop@2.4.0', timestamp: Date.now() / 1000 }])
  await page.getByRole('region', { name: /^Regressed in 2\.4\.0/ }).waitFor()
  await page
    .getByRole('img', { name: /^Events .* 4 in total|4 events/ })
    .first()
    .waitFor()
  await settled(page)
  await screenshot(page, 'fresh-regression')
})

test('"Not a regression" resolves the issue again, for the releases seen so far', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  const id = await regressed(page, person, project)
  await page.getByRole('button', { name: 'Not a regression' }).click()
  await holds(person, id, { status: 'resolved', resolution: { in_next_release: true } })
})

test('a project sets when issues escalate and become severe', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/general`)
  const form = page.getByRole('form', { name: 'Severity and escalation' })
  await form.getByLabel('Minimum limit', { exact: true }).fill('9')
  await form.getByText('Enter a whole number from 10 to 1,000,000.').waitFor()
  await form.getByLabel('Minimum limit', { exact: true }).fill('40')
  await form.getByLabel('High impact from').fill('2.5')
  await form.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Severity and escalation saved').waitFor()
  expect((await person.get(`/api/projects/${project.id}/settings`)).body).toMatchObject({
    escalating: { min_limit: 40, deviations: 5 },
    severity_rules: { users: 25, user_share: 0.025 },
  })
  await expectAccessible(page, 'severity and escalating')
  await screenshot(page, 'issue-rules-light-desk', { fullPage: true })
})

test.each(SIZES)('a regressed issue is accessible and fits: %s', async (size) => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person, { size })
  await regressed(page, person, project)
  const reason = page.getByRole('region', { name: /^Regressed in 2\.4\.0/ })
  await reason.getByRole('img', { name: /2\.3\.1 fixed here, .*2\.4\.0 seen again$/ }).waitFor()
  await reason.getByText('from release shop@2.4.0, fixed in shop@2.3.1.').waitFor()
  await expectAccessibleInThemes(page, `came back, ${size}`)
  await expectNoSideScroll(page, `came back, ${size}`)
  await screenshot(page, `came-back-${size}`)
  await page.getByRole('button', { name: 'Resolve options' }).filter({ visible: true }).click()
  await page.getByRole('menu', { name: 'Resolve options' }).waitFor()
  await expectAccessibleInThemes(page, `ways to resolve, ${size}`)
  await screenshot(page, `resolve-menu-${size}`)
  await page.getByRole('menuitem', { name: 'In another release…' }).click()
  await page.getByRole('dialog').waitFor()
  await expectAccessibleInThemes(page, `another release, ${size}`)
  await expectNoSideScroll(page, `another release, ${size}`)
  await screenshot(page, `resolve-dialog-${size}`)
  await press(page, 'Escape')
  await page.goto('/issues')
  await page.getByRole('button', { name: /^Status of / }).click()
  await page.getByRole('menu', { name: 'Status' }).waitFor()
  await expectAccessibleInThemes(page, `status menu, ${size}`)
  await screenshot(page, `status-menu-${size}`)
})

test('a double press and a held key decide once, and Undo restores the earlier state', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const sent: (string | null)[] = []
  page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postData())
  })
  await page.getByRole('button', { name: 'Resolve', exact: false }).filter({ visible: true }).first().dblclick()
  await holdToast(page, /resolved/)
  await press(page, 'z')
  await holds(person, id, { status: 'unresolved' })
  await page.locator('[data-toast]').waitFor({ state: 'hidden' })

  for (let held = 0; held < 5; held++) await page.keyboard.down('i')
  await page.keyboard.up('i')
  await holdToast(page, /ignored/)
  await press(page, 'z')
  await holds(person, id, { status: 'unresolved' })
  expect(sent).toHaveLength(2)
})

test('an issue deleted by another member says so; a draft survives a log-in', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const field = page.getByRole('textbox', { name: 'Comment' })
  await field.fill('Seen after the rollout.')
  await page.context().clearCookies()
  await press(page, 'Control+Enter')
  await page.waitForURL(/\/login\?next=/)
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await press(page, 'Enter')
  await page.waitForURL(`**/issues/${id}`)
  await field.waitFor()
  await settled(page)
  expect(await field.inputValue()).toBe('Seen after the rollout.')

  // A log-out deletes the draft: the next user of the browser must not see it.
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Log out' }).click()
  await page.waitForURL(/\/login/)
  await page.getByLabel('E-mail').fill(person.email)
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password)
  await press(page, 'Enter')
  await page.waitForURL(`**/issues/${id}`)
  await field.waitFor()
  await settled(page)
  expect(await field.inputValue()).toBe('')

  expect((await person.delete(`/api/issues/${id}`)).status).toBe(204)
  await page.getByRole('heading', { name: 'This issue does not exist' }).waitFor()
})

test('text typed while a comment is being sent is kept', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const id = await anIssue(person, project)
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${id}`)
  const onItsWay = Promise.withResolvers<void>()
  await page.route('**/comments', async (route) => {
    if (route.request().method() === 'POST') await onItsWay.promise
    await route.continue()
  })
  const field = page.getByRole('textbox', { name: 'Comment', exact: true })
  await field.fill('Seen after the rollout.')
  const request = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/comments'))
  await page.keyboard.press('Control+Enter')
  await request
  await page.keyboard.type(' And before.')
  onItsWay.resolve()
  await page.getByRole('region', { name: 'Activity' }).getByRole('article').getByText('Seen after').waitFor()
  await eventually(() => field.inputValue()).toBe('And before.')
  await eventually(() => page.getByRole('region', { name: 'Activity' }).getByRole('article').count()).toBe(1)
})
