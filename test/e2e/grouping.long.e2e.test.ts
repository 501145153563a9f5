import { expect, test } from 'vitest'
import { LATEST_GROUPING_VERSION } from '#server/issues/grouping/grouping-rules.api.ts'
import { addGroupingVersion, TEST_GROUPING_VERSION } from '../kit/grouping-version.ts'
import { anEvent, sendEvent } from '../kit/sdk.ts'
import {
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
addGroupingVersion()

const failing = (name: string) => ({
  error: {
    type: 'PaymentError',
    value: `${name} was declined`,
    frames: [
      { filename: 'src/net/http.ts', function: 'request', module: 'app.net.http', in_app: true },
      { filename: `src/${name}.ts`, function: `pay_${name}`, module: `app.${name}`, in_app: true },
    ],
  },
  user: { id: name },
})

type Row = { id: string; title: string; event_count: number }
const issuesNow = async (): Promise<Row[]> =>
  (await person.get(`/api/issues?projectId=${project.id}&sort=first_seen`)).as<{ items: Row[] }>().items
const send = (name: string) => sendEvent(dashboard.server.url, project.dsn, anEvent(failing(name)))

for (const name of ['visa', 'paypal', 'voucher', 'voucher']) await send(name)
await until('three issues', async () => (await issuesNow()).length === 3)

const idOf = async (name: string): Promise<string> =>
  (await issuesNow()).find(({ title }) => title.includes(name))?.id ?? ''

test('merge: found, picked, merged, explained, and undone', async () => {
  const [visa, paypal] = [await idOf('visa'), await idOf('paypal')]
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${visa}?range=7d`)
  const similar = page.getByRole('region', { name: 'Similar issues' })
  // The link keeps the range, and all projects.
  const link = similar.getByRole('link', { name: /paypal was declined/ })
  expect(await link.getAttribute('href')).toBe(`/issues/${paypal}?range=7d`)
  await similar.getByText('Same error type, similar message').first().waitFor()
  await screenshot(page, 'issue-similar', { fullPage: true })
  await similar.getByRole('button', { name: 'Merge…' }).click()
  const dialog = page.getByRole('dialog', { name: /Merge issues into SHOPPER-WEB-1/ })
  await dialog.getByRole('checkbox', { name: /voucher/ }).waitFor()
  await dialog.getByLabel('Issues in this project').fill('paypal')
  await until('the list to follow', async () => (await dialog.getByRole('checkbox').count()) === 1)
  await dialog.getByRole('checkbox', { name: /paypal/ }).check()
  await expectAccessible(page, 'merge dialog')
  await screenshot(page, 'grouping-merge-dialog')
  await dialog.getByRole('button', { name: 'Merge 1 issue' }).click()
  await page.getByText('1 issue merged into SHOPPER-WEB-1').waitFor()
  await page.getByText('All 2 fingerprints').click()
  await page.getByRole('heading', { name: 'Merged into this issue' }).waitFor()
  await screenshot(page, 'grouping-why', { fullPage: true })

  // An old link redirects.
  const other = await dashboard.openAs(person)
  await other.goto(`/issues/${paypal}`)
  await other.waitForURL(`**/issues/${visa}*`)

  await page.getByRole('button', { name: 'Unmerge SHOPPER-WEB-2' }).click()
  await page.getByText('SHOPPER-WEB-2 unmerged').waitFor()
  await until('three issues again', async () => (await issuesNow()).length === 3)
})

test('rules: written, previewed, refused when invalid, saved, and applied', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/general`)
  await page.getByRole('link', { name: 'Grouping' }).click()
  await page.getByRole('heading', { name: 'Grouping', level: 1 }).waitFor()
  await page.getByRole('button', { name: 'Add rule' }).first().click()
  const rule = page.getByRole('group', { name: 'Fingerprint rule 1' })
  await rule.getByLabel('Matches').fill('PaymentError')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('PaymentError is not a condition').waitFor()
  await rule.getByLabel('Matches').fill('type:PaymentError -function:*voucher*')
  await rule.getByLabel('Fingerprint').fill('cards')
  await rule.getByLabel('Title').fill('Cards: {{ value }}')
  await page.getByRole('button', { name: 'Add rule' }).last().click()
  const stack = page.getByRole('group', { name: 'Stack rule 1' })
  await stack.getByLabel('Matches').fill('module:app.net.*')
  await stack.getByLabel('Frame').selectOption('not_in_app')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('These issues would be merged').waitFor()
  await rule.getByText('2 events').waitFor()
  await screenshot(page, 'grouping-rules', { fullPage: true })

  // Mistakes that only the server finds are shown in its words.
  await rule.getByLabel('Fingerprint').fill('{{ colour }}')
  dashboard.browser.forgive(/400/)
  await press(page, 'Control+s')
  await page.getByRole('alert').filter({ hasText: 'no variable' }).waitFor()
  await rule.getByLabel('Fingerprint').fill('cards')
  await press(page, 'Control+s')
  await page.getByText('Grouping rules saved').waitFor()
  await send('visa')
  await send('paypal')
  await until('an issue of the rule', async () =>
    (await issuesNow()).some(({ title, event_count: count }) => title.startsWith('Cards: ') && count === 2),
  )
})

test('discard: confirmed twice, removed, later events dropped, and restored in the settings', async () => {
  const voucher = await idOf('voucher')
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${voucher}`)
  await page.getByRole('button', { name: 'More actions' }).first().click()
  await page.getByRole('menuitem', { name: 'Discard…' }).click()
  const dialog = page.getByRole('dialog', { name: /Discard SHOPPER-WEB-3/ })
  await dialog.getByLabel('Type “discard” to confirm').fill('discard')
  await expectAccessible(page, 'discard dialog')
  await screenshot(page, 'grouping-discard-dialog')
  await press(page, 'Enter')
  await page.getByText('SHOPPER-WEB-3 discarded').waitFor()
  await page.goto(`/projects/${project.id}/settings/grouping`)
  const list = page.getByRole('region', { name: 'Discarded issues' })
  await list.getByText('SHOPPER-WEB-3').waitFor()
  await screenshot(page, 'grouping-discards', { fullPage: true })
  await list.getByRole('button', { name: 'Restore' }).click()
  await list.getByText('No discarded issues.').waitFor()
})

test('a newer version: its effect is shown before the upgrade', async () => {
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/grouping`)
  await page.getByRole('button', { name: `Upgrade to version ${TEST_GROUPING_VERSION}…` }).click()
  const dialog = page.getByRole('dialog', { name: `Upgrade to version ${TEST_GROUPING_VERSION}?` })
  await dialog.getByText(/^Checked/).waitFor()
  await expectAccessible(page, 'upgrade dialog')
  await screenshot(page, 'grouping-upgrade-dialog')
  await dialog.getByRole('button', { name: 'Upgrade this project' }).click()
  await page.getByText(new RegExp(`^Upgrading from version ${LATEST_GROUPING_VERSION}. Until`)).waitFor()
})

test.each(SIZES)('grouping is accessible and fits: %s', async (size) => {
  const page = await dashboard.openAs(person, { size })
  await page.goto(`/projects/${project.id}/settings/grouping`)
  await page.getByRole('group', { name: 'Fingerprint rule 1' }).waitFor()
  await page.getByText(new RegExp(`^Upgrading from version ${LATEST_GROUPING_VERSION}`)).waitFor()
  await expectAccessibleInThemes(page, `grouping, ${size}`)
  await expectNoSideScroll(page, `grouping, ${size}`)
  await screenshot(page, `grouping-${size}`, { fullPage: true })

  await page.goto(`/issues/${await idOf('Cards')}`)
  await page.getByText('Matching rule').waitFor()
  await page.getByRole('button', { name: 'More actions' }).filter({ visible: true }).first().click()
  await page.getByRole('menuitem', { name: 'Merge…' }).click()
  await page.getByRole('checkbox').first().waitFor()
  await expectAccessibleInThemes(page, `merge dialog, ${size}`)
  await expectNoSideScroll(page, `merge dialog, ${size}`)
  await screenshot(page, `grouping-merge-${size}`)
})

test('at 320 pixels no page scrolls sideways', async () => {
  const page = await dashboard.openAs(person)
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto(`/projects/${project.id}/settings/grouping`)
  await page.getByRole('group', { name: 'Fingerprint rule 1' }).waitFor()
  await expectNoSideScroll(page, 'grouping at 320')
  await settled(page)
  expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
})
