import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { aCaller, aMembership, aPerson, type Person } from '#test/kit/members.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testApp } from '#test/kit/test-app.ts'
import { changePassword } from '../../identity/accounts/change-password.ts'
import { switchOrg } from '../../identity/auth/switch-org.ts'
import { aboutIssue } from '../../issues/rows/view-issue.ts'
import { DIGESTION, systemActor, factContext } from '../../platform/context/actor.ts'
import type { Fact } from '../facts/kinds.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { newId } from '../../platform/kernel/ids.ts'
import { updateProjectSettings } from '../../service/project-settings/update-project-settings.ts'
import { addCommits } from '../../projects/releases/add-commits.ts'
import { createRelease } from '../../projects/releases/create-release.ts'
import { updateRelease } from '../../projects/releases/update-release.ts'
import { createEndpoint } from '../../integrations/webhooks/create-endpoint.ts'
import { updateEndpoint } from '../../integrations/webhooks/update-endpoint.ts'
import { createProject } from '../../service/project-settings/create-project.ts'
import { changeQuota } from '../../identity/team/change-quota.ts'
import { deleteIssues, changeIssues } from '../../issues/bulk/start-operation.ts'
import { runOperation } from '../../issues/bulk/run-operation.ts'
import { undoOperation } from '../../issues/bulk/undo-operation.ts'
import { eraseUser } from '../../service/erasure/erase-user.ts'
import { canonicalJson } from './canonical-json.ts'
import { listAuditLog } from './list-audit-log.ts'

const t = await testApp()
const { app } = t

let ada: Person
let projectId: string
beforeAll(async () => {
  ada = await aPerson(app, { caller: aCaller({ ip: '192.0.2.7', userAgent: 'Firefox' }) })
  projectId = (await createProject(app, ada.actor, { name: 'Shop', platform: 'web', region: 'eu-central-1' })).id
})

const entriesOf = async (person: Person, filters = {}) =>
  (await listAuditLog(app, person.actor, { limit: 100, offset: 0, ...filters })).items

const org = (person: Person, field: string): Fact => ({
  kind: 'org.updated',
  orgId: person.actor.orgId,
  data: { fields: [field] },
})

test('an entry says who did what to what, from where, and follows the one before', async () => {
  await changeQuota(app, ada.actor, 1_000)
  const [newest, before] = await entriesOf(ada)
  expect(newest).toMatchObject({
    seq: (before?.seq ?? 0) + 1,
    org_id: ada.actor.orgId,
    created_at: t.clock.now().toISOString().replace('Z', '000Z'),
    actor: { type: 'user', id: ada.actor.userId, email: ada.email, role: 'owner' },
    target: { type: 'org', id: ada.actor.orgId, label: 'Acme' },
    project_id: null,
    ip: '192.0.2.7',
    user_agent: 'Firefox',
    request_id: 'test',
    session_id: ada.actor.sessionId,
    outcome: 'ok',
    prev_hash: before?.hash,
  })
  expect(before).toMatchObject({
    seq: 1,
    action: 'project.created',
    event_type: null,
    target: { type: 'project', id: projectId, label: 'Shop' },
    project_id: projectId,
    meta: { name: 'Shop', slug: 'shop' },
    prev_hash: '0'.repeat(64),
  })
  for (const entry of [newest, before]) {
    const { hash, ...rest } = entry ?? { prev_hash: '' }
    const computed = createHash('sha256').update(Buffer.from(rest.prev_hash, 'hex')).update(canonicalJson(rest))
    expect(hash).toBe(computed.digest('hex'))
  }
})

test('a status moved by events is an entry of the system, with its cause and reason', async () => {
  const [id = ''] = await seedIssues(app, projectId, 1)
  const issue = aboutIssue({ id, project_id: projectId, org_id: ada.actor.orgId })
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, DIGESTION), [
      {
        kind: 'issue.regressed',
        ...issue,
        sentence: 'Regressed: 2.0 has it.',
        data: { from: 'resolved', to: 'regressed' },
      },
      { kind: 'issue.events_received', ...issue, data: { events: 3, minutes: [] } },
    ]),
  )
  const [entry] = await entriesOf(ada, { target: id })
  expect(entry).toMatchObject({
    action: 'issue.status_changed',
    actor: { type: 'system', id: 'digestion', email: null, role: null },
    target: { type: 'issue', id, label: expect.stringMatching(/^SHOP-\d+$/) as string },
    ip: null,
    session_id: null,
    meta: { from: 'resolved', to: 'regressed', cause: 'issue.regressed', reason: 'Regressed: 2.0 has it.' },
  })
  expect(await entriesOf(ada, { target: entry?.target.label })).toEqual([entry])
})

describe('one transaction', () => {
  test('chains the entries of several organisations, and those of several calls, in their order', async () => {
    const [eve, bob] = [await aPerson(app), await aPerson(app)]
    await app.tx(async (tx) => {
      await recordFacts(tx, factContext(app, eve.actor), [org(eve, '1'), org(bob, '1'), org(eve, '2')])
      await recordFacts(tx, factContext(app, eve.actor), [org(bob, '2')])
    })
    for (const person of [eve, bob])
      expect((await entriesOf(person)).map(({ seq, meta }) => [seq, meta['fields']])).toEqual([
        [2, ['2']],
        [1, ['1']],
      ])
  })

  test('that fails leaves nothing, nor does a part of it that fails', async () => {
    const eve = await aPerson(app)
    const failing = async (work: () => Promise<void>): Promise<void> => {
      await work()
      throw new Error('undone')
    }
    await expect(
      app.tx((tx) => failing(() => recordFacts(tx, factContext(app, eve.actor), [org(eve, 'lost')]))),
    ).rejects.toThrow('undone')
    await app.tx(async (tx) => {
      await recordFacts(tx, factContext(app, eve.actor), [org(eve, 'kept')])
      await tx
        .savepoint(() => failing(() => recordFacts(tx, factContext(app, eve.actor), [org(eve, 'undone')])))
        .catch(() => {})
    })
    expect((await entriesOf(eve)).map(({ seq, meta }) => [seq, meta['fields']])).toEqual([[1, ['kept']]])
  })

  test('that deletes the target still names it', async () => {
    const eve = await aPerson(app)
    const { id } = await createProject(app, eve.actor, { name: 'Gone', platform: 'web', region: 'eu-central-1' })
    await app.tx(async (tx) => {
      await recordFacts(tx, factContext(app, eve.actor), [
        { kind: 'project.dsn_rotated', orgId: eve.actor.orgId, projectId: id, data: { grace_seconds: 0 } },
      ])
      await tx.query('delete from projects where id = $1', [id])
    })
    expect((await entriesOf(eve))[0]?.target).toEqual({ type: 'project', id, label: 'Gone' })
  })
})

test('releases that apps report are not entries', async () => {
  const eve = await aPerson(app)
  const about = { orgId: eve.actor.orgId, projectId: newId(), releaseId: newId() }
  const created = (automatic: boolean): Fact => ({
    kind: 'release.created',
    ...about,
    data: { version: '1.0', automatic },
  })
  await app.tx((tx) => recordFacts(tx, factContext(app, DIGESTION), [created(true), created(false)]))
  expect((await entriesOf(eve)).map(({ meta }) => meta)).toEqual([{ automatic: false, version: '1.0' }])
})

describe('a bulk operation', () => {
  const ACTIONS = ['issue.status_changed', 'issue.assigned', 'issue.severity_changed', 'issue.deleted']
  const changesOf = async (person: Person) =>
    (await entriesOf(person)).filter(({ action }) => ACTIONS.includes(action)).toReversed()

  test('is one entry per value that it changes, with the request it came from', async () => {
    const eve = await aPerson(app)
    const project = await createProject(app, eve.actor, { name: 'Bulk', platform: 'web', region: 'eu-central-1' })
    const ids = await seedIssues(app, project.id, 3)
    const { id } = await changeIssues(app, eve.actor, { ids, status: 'resolved', assignee_id: eve.actor.userId })
    const target = { type: 'operation', id, label: '3 issues' }
    const { ip, user_agent, session_id } = (await entriesOf(eve)).at(-1) ?? {}
    expect(await changesOf(eve)).toMatchObject([
      { action: 'issue.status_changed', target, meta: { count: 3, to: 'resolved', cause: 'issues.status_changed' } },
      { action: 'issue.assigned', target, meta: { count: 3, to: eve.actor.userId }, ip, user_agent, session_id },
    ])
    const undo = await undoOperation(app, eve.actor, id)
    expect((await changesOf(eve)).slice(2)).toMatchObject([
      { action: 'issue.status_changed', target: { ...target, id: undo.id }, meta: { count: 3, undoes: id } },
      { action: 'issue.assigned', target: { ...target, id: undo.id }, meta: { count: 3, undoes: id } },
    ])
    // The activity of each issue has both values, set and restored.
    const { rows } = await app.db.query('select from issue_activity where issue_id = any($1)', [ids])
    expect(rows).toHaveLength(12)
    const others = await seedIssues(app, projectId, 2)
    const deletion = await deleteIssues(app, eve.actor, { ids: [...ids, ...others, newId()] })
    expect((await changesOf(eve)).slice(4)).toMatchObject([
      {
        action: 'issue.deleted',
        project_id: project.id,
        meta: { operation_id: deletion.id, count: 3, short_ids: ['BULK-1', 'BULK-2', 'BULK-3'] },
      },
    ])
  })

  test('of issues of others, or of none, is no entry; of one, the issue is the target', async () => {
    const eve = await aPerson(app)
    const project = await createProject(app, eve.actor, { name: 'One', platform: 'web', region: 'eu-central-1' })
    const [id = ''] = await seedIssues(app, project.id, 1)
    const foreign = await seedIssues(app, projectId, 2)
    await changeIssues(app, eve.actor, { ids: [...foreign, newId()], status: 'ignored' })
    await deleteIssues(app, eve.actor, { query: { q: 'nothing has these words' } })
    expect(await changesOf(eve)).toEqual([])
    const operation = await changeIssues(app, eve.actor, { ids: [id, ...foreign], status: 'ignored' })
    expect(await changesOf(eve)).toMatchObject([
      {
        target: { type: 'issue', id, label: 'ONE-1' },
        project_id: project.id,
        meta: { operation_id: operation.id, count: 1, to: 'ignored' },
      },
    ])
  })

  test('that is sent twice, or continued by a job, is entered once', async () => {
    const eve = await aPerson(app)
    const project = await createProject(app, eve.actor, { name: 'Twice', platform: 'web', region: 'eu-central-1' })
    const request = { ids: await seedIssues(app, project.id, 150), status: 'ignored' as const, operation_id: newId() }
    const sent = await Promise.all([1, 2, 3].map(() => changeIssues(app, eve.actor, request)))
    expect(new Set(sent.map(({ id }) => id))).toEqual(new Set([request.operation_id]))
    await runOperation(app, request.operation_id)
    await runOperation(app, request.operation_id)
    const { rows } = await app.db.query(`select from issues where id = any($1) and status = 'ignored'`, [request.ids])
    expect(rows).toHaveLength(150)
    expect(await changesOf(eve)).toMatchObject([{ target: { label: '150 issues' }, meta: { count: 150 } }])
  })
})

test('an erasure is entered without naming the user', async () => {
  const eve = await aPerson(app)
  const { id } = await createProject(app, eve.actor, { name: 'Private', platform: 'web', region: 'eu-central-1' })
  await eraseUser(app, eve.actor, id, 'canary@example.com')
  const [entry] = await entriesOf(eve)
  expect(entry).toMatchObject({ action: 'project.user_data_erased', target: { id }, meta: {} })
  expect(JSON.stringify(entry)).not.toContain('canary')
})

test('the log takes new entries only', async () => {
  for (const statement of [
    `update audit_log set action = 'x'`,
    'delete from audit_log',
    'truncate audit_log',
    'delete from audit_log where false',
  ])
    await expect(app.db.query(statement)).rejects.toThrow('audit_log only takes new entries')
})

describe('severity', () => {
  const rated = (issue: ReturnType<typeof aboutIssue>, actor: Parameters<typeof factContext>[1]) =>
    app.tx((tx) =>
      recordFacts(tx, factContext(app, actor), [
        {
          kind: 'issue.severity_changed',
          ...issue,
          sentence: 'Severity rose to high.',
          data: { from: 'low', to: 'high' },
        },
      ]),
    )

  test('is an entry when a member changed it, none when events or the sweep did', async () => {
    const eve = await aPerson(app)
    const project = await createProject(app, eve.actor, { name: 'Rated', platform: 'web', region: 'eu-central-1' })
    const [id = ''] = await seedIssues(app, project.id, 1)
    const issue = aboutIssue({ id, project_id: project.id, org_id: eve.actor.orgId })
    await rated(issue, DIGESTION)
    await rated(issue, systemActor('sweep-issues'))
    expect(await entriesOf(eve, { action: 'issue.severity_changed' })).toEqual([])
    await rated(issue, eve.actor)
    expect(await entriesOf(eve, { action: 'issue.severity_changed' })).toMatchObject([{ actor: { email: eve.email } }])
  })
})

describe('in another organisation of the user', () => {
  const bothLogs = async (here: Person, there: Person) => [
    await entriesOf(here),
    (await listAuditLog(app, there.actor, { limit: 100, offset: 0 })).items,
  ]

  test('a change of the password is an entry, with the role there and without the session of here', async () => {
    const here = await aPerson(app)
    const there = await aMembership(app, here, { role: 'viewer' })
    await changePassword(app, here.actor, { currentPassword: here.password, newPassword: 'another horse battery' })
    const [ofHere, ofThere] = await bothLogs(here, there)
    const changed = { action: 'user.password_changed', event_type: 'password.changed' }
    expect(ofHere?.find(({ action }) => action === changed.action)).toMatchObject({
      ...changed,
      actor: { role: 'owner' },
      session_id: here.actor.sessionId,
    })
    expect(ofThere).toMatchObject([
      { action: 'session.revoked', actor: { role: 'viewer' }, session_id: there.actor.sessionId },
      { ...changed, actor: { email: here.email, role: 'viewer' }, session_id: null },
    ])
    expect(JSON.stringify(ofThere)).not.toContain(here.actor.sessionId)
  })

  test('switching to it is an entry with the new session', async () => {
    const here = await aPerson(app)
    const there = await aMembership(app, here, { role: 'viewer' })
    await switchOrg(app, here.actor, there.orgSlug)
    const [, ofThere] = await bothLogs(here, there)
    expect(ofThere).toMatchObject([{ action: 'session.org_switched', actor: { role: 'viewer' } }])
    expect(ofThere?.[0]?.session_id).toBe(ofThere?.[0]?.target.id)
    expect(JSON.stringify(ofThere)).not.toContain(here.actor.sessionId)
  })
})

test('addresses are entered without the values of their query', async () => {
  const eve = await aPerson(app)
  const url = 'https://user:canary-1@receiver.example/hook?token=canary-2&a=canary-3#canary-4'
  await app.tx(async (tx) => {
    await recordFacts(tx, factContext(app, eve.actor), [
      {
        kind: 'webhook.endpoint.created',
        orgId: eve.actor.orgId,
        endpointId: newId(),
        label: url,
        data: { url, events: [] },
      },
    ])
  })
  const [entry] = await entriesOf(eve)
  const shown = 'https://receiver.example/hook?token=…&a=…'
  expect(entry).toMatchObject({ target: { label: shown }, meta: { url: shown } })
  expect(JSON.stringify(entry)).not.toContain('canary')
})

test('a merge of many issues says how many, and the assistant that it acted', async () => {
  const eve = await aPerson(app)
  const [id = ''] = await seedIssues(
    app,
    (await createProject(app, eve.actor, { name: 'Merged', platform: 'web', region: 'eu-central-1' })).id,
    1,
  )
  const issue = aboutIssue({ id, project_id: projectId, org_id: eve.actor.orgId })
  const issueIds = Array.from({ length: 200 }, newId)
  const { sessionId: _, ...member } = eve.actor
  await app.tx((tx) =>
    recordFacts(tx, factContext(app, { ...member, kind: 'assistant' }), [
      { kind: 'issue.merged', ...issue, sentence: 'Merged.', data: { issue_ids: issueIds } },
    ]),
  )
  expect((await entriesOf(eve))[0]).toMatchObject({
    actor: { type: 'user', email: eve.email },
    meta: { count: 200, truncated: true, assistant: true },
  })
})

test('a request that changes nothing is no entry, and an entry names only the fields that differ', async () => {
  const eve = await aPerson(app)
  const { id } = await createProject(app, eve.actor, { name: 'Same', platform: 'web', region: 'eu-central-1' })
  const release = await createRelease(app, eve.actor, { projectId: id, version: '1.0', url: 'https://a.example/' })
  const endpoint = await createEndpoint(app, eve.actor, {
    url: 'https://receiver.example/',
    events: ['password.changed'],
    description: 'One',
    ordering: 'none',
    max_per_second: null,
    auto_pause: true,
    standard_headers: false,
    headers: [{ name: 'X-Own', value: 'value' }],
  })
  await changeQuota(app, eve.actor, 500)
  const releaseId = release.id
  const endpointId = endpoint.id
  const commits = [{ id: 'abcdef1234567', message: 'Fix' }]
  const before = (await entriesOf(eve)).length
  await addCommits(app, eve.actor, { releaseId, commits })
  const added = (await entriesOf(eve)).slice(0, -before)
  expect(added.map(({ meta }) => meta)).toEqual([{ cause: 'release.commits_added', commits: 1 }])

  await app.db.query('update webhook_endpoints set failed_attempts = 19, failing_since = now() where id = $1', [
    endpointId,
  ])
  await changeQuota(app, eve.actor, 500)
  await updateProjectSettings(app, eve.actor, id, {})
  await updateProjectSettings(app, eve.actor, id, { name: 'Same', escalating: {} })
  await updateRelease(app, eve.actor, { releaseId, url: 'https://a.example/', state: 'open' })
  await addCommits(app, eve.actor, { releaseId, commits })
  await updateEndpoint(app, eve.actor, { endpointId, paused: false, events: ['password.changed'], description: 'One' })
  await updateEndpoint(app, eve.actor, { endpointId, headers: [{ name: 'X-Own' }] })
  expect(await entriesOf(eve)).toHaveLength(before + 1)
  const { rows } = await app.db.query('select failed_attempts from webhook_endpoints where id = $1', [endpointId])
  expect(rows).toEqual([{ failed_attempts: 19 }])

  await updateProjectSettings(app, eve.actor, id, { name: 'Other', slug: 'same' })
  await updateRelease(app, eve.actor, { releaseId, url: 'https://b.example/', state: 'open' })
  await addCommits(app, eve.actor, { releaseId, commits: [...commits, { id: '1234567abcdef' }] })
  await updateEndpoint(app, eve.actor, { endpointId, paused: true, description: 'Two', max_per_second: null })
  await updateEndpoint(app, eve.actor, { endpointId, headers: [{ name: 'X-Own', value: 'new' }] })
  expect((await entriesOf(eve)).slice(0, 5).map(({ meta }) => meta['fields'] ?? meta['commits'])).toEqual([
    ['headers'],
    ['description', 'paused'],
    1,
    ['url'],
    ['name'],
  ])
})
