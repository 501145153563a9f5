import { expect, test } from 'vitest'
import { aProject } from '../kit/founder.ts'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
  SIZES,
  until,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()
const { person, project } = await aTeam(dashboard.server)

const saying = (value: string, fields: Record<string, unknown> = {}) =>
  anEvent({ error: { value }, user: { id: 'u/1', email: 'ada@example.com' }, ...fields })

const stored = async (): Promise<number> =>
  (
    await dashboard.server.app.db.query<{ n: number }>('select count(*)::int as n from events where project_id = $1', [
      project.id,
    ])
  ).rows[0]?.n ?? 0

for (const [value, release] of [
  ['card declined', 'shop@1.0.0'],
  ['Ads SDK timeout', 'shop@1.1.0-local'],
  ['Ads SDK timeout', 'shop@1.1.0-local'],
] as const)
  await sendEvent(dashboard.server.url, project.dsn, saying(value, { release }))
await until('three events', async () => (await stored()) === 3)

test('filters: tried out, saved, and applied', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByRole('link', { name: 'Inbound filters' }).click()
  await page.getByRole('heading', { name: 'Inbound filters', level: 1 }).waitFor()
  await page.getByLabel('Messages').fill('*Ads SDK*\n')
  await page.getByLabel('Releases').fill('*-local\nshop@9.*')
  await page.getByRole('switch', { name: 'Crawlers' }).click()
  await page.getByRole('switch', { name: 'Internet Explorer' }).click()
  await page.getByText('Unsaved changes').waitFor()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByText('Checked the newest 3 events: 2 would be dropped.').waitFor()
  await page.getByRole('link', { name: 'PaymentError: Ads SDK timeout' }).first().waitFor()
  await screenshot(page, 'filters-dry-run', { fullPage: true })
  expect(await stored()).toBe(3)

  await press(page, 'Control+s')
  await page.getByText('Filters saved').waitFor()
  await eventually(() => page.getByText('Unsaved changes').count()).toBe(0)
  await sendEvent(dashboard.server.url, project.dsn, saying('Ads SDK timeout'))
  await sendEvent(dashboard.server.url, project.dsn, saying('card declined again'))
  await until('the one that is kept', async () => (await stored()) === 4)

  // A refusal is shown at its list.
  await page.getByLabel('IP addresses').fill('everywhere')
  dashboard.browser.forgive(/400/)
  await press(page, 'Control+s')
  await page.getByRole('alert').filter({ hasText: '203.0.113.7' }).first().waitFor()
})

test('scrubbing: a rule is written, previewed, saved, and applied', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/scrubbing`)
  await page.getByRole('button', { name: 'Add rule' }).click()
  const rule = page.getByRole('group', { name: 'Rule 1' })
  await rule.getByLabel('Path', { exact: true }).fill('user.email')
  await rule.getByLabel('Action').selectOption('hash')
  await page.getByRole('button', { name: 'Add rule' }).click()
  const second = page.getByRole('group', { name: 'Rule 2' })
  await second.getByLabel('Path', { exact: true }).fill('**')
  await second.getByLabel('Match').selectOption('custom')
  await second.getByLabel('Regular expression').fill('card (')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByRole('alert').filter({ hasText: 'regex' }).waitFor()
  await second.getByLabel('Regular expression').fill('card \\w+')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('user.email', { exact: true }).waitFor()
  await page.getByText(/hash:[0-9a-f]{24}/).waitFor()
  await settled(page)
  expect(await page.getByText('ada@example.com').count()).toBe(0)
  await screenshot(page, 'scrubbing-preview', { fullPage: true })
  await press(page, 'Control+s')
  await page.getByText('Scrubbing saved').waitFor()
  const { id } = await sendEvent(dashboard.server.url, project.dsn, saying('card declined'))
  await until('the event', async () => (await stored()) === 5)
  const answer = await person.post(`/api/projects/${project.id}/scrubbing/preview`, { scrub_rules: [], event_id: id })
  expect(answer.body).toMatchObject({ title: 'PaymentError: [Filtered]', total_changes: 0 })
})

test('a rule that costs too much: a note on intake and on its page, until it is removed', async () => {
  const { id, dsn } = await aProject(person)
  // As saved before expressions were limited.
  await dashboard.server.app.db.query('update projects set settings = settings || $2 where id = $1', [
    id,
    JSON.stringify({
      scrub_rules: [{ path: 'extra.note', pattern: 'custom', regex: '(?i)(\\pL{1,500}){1,2}!', action: 'replace' }],
    }),
  ])
  await sendEvent(dashboard.server.url, dsn, saying('card declined', { extra: { note: 'secret' } }))
  const intake = () => person.get(`/api/projects/${id}/intake`)
  await until('the note', async () => (await intake()).as<{ costly_rules: unknown[] }>().costly_rules.length === 1)
  const page = await dashboard.openAs(person)
  await page.goto(`/intake?project=${id}`)
  await page.getByText('1 text in one request was stored as “[Filtered: too costly]”').waitFor()
  await page.getByRole('link', { name: 'Change the rules' }).click()
  await page.getByText('Rule 1 (extra.note): 1 text in the last 24 hours').waitFor()
  await expectAccessible(page, 'a costly rule')
  await screenshot(page, 'scrubbing-costly', { fullPage: true })
  await page.getByRole('button', { name: 'Remove the rule for extra.note' }).click()
  await press(page, 'Control+s')
  await page.getByText('Scrubbing saved').waitFor()
  await eventually(() => page.getByText('These rules take too long').count()).toBe(0)
})

test.each(SIZES)('privacy settings are accessible and fit: %s', async (size) => {
  const page = await dashboard.openAs(person, { size })
  await page.goto(`/projects/${project.id}/settings/filters`)
  await page.getByRole('switch', { name: 'Crawlers' }).waitFor()
  await page.getByRole('button', { name: 'Dry run' }).click()
  await page.getByRole('heading', { name: 'Dry run' }).waitFor()
  await expectAccessibleInThemes(page, `filters, ${size}`)
  await expectNoSideScroll(page, `filters, ${size}`)
  await screenshot(page, `filters-${size}`, { fullPage: true })

  await page.goto(`/projects/${project.id}/settings/scrubbing`)
  await page.getByRole('group', { name: 'Rule 2' }).waitFor()
  await page.getByRole('button', { name: 'Preview' }).click()
  await page
    .getByText(/no stored event|change nothing|change/)
    .first()
    .waitFor()
  await expectAccessibleInThemes(page, `scrubbing, ${size}`)
  await expectNoSideScroll(page, `scrubbing, ${size}`)
  await screenshot(page, `scrubbing-${size}`, { fullPage: true })
})

test('at 320 pixels no page scrolls sideways', async () => {
  const page = await dashboard.openAs(person)
  await page.setViewportSize({ width: 320, height: 700 })
  for (const part of ['filters', 'scrubbing']) {
    await page.goto(`/projects/${project.id}/settings/${part}`)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expectNoSideScroll(page, `${part} at 320`)
  }
})

test('erasing a user: confirmed twice, with a report of what was deleted', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/scrubbing`)
  await page.getByRole('button', { name: 'Erase…' }).click()
  await page.getByText('Enter the ID of a user.').waitFor()
  await page.getByLabel('User', { exact: true }).fill('u/1')
  await press(page, 'Enter')
  const dialog = page.getByRole('dialog', { name: 'Erase this user?' })
  await dialog.getByRole('button', { name: 'Erase permanently' }).click({ force: true })
  await settled(page)
  expect(await dialog.isVisible()).toBe(true)
  await page.getByLabel('Type “erase” to confirm').fill('erase')
  await press(page, 'Enter')
  await page.getByText(/^Erased: .*5 events/).waitFor()
  await screenshot(page, 'user-erased', { fullPage: true })
  expect(await stored()).toBe(0)
})
