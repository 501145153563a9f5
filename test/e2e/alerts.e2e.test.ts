import type { Locator, Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { aMemberClient } from '../kit/member-client.ts'
import { startReceiver, type Answer } from '../kit/receiver.ts'
import { aRule, fire } from './alerts-world.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  menuOpen,
  press,
  screenshot,
  settled,
  SIZES,
  visit,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** Alerts: rules, what fires, its history, and the bell. */

const dashboard = await testDashboard({ deliveries: true })
const { server } = dashboard

const CHAT = { type: 'chat', webhook_url: 'https://hooks.example.com/services/T000/B000/XXXXsecretXXXX' }
const TEAM = { type: 'email', to: 'team' }

const card = (page: Page, name: string): Locator => page.getByRole('region', { name, exact: true })
const firing = (page: Page): Locator => card(page, 'Firing now')
const rules = (page: Page): Locator => card(page, 'Rules')

/** Presses Tab, or Shift and Tab, until the element has the focus. */
async function tabTo(element: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let left = 40; left > 0; left--) {
    await press(element.page(), key)
    if (await hasFocus(element)) return
  }
  throw new Error(`${String(element)} is not reached with ${key}`)
}

/** Waits for the address and for what it shows. */
async function arrived(page: Page, path: string | RegExp, heading: string): Promise<void> {
  await page.waitForURL(path)
  await page.getByRole('heading', { name: heading }).first().waitFor()
}

test('without a pointer: a rule is built, fires, and its alert is acknowledged', async () => {
  const { person, project } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await press(page, 'g')
  await page.keyboard.press('a')
  await arrived(page, '**/alerts', 'Nothing is firing')
  await rules(page).getByRole('heading', { name: 'No rules yet' }).waitFor()
  await press(page, 'n')
  await arrived(page, '**/alerts/rules/new', 'New rule')

  await press(page, '1')
  await eventually(() => hasFocus(page.getByRole('radio', { name: 'An issue spikes' }))).toBe(true)
  await page.keyboard.press('ArrowLeft')
  await page.getByText('A new issue appears in shopper-web').waitFor()
  // Nothing was typed yet: saving says what is missing.
  await press(page, 'Control+s')
  await page.getByText('Give the rule a name.').waitFor()
  await eventually(() => hasFocus(page.getByLabel('Name'))).toBe(true)
  await page.keyboard.type('Anything new')
  await tabTo(page.getByRole('combobox', { name: 'Severity' }))
  await page.keyboard.press('m')
  await eventually(() => page.getByRole('combobox', { name: 'Severity' }).inputValue()).toBe('medium')
  await press(page, 'Control+s')
  await arrived(page, /\/alerts\/rules\/[0-9a-f-]{36}$/u, 'Edit rule')
  await page.getByText('Rule added').waitFor()
  await rules(page).getByRole('link', { name: 'Anything new' }).and(page.locator('[aria-current]')).waitFor()
  await rules(page).getByText('New issue, severity medium or above').waitFor()
  await rules(page).getByRole('img', { name: 'Sends to E-mail' }).waitFor()

  // Live: firing list, rail, bell and title change without a reload.
  await press(page, 'Escape')
  await page.waitForURL('**/alerts/rules')
  await press(page, 'g')
  await page.keyboard.press('a')
  await arrived(page, '**/alerts', 'Nothing is firing')
  expect(await page.title()).toBe('Alerts · Faultline')
  await server.event({ project, error: { type: 'PaymentError', value: 'card declined' } })
  await firing(page).getByRole('listitem').filter({ hasText: 'PaymentError' }).waitFor()
  await page.getByRole('link', { name: 'Alerts 1' }).waitFor()
  await page.getByRole('button', { name: 'Notifications, 1 alert firing' }).waitFor()
  await eventually(() => page.title()).toBe('(1) Alerts · Faultline')
  await screenshot(page, 'alerts-fired')

  await press(page, 'e')
  await firing(page)
    .getByText(/acked \d\d:\d\d$/)
    .waitFor()
  await firing(page).getByRole('img', { name: 'Founder' }).waitFor()
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await eventually(() => page.title()).toBe('Alerts · Faultline')
  // The page shows the acknowledgement before the server has it.
  await eventually(async () => (await person.get('/api/alerts/recent')).body).toMatchObject({
    unread_count: 0,
    items: [{ state: 'acknowledged' }],
  })

  await press(page, 'Enter')
  await page.waitForURL('**/alerts/history?alert=*')
  const detail = page.getByRole('region', { name: /PaymentError/ })
  await detail.getByText('Acknowledged', { exact: true }).first().waitFor()
  await detail.getByRole('list', { name: 'Deliveries' }).getByText('E-mail').waitFor()
  await press(page, 'Escape')
  await page.waitForURL('**/alerts/history')
})

test('three rules are suggested, each one press away, and can be undone', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/alerts/rules')
  await page.getByRole('button', { name: 'Add the rule New critical issues' }).click()
  await rules(page).getByRole('link', { name: 'New critical issues' }).waitFor()
  await page.getByRole('button', { name: 'Add the rule Issue spikes' }).click()
  await rules(page).getByRole('link', { name: 'Issue spikes' }).waitFor()
  await press(page, 'z')
  await rules(page).getByRole('link', { name: 'Issue spikes' }).waitFor({ state: 'hidden' })
  await eventually(async () => (await person.get('/api/alerts')).body['total']).toBe(1)

  const onOff = rules(page).getByRole('switch', { name: 'New critical issues enabled' })
  await onOff.click()
  await eventually(() => onOff.getAttribute('aria-checked')).toBe('false')
  await eventually(
    async () => (await person.get('/api/alerts')).as<{ items: { enabled: boolean }[] }>().items,
  ).toMatchObject([{ enabled: false }])
})

test('the bell: alerts first, acknowledged in place, notifications of the member behind a second tab', async () => {
  const { person, project } = await aTeam(server)
  const rule = await aRule(person, { projectId: project.id, name: 'Slow', trigger_type: 'performance_threshold' })
  const path = await aRule(person, { projectId: project.id, name: 'Login', trigger_type: 'critical_path' })
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await page.getByText('Live', { exact: true }).waitFor()
  await fire(server, rule)
  await fire(server, path, {
    subject: 'login',
    title: 'Login fails',
    severity: 'critical',
    value: 2.4,
    unit: 'percent',
  })
  await page.getByRole('button', { name: 'Notifications, 2 alerts firing' }).waitFor()
  await eventually(() => page.title()).toMatch(/^\(2\) /)
  // Said once to screen readers.
  await page.getByText('Critical alert in shopper-web: Login fails').waitFor()

  await press(page, 'b')
  const panel = page.getByRole('dialog', { name: 'Notifications' })
  await eventually(() => hasFocus(panel.getByRole('tab', { name: 'Alerts' }))).toBe(true)
  await panel.getByText(/Critical path 2\.4/).waitFor()
  await tabTo(panel.getByRole('button', { name: 'Ack Login fails' }))
  await page.keyboard.press('Enter')
  await panel.getByText(/acknowledged by/).waitFor()
  await page.getByRole('button', { name: 'Notifications, 1 alert firing' }).waitFor()
  // Firing alerts come first.
  expect(await panel.getByRole('listitem').allTextContents()).toMatchObject([
    expect.stringContaining('Cold start'),
    expect.stringContaining('Login fails'),
  ])
  await panel.getByRole('button', { name: 'Acknowledge all' }).click()
  await page.getByText('1 alert acknowledged').waitFor()
  await page.getByRole('button', { name: 'Notifications', exact: true }).waitFor()
  await panel.getByRole('tab', { name: 'For you' }).click()
  await panel.getByText('No notifications').waitFor()
  await panel.getByRole('tab', { name: 'Alerts' }).click()
  await panel.getByRole('link', { name: 'All alerts' }).click()
  await arrived(page, '**/alerts/history', 'Alerts')
})

test('history: filters are in the address, an alert opens with its explanation, and can be resolved', async () => {
  const { person, project } = await aTeam(server)
  const slow = await aRule(person, {
    projectId: project.id,
    name: 'Slow',
    trigger_type: 'performance_threshold',
    actions: [TEAM],
  })
  const spikes = await aRule(person, { projectId: project.id, name: 'Spikes', trigger_type: 'issue_spike' })
  const issue = await server.issue({ project, by: person, error: { type: 'TimeoutError', value: 'POST /slots' } })
  const slowId = await fire(server, slow)
  await fire(server, spikes, {
    subject: issue.id,
    issueId: issue.id,
    title: 'TimeoutError spikes',
    value: 640,
    unit: 'events',
    threshold: 100,
    explanation: '640 events within 60 minutes.',
  })
  expect((await person.post(`/api/alerts/${slowId}/ack`)).status).toBe(200)
  const page = await dashboard.openAs(person)
  // With one rule on a page; the filter offers those of every page.
  await page.route(/\/api\/alerts\?limit=100/, (route) =>
    route.continue({ url: route.request().url().replace('limit=100', 'limit=1') }),
  )
  await page.goto('/alerts/history')
  const rows = page.getByRole('row').filter({ has: page.getByRole('rowheader') })
  await eventually(() => rows.count()).toBe(2)
  await page.getByRole('button', { name: 'Acknowledged', exact: true }).click()
  await page.waitForURL('**/alerts/history?state=acknowledged')
  await eventually(() => rows.count()).toBe(1)
  await page.getByRole('button', { name: 'All rules' }).click()
  await menuOpen(page)
  await page.getByRole('menuitemcheckbox', { name: /^Slow/ }).waitFor()
  await page.getByRole('menuitemcheckbox', { name: /^Spikes/ }).click()
  await page.getByText('Filters: acknowledged, Spikes.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await eventually(() => rows.count()).toBe(2)
  await page.goBack()
  await page.getByText('No alerts match').waitFor()
  await page.goForward()
  await eventually(() => rows.count()).toBe(2)

  await press(page, 'j')
  const detail = page.getByRole('region', { name: 'TimeoutError spikes' })
  await detail.getByText('640 events within 60 minutes.').waitFor()
  await detail.getByText('Nothing was sent: the rule has no channel.').waitFor()
  await press(page, 'j')
  await page
    .getByRole('region', { name: 'Cold start P95 over 5 s' })
    .getByRole('list', { name: 'Deliveries' })
    .getByText('all members')
    .or(page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem'))
    .first()
    .waitFor()
  await press(page, 'k')
  await detail.getByRole('button', { name: 'Resolve' }).click()
  await page.getByText('Alert resolved').waitFor()
  await detail.getByText('Resolved', { exact: true }).first().waitFor()

  // The issue tells it too.
  await detail.getByRole('link', { name: /TimeoutError/ }).click()
  await page.getByRole('heading', { name: 'Activity' }).waitFor()
  await page.getByText('Alert of the rule').waitFor()
  await page.getByRole('link', { name: 'Spikes' }).click()
  await page.waitForURL('**/alerts/history?alert=*')
})

test('a rule is changed: masked URLs stay, leaving asks, a copy needs its URLs, deletion is confirmed', async () => {
  const { person, project } = await aTeam(server)
  const rule = await aRule(person, {
    projectId: project.id,
    name: 'Regressions',
    trigger_type: 'issue_regression',
    actions: [CHAT],
  })
  const page = await dashboard.openAs(person)
  await page.goto(`/alerts/rules/${rule.id}`)
  const masked = rule.actions[0]?.webhook_url ?? 'no URL'
  await page.getByText(masked).waitFor()
  await page.getByLabel('Name').fill('Regressions of the shop')
  await page.getByRole('link', { name: 'History' }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave without saving?' })
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Add condition' }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Environment' }).click()
  await page.getByRole('textbox', { name: 'Environment' }).fill('')
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Enter an environment, or remove the condition.').waitFor()
  await page.getByRole('textbox', { name: 'Environment' }).fill('staging')
  await page.getByRole('switch', { name: 'Escalate when it is not acknowledged' }).click()
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Add at least one channel to escalate to.').waitFor()
  await page.getByRole('button', { name: 'Add E-mail' }).last().click()
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Rule saved').waitFor()
  const saved = (await person.get(`/api/alerts/${rule.id}`)).as<typeof rule>()
  expect(saved).toMatchObject({
    name: 'Regressions of the shop',
    conditions: { environment: 'staging' },
    actions: [{ id: rule.actions[0]?.id, webhook_url: masked }],
    escalate_after_minutes: 30,
    escalation_actions: [{ type: 'email', to: 'team' }],
  })

  // Saved: nothing asks any more.
  await page.getByRole('button', { name: 'More actions' }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Clone' }).click()
  await arrived(page, '**/alerts/rules/new?*', 'New rule')
  await page.getByText('URLs and keys are not copied.').waitFor()
  expect(await page.getByLabel('Name').inputValue()).toBe('Regressions of the shop (copy)')
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Enter a URL that starts with https://.').waitFor()
  await page.getByLabel('Webhook URL of the chat').fill('https://hooks.example.com/services/other')
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByText('Rule added').waitFor()
  expect((await person.get('/api/alerts')).body['total']).toBe(2)

  await page.goto(`/alerts/rules/${rule.id}`)
  await page.getByRole('button', { name: 'Delete rule' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click()
  await page.getByText('Rule deleted').waitFor()
  await page.waitForURL('**/alerts/rules')
  expect((await person.get('/api/alerts')).body['total']).toBe(1)
})

test('the signing secret of a webhook is shown once, and leaving asks', async () => {
  const { person, project } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto(`/alerts/rules/new?project=${project.id}&trigger=new_issue`)
  await page.getByLabel('Name').fill('To the pipeline')
  await page.getByRole('button', { name: 'Remove E-mail' }).click()
  await page.getByText('Without a channel, alerts appear only here.').waitFor()
  await page.getByRole('button', { name: 'Add Webhook' }).click()
  await page.getByLabel('URL of the webhook').fill('https://ci.example.com/hooks/rollout')
  await page.getByRole('button', { name: 'Save rule' }).click()
  const secret = page.getByLabel('Signing secret', { exact: true })
  await eventually(() => secret.inputValue()).toMatch(/^whsec_\S{20,}$/)
  const shown = await secret.inputValue()
  await screenshot(page, 'alerts-secret')
  await page.getByRole('link', { name: 'Issues' }).first().click()
  await page.getByRole('dialog', { name: 'Leave without storing it?' }).getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await secret.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(shown)
})

test('a dry run says what the rule would have fired, and a test shows the real answer', async () => {
  const { person, project } = await aTeam(server)
  const receiver = await startReceiver({ respond: () => answer })
  onTestFinished(() => receiver.close())
  let answer: Answer = 200
  await server.event({ project, error: { type: 'TypeError', value: 'cart is undefined' } })
  const page = await dashboard.openAs(person)
  await page.goto(`/alerts/rules/new?project=${project.id}&trigger=new_issue`)
  const dryRun = page.getByRole('figure', { name: 'Dry run' })
  await dryRun.getByText('Would have fired once in the last 7 days').waitFor()
  await dryRun.getByRole('img', { name: /Would have fired once/ }).waitFor()
  await dryRun.getByText('Show the occurrence').click()
  await dryRun.getByRole('row', { name: /TypeError/ }).waitFor()
  await page.getByRole('combobox', { name: 'Severity' }).selectOption('critical')
  await dryRun.getByText('Would not have fired in the last 7 days').waitFor()
  await dryRun.getByText('Nothing matched.').waitFor()
  await page.getByText('Performance crosses a threshold').click()
  await dryRun.getByText('No data in the last 7 days').waitFor()
  await dryRun.getByText('Missing data never triggers an alert.').waitFor()
  await page.getByRole('textbox', { name: 'Threshold' }).fill('0')
  await page.getByText('Enter a threshold above 0 that fits its unit.').waitFor()
  await dryRun.getByText('Complete the sentence').waitFor()
  // The earlier choice is still there.
  await page.getByText('A new issue appears').click()
  await dryRun.getByText('Would not have fired in the last 7 days').waitFor()
  await page.getByRole('combobox', { name: 'Severity' }).selectOption({ label: 'any' })

  await page.getByLabel('Name').fill('To the pipeline')
  await page.getByRole('button', { name: 'Add Webhook' }).click()
  const channel = page.getByRole('list', { name: 'Channels' }).getByRole('listitem').filter({ hasText: 'Webhook' })
  const send = channel.getByRole('button', { name: 'Send test: Webhook' })
  expect(await send.getAttribute('title')).toBe('Complete the channel first.')
  await channel.getByLabel('URL of the webhook').fill(`${receiver.url}/hooks`)
  await send.click()
  await channel.getByText(/^200 in \d/).waitFor()
  expect(JSON.parse(String(receiver.requests[0]?.body))).toMatchObject({ type: 'alert.test' })
  answer = 503
  await send.click()
  await channel.getByText('It answered 503.').waitFor()
  await page.getByText('A test failed. The rule can be saved').waitFor()
  await screenshot(page, 'alerts-dry-run', { fullPage: true })
  await page.getByRole('button', { name: 'Save rule' }).click()
  await page.getByRole('button', { name: 'I have stored it' }).click()

  // The receiver's answer stands with the alert; the retry too.
  answer = 200
  await server.event({ project, error: { type: 'RangeError', value: 'page 0' } })
  await page.goto('/alerts/history')
  await page.getByRole('link', { name: /RangeError/ }).click()
  const delivery = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem').filter({ hasText: 'Webhook' })
  await delivery.getByText('Delivered').waitFor()
  await delivery.getByText(/^200 in \d/).waitFor()
  await delivery.getByText('1 attempt').waitFor()
})

test('viewers see alerts and rules, and change nothing', async () => {
  const { person, project } = await aTeam(server)
  const rule = await aRule(person, { projectId: project.id, name: 'Slow', trigger_type: 'performance_threshold' })
  await fire(server, rule)
  const viewer = await aMemberClient(server.app, server.url, person, { name: 'Vera Viewer', role: 'viewer' })
  const page = await dashboard.openAs({ ...person, ...viewer })
  await page.goto('/alerts')
  const ack = firing(page).getByRole('button', { name: 'Ack Cold start P95 over 5 s' })
  await ack.waitFor()
  await eventually(() => ack.getAttribute('aria-disabled')).toBe('true')
  expect(await ack.getAttribute('title')).toBe('You need the member role to change this.')
  await press(page, 'e')
  await press(page, 'n')
  await settled(page)
  expect(new URL(page.url()).pathname).toBe('/alerts')
  await page.goto(`/alerts/rules/${rule.id}`)
  await page.getByRole('heading', { name: 'Rule', exact: true }).waitFor()
  await settled(page)
  expect(await page.getByLabel('Name').isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Save rule' }).count()).toBe(0)
  await expectAccessible(page, 'a rule as a viewer')
  expect((await person.get('/api/alerts/recent')).body['unread_count']).toBe(1)
})

test('charts open the builder filled in', async () => {
  const { person, project } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto(`/metrics?project=${project.id}`)
  await page.getByRole('button', { name: 'ANR rate: more' }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: 'Alert on this' }).click()
  await arrived(page, '**/alerts/rules/new?*', 'New rule')
  await eventually(() => page.getByRole('combobox', { name: 'Metric' }).inputValue()).toBe('anr_rate')
  expect(await page.getByRole('textbox', { name: 'Threshold' }).inputValue()).toBe('0.47')
  expect(await page.getByLabel('Project').inputValue()).toBe(project.id)
})

test.each(SIZES)('alerts are accessible: %s', async (size) => {
  const { person, project } = await aTeam(server)
  const rule = await aRule(person, {
    projectId: project.id,
    name: 'Slow cold start',
    trigger_type: 'performance_threshold',
    actions: [CHAT, { type: 'pager', routing_key: 'R0UT1NGKEY0123456789abcdef012345' }, TEAM],
  })
  const path = await aRule(person, {
    projectId: project.id,
    name: 'Login journey',
    trigger_type: 'critical_path',
    actions: [TEAM],
  })
  const alertId = await fire(server, rule)
  const other = await fire(server, path, {
    subject: 'login',
    title: 'Login fails',
    severity: 'critical',
    value: 2.4,
    unit: 'percent',
  })
  expect((await person.post(`/api/alerts/${other}/ack`)).status).toBe(200)
  const page = await dashboard.openAs(person, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `alerts-${name}-${size}`)
    if (size === 'desk') return
    // Zoomed to 400 %.
    await page.setViewportSize({ width: 320, height: 800 })
    await expectNoSideScroll(page, `${name}, 320 px`)
    await page.setViewportSize({ width: 390, height: 844 })
  }
  await page.goto('/alerts')
  await firing(page).getByRole('link', { name: 'Cold start P95 over 5 s' }).waitFor()
  await judge('firing')
  await press(page, 'b')
  await page.getByRole('dialog', { name: 'Notifications' }).getByRole('link', { name: 'Login fails' }).waitFor()
  await judge('bell')
  await press(page, 'Escape')
  await visit(page, '/alerts/rules')
  await rules(page).getByText('Slow cold start').waitFor()
  await judge('rules')
  await visit(page, `/alerts/rules/${rule.id}`)
  await page.getByRole('radio', { name: 'Performance crosses a threshold' }).waitFor()
  await judge('builder')
  await visit(page, '/alerts/history')
  await page.getByRole('rowheader').first().waitFor()
  await judge('history')
  await visit(page, `/alerts/history?alert=${alertId}`)
  await page.getByRole('list', { name: 'Deliveries' }).waitFor()
  await judge('detail')
})
