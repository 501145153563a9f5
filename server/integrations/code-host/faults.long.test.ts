import { describe, expect, test } from 'vitest'
import type { IssueDetail } from '../../issues/triage/issues.api.ts'
import { githubDelivery, githubHost, githubPush, HOST_TOKEN, aSha, type HostMood } from '#test/kit/code-host-github.ts'
import { gitlabDelivery, gitlabHost, gitlabMerge, gitlabPush } from '#test/kit/code-host-gitlab.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { aCommit, codeHostPath, connected, deliver, readState, settled } from './code-host.fixture.ts'

/** A code host that is down, slow to take requests, refuses the token, or answers something else; and GitLab. */

const t = await testServer({ realTime: true, jobs: true, deliveries: true })
const github = await githubHost()
const gitlab = await gitlabHost()
t.onClose(() => github.close())
t.onClose(() => gitlab.close())

const owners = async () => {
  const owner = await t.founder()
  const project = await t.project(owner)
  github.mood = 'well'
  github.commits.length = 0
  github.texts.clear()
  github.paths.clear()
  return { owner, project }
}

const body = { repository_url: github.repositoryUrl, provider: 'github', access_token: HOST_TOKEN }

test.each([
  ['revoked', 400, 'GitHub answered 401: Bad credentials'],
  ['forbidden', 400, 'Resource not accessible by personal access token'],
  ['limited', 429, 'API rate limit exceeded'],
  ['down', 503, 'GitHub answered 502'],
  ['garbled', 503, 'in a form that Faultline does not know'],
] as const)('a token is tried before it is stored: %s', async (mood, status, why) => {
  const { owner, project } = await owners()
  github.mood = mood
  const answer = await owner.post(codeHostPath(project.id), body)
  expect(answer.status).toBe(status)
  expect(answer.text).toContain(why)
  expect(answer.text).not.toContain(HOST_TOKEN)
  expect(await readState(owner, project.id)).toMatchObject({ state: 'not_connected', repository_url: null })
})

test('secret and token are never answered, sealed in the database, and the secret is another each time', async () => {
  const { owner, project } = await owners()
  const first = await connected(owner, project.id, body)
  const second = await connected(owner, project.id, {
    repository_url: `${github.repositoryUrl}.git`,
    provider: 'github',
  })
  expect(second).not.toBe(first)
  const read = await owner.get(codeHostPath(project.id))
  expect(read.as<{ has_token: boolean }>().has_token).toBe(true)
  const { rows } = await t.app.db.query<{ row: string }>(
    'select h::text as row from code_hosts h where project_id = $1',
    [project.id],
  )
  for (const text of [read.text, JSON.stringify(rows), JSON.stringify(t.logLines)])
    for (const hidden of [first, second, HOST_TOKEN]) expect(text).not.toContain(hidden)
  const payload = githubPush([aCommit('one', new Date())])
  expect((await deliver(t.url, project.id, githubDelivery(first, 'push', payload))).status).toBe(401)
  expect((await deliver(t.url, project.id, githubDelivery(second, 'push', payload))).status).toBe(200)
  await settled(owner, project.id)
  // Another repository starts from the beginning.
  await connected(owner, project.id, { repository_url: 'https://github.com/meadowlark/other' })
  expect(await readState(owner, project.id)).toMatchObject({
    has_token: false,
    commit_count: 0,
    repository_url: 'https://github.com/meadowlark/other',
  })
})

describe('a token that stops working', () => {
  const forced = () => githubPush([], { before: aSha('a'), after: aSha(`${Math.random()}`), forced: true })

  test('is broken, owners and admins get one mail, deliveries are still taken, and a new token mends it', async () => {
    const { owner, project } = await owners()
    const admin = await t.member(owner, { name: 'Ada', role: 'admin' })
    const member = await t.member(owner, { name: 'Kim', role: 'member' })
    const secret = await connected(owner, project.id, body)
    await waitFor('the repository to be read', async () => (await readState(owner, project.id)).last_sent !== null)
    github.mood = 'revoked'
    for (let n = 0; n < 3; n++) await deliver(t.url, project.id, githubDelivery(secret, 'push', forced()))
    const state = await settled(owner, project.id)
    expect(state).toMatchObject({ state: 'broken', last_error: { text: 'GitHub answered 401: Bad credentials' } })
    expect(state.deliveries.every(({ state: is }) => is === 'done')).toBe(true)
    const mails = await waitFor('the mails', () => {
      const sent = t.mails.filter(({ subject }) => subject === 'GitHub refuses the stored token')
      return sent.length >= 2 ? sent : null
    })
    expect(mails.map(({ to }) => to).toSorted()).toEqual([owner.email, admin.email].toSorted())
    expect(mails.map(({ to }) => to)).not.toContain(member.email)
    github.mood = 'well'
    expect(
      (await owner.patch(codeHostPath(project.id), { access_token: HOST_TOKEN })).as<{ state: string }>().state,
    ).toBe('works')
  })

  test.each([
    ['limited', 60_000],
    ['second limit', 60_000],
  ] as const)('is slowed down by a limit: %s', async (mood: HostMood, atLeastMs) => {
    const { owner, project } = await owners()
    const secret = await connected(owner, project.id, body)
    await waitFor('the repository to be read', async () => (await readState(owner, project.id)).last_sent !== null)
    github.resetAt = new Date(Date.now() + 600_000)
    github.mood = mood
    await deliver(t.url, project.id, githubDelivery(secret, 'push', forced()))
    const state = await waitFor('the limit to be noted', async () => {
      const read = await readState(owner, project.id)
      return read.slowed_until === null ? null : read
    })
    expect(state.state).toBe('slowed_down')
    expect(Date.parse(state.slowed_until ?? '') - Date.now()).toBeGreaterThan(atLeastMs)
    expect(state.deliveries[0]?.state).toBe('waiting')
  })

  test('is retried when the code host is down', async () => {
    const { owner, project } = await owners()
    const secret = await connected(owner, project.id, body)
    await waitFor('the repository to be read', async () => (await readState(owner, project.id)).last_sent !== null)
    github.mood = 'down'
    await deliver(t.url, project.id, githubDelivery(secret, 'push', forced()))
    await waitFor('the failure to be noted', async () => (await readState(owner, project.id)).state === 'slowed_down')
    github.mood = 'well'
    const state = await settled(owner, project.id)
    expect(state.deliveries[0]?.state).toBe('done')
  })
})

test('GitLab: by token and by signature, a push of more than 20 commits, a merge, a release and CODEOWNERS', async () => {
  const owner = await t.founder()
  const project = await t.project(owner)
  gitlab.texts.set('CODEOWNERS', `[Shop]\nsrc/checkout/ ${owner.email}\n`)
  const now = Date.now()
  const commits = Array.from({ length: 30 }, (_, at) =>
    aCommit(`gitlab ${at}`, new Date(now), {
      files:
        at === 0 ? [{ filename: 'src/checkout/pay.ts', status: 'modified', patch: '@@ -1,1 +1,2 @@\n a\n+b\n' }] : [],
    }),
  )
  const base = aCommit('gitlab base', new Date(now))
  gitlab.commits.push(base, ...commits)
  gitlab.paths.add('src/checkout/pay.ts')
  const secret = await connected(owner, project.id, {
    repository_url: gitlab.repositoryUrl,
    provider: 'gitlab',
    access_token: HOST_TOKEN,
  })
  await waitFor('CODEOWNERS to be read', async () => (await readState(owner, project.id)).owners.rules === 1)
  const push = gitlabPush(commits, { before: base.sha })
  expect((await deliver(t.url, project.id, gitlabDelivery(secret, 'push', push, { id: 'one' }))).result).toBe(
    'accepted',
  )
  expect((await deliver(t.url, project.id, gitlabDelivery(secret, 'push', push, { id: 'one' }))).result).toBe('known')
  expect((await deliver(t.url, project.id, gitlabDelivery('whsec_wrong', 'push', push))).status).toBe(401)
  expect((await settled(owner, project.id)).commit_count).toBe(30)
  const head = commits.at(-1)
  const release = {
    object_kind: 'release',
    action: 'create',
    tag: 'v2.0',
    released_at: '2026-11-18 10:00:00 UTC',
    commit: { id: head?.sha },
  }
  const signed = gitlabDelivery(secret, 'release', release, { signedAt: new Date() })
  expect((await deliver(t.url, project.id, signed)).result).toBe('accepted')
  await settled(owner, project.id)

  const frame = { filename: 'src/checkout/pay.ts', function: 'pay', lineno: 2, in_app: true }
  const issue = await t.issue({
    project,
    by: owner,
    release: 'shop@2.0',
    exception: { values: [{ type: 'TypeError', value: 'x', stacktrace: { frames: [frame] } }] },
  })
  // The file of the repository assigns it.
  expect(issue.assignee?.email).toBe(owner.email)
  const read = await waitFor('the commits of the release', async () => {
    const found = (await owner.get(`/api/issues/${issue.id}`)).as<IssueDetail>()
    return found.code.suspects[0]?.release === 'shop@2.0' && found.code.suspects[0].files[0]?.is_line_changed === true
      ? found
      : null
  })
  expect(read.code.suspects).toHaveLength(1)
  expect(read.candidates).toMatchObject([{ person: { email: owner.email }, reasons: [{ kind: 'codeowners' }] }])
  expect(read.code.source_links[0]?.url).toBe(`${gitlab.repositoryUrl}/-/blob/${head?.sha ?? ''}/src/checkout/pay.ts`)

  const merge = (state: 'opened' | 'merged') =>
    gitlabMerge({
      iid: 7,
      title: 'Pay',
      description: `Closes ${issue.short_id}`,
      state,
      mergeSha: aSha('merge'),
      at: new Date(),
    })
  await deliver(t.url, project.id, gitlabDelivery(secret, 'merge_request', merge('opened')))
  await settled(owner, project.id)
  expect((await owner.get(`/api/issues/${issue.id}`)).as<IssueDetail>()).toMatchObject({
    status: 'unresolved',
    code: { mentions: [{ label: '!7', state: 'open' }] },
  })
  await deliver(t.url, project.id, gitlabDelivery(secret, 'merge_request', merge('merged')))
  await settled(owner, project.id)
  expect((await owner.get(`/api/issues/${issue.id}`)).body['status']).toBe('resolved')

  // Without a connection its rules assign no one.
  expect((await owner.delete(codeHostPath(project.id))).status).toBe(204)
  expect(await readState(owner, project.id)).toMatchObject({ state: 'not_connected', commit_count: 0, file_count: 0 })
  const other = await t.issue({
    project,
    by: owner,
    exception: {
      values: [{ type: 'RangeError', value: 'y', stacktrace: { frames: [{ ...frame, function: 'other' }] } }],
    },
  })
  expect(other.assignee).toBeNull()
})

test('without a code host, commits with files that a pipeline sends make suspects', async () => {
  const { owner, project } = await owners()
  const now = Date.now()
  await owner.post('/api/releases', {
    projectId: project.id,
    version: 'shop@3.0',
    commits: [
      {
        id: aSha('uploaded'),
        message: 'Change the checkout',
        author_email: owner.email,
        timestamp: new Date(now - 7_200_000).toISOString(),
        patch_set: [{ path: 'web/src/checkout/pay.ts', type: 'M' }],
      },
      { id: aSha('another'), message: 'Docs', patch_set: [{ path: 'README.md', type: 'M' }] },
    ],
  })
  const frame = { filename: 'app:///src/checkout/pay.ts', function: 'pay', lineno: 2, in_app: true }
  const issue = await t.issue({
    project,
    by: owner,
    release: 'shop@3.0',
    exception: { values: [{ type: 'TypeError', value: 'x', stacktrace: { frames: [frame] } }] },
  })
  const { code, candidates } = await waitFor('the suspect', async () => {
    const found = (await owner.get(`/api/issues/${issue.id}`)).as<IssueDetail>()
    return found.code.suspects.length === 0 ? null : found
  })
  expect(code).toMatchObject({
    repository_url: null,
    source_links: [],
    suspects: [{ sha: aSha('uploaded'), url: null, release: 'shop@3.0', member: { email: owner.email } }],
  })
  expect(candidates).toMatchObject([
    { person: { email: owner.email }, reasons: [{ kind: 'suspect', sha: aSha('uploaded'), rank: 1 }] },
  ])
})
