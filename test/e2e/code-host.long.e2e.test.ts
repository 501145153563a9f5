import { expect, test } from 'vitest'
import {
  githubDelivery,
  githubHost,
  githubPull,
  githubPush,
  githubTag,
  HOST_TOKEN,
  type HostedCommit,
  aSha,
} from '../kit/code-host-github.ts'
import {
  eventually,
  expectAccessible,
  expectAccessibleInThemes,
  expectNoSideScroll,
  screenshot,
  settled,
  until,
  visit,
} from './browser.ts'
import { aTeam, testDashboard } from './dashboard.ts'

/** The code host: from the connection and a push to the suspect commit, and to the issue that the merge resolves. */

const dashboard = await testDashboard({ jobs: true })
const { server } = dashboard
const host = await githubHost()
server.onClose(() => host.close())

const FILE = 'app/src/main/kotlin/com/meadowlark/checkout/CheckoutFragment.kt'
const PATCH = [
  '@@ -147,3 +147,3 @@ class CheckoutFragment',
  '         // receipt is shown by the host activity',
  '-        val receipt = ReceiptIntent.create(context ?: return, result)',
  '+        val receipt = ReceiptIntent.create(requireContext(), result)',
  '         startActivity(receipt)',
].join('\n')

const frames = [
  {
    module: 'com.meadowlark.payment.PaymentCoordinator',
    filename: 'PaymentCoordinator.kt',
    function: 'confirm',
    lineno: 61,
    in_app: true,
  },
  {
    module: 'com.meadowlark.checkout.CheckoutFragment',
    filename: 'CheckoutFragment.kt',
    function: 'onPaymentConfirmed',
    lineno: 148,
    in_app: true,
  },
]

const hour = (ago: number): Date => new Date(Date.now() - ago * 3_600_000)

test('a project is connected, a push makes a suspect, and the merge resolves the issue', async () => {
  const { person, project } = await aTeam(server)
  const email = String((await person.get('/api/me')).as<{ user: { email: string } }>().user.email)
  host.texts.set('.github/CODEOWNERS', `/app/src/main/kotlin/com/meadowlark/checkout/ ${email}\n*.md @writers\n`)
  const page = await dashboard.openAs(person)
  await page.goto(`/projects/${project.id}/settings/integrations`)
  await page.getByRole('region', { name: 'Code host' }).getByText('Not connected').waitFor()
  await expectAccessible(page, 'integrations, not connected')
  await page.getByLabel('Repository address').fill('git@github.com:meadowlark/shop.git')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('must be the address that a browser shows').waitFor()
  await page.getByLabel('Repository address').fill(host.repositoryUrl)
  await page.getByLabel('Kind').selectOption('github')
  await page.getByLabel('Access token').fill('a-wrong-token')
  await page.getByRole('button', { name: 'Connect' }).click()
  await page.getByText('GitHub answered 401: Bad credentials').waitFor()
  await page.getByLabel('Access token').fill(HOST_TOKEN)
  await page.getByRole('button', { name: 'Connect' }).click()
  // The form of the tracker has a field of this name, too.
  const shownSecret = page.getByLabel('Webhook secret', { exact: true }).and(page.locator('[readonly]'))
  await eventually(() => shownSecret.inputValue()).toMatch(/^whsec_/)
  const secret = await shownSecret.inputValue()
  await page.getByRole('button', { name: /stored/i }).click()
  await page.getByText('Works', { exact: true }).waitFor()

  const commit: HostedCommit = {
    sha: aSha('suspect'),
    message: 'Confirm payment outside the view lifecycle (#1171)',
    name: person.email,
    email,
    at: hour(48),
    files: [{ filename: FILE, status: 'modified', patch: PATCH }],
  }
  const older: HostedCommit = {
    sha: aSha('older'),
    message: 'Keep the basket while the bank app is open (#1159)',
    name: 'Robin V.',
    email: 'robin@meadowlark.example',
    at: hour(140),
    files: [
      {
        filename: 'app/src/main/kotlin/com/meadowlark/payment/PaymentCoordinator.kt',
        status: 'modified',
        patch: '@@ -90,1 +90,2 @@\n keep()\n+basket()',
      },
    ],
  }
  host.commits.push(older, commit)
  for (const one of [FILE, 'app/src/main/kotlin/com/meadowlark/payment/PaymentCoordinator.kt']) host.paths.add(one)
  const send = async (event: string, payload: unknown) => {
    const { headers, body } = githubDelivery(secret, event, payload)
    const answer = await fetch(`${server.url}/api/integrations/codehost/webhook?project=${project.id}`, {
      method: 'POST',
      headers,
      body,
    })
    expect(answer.status).toBe(200)
    await answer.text()
  }
  await send('push', githubPush([older, commit]))
  await send('push', githubTag('v4.12.0', commit.sha, true))
  const issue = await server.issue({
    project,
    by: person,
    platform: 'java',
    release: 'com.meadowlark.shop@4.12.0',
    exception: {
      values: [
        {
          type: 'IllegalStateException',
          value: 'Fragment CheckoutFragment not attached to a context',
          stacktrace: { frames },
        },
      ],
    },
  })
  await until('the suspects to have their release and line', async () => {
    const { code } = (await person.get(`/api/issues/${issue.id}`)).as<typeof issue>()
    return code.suspects.length === 2 && code.suspects[0]?.release !== null && code.suspects[0]?.excerpt !== null
  })

  // With the issue, the next push shows where packages of frames are in the repository, and with that who owns them.
  const docs: HostedCommit = { ...older, sha: aSha('docs'), message: 'Write the docs', at: hour(1), files: [] }
  host.commits.push(docs)
  await send('push', githubPush([docs], { before: commit.sha }))

  await visit(page, `/issues/${issue.id}`)
  const card = page.getByRole('region', { name: 'Suspect commits' })
  await card.getByText('changed line 148').waitFor()
  await card.getByText('first in 4.12.0').first().waitFor()
  await card.getByText('ReceiptIntent.create(requireContext(), result)').waitFor()
  expect(await card.getByRole('link', { name: commit.sha.slice(0, 7), exact: true }).getAttribute('href')).toBe(
    `${host.repositoryUrl}/commit/${commit.sha}`,
  )
  expect(
    await page
      .getByRole('link', { name: `Open ${FILE} in the repository` })
      .first()
      .getAttribute('href'),
  ).toBe(`${host.repositoryUrl}/blob/${commit.sha}/${FILE}#L148`)
  const numbers = page.getByRole('region', { name: '4.12.0 in numbers' })
  await eventually(() => numbers.locator('dl > div').allInnerTexts()).toEqual([
    'Commits\n2',
    'Authors\n2',
    'Files\n2 changed',
    'Pull requests\n2',
  ])
  const who = page.getByRole('region', { name: 'Who could take it' })
  await who.getByText('wrote the suspect commit, CODEOWNERS com.meadowlark.checkout.*').waitFor()
  const fixCard = page.getByRole('region', { name: /^(Fix |No fix)/ })
  await fixCard.getByText(`fixes ${issue.short_id}`).waitFor()
  await card.scrollIntoViewIfNeeded()
  await settled(page)
  await expectAccessibleInThemes(page, 'an issue with suspect commits')
  await screenshot(page, 'issue-commits', { fullPage: true })
  await who.getByRole('button', { name: /^Assign/ }).click()
  await who.getByText('Assigned', { exact: true }).waitFor()
  await card.getByText('Assigned', { exact: true }).waitFor()
  // The page shows it before the server has it.
  await eventually(async () => (await person.get(`/api/issues/${issue.id}`)).as<typeof issue>().assignee?.email).toBe(
    email,
  )

  // Its ticket is an issue of the same repository.
  await page.goto(`/projects/${project.id}/settings/integrations`)
  const tracker = page.getByRole('region', { name: 'Tracker', exact: true })
  await tracker.getByLabel('Tracker', { exact: true }).selectOption('Issues of the repository')
  await tracker.getByRole('button', { name: 'Look up the repository' }).click()
  await tracker.getByLabel('Repository').waitFor()
  await tracker.getByRole('button', { name: 'Connect', exact: true }).click()
  await page.getByRole('region', { name: 'Issues of the repository' }).getByText('Works', { exact: true }).waitFor()
  await visit(page, `/issues/${issue.id}`)
  await page.getByRole('button', { name: 'Create ticket' }).click()
  await page.getByRole('region', { name: 'Ticket' }).getByRole('link', { name: '#101' }).waitFor()
  expect(host.issues.map(({ title }) => title)).toEqual([expect.stringContaining(issue.short_id)])

  // The merge of a pull request that fixes it.
  const fix: HostedCommit = {
    ...commit,
    sha: aSha('fix'),
    message: `Ask for the context first (#1184)\n\nFixes ${issue.short_id}`,
    at: new Date(),
  }
  host.commits.push(fix)
  await send(
    'pull_request',
    githubPull({ number: 1184, title: 'Ask for the context first', body: `Fixes ${issue.short_id}` }),
  )
  // The open page hears of it.
  await page.getByRole('region', { name: 'In the code' }).getByText('open', { exact: true }).waitFor()
  const stepsOf = () => fixCard.getByRole('listitem').allInnerTexts()
  await eventually(stepsOf).toEqual([
    expect.stringMatching(/Pull request is open\s+#1184/),
    expect.stringContaining('Merged to main'),
    expect.stringContaining('Released'),
    expect.stringContaining('In use'),
  ])
  await fixCard.scrollIntoViewIfNeeded()
  await screenshot(page, 'issue-fix-open')
  await send('push', githubPush([fix], { before: docs.sha }))
  await send(
    'pull_request',
    githubPull({
      number: 1184,
      title: 'Ask for the context first',
      body: `Fixes ${issue.short_id}`,
      merged: true,
      mergeSha: fix.sha,
    }),
  )
  await eventually(async () => (await person.get(`/api/issues/${issue.id}`)).body['status']).toBe('resolved')
  await page
    .getByText(`in commit ${fix.sha.slice(0, 12)}`)
    .first()
    .waitFor()

  await fixCard.getByText('then this issue is resolved in that release').waitFor()
  await eventually(() => fixCard.locator('[aria-current=step]').innerText()).toContain('Released')
  await screenshot(page, 'issue-fix-merged')

  // The release page lists its commits, with the issues that they name.
  const made = await person.post('/api/releases', { projectId: project.id, version: 'com.meadowlark.shop@4.12.1' })
  await send('push', githubTag('v4.12.1', fix.sha))
  await eventually(async () => (await person.get(`/api/issues/${issue.id}`)).body['resolved_in_release']).toBe(
    'com.meadowlark.shop@4.12.1',
  )
  await fixCard.getByRole('link', { name: 'Released in 4.12.1' }).waitFor()
  await person.post(`/api/releases/${String(made.body['id'])}/deploys`, { environment: 'production' })
  await page.getByRole('region', { name: 'Fix released' }).getByText('Deployed to production').waitFor()
  await settled(page)
  await expectAccessibleInThemes(page, 'an issue whose fix is deployed')
  await screenshot(page, 'issue-fix-deployed')
  for (const [theme, size] of [
    ['light', 'phone'],
    ['dark', 'desk'],
  ] as const) {
    const other = await dashboard.openAs(person, { theme, size })
    await other.goto(`/issues/${issue.id}`)
    await other.getByRole('region', { name: 'Fix released' }).waitFor()
    await settled(other)
    await expectNoSideScroll(other, `the fix of an issue, ${theme}, ${size}`)
    await screenshot(other, `issue-fix-${theme}-${size}`, { fullPage: true })
  }
  await visit(page, `/releases/${String(made.body['id'])}`)
  const commits = page.getByRole('region', { name: 'Commits' })
  await commits.getByText('Ask for the context first').waitFor()
  await commits.getByRole('link', { name: issue.short_id }).waitFor()

  await visit(page, `/projects/${project.id}/settings/integrations`)
  await page.getByText('app/src/main/kotlin/com/meadowlark/').first().waitFor()
  await page.getByText('1 owner is no member: @writers').waitFor()
  await settled(page)
  await expectAccessibleInThemes(page, 'integrations, connected')
  await screenshot(page, 'integrations', { fullPage: true })
})

test('empty places say which thing is missing, and follow what arrives', async () => {
  const { person, project } = await aTeam(server)
  const error = (over: Record<string, unknown>) => ({ values: [{ type: 'TypeError', value: 'x', ...over }] })
  const issue = await server.issue({
    project,
    by: person,
    release: 'shop@1.0.0',
    exception: error({ stacktrace: { frames } }),
  })
  const bare = await server.issue({ project, by: person, exception: error({ type: 'RangeError' }) })
  const page = await dashboard.openAs(person)
  await page.goto(`/issues/${issue.id}`)
  const who = page.getByRole('region', { name: 'Who could take it' })
  const suspects = page.getByRole('region', { name: 'Suspect commits' })
  await who.getByText('No code host is connected, and no ownership rule matches.').waitFor()
  await suspects.getByRole('link', { name: 'Connect' }).waitFor()
  expect(await page.getByRole('region', { name: 'No fix yet' }).count()).toBe(0)

  const connected = await person.post(`/api/projects/${project.id}/integrations/codehost`, {
    repository_url: host.repositoryUrl,
    provider: 'github',
  })
  await page.reload()
  await who.getByText('No commits are known yet, and no ownership rule matches.').waitFor()
  await page.getByRole('region', { name: 'No fix yet' }).getByText(`fixes ${issue.short_id}`).waitFor()
  await page.getByRole('region', { name: '1.0.0 in numbers' }).getByText('No commits of 1.0.0 are known.').waitFor()
  await screenshot(page, 'issue-code-empty', { fullPage: true })

  const commit: HostedCommit = {
    sha: aSha('unrelated'),
    message: 'Write the docs',
    name: 'Robin',
    email: 'robin@meadowlark.example',
    at: hour(1),
    files: [{ filename: 'src/guide.txt', status: 'added' }],
  }
  const { headers, body } = githubDelivery(String(connected.body['webhook_secret']), 'push', githubPush([commit]))
  await fetch(`${server.url}/api/integrations/codehost/webhook?project=${project.id}`, {
    method: 'POST',
    headers,
    body,
  })
  // The open page hears of it.
  await who.getByText('No known commit touches a file of this stack, and no ownership rule matches.').waitFor()
  await suspects.getByText('The commits of 1.0.0 are not known').waitFor()
  await visit(page, `/issues/${bare.id}`)
  await who.getByText('This event has no frame of your app that names a file').waitFor()
  await suspects.getByText('Nothing to compare.').waitFor()
})

test.each([
  { theme: 'light', size: 'phone' },
  { theme: 'dark', size: 'desk' },
] as const)('a revoked token is shown with the field that mends it: $theme, $size', async ({ theme, size }) => {
  const { person, project } = await aTeam(server)
  const answer = await person.post(`/api/projects/${project.id}/integrations/codehost`, {
    repository_url: host.repositoryUrl,
    provider: 'github',
    access_token: HOST_TOKEN,
  })
  expect(answer.status).toBe(200)
  await eventually(
    async () => (await person.get(`/api/projects/${project.id}/integrations/codehost`)).body['last_sent'],
  ).not.toBeNull()
  host.mood = 'revoked'
  const { headers, body } = githubDelivery(
    String(answer.body['webhook_secret']),
    'push',
    githubPush([], { before: aSha('a'), after: aSha('b'), forced: true }),
  )
  await fetch(`${server.url}/api/integrations/codehost/webhook?project=${project.id}`, {
    method: 'POST',
    headers,
    body,
  })
  await eventually(
    async () => (await person.get(`/api/projects/${project.id}/integrations/codehost`)).body['state'],
  ).toBe('broken')
  const page = await dashboard.openAs(person, { theme, size })
  await page.goto(`/projects/${project.id}/settings/integrations`)
  await page.getByText('Broken', { exact: true }).waitFor()
  await page.getByText('GitHub answered 401: Bad credentials').first().waitFor()
  await settled(page)
  await expectAccessible(page, `integrations, broken, ${theme}, ${size}`)
  await expectNoSideScroll(page, `integrations, broken, ${size}`)
  await screenshot(page, `integrations-broken-${theme}-${size}`, { fullPage: true })
  host.mood = 'well'
  await page.getByLabel('New access token').fill(HOST_TOKEN)
  await page.getByRole('button', { name: 'Try and save' }).click()
  await page.getByText('Works', { exact: true }).waitFor()
})
