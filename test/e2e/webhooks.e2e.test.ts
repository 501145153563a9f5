import type { Locator, Page } from 'playwright-core'
import { afterAll, expect, test } from 'vitest'
import { startReceiver, type Answer } from '../kit/receiver.ts'
import { aMemberClient } from '../kit/member-client.ts'
import { seedDeliveries, seededDelivery, seedHealth } from '../kit/seed-deliveries.ts'
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
  visit,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'

const dashboard = await testDashboard({ deliveries: true })
const { server } = dashboard

const closing: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const close of closing) await close()
})

/** A receiver whose answer can be changed. */
async function aReceiver(first: Answer = 200) {
  let answer = first
  const receiver = await startReceiver({ respond: () => answer })
  closing.push(() => receiver.close())
  return {
    ...receiver,
    answerWith: (next: Answer) => {
      answer = next
    },
  }
}

async function anEndpoint(person: Person, fields: Record<string, unknown>): Promise<string> {
  const answer = await person.post('/api/webhooks', fields)
  expect(answer.status, answer.text).toBe(201)
  return String(answer.body['id'])
}

const deliveries = (page: Page): Locator => page.getByRole('region', { name: 'Deliveries' })
const rowOf = (page: Page, type: string): Locator =>
  deliveries(page)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: type }) })

async function chooseFor(page: Page, host: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `More actions: ${host}` }).click()
  await menuOpen(page)
  await page.getByRole('menuitem', { name: item }).click()
}

test('an endpoint is added with the keyboard, its secret is shown once, and a test event arrives', async () => {
  const { person } = await aTeam(server)
  const receiver = await aReceiver({ status: 200, body: '{"ok":true}' })
  const page = await dashboard.openAs(person)
  await page.goto('/issues')
  await page.getByRole('link', { name: 'Organisation' }).click()
  await page.getByRole('link', { name: 'Webhooks' }).click()
  await page.getByRole('heading', { name: 'Webhooks', level: 1 }).waitFor()
  await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
  await page.getByRole('region', { name: 'Example request body' }).getByText('"signin.password.ok"').waitFor()
  await screenshot(page, 'webhooks-empty')

  await press(page, 'n')
  const dialog = page.getByRole('dialog', { name: 'Add endpoint' })
  await eventually(() => hasFocus(dialog.getByLabel('URL'))).toBe(true)
  await page.keyboard.type('not a url')
  await page.keyboard.press('Enter')
  await dialog.getByText('Enter a URL that starts with').waitFor()
  // A refusal of the service stands at its field, in the service's words.
  await dialog.getByLabel('URL').fill('http://169.254.169.254/latest')
  await page.keyboard.press('Enter')
  await eventually(() => dialog.getByLabel('URL').getAttribute('aria-invalid')).toBe('true')
  await eventually(() => dialog.getByRole('alert').textContent()).toContain('link-local')
  await dialog.getByLabel('URL').fill(`${receiver.url}/hooks`)
  await dialog.getByRole('button', { name: 'Only selected types' }).click()
  await dialog.getByLabel('Search event types').fill('theft')
  await dialog.getByRole('checkbox', { name: /session\.theft_detected/ }).check()
  await dialog.getByLabel('Search event types').fill('device')
  await dialog.getByRole('checkbox', { name: /device\.new/ }).check()
  await dialog.getByText('2 selected').waitFor()
  await dialog.getByRole('switch', { name: 'Standard Webhooks headers' }).click()
  await dialog.getByRole('button', { name: 'Add header' }).click()
  await dialog.getByLabel('Name of header 1').fill('X-Team')
  await dialog.getByLabel('Value of header 1').fill('operations')
  await dialog.getByRole('button', { name: 'Add endpoint' }).click()

  const secret = page.getByLabel('Signing secret', { exact: true })
  await eventually(() => secret.inputValue()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  const shown = await secret.inputValue()
  await screenshot(page, 'webhooks-secret')
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toBe(shown)
  // Leaving asks once, because the secret is never shown again.
  await page.getByRole('link', { name: 'Audit log' }).click()
  const leaving = page.getByRole('dialog', { name: 'Leave without storing it?' })
  await leaving.getByRole('button', { name: 'Stay' }).click()
  await leaving.waitFor({ state: 'hidden' })
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await secret.waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(shown)
  await page.getByText(`2 event types, secret ${shown.slice(0, 12)}…`).waitFor()

  await page.getByRole('button', { name: 'Send test event' }).click()
  await page.getByText('Test event sent').waitFor()
  // Live: the page is not loaded again.
  await rowOf(page, 'webhook.test').getByText('Delivered').waitFor()
  await rowOf(page, 'webhook.test').getByRole('img', { name: '1 of 6 attempts, delivered' }).waitFor()
  expect(receiver.requests).toHaveLength(1)
  expect(receiver.requests[0]?.headers).toMatchObject({ 'svc-event': 'webhook.test', 'x-team': 'operations' })
  expect(receiver.requests[0]?.headers).toHaveProperty('webhook-signature')

  await rowOf(page, 'webhook.test').getByRole('link').click()
  const detail = page.getByRole('region', { name: 'webhook.test' })
  await detail.getByText(String(receiver.requests[0]?.headers['svc-signature'])).waitFor()
  await detail.getByRole('region', { name: 'Body' }).getByText('"type": "webhook.test"').waitFor()
  await detail.getByRole('region', { name: 'Answer' }).getByText('"ok": true').waitFor()
  expect(await detail.textContent()).not.toContain('operations')
  await screenshot(page, 'webhooks-delivered')
})

test('a failing receiver: attention, the time of the retry, the error word for word, and a replay', async () => {
  const { person } = await aTeam(server)
  const receiver = await aReceiver({ status: 503, body: 'upstream connect error' })
  const endpointId = await anEndpoint(person, { url: receiver.url, events: ['webhook.test'] })
  const page = await dashboard.openAs(person)
  await page.goto(`/org/webhooks?endpoint=${endpointId}`)
  await page.getByRole('button', { name: 'Send test event' }).click()
  const row = rowOf(page, 'webhook.test')
  await row.getByText(/^Retry in (1\smin|\d+\ss)$/).waitFor()
  await row.getByText('503').waitFor()
  await page.getByRole('region', { name: 'Endpoints' }).getByRole('img', { name: 'Needs attention' }).waitFor()
  await page.getByRole('link', { name: 'Organisation needs attention' }).waitFor()
  await page.getByRole('button', { name: 'Retrying 1' }).click()
  await page.waitForURL('**state=retrying*')
  await row.getByText('503').waitFor()
  await page.getByRole('button', { name: 'Failed', exact: true }).click()
  await page.getByText('No deliveries match').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()

  // Without a pointer: open the delivery, replay it, close it.
  await row.waitFor()
  await press(page, 'j')
  const detail = page.getByRole('region', { name: 'webhook.test' })
  await detail.getByRole('region', { name: 'Answer' }).getByText('upstream connect error').waitFor()
  await detail.getByText('after 1 min').waitFor()
  await screenshot(page, 'webhooks-retrying')
  receiver.answerWith(204)
  await press(page, 'Shift+R')
  await page.getByText('Replay requested').waitFor()
  await row.getByText('Delivered').waitFor()
  await detail.getByRole('button', { name: /^R replay/ }).waitFor()
  await detail.getByText('The answer has no body.').waitFor()
  expect(receiver.requests.map(({ body }) => body.toString())).toHaveLength(2)
  expect(receiver.requests[1]?.body.equals(receiver.requests[0]?.body ?? Buffer.alloc(0))).toBe(true)
  // An earlier attempt keeps its answer.
  await detail.getByRole('button', { name: /^1 immediately/ }).click()
  await detail.getByText('upstream connect error').waitFor()
  await press(page, 'Escape')
  await detail.waitFor({ state: 'detached' })
  await eventually(() => page.getByRole('link', { name: 'Organisation', exact: true }).count()).toBe(1)

  // No connection at all.
  await receiver.close()
  await chooseFor(page, new URL(receiver.url).host, 'Send test event')
  await page.getByText('unreachable').waitFor()
  await deliveries(page).getByRole('link', { name: 'webhook.test' }).first().click()
  await detail
    .getByRole('region', { name: 'Error' })
    .getByText(/ECONNREFUSED/)
    .waitFor()
})

test('pausing keeps deliveries, resuming sends them; rotating and deleting ask to type', async () => {
  const { person } = await aTeam(server)
  const receiver = await aReceiver()
  const { host } = new URL(receiver.url)
  await anEndpoint(person, { url: receiver.url })
  const page = await dashboard.openAs(person)
  await page.goto('/org/webhooks')
  const endpoints = page.getByRole('region', { name: 'Endpoints' })
  await page.getByRole('switch', { name: `Send to ${host}` }).click()
  await page.getByText('Endpoint paused. New events wait until you resume it.').waitFor()
  await endpoints.getByText('Paused', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Send test event' }).click()
  await rowOf(page, 'webhook.test').getByText('Waiting, paused').waitFor()
  expect(receiver.requests).toHaveLength(0)
  await page.getByRole('switch', { name: `Send to ${host}` }).click()
  await rowOf(page, 'webhook.test').getByText('Delivered').waitFor()

  await page.getByRole('button', { name: 'Rotate' }).click()
  const rotating = page.getByRole('dialog', { name: 'Rotate the signing secret?' })
  await rotating.getByRole('button', { name: 'Rotate' }).click({ force: true })
  await settled(page)
  expect(await rotating.isVisible()).toBe(true)
  await rotating.getByLabel('Type “rotate” to confirm').fill('rotate')
  await press(page, 'Enter')
  await page.getByText(`Copy the new signing secret of ${host} now.`).waitFor()
  await page.getByText(/^The previous secret also signs until \d+ \w+, \d\d:\d\d, for (1\sd|23\sh)/).waitFor()
  await screenshot(page, 'webhooks-rotated')
  await page.getByRole('button', { name: 'I have stored it' }).click()
  await chooseFor(page, host, 'Send test event')
  await eventually(() => receiver.requests.length).toBe(2)
  expect(String(receiver.requests[1]?.headers['svc-signature']).match(/v1=/g)).toHaveLength(2)

  await chooseFor(page, host, 'Edit endpoint')
  const editing = page.getByRole('dialog', { name: 'Edit endpoint' })
  await editing.getByLabel('Description').fill('Night shift')
  await press(page, 'Enter')
  await endpoints.getByText('Night shift, all events').waitFor()

  await chooseFor(page, host, 'Delete endpoint')
  const deleting = page.getByRole('dialog', { name: 'Delete this endpoint?' })
  await deleting.getByLabel(`Type “${host}” to confirm`).fill(host)
  await press(page, 'Enter')
  await page.getByText('Endpoint deleted').waitFor()
  await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor()
})

test('failed deliveries are replayed together, and an outage by its time range', async () => {
  const { person } = await aTeam(server)
  const receiver = await aReceiver()
  const endpointId = await anEndpoint(person, { url: receiver.url })
  await seedDeliveries(server.app, endpointId, new Date(), 'b')
  const page = await dashboard.openAs(person)
  await page.goto('/org/webhooks')
  await page.getByRole('button', { name: 'Failed 2' }).waitFor()
  await page.getByRole('button', { name: 'Replay failed' }).click()
  const dialog = page.getByRole('dialog', { name: 'Replay the failed deliveries?' })
  await dialog.getByText(/^2 failed deliveries are sent to/).waitFor()
  await dialog.getByRole('button', { name: 'Replay 2' }).click()
  await page.getByText('2 deliveries will be replayed.').waitFor()
  await eventually(() => receiver.requests.length).toBe(2)
  await eventually(() => page.getByRole('button', { name: /^Failed \d/ }).count()).toBe(0)

  await page.getByRole('checkbox', { name: `Select ${seededDelivery(3, 'b')}` }).check()
  await page.getByRole('checkbox', { name: `Select ${seededDelivery(4, 'b')}` }).check()
  await page.getByRole('button', { name: 'Replay 2' }).click()
  await eventually(() => receiver.requests.length).toBe(4)

  await chooseFor(page, new URL(receiver.url).host, 'Replay a time range')
  const range = page.getByRole('dialog', { name: 'Replay a time range' })
  await range.getByRole('button', { name: 'Replay', exact: true }).click()
  await range.getByText('Enter the start of the range.').waitFor()
  await range.getByLabel('From').fill('2020-01-01T00:00')
  await range.getByRole('button', { name: 'Replay', exact: true }).click()
  await page.getByText(/deliveries will be replayed$/).waitFor()
})

test('a link to a delivery opens it; type and date are filters in the address', async () => {
  const { person } = await aTeam(server)
  const endpointId = await anEndpoint(person, { url: 'https://ops.example.com/hooks' })
  await person.patch(`/api/webhooks/${endpointId}`, { paused: true })
  await seedDeliveries(server.app, endpointId, new Date(), 'c')
  const page = await dashboard.openAs(person)
  await page.goto(`/org/webhooks/${endpointId}`)
  await page.waitForURL(`**/org/webhooks?endpoint=${endpointId}`)
  await page.getByRole('button', { name: 'All types' }).click()
  await menuOpen(page)
  await page.getByRole('menuitemcheckbox', { name: 'mfa.totp.enrolled' }).click()
  await page.waitForURL('**type=mfa.totp.enrolled*')
  await eventually(() => deliveries(page).getByRole('rowheader').count()).toBe(1)
  await page.getByRole('button', { name: 'Any date' }).click()
  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.keyboard.press('Enter')
  await page.getByText('Filters: mfa.totp.enrolled, until 1 Jan 2020.').waitFor()
  await page.goto(`/org/webhooks?delivery=${seededDelivery(7, 'c')}`)
  await page.getByRole('region', { name: 'device.new' }).getByText('certificate has expired').waitFor()
  await page.goto('/org/webhooks?delivery=d_00000000000000000000000000')
  await page.getByText('This delivery does not exist').waitFor()
})

test('an endpoint that the service paused says so, and is resumed in place', async () => {
  const { person } = await aTeam(server)
  const endpointId = await anEndpoint(person, { url: 'https://ops.example.com/hooks', auto_pause: true })
  await person.patch(`/api/webhooks/${endpointId}`, { paused: true })
  await server.app.db.query('update webhook_endpoints set auto_paused_at = now() where id = $1', [endpointId])
  const page = await dashboard.openAs(person)
  await page.goto('/org/webhooks')
  await page.getByText('Faultline paused this endpoint').waitFor()
  await page.getByText('Paused after failures').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Faultline paused this endpoint').waitFor({ state: 'detached' })
  await eventually(async () => (await person.get(`/api/webhooks/${endpointId}`)).body['state']).toBe('active')
})

test('a member sees what the page is, and that it is for admins', async () => {
  const { person } = await aTeam(server)
  const member = await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai' })
  const page = await dashboard.openAs({ ...person, ...member })
  for (const [address, name] of [
    ['/org/webhooks', 'Webhooks'],
    ['/org/audit', 'Audit log'],
  ] as const) {
    await page.goto(address)
    await page.getByRole('heading', { name, level: 1 }).waitFor()
    await page.getByText('This page is for the admin role').waitFor()
  }
  expect(await page.getByRole('button', { name: 'Add endpoint' }).count()).toBe(0)
  const topics = page.getByRole('navigation', { name: 'Organisation settings' })
  expect(await topics.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
})

test.each(SIZES)('is accessible and fits: %s', async (size) => {
  const { person } = await aTeam(server)
  const key = size === 'desk' ? 'd1' : 'd2'
  const now = new Date()
  const first = await anEndpoint(person, {
    url: 'https://ops.example.com/hooks/identity',
    events: ['session.theft_detected', 'device.new', 'signin.oidc.ok', 'mfa.totp.enrolled', 'password.changed'],
  })
  await seedDeliveries(server.app, first, now, key)
  await seedHealth(server.app, await anEndpoint(person, { url: 'https://audit.example.com/v1/intake' }), now, 200)
  const page = await dashboard.openAs(person, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
  await page.goto('/org/webhooks')
  await page.getByText('Retry in').first().waitFor()
  await judge('webhooks')
  await visit(page, `/org/webhooks?delivery=${seededDelivery(1, key)}`)
  await page.getByRole('region', { name: 'Answer' }).waitFor()
  await judge('webhooks-detail')
  await visit(page, '/org/webhooks')
  await page.getByRole('button', { name: 'Add endpoint' }).click()
  await page.getByRole('button', { name: 'Only selected types' }).click()
  await judge('webhooks-add')
  await press(page, 'Escape')
  await page.getByRole('button', { name: 'Verify a signature' }).click()
  await page.getByRole('tab', { name: 'Go' }).click()
  await page.getByRole('region', { name: 'Go' }).waitFor()
  await judge('webhooks-verify')
})

test('at 320 pixels the page does not scroll sideways', async () => {
  const { person } = await aTeam(server)
  const endpointId = await anEndpoint(person, { url: 'https://ops.example.com/hooks/identity' })
  await seedDeliveries(server.app, endpointId, new Date(), 'f')
  const page = await dashboard.openAs(person)
  await page.setViewportSize({ width: 320, height: 700 })
  for (const address of ['/org/webhooks', `/org/webhooks?delivery=${seededDelivery(1, 'f')}`, '/org/audit']) {
    await page.goto(address)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectNoSideScroll(page, `${address} at 320`)
  }
})
