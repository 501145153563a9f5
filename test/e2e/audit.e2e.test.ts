import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { flushDenials } from '#server/history/audit/denials.ts'
import { aMemberClient } from '../kit/member-client.ts'
import { eventually, expectAccessibleInThemes, expectNoSideScroll, press, screenshot, SIZES, visit } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { server } = dashboard

const Line = z.looseObject({ seq: z.number(), action: z.string(), prev_hash: z.string(), hash: z.string() })

test('what happened is listed, filtered by the address, and an entry has its JSON and its hashes', async () => {
  const { person, project } = await aTeam(server)
  const created = await person.post('/api/webhooks', { url: 'https://ops.example.com/hooks' })
  const endpointId = String(created.body['id'])
  await person.patch(`/api/webhooks/${endpointId}`, { paused: true })
  await person.post(`/api/webhooks/${endpointId}/rotate-secret`, {})
  await person.delete(`/api/webhooks/${endpointId}`)
  const page = await dashboard.openAs(person)
  await page.goto('/org')
  await page.getByRole('link', { name: 'Audit log' }).click()
  const log = page.getByRole('region', { name: 'Audit log' })
  await log.getByRole('link', { name: 'project.created' }).waitFor()
  await log.getByRole('link', { name: 'signin.password.ok' }).waitFor()

  await page.getByLabel('Action').fill('*.created')
  await page.keyboard.press('Enter')
  await page.getByText('Enter an action, or its beginning and *.').waitFor()
  await page.getByLabel('Action').fill('webhook.*')
  await page.keyboard.press('Enter')
  await page.waitForURL('**action=webhook.*')
  await eventually(() => log.getByRole('rowheader').allTextContents()).toEqual([
    'webhook.endpoint.deleted',
    'webhook.secret.rotated',
    'webhook.endpoint.updated',
    'webhook.endpoint.created',
  ])
  await log.getByText('4 of 4').waitFor()

  await log.getByRole('link', { name: 'webhook.secret.rotated' }).click()
  await page.waitForURL('**entry=*')
  const entry = page.getByRole('dialog', { name: 'Entry webhook.secret.rotated' })
  await entry.getByText('https://ops.example.com/hooks').first().waitFor()
  await entry.getByRole('button', { name: 'Copy JSON' }).click()
  await page.getByText('Entry copied').waitFor()
  const copied = Line.parse(JSON.parse(await page.evaluate<string>('navigator.clipboard.readText()')))
  expect(copied.action).toBe('webhook.secret.rotated')
  await entry.getByRole('definition').filter({ hasText: copied.hash }).waitFor()
  await entry.getByRole('definition').filter({ hasText: copied.prev_hash }).waitFor()
  await screenshot(page, 'audit-entry')
  await entry.getByRole('button', { name: 'Only this target' }).click()
  await entry.waitFor({ state: 'detached' })
  await page.waitForURL(`**target=${endpointId}`)
  expect(await page.getByLabel('Action').inputValue()).toBe('')
  await eventually(() => log.getByRole('rowheader').count()).toBe(4)
  await page.goBack()
  await page.getByRole('dialog', { name: 'Entry webhook.secret.rotated' }).waitFor()
  await press(page, 'Escape')

  await page.getByLabel('To', { exact: true }).fill('2020-01-01')
  await page.getByRole('button', { name: 'Filter', exact: true }).click()
  await page.getByText('Filters: action webhook.*, until 1 Jan 2020.').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).first().click()
  await log.getByRole('link', { name: 'project.created' }).waitFor()
  expect(new URL(page.url()).search).toBe('')

  // New entries wait behind the pill, and the list stays still.
  const rows = await log.getByRole('rowheader').count()
  await person.patch(`/api/projects/${project.id}/settings`, { name: 'storefront' })
  await page.getByRole('button', { name: /^1 new entry/ }).waitFor()
  expect(await log.getByRole('rowheader').count()).toBe(rows)
  await screenshot(page, 'audit-pill')
  await press(page, '.')
  await log.getByRole('link', { name: 'project.settings_updated' }).waitFor()
  await eventually(() => page.getByRole('button', { name: /new entr/ }).count()).toBe(0)
})

test('refusals of a minute are one entry with their number', async () => {
  const { person, project } = await aTeam(server)
  const member = await aMemberClient(server.app, server.url, person, { name: 'Tomo Arai', email: 'tomo@example.com' })
  for (let time = 0; time < 5; time++)
    expect((await member.patch(`/api/projects/${project.id}/settings`, { name: 'mine' })).status).toBe(403)
  await flushDenials(server.app)
  const page = await dashboard.openAs(person)
  await page.goto('/org/audit?action=access.denied')
  const row = page.getByRole('row').filter({ hasText: 'access.denied' })
  await row.getByText('Denied', { exact: true }).waitFor()
  await row.getByText('5 times').waitFor()
  await row.getByText('tomo@example.com').waitFor()
})

test('an owner verifies the log and exports it; the lines verify elsewhere too', async () => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person)
  await page.goto('/org/audit')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page
    .getByRole('status')
    .filter({ hasText: /^No entry was changed: \d+ verified, from number 1 to \d+\./ })
    .waitFor()
  await screenshot(page, 'audit-verified')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export', exact: true }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/\.ndjson$/)
  const lines = (await text(createReadStream(await file.path()))).trimEnd().split('\n')
  const entries = lines.map((line) => Line.parse(JSON.parse(line)))
  expect(entries[0]?.action).toBe('audit.exported')
  expect(entries.at(-1)?.seq).toBe(1)
  for (const [index, { hash, prev_hash: before }] of entries.entries()) {
    const hashed = (lines[index] ?? '').replace(`,"hash":"${hash}"}`, '}')
    expect(createHash('sha256').update(Buffer.from(before, 'hex')).update(hashed).digest('hex')).toBe(hash)
    if (index + 1 < entries.length) expect(before).toBe(entries[index + 1]?.hash)
  }

  const admin = await aMemberClient(server.app, server.url, person, { name: 'Zoë Müller', role: 'admin' })
  const other = await dashboard.openAs({ ...person, ...admin })
  await other.goto('/org/audit')
  await other.getByRole('link', { name: 'Export', exact: true }).waitFor()
  expect(await other.getByRole('button', { name: 'Verify' }).getAttribute('aria-disabled')).toBe('true')
  expect(await other.getByRole('button', { name: 'Verify' }).getAttribute('title')).toContain('owner')
})

test('a changed entry is named', async () => {
  const { person } = await aTeam(server)
  const { org } = (await person.get('/api/me')).as<{ org: { id: string } }>()
  await server.app.db.query('alter table audit_log disable trigger user')
  await server.app.db.query(`update audit_log set ip = '203.0.113.9' where org_id = $1 and seq = 2`, [org.id])
  await server.app.db.query('alter table audit_log enable trigger user')
  const page = await dashboard.openAs(person)
  await page.goto('/org/audit')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByRole('alert').filter({ hasText: 'The audit log was changed at entry number 2.' }).waitFor()
  await screenshot(page, 'audit-broken')
})

test.each(SIZES)('is accessible and fits: %s', async (size) => {
  const { person } = await aTeam(server)
  const page = await dashboard.openAs(person, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
  await page.goto('/org/audit')
  await page.getByRole('button', { name: 'Verify' }).click()
  await page.getByText(/^No entry was changed/).waitFor()
  await judge('audit')
  await page.getByRole('link', { name: 'project.created' }).click()
  await page.getByRole('dialog').waitFor()
  await judge('audit-entry')
  await press(page, 'Escape')
  await visit(page, '/org/audit?action=user.deleted')
  await page.getByText('No entries match').waitFor()
  await judge('audit-none')
})
