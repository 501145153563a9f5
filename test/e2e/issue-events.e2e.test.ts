import { expect, test } from 'vitest'
import { z } from 'zod'
import { type EventFields, newEventId } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  hasFocus,
  press,
  screenshot,
  settled,
  SIZES,
} from './browser.ts'
import { aTeam, testDashboard, type Person } from './dashboard.ts'
import { queryIn, replaceQuery } from './query-field.ts'

/** The events of an issue on its page: the shown event, the filtered list, shared values, their origin. */

const dashboard = await testDashboard()
const Listed = z.object({ items: z.array(z.object({ id: z.string(), type: z.string(), event_count: z.number() })) })

const EVENTS = 24
const LONG_AGO_S = 6 * 86_400

/** Creates an issue of two releases whose newest event is plain, and another one to compare with. Newest first. */
async function anIssue(): Promise<{ person: Person; issueId: string; ids: string[] }> {
  const { person, project } = await aTeam(dashboard.server)
  const now = Date.now() / 1000
  const ids = Array.from({ length: EVENTS }, newEventId)
  const failing = (name: string) => ({ in: name, value: `${name} failed for the customer` })
  const events: EventFields[] = []
  for (const [i, id] of ids.entries()) {
    events.push({
      error: failing('pay'),
      event_id: id,
      timestamp: now - 5 - (i * LONG_AGO_S) / EVENTS,
      release: i < 10 ? 'shopper@4.12.0+41200' : 'shopper@4.11.3+41130',
      environment: i % 2 === 0 ? 'production' : 'staging',
      user: { id: `u${i % 3}`, username: `customer ${i % 3}` },
      tags: { store: i % 4 === 0 ? 'large' : 'small', screen: 'Checkout' },
      contexts: { device: { model: i % 3 === 0 ? 'Pixel 7a' : 'SM-A125F' }, os: { name: 'Android', version: '15' } },
      ...(i === 5 ? { breadcrumbs: Array.from({ length: 40 }, (_, n) => ({ message: `step ${n}` })) } : {}),
      extra: { password: 'hunter2' },
    })
  }
  for (let i = 0; i < 15; i++) {
    events.push({ error: failing('ship'), timestamp: now - i, tags: { store: 'small', screen: 'Basket' } })
  }
  await dashboard.server.events(project, events)
  const read = async () => Listed.parse((await person.get('/api/issues')).body).items
  await eventually(async () => (await read()).reduce((sum, one) => sum + one.event_count, 0)).toBe(EVENTS + 15)
  const issueId = (await read()).find(({ type }) => type === 'payError')?.id ?? ''
  return { person, issueId, ids }
}

const short = (id: string | undefined) => (id ?? '').slice(0, 8)

test('latest, most complete, first, older and newer event, also with a filter', async () => {
  const { person, issueId, ids } = await anIssue()
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${issueId}`)
  const picker = page.getByRole('region', { name: 'Event', exact: true })
  const shows = (id: string | undefined) => picker.getByText(short(id), { exact: true }).waitFor()
  await shows(ids[0])
  await picker.getByRole('button', { name: 'Most complete' }).click()
  await shows(ids[5])
  await press(page, '[')
  await shows(ids[6])
  await press(page, ']')
  await picker.getByRole('button', { name: 'First' }).click()
  await shows(ids.at(-1))

  await press(page, 'v')
  await page.getByRole('heading', { name: 'Events of this issue' }).waitFor()
  expect(new URL(page.url()).pathname).toBe(`/issues/${issueId}/events`)
  const list = page.getByRole('table')
  await page.getByText(`${EVENTS} stored events`).waitFor()
  await settled(page)
  expect(await list.getByRole('row').count()).toBe(EVENTS + 1)
  // All have the same title and screen, so these are no columns; the store tells them apart.
  const heads = () => list.getByRole('columnheader').allTextContents()
  expect(await heads()).toEqual(['Time', 'Release', 'Environment', 'User', 'Device', 'store'])
  const query = page.getByRole('combobox', { name: 'Filter events' })
  for (const none of ['environment:staging store:large', 'environment:staging user:1']) {
    await replaceQuery(query, none)
    await press(page, 'Enter')
    await page.getByText(`None of the events searched so far matches ${none}.`).waitFor()
  }
  await replaceQuery(query, '(pay')
  await press(page, 'Enter')
  await page.getByText('The parenthesis is not closed.').waitFor()
  await page.getByText('Events appear here when the filter is corrected.').waitFor()
  expect(await page.locator('mark').textContent()).toBe('(')
  await replaceQuery(query, 'environment:staging -level:eror')
  await press(page, 'Enter')
  await eventually(() => page.locator('mark').textContent()).toBe('eror')
  await page.getByRole('button', { name: 'Use error' }).click()
  await page.getByText('None of the events searched so far matches environment:staging -level:error.').waitFor()
  // Its button goes with the filter.
  await page.getByRole('search').getByRole('button', { name: 'Show all events' }).focus()
  await press(page, 'Enter')
  await page.getByText(`${EVENTS} stored events`).waitFor()
  expect(await hasFocus(query)).toBe(true)
  // The language of issue queries, with what the page shows.
  await replaceQuery(query, 'release:4.12.* os:"Android 15" -(store:small OR environment:stag*)')
  await press(page, 'Enter')
  await eventually(() => list.getByRole('row').count()).toBe(ids.filter((_, i) => i < 10 && i % 4 === 0).length + 1)
  await replaceQuery(query, 'user:u1')
  await press(page, 'Enter')
  await page.getByRole('button', { name: 'Environment' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'staging' }).click()
  await eventually(() => queryIn(query)).toBe('user:u1 environment:staging')
  const staging = ids.filter((_, i) => i % 2 === 1 && i % 3 === 1)
  await eventually(() => list.getByRole('row').count()).toBe(staging.length + 1)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Tag screen' }).click()
  await eventually(heads).toEqual(['Time', 'Release', 'Environment', 'User', 'Device', 'screen'])
  // The address holds all of it.
  await page.reload()
  await eventually(heads).toContain('screen')
  expect(await queryIn(query)).toBe('user:u1 environment:staging')
  await eventually(() => list.getByRole('row').count()).toBe(staging.length + 1)
  await expectAccessible(page, 'events of an issue')
  await list.getByRole('row').nth(2).getByRole('link').click()
  await shows(staging[1])
  expect(page.url()).toContain('only=')
  await press(page, '[')
  await shows(staging[2])
  await picker.getByRole('button', { name: 'Show all events' }).click()
  await shows(ids[0])
})

test('a shared value links to its events; the JSON is the stored event', async () => {
  const { person, issueId } = await anIssue()
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${issueId}`)
  const shares = page.getByRole('region', { name: 'Common values' })
  await shares.getByText('24 events, compared with 15 from other issues').waitFor()
  await shares.getByRole('button', { name: /^Checkout\s*100.%\s*24 events; other issues 0.%/ }).waitFor()
  await page.getByRole('region', { name: 'Affected releases' }).getByText('4.12.0').waitFor()
  await page
    .getByRole('region', { name: 'Affected users' })
    .getByRole('button', { name: /customer 1/ })
    .waitFor()
  await shares.getByRole('button', { name: /^large\s*25.%/ }).click()
  await page.getByRole('region', { name: 'Event', exact: true }).getByText('store:large').waitFor()

  await page.getByRole('button', { name: 'JSON' }).click()
  const json = page.getByRole('dialog', { name: /^Event/ })
  await json.getByRole('region').getByText('"exception"').waitFor()
  await settled(page)
  expect(await json.getByRole('region').textContent()).not.toContain('hunter2')
  await json.getByRole('button', { name: 'As shown' }).click()
  await json.getByRole('region').getByText('"occurred_at"').waitFor()
})

test('a member reads and copies every digit of a 64-bit number', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const digits = (text: string) => JSON.rawJSON(text)
  const issue = await dashboard.server.issue({
    project,
    by: person,
    extra: { order: digits('608548899684111178'), list: [digits('999000167639035123')] },
    contexts: { arguments: { age: digits('959743134293274624') } },
    tags: { order: digits('608548899684111179') },
    user: { id: digits('1152921504606846977') },
  })
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${issue.id}`)
  // Some parts are closed at first.
  for (const text of [
    '608548899684111178',
    '959743134293274624',
    '608548899684111179',
    '1152921504606846977',
    '999000167639035123',
  ])
    await page.getByText(text).first().waitFor({ state: 'attached' })

  await page.getByRole('button', { name: 'JSON' }).click()
  const json = page.getByRole('dialog', { name: /^Event/ })
  await json.getByRole('region').getByText('"order": 608548899684111178').waitFor()
  await json.getByRole('button', { name: 'Copy' }).click()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain('"id": 1152921504606846977')
  await json.getByRole('button', { name: 'As shown' }).click()
  await json.getByRole('region').getByText('"order": "608548899684111178"').waitFor()
})

test.each(SIZES)('the page is accessible and fits: %s', async (size) => {
  const { person, issueId } = await anIssue()
  await person.post(`/api/issues/${issueId}/comments`, {
    body: 'Mine. Posting `receipt` through **the owner** fixes it.',
  })
  const page = await dashboard.openAs(person, { size })
  await page.goto(`/issues/${issueId}`)
  await page.getByRole('region', { name: 'Common values' }).getByText('compared with').waitFor()
  await page.getByRole('img', { name: /events in the last 14 days/ }).waitFor()
  await expectAccessibleInThemes(page, `issue ${size}`)
  await expectNoSideScroll(page, `issue ${size}`)
  await screenshot(page, `issue-full-${size}`, { fullPage: true })
  await page.getByRole('link', { name: 'All events' }).click()
  await page.getByRole('table').getByRole('row').nth(3).waitFor()
  await expectAccessibleInThemes(page, `events ${size}`)
  await expectNoSideScroll(page, `events ${size}`)
  await screenshot(page, `issue-events-${size}`)
  await press(page, 'u')
  await page.getByRole('button', { name: '24 h', exact: true }).click()
  await page.getByRole('img', { name: /in the last 24 hours/ }).waitFor()
})
