import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { fakeSentry, type FakeSentry, SOURCE_ORG, type SourceIssueSeed, wordOf } from '#test/kit/fake-sentry.ts'
import { aProject } from '#test/kit/founder.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Import } from './imports.api.ts'
import { evaluateAlertsTask } from '../../alerts/evaluation/evaluate-rules.ts'
import { runImportTask } from './run-import.ts'

type Founder = Awaited<ReturnType<typeof t.founder>>

const t = await testServer({ realTime: true, digestion: 'inline' })
const sources: FakeSentry[] = []
afterAll(async () => {
  for (const source of sources) await source.close()
})

let keys = 0
const newKey = (): string => (++keys).toString(16).padStart(32, 'c')
let numbers = 100

type Seeds = Partial<Parameters<typeof fakeSentry>[2]> & { readonly issues?: readonly SourceIssueSeed[] }

async function aSource({ issues = [], ...extras }: Seeds = {}) {
  const publicKey = newKey()
  const id = String(4_500_000_000_000_000 + ++numbers)
  const source = await fakeSentry(
    new Date(),
    [{ id, slug: `shop-${numbers}`, platform: 'javascript-react', publicKey, issues }],
    extras,
  )
  sources.push(source)
  return { source, publicKey, sourceProject: id }
}

async function connect(owner: Founder, source: FakeSentry): Promise<Import> {
  const answer = await owner.post('/api/org/imports', {
    url: source.url,
    organisation: SOURCE_ORG,
    token: source.token,
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.as<Import>()
}

const change = (owner: Founder, id: string, body: Record<string, unknown>) =>
  owner.request('PATCH', `/api/org/imports/${id}`, { body })

const read = async (owner: Founder, id: string): Promise<Import> =>
  (await owner.get(`/api/org/imports/${id}`)).as<Import>()

/** Runs turns as the jobs do, until the import does not run any more. */
async function runAll(owner: Founder, id: string): Promise<Import> {
  await waitFor(
    'the import to end',
    async () => {
      await runImportTask.run(t.app, { import_id: id }, new AbortController().signal)
      return (await read(owner, id)).state !== 'running'
    },
    60_000,
  )
  return read(owner, id)
}

const anIssue = (id: string, more: Partial<SourceIssueSeed> = {}): SourceIssueSeed => ({
  id,
  title: `cart ${wordOf(id)} is undefined`,
  count: 40,
  userCount: 12,
  events: 3,
  ...more,
})

type Listed = {
  id: string
  title: string
  status: string
  event_count: number
  user_count: number
  first_seen: string
  last_seen: string
  assignee: { id: string } | null
}

const issuesOf = async (owner: Founder): Promise<Listed[]> =>
  (await owner.get('/api/issues?limit=100&sort=first_seen')).as<{ items: Listed[] }>().items

async function silence(): Promise<Record<string, number>> {
  const { rows } = await t.app.db.query<Record<string, number>>(
    `select (select count(*)::int from fired_alerts) as alerts, (select count(*)::int from outbox_messages) as messages,
       (select count(*)::int from inbox_entries) as inboxes`,
  )
  return rows[0] ?? {}
}

describe('an import', () => {
  let owner: Founder
  beforeEach(async () => {
    owner = await t.founder()
  })

  test('brings projects, issues with status, counts and comments, releases, members and rules, and tells no one', async () => {
    const me = (await owner.get('/api/me')).as<{ user: { email: string; id: string } }>().user
    const issues = [
      anIssue('1', { assignee: { name: 'Me', email: me.email } }),
      anIssue('2', { status: 'resolved', statusDetails: { inRelease: 'shop@4.12.0' } }),
      anIssue('3', { status: 'ignored', substatus: 'archived_until_escalating' }),
      anIssue('4', { events: 0, count: 7, daysAgo: 400 }),
      anIssue('5', {
        assignee: { name: 'Gone', email: 'gone@example.com' },
        comments: [
          { id: '91', text: 'Look at the cart.', email: 'gone@example.com', name: 'Gone' },
          { id: '92', text: 'I do.', email: me.email, name: 'Me' },
        ],
      }),
    ]
    const { source, publicKey, sourceProject } = await aSource({
      issues,
      members: [
        { email: me.email, name: 'Me', orgRole: 'owner' },
        { email: 'ines@example.com', name: 'Ines', orgRole: 'manager' },
      ],
      releases: [
        {
          version: 'shop@4.11.0',
          commits: [
            { id: 'a1b2c3d4e5', message: 'Fix cart', dateCreated: new Date().toISOString(), author: { name: 'Ines' } },
          ],
        },
      ],
      rules: [
        {
          id: 5,
          name: 'New in production',
          environment: 'production',
          frequency: 60,
          conditions: [{ id: 'sentry.rules.conditions.first_seen_event.FirstSeenEventCondition' }],
          filters: [{ id: 'sentry.rules.filters.issue_category.IssueCategoryFilter', value: '1' }],
          actions: [
            { id: 'sentry.mail.actions.NotifyEmailAction', targetType: 'Team' },
            { id: 'sentry.integrations.slack.notify_action.SlackNotifyServiceAction', channel: '#shop' },
          ],
        },
      ],
    })
    await owner.post('/api/webhooks', { url: 'http://127.0.0.1:9/hook', events: [] })
    const before = await silence()
    const made = await connect(owner, source)
    expect(made).toMatchObject({ state: 'mapping', mapping: [{ taken: true, platform: 'web', keeps_keys: true }] })
    expect((await change(owner, made.id, { state: 'running' })).status).toBe(200)
    const done = await runAll(owner, made.id)

    expect(done).toMatchObject({
      state: 'done',
      problem: null,
      counts: {
        projects: { done: 1, total: 1 },
        members: { done: 2, total: 2 },
        releases: { done: 1, total: 1 },
        rules: { done: 1, total: 1 },
        issues: { done: 5, total: 5 },
        comments: { done: 2 },
        events: { done: 13 },
      },
    })
    const found = new Map((await issuesOf(owner)).map((issue) => [/cart (\w)/.exec(issue.title)?.[1], issue]))
    expect(found.size).toBe(5)
    expect(found.get('b')).toMatchObject({
      status: 'unresolved',
      event_count: 40,
      user_count: 12,
      assignee: { id: me.id },
    })
    expect(found.get('c')).toMatchObject({ status: 'resolved', event_count: 40 })
    expect(found.get('d')).toMatchObject({ status: 'ignored' })
    expect(found.get('e')).toMatchObject({ status: 'unresolved', event_count: 7 })
    expect(found.get('f')).toMatchObject({ assignee: null })
    const firstSeenMs = Date.parse(found.get('b')?.first_seen ?? '')
    expect(Date.now() - firstSeenMs).toBeGreaterThan(30 * 86_400_000)

    const comments = (await owner.get(`/api/issues/${found.get('f')?.id}/comments`)).as<{
      items: { body: string; author: { id: string } | null }[]
    }>().items
    expect(comments.map(({ body, author }) => [body, author?.id ?? null])).toEqual([
      ['**Gone** wrote:\n\nLook at the cart.', null],
      ['I do.', me.id],
    ])
    const detail = (await owner.get(`/api/issues/${found.get('b')?.id}`)).as<{
      event: { exceptions: { stacktrace: { frames: { context_line: string }[] } }[]; tags: unknown }
    }>()
    expect(JSON.stringify(detail.event)).toContain('total.toFixed(2)')
    expect(JSON.stringify(detail.event)).toContain('button#pay')

    const rules = (await owner.get('/api/alerts')).as<{
      items: { name: string; enabled: boolean; trigger_type: string }[]
    }>()
    expect(rules.items).toMatchObject([{ name: 'New in production', enabled: false, trigger_type: 'new_issue' }])
    const invites = (await owner.get('/api/invites')).as<{ items: { email: string; sent_at: string | null }[] }>()
    expect(invites.items).toMatchObject([{ email: 'ines@example.com', sent_at: null }])

    const { items } = (await owner.get(`/api/org/imports/${made.id}/differences`)).as<{
      items: { kind: string; reason: string }[]
    }>()
    expect(items.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['assignees', 'issues', 'members', 'rules']))
    expect(items.map(({ reason }) => reason).join(' ')).toContain('IssueCategoryFilter')
    expect(await silence()).toEqual(before)

    // Apps in the field keep their DSN.
    const dsn = `${t.url.replace('://', `://${publicKey}@`)}/${sourceProject}`
    expect((await sendEvent(t.url, dsn, anEvent({ error: 'from an old app' }))).status).toBe(200)
    const others = `${t.url.replace('://', `://${publicKey}@`)}/${Number(sourceProject) + 1}`
    expect((await sendEvent(t.url, others, anEvent({}))).status).toBe(403)
  })

  test('that is cut off anywhere continues, and brings nothing twice', async () => {
    const issues = Array.from({ length: 35 }, (_, index) =>
      anIssue(String(1_000 + index), {
        comments: index % 7 === 0 ? [{ id: String(index), text: 'Seen.', email: 'x@example.com', name: 'X' }] : [],
      }),
    )
    const { source } = await aSource({ issues })
    const made = await connect(owner, source)
    await change(owner, made.id, { state: 'running' })
    let calls = 0
    let abort = new AbortController()
    source.onRequest(() => {
      if (++calls % 37 === 0) abort.abort()
    })
    await waitFor(
      'the import to end',
      async () => {
        abort = new AbortController()
        await runImportTask.run(t.app, { import_id: made.id }, abort.signal)
        return (await read(owner, made.id)).state !== 'running'
      },
      60_000,
    )
    const found = await issuesOf(owner)
    expect(found.length).toBe(35)
    expect(new Set(found.map(({ event_count: count }) => count))).toEqual(new Set([40]))
    const { rows } = await t.app.db.query<{ n: number }>(
      `select count(*)::int as n from comments c join issues i on i.id = c.issue_id where i.id = any($1::uuid[])`,
      [found.map(({ id }) => id)],
    )
    expect(rows[0]?.n).toBe(5)
  })

  test('of the same source again adds only what is new there', async () => {
    const seeds = [anIssue('2001'), anIssue('2002')]
    const { source } = await aSource({ issues: seeds })
    const first = await connect(owner, source)
    const twice = await owner.post('/api/org/imports', {
      url: `${source.url}/`,
      organisation: SOURCE_ORG,
      token: source.token,
    })
    expect([twice.status, twice.text]).toEqual([409, expect.stringContaining('is being imported already')])
    await change(owner, first.id, { state: 'running' })
    await runAll(owner, first.id)
    const second = await connect(owner, source)
    await change(owner, second.id, { state: 'running' })
    const done = await runAll(owner, second.id)
    expect(done).toMatchObject({ state: 'done', counts: { events: { done: 0 } } })
    expect((await issuesOf(owner)).map(({ event_count: count }) => count)).toEqual([40, 40])
    expect((await owner.get('/api/projects')).as<{ total: number }>().total).toBe(1)
  })

  test('brings a project again that was deleted here', async () => {
    const comments = [{ id: '1', text: 'Seen.', email: 'x@example.com', name: 'X' }]
    const { source } = await aSource({ issues: [anIssue('2101', { comments })] })
    const first = await connect(owner, source)
    await change(owner, first.id, { state: 'running' })
    await runAll(owner, first.id)
    const { items } = (await owner.get('/api/projects')).as<{ items: { id: string; slug: string }[] }>()
    const gone = await owner.request('DELETE', `/api/projects/${items[0]?.id}`, { body: { confirm: items[0]?.slug } })
    expect(gone.status, gone.text).toBe(202)
    const second = await connect(owner, source)
    await change(owner, second.id, { state: 'running' })
    expect((await runAll(owner, second.id)).state).toBe('done')
    const [issue] = await issuesOf(owner)
    expect(issue?.event_count).toBe(40)
    expect((await owner.get(`/api/issues/${issue?.id}/comments`)).as<{ total: number }>().total).toBe(1)
  })

  test('leaves a decision of a member here as it is', async () => {
    const { source } = await aSource({ issues: [anIssue('3001', { status: 'ignored' })] })
    const first = await connect(owner, source)
    await change(owner, first.id, { state: 'running' })
    await runAll(owner, first.id)
    const [issue] = await issuesOf(owner)
    await owner.request('PATCH', `/api/issues/${issue?.id}`, { body: { status: 'resolved' } })
    const second = await connect(owner, source)
    await change(owner, second.id, { state: 'running' })
    await runAll(owner, second.id)
    expect((await issuesOf(owner))[0]).toMatchObject({ status: 'resolved', event_count: 40 })
  })

  test('waits when the source limits it, and pauses when the token is revoked', async () => {
    const { source } = await aSource({ issues: [anIssue('4001')] })
    const made = await connect(owner, source)
    await change(owner, made.id, { state: 'running' })
    source.failNext(429, 1)
    await runImportTask.run(t.app, { import_id: made.id }, new AbortController().signal)
    const waiting = await read(owner, made.id)
    expect(waiting.state).toBe('running')
    expect(waiting.problem).toContain('answered 429')
    source.revoke()
    await runImportTask.run(t.app, { import_id: made.id }, new AbortController().signal)
    const paused = await read(owner, made.id)
    expect(paused.state).toBe('paused')
    expect(paused.problem).toContain('refused the token (401)')
    const stopped = await change(owner, made.id, { state: 'stopped' })
    expect(stopped.as<Import>()).toMatchObject({ state: 'stopped' })
    const { rows } = await t.app.db.query<{ token_sealed: string | null }>(
      'select token_sealed from imports where id = $1',
      [made.id],
    )
    expect(rows).toEqual([{ token_sealed: null }])
    expect((await change(owner, made.id, { state: 'running' })).status).toBe(409)
  })

  test('continues in the middle of a page after a limit that is shorter than a page', async () => {
    const { source } = await aSource({
      issues: Array.from({ length: 30 }, (_, index) => anIssue(String(5_000 + index))),
    })
    const made = await connect(owner, source)
    await change(owner, made.id, { state: 'running' })
    const before = source.requests.length
    source.onRequest(() => {
      if ((source.requests.length - before) % 15 === 0) source.failNext(429, 1)
    })
    const done = await runAll(owner, made.id)
    expect(done).toMatchObject({ state: 'done', counts: { issues: { done: 30 } } })
    expect(source.requests.length - before).toBeLessThan(50)
  })

  test('refuses an address that is no such service, a wrong token and an unknown organisation', async () => {
    const { source } = await aSource()
    const given = { url: source.url, organisation: SOURCE_ORG, token: source.token }
    const refusals = [
      [{ ...given, token: 'wrong' }, 400, 'refused the token'],
      [{ ...given, organisation: 'other' }, 400, 'does not show an organisation other'],
      [{ ...given, url: t.url }, 400, ''],
      [{ ...given, url: 'ftp://example.com' }, 400, 'url must be'],
      [{ ...given, token: '' }, 400, 'token must be'],
    ] as const
    for (const [body, status, text] of refusals) {
      const answer = await owner.post('/api/org/imports', body)
      expect([answer.status, answer.text], JSON.stringify(body)).toEqual([status, expect.stringContaining(text)])
    }
  })

  test('into a project with rules fires none of them, for events of this minute too', async () => {
    const { source } = await aSource({ issues: [anIssue('6001', { daysAgo: 0 })] })
    const project = await aProject(owner, { slug: `shop-${numbers}` })
    for (const [trigger_type, conditions] of [
      ['new_issue', {}],
      ['issue_spike', { threshold: 1, window_minutes: 60, multiplier: 1 }],
    ] as const) {
      const rule = {
        projectId: project.id,
        name: trigger_type,
        trigger_type,
        conditions,
        actions: [{ type: 'email', to: 'team' }],
      }
      expect((await owner.post('/api/alerts', rule)).status).toBe(201)
    }
    const before = await silence()
    const made = await connect(owner, source)
    expect(made.mapping).toMatchObject([{ project_id: project.id }])
    await change(owner, made.id, { state: 'running' })
    expect(await runAll(owner, made.id)).toMatchObject({ state: 'done', counts: { issues: { done: 1 } } })
    await evaluateAlertsTask.run(t.app, {}, new AbortController().signal)
    expect(await silence()).toEqual(before)
    // A new event of the app does.
    await sendEvent(t.url, project.dsn, anEvent({ error: 'live' }))
    await waitFor('the alert', async () => (await silence())['alerts'] !== before['alerts'])
  })

  test('of several projects brings each, and a key that is in use here stays where it is', async () => {
    const [used, ...others] = [newKey(), newKey(), newKey()]
    const project = await aProject(owner)
    await t.app.db.query('update project_keys set public_key = $2 where project_id = $1', [project.id, used])
    const source = await fakeSentry(
      new Date(),
      [used, ...others].map((publicKey, index) => ({
        id: String(70 + index),
        slug: `app-${index}`,
        platform: index === 0 ? 'python' : 'apple-ios',
        publicKey,
        issues: index === 1 ? [] : [anIssue(String(7_000 + index))],
      })),
    )
    sources.push(source)
    const made = await connect(owner, source)
    await change(owner, made.id, { state: 'running' })
    const done = await runAll(owner, made.id)
    expect([done.state, done.problem, done.counts.projects, done.counts.issues]).toEqual([
      'done',
      null,
      { done: 3, total: 3 },
      { done: 2, total: 2 },
    ])
    const { items } = (await owner.get(`/api/org/imports/${made.id}/differences`)).as<{
      items: { kind: string; examples: string[] }[]
    }>()
    expect(items.filter(({ kind }) => kind === 'keys' || kind === 'projects')).toMatchObject([
      { kind: 'keys', examples: ['app-0'] },
      { kind: 'projects', examples: ['app-0'] },
    ])
  })

  test('changes its mapping until it starts', async () => {
    const { source } = await aSource({ issues: [anIssue('5001')] })
    const made = await connect(owner, source)
    const [one] = made.mapping
    const mapped = (more: Record<string, unknown>) => ({
      mapping: [
        {
          source_id: one?.source_id,
          taken: true,
          project_id: null,
          slug: 'other',
          platform: 'ios',
          keeps_keys: false,
          ...more,
        },
      ],
    })
    const stranger = await t.founder()
    const foreign = await aProject(stranger)
    expect((await change(owner, made.id, mapped({ project_id: foreign.id }))).status).toBe(404)
    expect((await change(owner, made.id, mapped({ source_id: '1' }))).text).toContain('the source has no project 1')
    expect((await change(owner, made.id, { ...mapped({ taken: false }), state: 'running' })).text).toContain(
      'at least one project',
    )
    expect((await change(owner, made.id, { ...mapped({}), state: 'running' })).status).toBe(200)
    await runAll(owner, made.id)
    const { items } = (await owner.get('/api/projects')).as<{ items: { slug: string; platform: string }[] }>()
    expect(items).toMatchObject([{ slug: 'other', platform: 'ios' }])
    expect((await change(owner, made.id, mapped({}))).status).toBe(409)
    expect((await stranger.get(`/api/org/imports/${made.id}`)).status).toBe(404)
  })
})
