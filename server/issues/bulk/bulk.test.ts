import { beforeAll, describe, expect, test } from 'vitest'
import { newId } from '#server/platform/kernel/ids.ts'
import type { LiveMessage } from '#server/platform/live/live.api.ts'
import { LIVE_TOPIC } from '#server/platform/live/publish.ts'
import type { Client } from '#test/kit/client.ts'
import { aFounder, aProject, type TestProject } from '#test/kit/founder.ts'
import { seedIssues } from '#test/kit/seed-issues.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import type { Issue } from '../rules/issue.api.ts'
import type { BulkOperation } from './bulk.api.ts'
import { runOperation } from './run-operation.ts'

/** Bulk operations through the API, with their job. */

const server = await testServer({ realTime: true, jobs: true })
const { app } = server

const send = (person: Client, body: unknown, method = 'PATCH') => person.request(method, '/api/issues', { body })
const operation = async (person: Client, id: string, query = ''): Promise<BulkOperation> =>
  (await person.get(`/api/issues/operations/${id}${query}`)).as<BulkOperation>()
const ended = async (person: Client, id: string): Promise<BulkOperation> => {
  await waitFor('the operation', async () => (await operation(person, id)).state === 'done', 60_000)
  return operation(person, id)
}
const read = async (person: Client, id: string): Promise<Issue> => (await person.get(`/api/issues/${id}`)).as<Issue>()
const columnsOf = async (ids: readonly string[]) =>
  (await app.db.query('select * from issues where id = any($1) order by id', [ids])).rows as unknown[]

let ada: Client
let project: TestProject
beforeAll(async () => {
  ada = await aFounder(server.url)
  project = await aProject(ada, { name: 'Bulk' })
})
const seeded = (count: number, over: Record<string, unknown> = {}) => seedIssues(app, project.id, count, over)

describe('a few', () => {
  test('are changed before the response, with results in the order of the request', async () => {
    const [a = '', b = '', c = ''] = await seeded(3)
    await ada.patch(`/api/issues/${b}`, { status: 'resolved' })
    const missing = newId()
    const answer = await send(ada, { ids: [c, missing, b, a, c.toUpperCase()], status: 'resolved' })
    expect(answer.status, answer.text).toBe(200)
    expect(answer.as<BulkOperation>()).toMatchObject({
      kind: 'change',
      state: 'done',
      total: 4,
      done: 4,
      changed: 2,
      unchanged: 1,
      failed: 1,
      can_undo: true,
      results: [
        { issue_id: c, result: 'changed', error: null },
        { issue_id: missing, result: 'failed', error: 'Issue not found.' },
        { issue_id: b, result: 'unchanged', error: null },
        { issue_id: a, result: 'changed', error: null },
      ],
    })
    expect((await read(ada, a)).status).toBe('resolved')
  })

  test('undo restores the previous values, except of issues that were changed since', async () => {
    const ids = await seeded(3)
    const [plain = '', ignored = '', moved = ''] = ids
    await ada.patch(`/api/issues/${ignored}`, { status: 'ignored', ignore_until: { count: 7 } })
    await ada.patch(`/api/issues/${ignored}`, { severity: 'critical' })
    const me = (await ada.get('/api/me')).as<{ user: { id: string } }>().user.id
    const before = await columnsOf([plain, ignored])
    const { id } = (await send(ada, { ids, status: 'resolved', assignee_id: me, severity: 'low' })).as<BulkOperation>()
    await ada.patch(`/api/issues/${moved}`, { status: 'unresolved' })
    const undone = (await ada.post(`/api/issues/operations/${id}/undo`)).as<BulkOperation>()
    expect(undone).toMatchObject({ kind: 'undo', state: 'done', total: 3, changed: 2, failed: 1 })
    expect(undone.results[2]).toEqual({
      issue_id: moved,
      result: 'failed',
      error: 'It was changed since: its status is unresolved now.',
    })
    expect(await columnsOf([plain, ignored])).toEqual(before)
    const { activity } = (await ada.get(`/api/issues/${ignored}`)).as<{ activity: { sentence: string }[] }>()
    expect(activity.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(/ undid a change: this issue is ignored again\.$/),
    )
    // A repetition returns the same undo; an undo cannot be undone.
    expect((await ada.post(`/api/issues/operations/${id}/undo`)).as<BulkOperation>().id).toBe(undone.id)
    expect((await ada.post(`/api/issues/operations/${undone.id}/undo`)).status).toBe(409)
    expect(await operation(ada, id)).toMatchObject({ can_undo: false, undone_by: undone.id })
  })

  test('an issue that was merged into another fails', async () => {
    const [root = '', merged = ''] = await seeded(2)
    expect((await ada.post(`/api/issues/${root}/merge`, { issue_ids: [merged] })).status).toBe(200)
    const HIDDEN = 'It was merged into another issue.'
    const done = (await send(ada, { ids: [merged, root], status: 'resolved' })).as<BulkOperation>()
    expect(done.results).toEqual([
      { issue_id: merged, result: 'failed', error: HIDDEN },
      { issue_id: root, result: 'changed', error: null },
    ])
    const undone = (await ada.post(`/api/issues/operations/${done.id}/undo`)).as<BulkOperation>()
    expect(undone).toMatchObject({ total: 1, changed: 1 })
    expect((await read(ada, root)).status).toBe('unresolved')
  })

  test('undo fails for an issue that was merged since', async () => {
    const [root = '', later = ''] = await seeded(2)
    const { id } = (await send(ada, { ids: [later], status: 'resolved' })).as<BulkOperation>()
    await ada.post(`/api/issues/${root}/merge`, { issue_ids: [later] })
    const undone = (await ada.post(`/api/issues/operations/${id}/undo`)).as<BulkOperation>()
    expect(undone).toMatchObject({ changed: 0, failed: 1 })
  })

  test('undo keeps later changes of status, resolution and assignee', async () => {
    const [again = '', how = '', assigned = ''] = await seeded(3)
    const me = (await ada.get('/api/me')).as<{ user: { id: string } }>().user.id
    const ids = [again, how, assigned]
    const { id } = (await send(ada, { ids, status: 'resolved', assignee_id: me })).as<BulkOperation>()
    await ada.patch(`/api/issues/${again}`, { status: 'unresolved' })
    await ada.patch(`/api/issues/${again}`, { status: 'resolved' })
    await ada.patch(`/api/issues/${how}`, { status: 'resolved', resolution: { in_release: '9.9.9' } })
    await ada.patch(`/api/issues/${assigned}`, { assignee_id: null })
    const before = await columnsOf(ids)
    const undone = (await ada.post(`/api/issues/operations/${id}/undo`)).as<BulkOperation>()
    expect(undone).toMatchObject({ changed: 0, failed: 3 })
    expect(await columnsOf(ids)).toEqual(before)
  })

  test('two concurrent undo requests start one operation', async () => {
    const ids = await seeded(2)
    const { id } = (await send(ada, { ids, status: 'ignored' })).as<BulkOperation>()
    const both = await Promise.all([0, 1].map(() => ada.post(`/api/issues/operations/${id}/undo`)))
    expect(both.map(({ status }) => status)).toEqual([200, 200])
    expect(new Set(both.map((answer) => answer.as<BulkOperation>().id)).size).toBe(1)
    for (const issueId of ids) expect((await read(ada, issueId)).status).toBe('unresolved')
  })

  test('one live message per project is published', async () => {
    const ids = await seeded(5)
    const heard: LiveMessage[] = []
    const stop = app.bus.on(LIVE_TOPIC, (payload) => heard.push((payload as [string, LiveMessage])[1]))
    await send(ada, { ids, status: 'ignored' })
    await waitFor('the message', () =>
      heard.some((message) => message.kind === 'issues' && message.issue_ids.length === 5),
    )
    stop()
    expect(
      heard.filter((message) => message.kind === 'issues' && message.issue_ids.includes(ids[0] ?? '')),
    ).toHaveLength(1)
  })
})

describe('a repeated request', () => {
  test('with the same id returns the same operation, which runs once', async () => {
    const ids = await seeded(2)
    const body = { ids, status: 'resolved', operation_id: newId() }
    const answers = await Promise.all([send(ada, body), send(ada, body), send(ada, body)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map((answer) => answer.as<BulkOperation>().id))).toEqual(new Set([body.operation_id]))
    expect(await ended(ada, body.operation_id)).toMatchObject({ changed: 2, unchanged: 0 })
    const other = await send(ada, { ...body, status: 'ignored' })
    expect([other.status, other.body]).toEqual([
      409,
      { error: 'operation_id was used for another request. Use a new one.' },
    ])
  })

  test('with the id of another organisation is refused', async () => {
    const ids = await seeded(1)
    const body = { ids, status: 'resolved', operation_id: newId() }
    await send(ada, body)
    const eve = await aFounder(server.url)
    expect((await send(eve, body)).status).toBe(409)
    expect((await eve.get(`/api/issues/operations/${body.operation_id}`)).status).toBe(404)
    expect((await eve.post(`/api/issues/operations/${body.operation_id}/undo`)).status).toBe(404)
    const foreign = (await send(eve, { ids, status: 'ignored' })).as<BulkOperation>()
    expect(foreign).toMatchObject({ failed: 1, results: [{ error: 'Issue not found.' }] })
    expect((await read(ada, ids[0] ?? '')).status).toBe('resolved')
  })
})

describe('many', () => {
  test('by a query are changed after the response, and undone', async () => {
    const other = await aProject(ada, { name: 'Many' })
    await seedIssues(app, other.id, 350, { severity: 3 })
    await seedIssues(app, other.id, 10, { severity: 0 })
    const answer = await send(ada, { query: 'severity:critical', projectId: other.id, status: 'resolved' })
    expect(answer.as<BulkOperation>()).toMatchObject({ total: 350 })
    const done = await ended(ada, answer.as<BulkOperation>().id)
    expect(done).toMatchObject({ state: 'done', changed: 350, failed: 0, next_cursor: '25' })
    expect(done.results).toHaveLength(25)
    expect(answer.as<BulkOperation>().results).toHaveLength(100)
    expect((await operation(ada, done.id, '?cursor=300&limit=60')).results).toHaveLength(50)
    expect((await operation(ada, done.id, '?offset=340&result=changed')).results).toHaveLength(10)
    const count = async (status: string) =>
      (await ada.get(`/api/issues?projectId=${other.id}&status=${status}`)).as<{ total: number }>().total
    expect([await count('resolved'), await count('unresolved')]).toEqual([350, 10])
    const undo = (await ada.post(`/api/issues/operations/${done.id}/undo`)).as<BulkOperation>()
    await ended(ada, undo.id)
    expect([await count('resolved'), await count('unresolved')]).toEqual([0, 360])
  }, 120_000)

  test('the next release is the same for all issues, even if a release appears meanwhile', async () => {
    const other = await aProject(ada, { name: 'Next' })
    const ids = await seedIssues(app, other.id, 3)
    await ada.post('/api/releases', { projectId: other.id, version: '1.0.0' })
    const body = { ids: ids.slice(0, 1), status: 'resolved', resolution: { in_next_release: true } }
    const { id } = (await send(ada, body)).as<BulkOperation>()
    // As if the process was killed after the first issue, and restarted after the next release.
    await app.db.query(`update bulk_operations set state = 'running', total = 3 where id = $1`, [id])
    await app.db.query(
      `insert into bulk_operation_issues (operation_id, position, issue_id) select $1, n + 1, k.id from unnest($2::uuid[]) with ordinality k (id, n)`,
      [id, ids.slice(1)],
    )
    await ada.post('/api/releases', { projectId: other.id, version: '2.0.0' })
    await runOperation(app, id)
    const { rows } = await app.db.query<{ resolution: unknown }>(
      `select resolution - 'late' - 'automatic' as resolution from issues where id = any($1)`,
      [ids],
    )
    expect(rows).toHaveLength(3)
    expect(new Set(rows.map(({ resolution }) => JSON.stringify(resolution))).size).toBe(1)
    expect(JSON.stringify(rows)).not.toContain('2.0.0')
  })

  test('the job continues an operation of a killed process, and changes no issue twice', async () => {
    const ids = await seeded(150)
    const id = newId()
    // As after a kill behind the first batch: partly done, no job running.
    await app.db.query(
      `insert into bulk_operations (id, org_id, actor_id, kind, request, state, total, changed, created_at)
       select $1, org_id, (select user_id from memberships m where m.org_id = i.org_id limit 1), 'change', '{"status": "ignored"}', 'running', 150, 100, now()
       from issues i where i.id = $2`,
      [id, ids[0]],
    )
    await app.db.query(
      `insert into bulk_operation_issues (operation_id, position, issue_id, result)
       select $1, n, k.id, case when n <= 100 then 'changed' end from unnest($2::uuid[]) with ordinality k (id, n)`,
      [id, ids],
    )
    await app.db.query(`select graphile_worker.add_job('bulk-issues', json_build_object('operation_id', $1::text))`, [
      id,
    ])
    expect(await ended(ada, id)).toMatchObject({ changed: 150, done: 150 })
    const { rows } = await app.db.query<{ n: number }>(
      `select count(*)::int as n from issues where id = any($1) and status = 'ignored'`,
      [ids],
    )
    expect(rows[0]?.n).toBe(50)
  }, 60_000)
})

describe('deleting', () => {
  test('deletes each issue with its data, reports it, and cannot be undone', async () => {
    const [a = '', b = ''] = await seeded(2)
    await ada.post(`/api/issues/${a}/comments`, { body: 'Goes, too.' })
    const gone = newId()
    const done = (await send(ada, { ids: [a, gone, b] }, 'DELETE')).as<BulkOperation>()
    expect(done).toMatchObject({ kind: 'delete', changed: 2, failed: 1, can_undo: false })
    expect((await ada.get(`/api/issues/${a}`)).status).toBe(404)
    expect((await ada.post(`/api/issues/operations/${done.id}/undo`)).body).toEqual({
      error: 'Deleted issues cannot be restored.',
    })
  })

  test('no live message is published for an issue that could not be deleted', async () => {
    const [a = '', b = ''] = await seeded(2)
    await app.db.query(`create function refuse() returns trigger language plpgsql as $$ begin raise 'held'; end $$`)
    await app.db.query(
      `create trigger refuse before delete on issues for each row when (old.id = '${b}') execute function refuse()`,
    )
    const heard: LiveMessage[] = []
    const stop = app.bus.on(LIVE_TOPIC, (payload) => heard.push((payload as [string, LiveMessage])[1]))
    const done = (await send(ada, { ids: [a, b] }, 'DELETE')).as<BulkOperation>()
    expect(done).toMatchObject({ changed: 1, failed: 1 })
    const published = () => heard.flatMap((message) => (message.kind === 'issues' ? message.issue_ids : []))
    await waitFor('the message', () => published().includes(a))
    stop()
    expect(published()).not.toContain(b)
    await app.db.query('drop trigger refuse on issues')
    expect((await read(ada, b)).status).toBe('unresolved')
  })

  test('after an interruption, deleted issues are published, and a retry deletes the rest', async () => {
    const [a = '', b = ''] = await seeded(2)
    await app.db.query(`create function wait() returns trigger language plpgsql as $$
      begin raise 'in the way of each other' using errcode = '40P01'; end $$`)
    await app.db.query(
      `create trigger wait before delete on issues for each row when (old.id = '${b}') execute function wait()`,
    )
    const heard: LiveMessage[] = []
    const stop = app.bus.on(LIVE_TOPIC, (payload) => heard.push((payload as [string, LiveMessage])[1]))
    const published = () => heard.flatMap((message) => (message.kind === 'issues' ? message.issue_ids : []))
    const id = newId()
    await send(ada, { ids: [a, b], operation_id: id }, 'DELETE')
    await waitFor('the message', () => published().includes(a))
    expect((await operation(ada, id)).state).toBe('running')
    expect(published()).not.toContain(b)
    await app.db.query('drop trigger wait on issues')
    await runOperation(app, id)
    await waitFor('the other message', () => published().includes(b))
    stop()
    expect(await operation(ada, id)).toMatchObject({ state: 'done', changed: 2, failed: 0 })
  })
})

test.each(['99999999999', '-1', '1e3', '0x10', 'x', ' 1'])('a cursor %j is refused', async (cursor) => {
  const [id = ''] = await seeded(1)
  const done = (await send(ada, { ids: [id], status: 'resolved' })).as<BulkOperation>()
  const answer = await ada.get(`/api/issues/operations/${done.id}?cursor=${encodeURIComponent(cursor)}`)
  expect([answer.status, answer.body]).toEqual([
    400,
    { error: 'cursor is not valid for this list. Use next_cursor of its previous page.' },
  ])
})

test('ids may be in upper case', async () => {
  const [a = '', b = ''] = await seeded(2)
  expect((await send(ada, { ids: [a.toUpperCase()], status: 'resolved' })).body).toMatchObject({ changed: 1 })
  expect((await ada.patch(`/api/issues/${a.toUpperCase()}`, { status: 'ignored' })).status).toBe(200)
  expect((await ada.delete(`/api/issues/${a.toUpperCase()}`)).status).toBe(204)
  expect((await send(ada, { ids: [b.toUpperCase()] }, 'DELETE')).body).toMatchObject({ changed: 1 })
})

describe('invalid requests change nothing', () => {
  const id = newId()
  test.each([
    [{ status: 'resolved' }, 'Send either ids, or query'],
    [{ ids: [id], query: 'a', status: 'resolved' }, 'Send either ids, or query'],
    [{ ids: [id] }, 'Send at least one of'],
    [{ ids: [], status: 'resolved' }, 'ids must name at least one issue.'],
    [{ ids: ['x'], status: 'resolved' }, 'must be a UUID.'],
    [{ ids: Array.from({ length: 10_001 }, () => id), status: 'resolved' }, 'at most 10,000'],
    [{ ids: [id], status: 'fixed' }, 'status must be one of'],
    [{ ids: [id], status: 'ignored', ignore_until: { time: '2001-01-01T00:00:00Z' } }, 'must be in the future'],
    [{ ids: [id], status: 'ignored', resolution: { now: true } }, 'resolution requires status'],
    [{ ids: [id], assignee_id: newId() }, 'not a member of this organisation'],
    [{ ids: [id], colour: 'red' }, 'colour'],
    [{ query: { nothing: 1 }, status: 'resolved' }, 'query.nothing'],
    [{ query: '-> ***', status: 'resolved' }, 'query contains no search terms'],
    [{ query: { q: '()' }, status: 'resolved' }, 'query: the parentheses hold nothing'],
    [{ query: 'a '.repeat(300), status: 'resolved' }, 'query: at most 200 terms'],
    [{ query: 'x'.repeat(10_001), status: 'resolved' }, 'query must be at most 10,000 characters.'],
    [{ query: 'a b\0', status: 'resolved' }, 'query.q must not hold the NUL character (character 4).'],
    [{ ids: null, query: 'a', status: 'resolved' }, 'ids'],
    [{ query: 'is:"open', status: 'resolved' }, 'query: the quote is not closed'],
    [{ query: 'assigned:unknown', status: 'resolved' }, 'query: no member of this organisation is called'],
  ])('%#: %o', async (body, sentence) => {
    const answer = await send(ada, body)
    expect(answer.status).toBe(400)
    expect(answer.text).toContain(sentence)
  })

  test('a query for more than 10,000 issues is refused', async () => {
    const big = await aProject(ada, { name: 'Big' })
    await seedIssues(app, big.id, 10_001)
    const answer = await send(ada, { query: '', projectId: big.id, status: 'resolved' })
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('more than 10,000 issues')])
  }, 60_000)
})
