import { expect, test } from 'vitest'
import { z } from 'zod'
import { anEvent, dsnParts, envelopeOf, sendEvent } from '../kit/sdk.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  press,
  screenshot,
  settled,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

const dashboard = await testDashboard()

test('from nothing to the first event: sign up, create a project, copy the DSN, see the event arrive', async () => {
  const page = await dashboard.open()
  await page.goto('/')
  // The first visitor has nothing to log in to.
  await page.waitForURL('**/signup')

  // Missing values are reported at each field before anything is sent.
  await page.getByRole('button', { name: 'Create organisation' }).click()
  await page.getByText('Enter your name.').waitFor()
  await page.getByText('Enter a name for the organisation.').waitFor()
  await page.getByLabel('Your name').and(page.locator(':focus')).waitFor()

  await page.getByLabel('Your name').fill('Ines Köhler')
  await page.getByLabel('Organisation').fill('Meadowlark')
  await page.getByLabel('E-mail').fill('ines@meadowlark.example')
  await page.getByRole('textbox', { name: 'Password' }).fill('short')
  await page.getByText('3 more characters needed.').waitFor()
  await page.getByRole('textbox', { name: 'Password' }).fill('quartz-lantern-harbour-7')
  await page.getByText('Strong.').waitFor()
  await press(page, 'Enter')

  await page.waitForURL('**/onboarding')
  await page.getByRole('heading', { name: 'Create a project' }).waitFor()
  await page.getByLabel('Name').fill('shopper-web')
  await page.getByLabel('Android').check({ force: true })
  // No region is configured, so none is asked for.
  expect(await page.getByLabel('Region').count()).toBe(0)
  await screenshot(page, 'onboarding-project')
  await page.getByRole('button', { name: 'Create project' }).click()

  await page.getByRole('heading', { name: 'Send your first event' }).waitFor()
  await settled(page)
  expect(await page.getByRole('tab', { selected: true }).textContent()).toContain('Android')
  const dsn = await page.getByLabel('Your DSN').inputValue()
  expect(dsn).toMatch(/^http:\/\/[0-9a-f]{32}@127\.0\.0\.1:\d+\/\d+$/)

  // Every platform's snippet has the DSN.
  const apps = ['Android', 'iOS', 'React Native', 'Flutter', 'Web']
  for (const name of [...apps, 'Node.js', 'Python', 'Java', 'Go', 'Ruby', 'PHP', '.NET', 'Rust']) {
    await page.getByRole('tab', { name, exact: true }).click()
    await settled(page)
    expect(await page.getByRole('tabpanel').textContent(), name).toContain(dsn)
  }
  await press(page, 'y')
  await page.getByText('Snippet copied').waitFor()
  await eventually(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain(dsn)
  await page.getByText('Intake is reachable').waitFor()
  await page.getByText('No request with this DSN yet').waitFor()

  // A request with a wrong key shows as one.
  const [, number = ''] = /\/(\d+)$/.exec(dsn) ?? []
  const wrong = await fetch(`${dashboard.server.url}/api/${number}/envelope/?sentry_key=${'0'.repeat(32)}`, {
    method: 'POST',
    body: envelopeOf(anEvent()),
  })
  expect(wrong.status).toBe(403)
  await page.getByText('A request with an unknown key was refused').waitFor()
  await screenshot(page, 'onboarding-waiting')

  const sent = await sendEvent(
    dashboard.server.url,
    dsn,
    anEvent({ error: { type: 'CheckoutError', value: 'card declined' } }),
  )
  expect(sent.status).toBe(200)
  await page.getByRole('heading', { name: 'First event received' }).waitFor()

  // The build is next: its environment and lines for the chosen platform. A server was chosen last.
  const progress = page.getByRole('list', { name: 'Progress' })
  expect(await progress.getByText('Upload symbols').count()).toBe(0)
  expect(await page.getByText('No upload yet').count()).toBe(0)
  await page.getByRole('tab', { name: 'Android', exact: true }).click()
  await page.getByText('No upload yet').waitFor()
  await page.getByText('Readable stack traces: upload the mapping file from your build').waitFor()
  await eventually(() => progress.locator('[aria-current=step]').innerText()).toContain('Upload symbols')
  const environment = page.getByRole('region', { name: 'Environment' })
  expect(await environment.innerText()).toContain(`export SENTRY_URL=${dashboard.server.url}`)
  expect(await environment.innerText()).toContain('export SENTRY_PROJECT=shopper-web')
  await page.getByRole('region', { name: 'sentry-cli' }).getByText('sentry-cli upload-proguard').waitFor()
  await page.getByText('Gradle', { exact: true }).click()
  await page.getByRole('region', { name: 'Gradle' }).getByText('authToken.set(').waitFor()
  for (const [name, lines] of [
    ['iOS', 'dSYM files'],
    ['React Native', 'source maps and debug files'],
    ['Flutter', 'debug symbols'],
    ['Web', 'source maps'],
  ] as const) {
    await page.getByRole('tab', { name, exact: true }).click()
    await page.getByText(`Readable stack traces: upload ${lines} from your build`).waitFor()
  }
  await page.getByRole('tab', { name: 'Android', exact: true }).click()
  await settled(page)
  await screenshot(page, 'onboarding-upload', { fullPage: true })
  const api = page.context().request
  const { items } = z
    .object({ items: z.array(z.object({ id: z.string() })) })
    .parse(await (await api.get(`${dashboard.server.url}/api/projects`)).json())
  const made = await api.post(`${dashboard.server.url}/api/projects/${items[0]?.id ?? ''}/source-maps`, {
    headers: { origin: dashboard.server.url },
    multipart: {
      symbolication_type: 'proguard',
      filename: 'mapping.txt',
      release: 'shop@1.0.0',
      file: {
        name: 'mapping.txt',
        mimeType: 'text/plain',
        buffer: Buffer.from('com.acme.Cart -> a.b:\n    int sum() -> a\n'),
      },
    },
  })
  expect(made.status()).toBe(201)
  await page.getByText('First upload received', { exact: true }).waitFor()
  await progress.getByText('first upload received').waitFor()
  await settled(page)
  expect(await page.getByRole('status').filter({ hasText: 'First event received' }).count()).toBe(1)
  await expectAccessibleInThemes(page, 'first event received')
  await screenshot(page, 'onboarding-arrived')

  await page.getByRole('link', { name: 'Open issue' }).click()
  await page.waitForURL(/\/issues\/[0-9a-f-]{36}/)
  await page.getByRole('heading', { level: 1, name: /CheckoutError/ }).waitFor()

  // From now on `/` is the stream.
  await page.goto('/')
  await page.waitForURL('**/issues')
})

test('the page can send a test event itself', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/')
  await page.waitForURL('**/onboarding')
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByRole('heading', { name: 'First event received' }).waitFor()
  await page.getByText('TestEvent', { exact: true }).waitFor()
})

test('without the live stream, polling every 2 seconds finds the event', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.route('**/api/live', (route) => route.abort())
  await page.goto('/onboarding')
  await page.getByText('No request with this DSN yet').waitFor()
  await dashboard.server.event({ project })
  await page.getByRole('heading', { name: 'First event received' }).waitFor()
})

test.each([
  { theme: 'dark', size: 'phone' },
  { theme: 'dark', size: 'desk' },
] as const)('the lines of a build, $theme, $size', async ({ theme, size }) => {
  const { person, project } = await aTeam(dashboard.server)
  await dashboard.server.event({ project })
  const page = await dashboard.openAs(person, { theme, size })
  await page.goto('/onboarding')
  await page.getByRole('region', { name: 'sentry-cli' }).getByText('sentry-cli sourcemaps upload ./dist').waitFor()
  await settled(page)
  await expectNoSideScroll(page, `the lines of a build, ${size}`)
  await expectAccessible(page, `the lines of a build, ${theme}, ${size}`)
  await screenshot(page, `onboarding-upload-${theme}-${size}`, { fullPage: true })
})

test('"finish later" leaves a link in the rail', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/onboarding')
  await page.getByRole('link', { name: 'Finish later' }).click()
  await page.waitForURL('**/issues')
  await page.getByRole('link', { name: 'Finish setting up' }).click()
  await page.getByRole('heading', { name: 'Send your first event' }).waitFor()
})

test('a server: its project is a web project, and its code is shown first', async () => {
  const { person } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/onboarding?step=project')
  await page.getByLabel('Name').fill('billing')
  await page.getByLabel('Python').check({ force: true })
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.waitForURL('**sdk=python*')
  await page.getByRole('tabpanel').getByText('pip install --upgrade sentry-sdk').waitFor()
  expect(await page.getByRole('tab', { selected: true }).textContent()).toContain('Python')
  await expectAccessible(page, 'the code of a server')
})

test('the first project of an organisation shows the code of the chosen server', async () => {
  const founder = await dashboard.server.founder()
  const page = await dashboard.openAs(founder)
  await page.goto('/onboarding')
  await page.getByLabel('Name').fill('billing')
  await page.getByLabel('Node.js').check({ force: true })
  await page.getByRole('button', { name: 'Create project' }).click()
  await page.waitForURL('**sdk=node*')
  await page.getByRole('tab', { name: 'Node.js', selected: true }).waitFor()
  await page.getByRole('tabpanel').getByText('npm install @sentry/node').waitFor()
})

test('what is refused before the first event is said, and installs nothing', async () => {
  const { person, project } = await aTeam(dashboard.server)
  const page = await dashboard.openAs(person)
  await page.goto('/onboarding')
  await page.getByText('No request with this DSN yet').waitFor()
  const { projectNumber, key } = dsnParts(project.dsn)
  const send = async (body: string, publicKey = key) =>
    (
      await fetch(`${dashboard.server.url}/api/${projectNumber}/envelope/?sentry_key=${publicKey}`, {
        method: 'POST',
        body,
      })
    ).status
  expect(await send('not an envelope')).toBe(400)
  await page.getByText('A request was refused: its body cannot be read').waitFor()

  // An envelope whose event is broken is accepted, and refused when it is digested.
  expect(await send('{}\n{"type":"event"}\n{"message": broken\n')).toBe(200)
  const steps = page.getByRole('list', { name: 'Progress' }).getByRole('listitem')
  await page.getByRole('link', { name: 'An item was refused' }).waitFor()
  expect(await steps.nth(1).getByRole('img', { name: 'Done' }).count()).toBe(0)
  await expectAccessible(page, 'refusals')
  await screenshot(page, 'onboarding-refused')
  await page.getByRole('link', { name: 'An item was refused' }).click()
  await page.waitForURL('**/intake?*')
})
