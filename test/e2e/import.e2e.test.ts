import { afterAll, expect, test } from 'vitest'
import { fakeSentry, type FakeSentry, SOURCE_ORG, wordOf } from '../kit/fake-sentry.ts'
import { expectAccessibleInThemes, expectNoSideScroll, screenshot, SIZES } from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard
const sources: FakeSentry[] = []
afterAll(async () => {
  for (const source of sources) await source.close()
})

let made = 0

async function aSource(): Promise<FakeSentry> {
  const issues = Array.from({ length: 24 }, (_, index) => ({
    id: String(++made * 100 + index),
    title: `cart ${wordOf(String(made * 100 + index))} is undefined`,
    count: 10 + index,
    userCount: 3,
    events: index % 6 === 0 ? 0 : 2,
    comments: index === 1 ? [{ id: '1', text: 'Seen in the field.', email: 'ines@example.com', name: 'Ines' }] : [],
  }))
  const project = (slug: string, platform: string, more: typeof issues) => ({
    id: String(90_000 + ++made),
    slug,
    platform,
    publicKey: String(made).padStart(32, 'b'),
    issues: more,
  })
  const source = await fakeSentry(
    new Date(),
    [project('storefront', 'javascript-react', issues), project('orders', 'python', [])],
    {
      members: [{ email: 'ines@example.com', name: 'Ines', orgRole: 'owner' }],
      rules: [
        {
          id: 3,
          name: 'New problem',
          conditions: [{ id: 'sentry.rules.conditions.first_seen_event.FirstSeenEventCondition' }],
          actions: [{ id: 'sentry.integrations.slack.notify_action.SlackNotifyServiceAction' }],
        },
      ],
    },
  )
  sources.push(source)
  return source
}

test('a source is connected, mapped and imported, and what did not map is listed', async () => {
  const { person } = await aTeam(server)
  const source = await aSource()
  const page = await dashboard.openAs(person)
  await page.goto('/org')
  await page.getByRole('link', { name: 'Import', exact: true }).click()
  await page.getByRole('heading', { name: 'Import', level: 1 }).waitFor()
  await page.getByText('Nothing that is imported tells anyone.').waitFor()

  await page.getByRole('button', { name: 'Read projects' }).click()
  await page.getByText('Enter the address.').waitFor()
  await page.getByLabel('Address').fill(source.url)
  await page.getByLabel('Organisation there').fill(SOURCE_ORG)
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Read projects' }).click()
  await page.getByRole('alert').filter({ hasText: 'refused the token' }).waitFor()
  await page.getByLabel('Token').fill(source.token)
  await page.getByRole('button', { name: 'Read projects' }).click()

  await page.waitForURL('**/org/import/*')
  const mapping = page.getByRole('table')
  await mapping.getByRole('rowheader', { name: 'storefront' }).waitFor()
  await page.getByLabel('Take orders').uncheck()
  await page.getByRole('button', { name: 'Start import' }).click()

  const report = page.getByRole('region', { name: 'What did not map' })
  await report.getByText('SlackNotifyServiceAction').waitFor()
  await page.getByRole('listitem').filter({ hasText: 'Issues' }).filter({ hasText: '24 of 24' }).waitFor()
  await page.getByText('100 %').first().waitFor()
  await report.getByText('Its events are gone at the source.').waitFor()
  await screenshot(page, 'import-done')
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    report.getByRole('link', { name: 'What did not map: download CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toBe('import-report.csv')

  await page.getByRole('link', { name: 'Import again' }).click()
  await page.getByRole('rowheader', { name: '127.0.0.1' }).waitFor()
  await page.getByText('Done').waitFor()
  await page.goto('/issues')
  await page.getByRole('link', { name: 'Issues 24' }).waitFor()
})

test('an import waits for a token that is accepted, and can be stopped', async () => {
  const { person } = await aTeam(server)
  const source = await aSource()
  const given = { url: source.url, organisation: SOURCE_ORG, token: source.token }
  const id = String((await person.post('/api/org/imports', given)).body['id'])
  source.revoke()
  const page = await dashboard.openAs(person)
  await page.goto(`/org/import/${id}`)
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText(/refused the token \(401\)/).waitFor()
  await page.getByRole('button', { name: 'Continue' }).waitFor()
  await page.getByLabel('New token').waitFor()
  await screenshot(page, 'import-paused')
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('dialog', { name: 'Stop this import?' }).getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Everything that came is here.').waitFor()
})

test.each(SIZES)('is accessible and fits: %s', async (size) => {
  const { person } = await aTeam(server)
  const source = await aSource()
  const page = await dashboard.openAs(person, { size })
  const judge = async (name: string) => {
    await expectAccessibleInThemes(page, `${name}, ${size}`)
    await expectNoSideScroll(page, `${name}, ${size}`)
    await screenshot(page, `${name}-${size}`, { fullPage: true })
  }
  await page.goto('/org/import')
  await page.getByRole('button', { name: 'Read projects' }).waitFor()
  await judge('import-connect')
  const given = { url: source.url, organisation: SOURCE_ORG, token: source.token }
  const id = String((await person.post('/api/org/imports', given)).body['id'])
  await page.goto(`/org/import/${id}`)
  await page.getByRole('button', { name: 'Start import' }).waitFor()
  await judge('import-mapping')
  await page.getByRole('button', { name: 'Start import' }).click()
  await page.getByText('100 %').first().waitFor()
  await page.getByRole('region', { name: 'What did not map' }).getByText('SlackNotifyServiceAction').waitFor()
  await judge('import-report')
})
