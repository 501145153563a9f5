import { describe, expect, test } from 'vitest'
import type { IssueDetail } from '../../issues/triage/issues.api.ts'
import type { WholeRelease } from '../../projects/releases/releases.api.ts'
import type { Client } from '#test/kit/client.ts'
import {
  githubDelivery,
  githubHost,
  githubPull,
  githubPush,
  githubTag,
  HOST_TOKEN,
  type HostedCommit,
} from '#test/kit/code-host-github.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { LIVE_TOPIC } from '../../platform/live/publish.ts'
import { parseEnvelope } from '../../platform/live/recent-messages.ts'
import { aCommit, connected, deliver, readState, settled } from './code-host.fixture.ts'

const t = await testServer({ realTime: true, jobs: true })
const host = await githubHost()
t.onClose(() => host.close())

const PATCH = [
  '@@ -10,3 +10,4 @@ export function pay() {',
  '   const total = sum(basket)',
  '-  const receipt = show(total)',
  '+  const bank = open(total)',
  '+  const receipt = show(bank.total)',
  '   return receipt',
].join('\n')

const frame = { filename: 'app:///src/checkout/pay.ts', function: 'pay', lineno: 12, in_app: true }
const failure = (over: Record<string, unknown> = {}) => ({
  exception: { values: [{ type: 'TypeError', value: 'bank is undefined', stacktrace: { frames: [frame] } }] },
  ...over,
})

async function aProject(over: Record<string, unknown> = {}) {
  const owner = await t.founder()
  const project = await t.project(owner)
  host.mood = 'well'
  host.commits.length = 0
  host.texts.clear()
  host.paths.clear()
  host.requests.length = 0
  const secret = await connected(owner, project.id, { repository_url: host.repositoryUrl, provider: 'github', ...over })
  const send = async (event: string, payload: unknown, id?: string) =>
    deliver(t.url, project.id, githubDelivery(secret, event, payload, id))
  return { owner, project, secret, send, slug: slugOf(await readIssueSlug(owner, project.id)) }
}

const readIssueSlug = async (by: Client, projectId: string): Promise<string> =>
  (await by.get('/api/projects'))
    .as<{ items: { id: string; slug: string }[] }>()
    .items.find(({ id }) => id === projectId)?.slug ?? ''
const slugOf = (slug: string): string => slug.toUpperCase()

const readIssue = async (by: Client, id: string): Promise<IssueDetail> =>
  (await by.get(`/api/issues/${id}`)).as<IssueDetail>()

const now = () => new Date()

describe('from a push to the fix', () => {
  test('a push makes a suspect, with its line when there is a token, and the merge resolves the issue in the release', async () => {
    const commit = aCommit('Open the bank before the receipt', now(), {
      files: [{ filename: 'src/checkout/pay.ts', status: 'modified', patch: PATCH }],
    })
    const other = aCommit('Write the docs', now(), { files: [{ filename: 'docs/pay.txt', status: 'added' }] })
    const { owner, project, send, slug } = await aProject({ access_token: HOST_TOKEN })
    host.commits.push(other, commit)
    for (const path of ['src/checkout/pay.ts', 'src/index.ts', 'docs/pay.txt']) host.paths.add(path)
    expect((await send('push', githubPush([other, commit]))).status).toBe(200)
    await send('push', githubTag('v4.12.0', commit.sha, true))
    await settled(owner, project.id)
    const seen = await t.issue({ project, by: owner, ...failure({ release: 'shop@4.12.0' }) })
    const issue = await waitFor('the commits of the release and their lines', async () => {
      const read = await readIssue(owner, seen.id)
      const [suspect] = read.code.suspects
      // The page is several reads: the commits may come between two of them.
      const isLinked = suspect?.release === 'shop@4.12.0' && read.code.release?.commit_count === 2
      return isLinked && suspect.excerpt !== null ? read : null
    })
    expect(issue.code).toMatchObject({
      repository_url: host.repositoryUrl,
      release: {
        version: 'shop@4.12.0',
        commit_count: 2,
        since: null,
        numbers: { commits: 2, authors: 1, files: 2, are_files_cut: false, pulls: 0 },
      },
      compared_frames: 1,
      suspect_count: 1,
      suspects: [
        {
          sha: commit.sha,
          url: `${host.repositoryUrl}/commit/${commit.sha}`,
          title: 'Open the bank before the receipt',
          author_name: 'Tomo A.',
          member: null,
          files: [{ path: 'src/checkout/pay.ts', line: 12, frame: 1, is_line_changed: true }],
          excerpt: {
            path: 'src/checkout/pay.ts',
            lines: [
              { line: 10, sign: ' ', text: '  const total = sum(basket)' },
              { line: 11, sign: '-', text: '  const receipt = show(total)' },
              { line: 11, sign: '+', text: '  const bank = open(total)' },
              { line: 12, sign: '+', text: '  const receipt = show(bank.total)' },
              { line: 13, sign: ' ', text: '  return receipt' },
            ],
          },
        },
      ],
      source_links: [
        {
          file: 'app:///src/checkout/pay.ts',
          path: 'src/checkout/pay.ts',
          url: `${host.repositoryUrl}/blob/${commit.sha}/src/checkout/pay.ts`,
          is_exact: true,
        },
      ],
    })

    // An open pull request only links.
    await send('pull_request', githubPull({ number: 12, title: `Check the bank, fixes ${issue.short_id}` }))
    await settled(owner, project.id)
    const linked = await readIssue(owner, seen.id)
    expect(linked.status).toBe('unresolved')
    expect(linked.code.mentions).toMatchObject([
      { kind: 'pull', label: '#12', state: 'open', says_fix: true, url: `${host.repositoryUrl}/pull/12` },
    ])
    expect(linked.code.fix).toMatchObject({ change: { label: '#12', state: 'open' }, branch: 'main', release: null })

    const fix = aCommit(
      `Check the bank (#12)\n\nFixes ${slug.toLowerCase()}-${issue.short_id.split('-').at(-1) ?? ''}`,
      now(),
    )
    host.commits.push(fix)
    await send('push', githubPush([fix], { before: commit.sha }))
    await send(
      'pull_request',
      githubPull({ number: 12, title: `Check the bank, fixes ${issue.short_id}`, merged: true, mergeSha: fix.sha }),
    )
    await settled(owner, project.id)
    const resolved = await readIssue(owner, seen.id)
    expect(resolved).toMatchObject({ status: 'resolved', resolution: { in_commit: fix.sha } })
    expect(resolved.status_reason).toContain(`in commit ${fix.sha.slice(0, 12)}`)
    expect(resolved.activity[0]).toMatchObject({ kind: 'status_changed', actor: null })
    expect(resolved.activity[0]?.sentence).toContain('Tomo A. (GitHub)')
    expect(resolved.code.mentions.map(({ label, state }) => [label, state])).toEqual(
      expect.arrayContaining([
        ['#12', 'fixes'],
        [fix.sha.slice(0, 7), 'fixes'],
      ]),
    )

    // The pull request is shown, not its commit.
    expect(resolved.code.fix).toMatchObject({
      change: { label: '#12', state: 'fixes' },
      release: null,
      reports_deploys: false,
    })

    // The release that contains the commit takes over.
    await send('push', githubTag('v4.12.1', fix.sha))
    const created = await owner.post('/api/releases', { projectId: project.id, version: 'shop@4.12.1' })
    const settledIn = await waitFor('the issue to be resolved in the release', async () => {
      const read = await readIssue(owner, seen.id)
      return read.resolved_in_release === null ? null : read
    })
    expect(settledIn).toMatchObject({ status: 'resolved', resolved_in_release: 'shop@4.12.1' })
    const release = (await owner.get(`/api/releases/${created.as<WholeRelease>().id}`)).as<WholeRelease>()
    expect(release.commits.map(({ id, author_name }) => [id, author_name])).toEqual([[fix.sha, 'Tomo A.']])
    expect(release.commits[0]?.patch_set).toEqual([{ path: 'src/checkout/pay.ts', type: 'M' }])
    expect(settledIn.code.fix.release).toMatchObject({ version: 'shop@4.12.1', is_planned: false, deploy: null })
    expect((await owner.post(`/api/releases/${release.id}/deploys`, { environment: 'production' })).status).toBe(201)
    expect((await readIssue(owner, seen.id)).code.fix).toMatchObject({
      release: { deploy: { environment: 'production' } },
      reports_deploys: true,
    })

    // An issue of the next release: its commits begin behind the one before, and name their pull request.
    const later = await t.issue({ project, by: owner, error: 'later', release: 'shop@4.12.1' })
    expect((await readIssue(owner, later.id)).code.release).toMatchObject({
      version: 'shop@4.12.1',
      since: { version: 'shop@4.12.0' },
      numbers: { commits: 1, files: 1, pulls: 1 },
    })
  })
})

describe('deliveries', () => {
  test('every failed check is the same 401, and a delivery is taken once', async () => {
    const { owner, project, secret, send } = await aProject()
    const payload = githubPush([aCommit('one', now())])
    const good = githubDelivery(secret, 'push', payload)
    const stranger = await t.project(owner)
    const cases = {
      'a wrong secret': deliver(t.url, project.id, githubDelivery(`${secret}x`, 'push', payload)),
      'no signature': deliver(t.url, project.id, { ...good, headers: { 'content-type': 'application/json' } }),
      'a changed byte': deliver(t.url, project.id, { ...good, body: `${good.body} ` }),
      'serialised again': deliver(t.url, project.id, { ...good, body: JSON.stringify(JSON.parse(good.body), null, 1) }),
      'a project without a connection': deliver(t.url, stranger.id, good),
      'no such project': deliver(t.url, '01920000-0000-7000-8000-000000000000', good),
      'no id': deliver(t.url, 'shop', good),
    }
    const texts = new Set<string>()
    for (const [name, sent] of Object.entries(cases)) {
      const { status, text } = await sent
      expect(status, name).toBe(401)
      texts.add(text)
    }
    expect([...texts]).toEqual(['{"error":"This delivery is not signed with the secret of this project."}'])
    expect((await readState(owner, project.id)).last_refused_at).not.toBeNull()

    expect(await deliver(t.url, project.id, good)).toMatchObject({ status: 200, result: 'accepted' })
    expect(await deliver(t.url, project.id, good)).toMatchObject({ status: 200, result: 'known' })
    expect(await send('ping', { zen: 'Design for failure.' })).toMatchObject({ status: 200, result: 'pong' })
    const state = await settled(owner, project.id)
    expect(state).toMatchObject({
      state: 'works',
      commit_count: 1,
      last_received: { event: 'push', summary: '1 commit to main by tomo' },
    })
  })

  test('a payload that cannot be read is noted, and may be sent again', async () => {
    const { owner, project, send } = await aProject()
    expect((await send('push', '{"ref":', 'one')).status).toBe(200)
    expect((await settled(owner, project.id)).last_received).toMatchObject({ summary: 'The payload is not JSON.' })
    expect((await send('push', JSON.stringify({ ref: 'refs/heads/main' }), 'two')).status).toBe(200)
    expect((await settled(owner, project.id)).deliveries.map(({ state }) => state)).toEqual(['failed', 'failed'])
    expect(await send('push', githubPush([aCommit('one', now())]), 'two')).toMatchObject({ result: 'accepted' })
    expect((await settled(owner, project.id)).deliveries[0]).toMatchObject({ id: 'two', state: 'done' })
  })

  test('a push of 25 MB with 10,000 files is taken, and a larger one refused', { timeout: 120_000 }, async () => {
    const { owner, project, send } = await aProject()
    const files = Array.from({ length: 10_000 }, (_, at) => ({
      filename: `src/made/${'deep/'.repeat(4)}file-${at}.ts`,
      status: 'added',
    }))
    const many = aCommit('Generate everything', now(), { files })
    const long = Array.from({ length: 500 }, (_, at) => aCommit(`commit ${at}`, now(), { message: 'x'.repeat(45_000) }))
    const payload = JSON.stringify(githubPush([...long, many]))
    expect(payload.length).toBeGreaterThan(22 * 1024 * 1024)
    expect(await send('push', payload)).toMatchObject({ status: 200, result: 'accepted' })
    const state = await settled(owner, project.id)
    expect(state.commit_count).toBe(501)
    expect(state.file_count).toBe(10_001)
    expect((await send('push', 'x'.repeat(26 * 1024 * 1024))).status).toBe(413)
  })

  test('a delivery for a project that was deleted is 401, and waiting ones are left alone', async () => {
    const { owner, project, send } = await aProject()
    expect((await send('push', githubPush([aCommit('one', now())]))).status).toBe(200)
    await settled(owner, project.id)
    const { rows } = await t.app.db.query<{ slug: string }>('select slug from projects where id = $1', [project.id])
    const gone = await owner.request('DELETE', `/api/projects/${project.id}`, { body: { confirm: rows[0]?.slug } })
    expect([200, 202, 204]).toContain(gone.status)
    expect((await send('push', githubPush([aCommit('two', now())]))).status).toBe(401)
  })
})

describe('pushes', () => {
  test('a force-push takes commits from the default branch, and a cut push is completed with the token', async () => {
    const { owner, project, send } = await aProject({ access_token: HOST_TOKEN })
    const [base, lost, kept] = ['base', 'lost', 'kept'].map((seed) => aCommit(seed, now())) as [
      HostedCommit,
      HostedCommit,
      HostedCommit,
    ]
    host.commits.push(base, kept, lost)
    await send('push', githubPush([base, lost]))
    await settled(owner, project.id)
    // The stand-in answers compare(kept, lost) with `lost`, which the force-push took away.
    await send('push', githubPush([], { before: base.sha, after: kept.sha, forced: true }))
    const state = await settled(owner, project.id)
    expect(state.last_received?.summary).toContain('forced')
    const { rows } = await t.app.db.query<{ message: string; is_default: boolean }>(
      'select message, is_default from host_commits where project_id = $1 order by seq',
      [project.id],
    )
    expect(rows).toEqual([
      { message: 'base', is_default: true },
      { message: 'lost', is_default: true },
      { message: 'kept', is_default: true },
    ])
  })

  test('a deleted branch, a deleted tag and a branch beside the default one change nothing of it', async () => {
    const { owner, project, send } = await aProject()
    const issue = await t.issue({ project, by: owner, ...failure() })
    const topic = aCommit(`fixes ${issue.short_id}`, now())
    await send('push', githubPush([topic], { ref: 'refs/heads/topic' }))
    await send('push', githubPush([], { ref: 'refs/heads/topic', after: '0'.repeat(40) }))
    await send('push', githubPush([], { ref: 'refs/tags/v1', after: '0'.repeat(40) }))
    const state = await settled(owner, project.id)
    expect(state.commit_count).toBe(0)
    const read = await readIssue(owner, issue.id)
    expect(read.status).toBe('unresolved')
    expect(read.code.mentions).toMatchObject([{ kind: 'commit', label: topic.sha.slice(0, 7), state: 'mentioned' }])
    expect(read.code.fix.change).toMatchObject({ state: 'mentioned', says_fix: true })
    // The same commit on the default branch is the fix.
    await send('push', githubPush([topic]))
    await settled(owner, project.id)
    expect((await readIssue(owner, issue.id)).status).toBe('resolved')
  })

  test('open pages hear of new suspects, and of commits and pull requests that name their issue', async () => {
    const { owner, project, send } = await aProject()
    const issue = await t.issue({ project, by: owner, ...failure() })
    const heard: string[] = []
    const stop = t.app.bus.on(LIVE_TOPIC, (payload) => {
      const message = parseEnvelope(payload)?.message
      if (message?.kind === 'issues' && message.project_id === project.id) heard.push(message.issue_ids.join())
    })
    try {
      await send('push', githubPush([aCommit('one', now())]))
      await waitFor('the message about all issues of the project', () => heard.includes(''))
      heard.length = 0
      await send('pull_request', githubPull({ number: 7, title: `See ${issue.short_id}` }))
      await waitFor('the message about the issue', () => heard.includes(issue.id))
      const { code } = await readIssue(owner, issue.id)
      expect(code.mentions).toMatchObject([{ label: '#7', says_fix: false }])
      // It only mentions the issue.
      expect(code.fix.change).toBeNull()
      // Its text says more now.
      await send('pull_request', githubPull({ number: 7, title: `Fixes ${issue.short_id}` }))
      await waitFor('the fix', async () => (await readIssue(owner, issue.id)).code.fix.change !== null)
    } finally {
      stop()
    }
  })

  test('a fix older than the regression resolves nothing', async () => {
    const { owner, project, send } = await aProject()
    const issue = await t.issue({ project, by: owner, ...failure() })
    await t.app.db.query(`update issues set status = 'regressed', status_changed_at = now() where id = $1`, [issue.id])
    await send('push', githubPush([aCommit(`fixes ${issue.short_id}`, now())]))
    await settled(owner, project.id)
    const returned = await readIssue(owner, issue.id)
    expect(returned.status).toBe('regressed')
    expect(returned.code.fix.change).toBeNull()
    await send('push', githubPush([aCommit(`closes ${issue.short_id}`, new Date(Date.now() + 7_200_000))]))
    await settled(owner, project.id)
    expect((await readIssue(owner, issue.id)).status).toBe('resolved')
  })
})
