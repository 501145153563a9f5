import { describe, expect, test } from 'vitest'
import { tableOwners } from '../../../scripts/table-owners.ts'
import type { App } from '#server/platform/context/app.ts'
import { client, type Client } from '#test/kit/client.ts'
import { secondApp } from '#test/kit/second-app.ts'
import { anEvent, dsnParts, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { startService } from '../cli/service.ts'
import { continueDeletion } from './continue-deletion.ts'
import { KEPT, PROJECT_PARTS } from './project-parts.ts'
import type { Operation } from './project-deletion.api.ts'

const t = await testServer({ realTime: true })
const second = await startService(await secondApp(t), t.connectionString, {
  digestion: 'manual',
  jobs: false,
  channels: [],
})
t.onClose(() => second.close())

const never = new AbortController().signal

/** Every table with the rows that name this project or one of its issues, releases, … by any reference. */
async function rowsOf(projectId: string): Promise<Map<string, string[]>> {
  const { rows: columns } = await t.app.db.query<{ table: string; column: string }>(
    `select c.relname as table, a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and a.attnum > 0 and not a.attisdropped and a.attname in ('project_id', 'issue_id', 'group_id', 'release_id',
         'monitor_id', 'comment_id', 'discard_id', 'attachment_id', 'series_id', 'block_id')`,
  )
  const parents: Readonly<Record<string, string>> = {
    issue_id: 'select id from issues where project_id = $1',
    group_id: 'select id from issues where project_id = $1',
    release_id: 'select id from releases where project_id = $1',
    monitor_id: 'select id from monitors where project_id = $1',
    comment_id: 'select c.id from comments c join issues i on i.id = c.issue_id where i.project_id = $1',
    discard_id: 'select id from discards where project_id = $1',
    attachment_id: 'select id from attachments where project_id = $1',
    series_id: 'select id from performance_series where project_id = $1',
    block_id: 'select block_id from events where project_id = $1',
  }
  const found = new Map<string, string[]>()
  for (const { table, column } of columns) {
    if (column === 'block_id' && table !== 'event_blocks') continue
    const where = column === 'project_id' ? '= $1' : `in (${parents[column]})`
    // When a key was last seen is written a moment after its requests.
    const row = table === 'project_keys' ? "(to_jsonb(t) - 'last_seen_at')::text" : 't::text'
    const { rows } = await t.app.db.query<{ row: string }>(
      `select ${row} as row from ${table} t where t.${column} ${where} order by 1`,
      [projectId],
    )
    if (rows.length > 0) found.set(table, [...(found.get(table) ?? []), ...rows.map(({ row }) => row)])
  }
  return found
}

/** The ids by which rows of a project are reachable after their parents are gone. */
async function idsOf(projectId: string): Promise<string[]> {
  const { rows } = await t.app.db.query<{ id: string }>(
    `select id from issues where project_id = $1 union select id from releases where project_id = $1
     union select id from attachments where project_id = $1 union select id from performance_series where project_id = $1
     union select id from monitors where project_id = $1
     union select c.id from comments c join issues i on i.id = c.issue_id where i.project_id = $1`,
    [projectId],
  )
  return rows.map(({ id }) => id)
}

async function tablesNaming(ids: readonly string[]): Promise<string[]> {
  const { rows: tables } = await t.app.db.query<{ name: string }>(
    `select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`,
  )
  const found: string[] = []
  for (const { name } of tables) {
    const { rows } = await t.app.db.query(
      `select from ${name} x where exists (select from unnest($1::text[]) id where strpos(x::text, id) > 0) limit 1`,
      [ids],
    )
    if (rows.length > 0) found.push(name)
  }
  return found.toSorted()
}

async function envelope(
  dsn: string,
  ...items: readonly (readonly [Record<string, unknown>, unknown])[]
): Promise<void> {
  const { key, projectNumber } = dsnParts(dsn)
  const lines = items.map(([header, payload]) => {
    const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
    return `${JSON.stringify({ ...header, length: Buffer.byteLength(text) })}\n${text}\n`
  })
  const answer = await fetch(`${t.url}/api/${projectNumber}/envelope/?sentry_key=${key}&sentry_version=7`, {
    method: 'POST',
    body: `{}\n${lines.join('')}`,
  })
  expect(answer.status).toBe(200)
  await answer.text()
}

/** A project with rows of every kind that the API and SDKs make. */
async function seeded(owner: Client & { email: string }, name: string) {
  const project = await t.project(owner, { name })
  const now = Date.now() / 1000
  const issues: string[] = []
  for (let n = 0; n < 5; n++)
    issues.push((await t.issue({ project, by: owner, times: 3, error: `${name}${n}`, release: '1.0.0' })).id)
  const [first = '', other = '', merged = '', discarded = ''] = issues
  const trace = 'a'.repeat(32)
  await envelope(
    project.dsn,
    [
      { type: 'session' },
      {
        sid: crypto.randomUUID(),
        did: 'ada',
        init: true,
        status: 'ok',
        started: new Date().toISOString(),
        attrs: { release: '1.0.0' },
      },
    ],
    [
      { type: 'log', item_count: 1, content_type: 'application/vnd.sentry.items.log+json' },
      { items: [{ timestamp: now, trace_id: trace, level: 'info', body: `${name} log` }] },
    ],
    [
      { type: 'check_in' },
      {
        check_in_id: crypto.randomUUID().replaceAll('-', ''),
        monitor_slug: 'nightly',
        status: 'ok',
        environment: 'production',
      },
    ],
    [
      { type: 'client_report' },
      { timestamp: now, discarded_events: [{ reason: 'queue_overflow', category: 'error', quantity: 2 }] },
    ],
  )
  await envelope(project.dsn, [
    { type: 'transaction' },
    {
      event_id: crypto.randomUUID().replaceAll('-', ''),
      type: 'transaction',
      transaction: `GET /${name}`,
      platform: 'node',
      start_timestamp: now - 1,
      timestamp: now,
      contexts: { trace: { trace_id: trace, span_id: 'b'.repeat(16), op: 'http.server' } },
      spans: [],
    },
  ])
  const id = crypto.randomUUID().replaceAll('-', '')
  await envelope(
    project.dsn,
    [{ type: 'event' }, { ...anEvent({ error: `${name}0` }), event_id: id }],
    [{ type: 'attachment', filename: 'a.txt' }, `${name} file`],
    [
      { type: 'feedback' },
      {
        event_id: crypto.randomUUID().replaceAll('-', ''),
        timestamp: now,
        contexts: { feedback: { message: `${name} feedback` } },
      },
    ],
  )
  await t.service.drain()
  const ok = async (answer: Promise<{ status: number; text: string }>) => {
    const { status, text } = await answer
    expect([200, 201, 202, 204], text).toContain(status)
  }
  await ok(owner.post(`/api/issues/${first}/comments`, { body: `hello @${owner.email}` }))
  await ok(owner.patch(`/api/issues/${first}`, { status: 'resolved' }))
  await ok(owner.post(`/api/issues/${other}/merge`, { issue_ids: [merged] }))
  await ok(owner.post(`/api/issues/${discarded}/discard`))
  await ok(owner.patch('/api/issues', { ids: [other], status: 'ignored' }))
  await ok(owner.post('/api/views', { name, filters: { projectId: [project.id] } }))
  await ok(owner.post('/api/releases', { projectId: project.id, version: '2.0.0' }))
  await ok(owner.delete(`/api/projects/${project.id}/users/ada/data`))
  return { ...project, issueId: first }
}

const operationOf = (answer: { as<T>(): T }): Operation => answer.as<Operation>()

async function runToEnd(app: App, id: string): Promise<void> {
  await waitFor('the deletion', () => continueDeletion(app, id, never), 60_000)
}

test('every table of a project is in one part, or kept for a reason', async () => {
  const { rows } = await t.app.db.query<{ name: string }>(
    `with recursive reached as (
       select c.oid, c.relname from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and a.attname in ('project_id', 'issue_id', 'group_id', 'attachment_id', 'series_id', 'block_id') and not a.attisdropped
       union
       select c.oid, c.relname from reached r join pg_constraint f on f.confrelid = r.oid and f.contype = 'f'
         join pg_class c on c.oid = f.conrelid where c.relnamespace = 'public'::regnamespace and not c.relispartition
     ) select distinct relname as name from reached order by 1`,
  )
  const listed = new Set([...PROJECT_PARTS.flatMap(({ tables }) => tables), ...Object.keys(KEPT)])
  expect(rows.map(({ name }) => name).filter((name) => !listed.has(name))).toEqual([])
  expect([...listed].filter((name) => tableOwners[name] === undefined)).toEqual([])
})

describe('deleting a project', () => {
  test('asks for its slug, takes it away at once everywhere, and leaves only the rows of others', async () => {
    const owner = await t.founder()
    const gone = await seeded(owner, 'Gone')
    const kept = await seeded(owner, 'Kept')
    const before = await rowsOf(kept.id)
    const ids = await idsOf(gone.id)
    expect(ids.length).toBeGreaterThan(8)

    const wrong = await owner.request('DELETE', `/api/projects/${gone.id}`, { body: { confirm: 'gone!' } })
    expect([wrong.status, wrong.body]).toEqual([400, { error: `Type ${gone.slug} into confirm to delete Gone.` }])

    const waiting = await sendEvent(t.url, gone.dsn, anEvent({ error: 'late' }))
    expect(waiting.status).toBe(200)
    // Caches of both processes know the key.
    expect((await sendEvent(second.publicUrl, gone.dsn, anEvent({}))).status).toBe(200)
    const answer = await owner.request('DELETE', `/api/projects/${gone.id}`, { body: { confirm: gone.slug } })
    expect(answer.status, answer.text).toBe(202)
    const { id } = operationOf(answer)
    // Each process hears of the deletion through the bus, a moment after the answer.
    for (const url of [t.url, second.publicUrl])
      await waitFor(
        'both processes to refuse the DSN',
        async () => (await sendEvent(url, gone.dsn, anEvent({}))).status >= 400,
        1_000,
      )

    for (const path of ['/api/projects', '/api/issues', `/api/releases?projectId=${kept.id}`, '/api/inbox'])
      expect((await owner.get(path)).text, path).not.toContain(gone.id)
    for (const path of [`/api/projects/${gone.id}/settings`, `/api/issues/${gone.issueId}`])
      expect((await owner.get(path)).status, path).toBe(404)
    const listed = (await owner.get('/api/issues?limit=1')).as<{ total: number }>().total
    expect(listed).toBe((await owner.get(`/api/issues?limit=1&projectId=${kept.id}`)).as<{ total: number }>().total)

    expect((await owner.get(`/api/operations/${id}`)).body).toMatchObject({ state: 'running', target: { id: gone.id } })
    expect((await (await t.founder()).get(`/api/operations/${id}`)).status).toBe(404)
    expect((await client(t.url).get(`/api/operations/${id}`)).status).toBe(401)
    // A request waits in the spool: the rows go, but the operation does not end before it is digested.
    expect(await continueDeletion(t.app, id, never)).toBe(false)
    await t.service.drain()
    await runToEnd(t.app, id)
    expect((await owner.get(`/api/operations/${id}`)).body).toMatchObject({ state: 'done' })

    const left = await rowsOf(gone.id)
    expect([...left.keys()].toSorted()).toEqual(['audit_log', 'operations'])
    // The request of a bulk operation, kept for 30 days, lists ids.
    expect((await tablesNaming(ids)).filter((name) => !['audit_log', 'bulk_operations'].includes(name))).toEqual([])
    expect(await rowsOf(kept.id)).toEqual(before)
    const { rows } = await t.app.db.query('select deleted_from from project_ids where id = $1', [gone.id])
    expect(rows).toEqual([{ deleted_from: null }])
    // The slug is free.
    expect((await t.project(owner, { name: 'Gone' })).slug).toBe(gone.slug)
  }, 120_000)

  test('cut off in any batch, as by kill -9, it continues where it was', async () => {
    const owner = await t.founder()
    const gone = await seeded(owner, 'Cut')
    const answer = await owner.request('DELETE', `/api/projects/${gone.id}`, { body: { confirm: gone.slug } })
    const { id } = operationOf(answer)
    await t.service.drain()
    // Each run ends with its n-th transaction undone, as a killed process leaves it.
    let cuts = 0
    for (let n = 1; n < 200; n++) {
      let made = 0
      const killed = new Error('killed')
      const app: App = {
        ...t.app,
        tx: (work) =>
          t.app.tx(async (tx) => {
            const result = await work(tx)
            if (++made >= n) throw killed
            return result
          }),
      }
      const done = await continueDeletion(app, id, never).catch((error: unknown) => {
        if (error !== killed) throw error
        cuts++
        return false
      })
      if (done) break
    }
    await runToEnd(t.app, id)
    expect(cuts).toBeGreaterThan(10)
    expect([...(await rowsOf(gone.id)).keys()].toSorted()).toEqual(['audit_log', 'operations'])
  }, 120_000)

  test('waits for transactions that began before it', async () => {
    const owner = await t.founder()
    const project = await t.project(owner, { name: 'Slow' })
    const late = await t.app.tx(async (tx) => {
      await tx.query('select from orgs for key share limit 1')
      const answer = await owner.request('DELETE', `/api/projects/${project.id}`, { body: { confirm: project.slug } })
      const { id } = operationOf(answer)
      expect(await continueDeletion(t.app, id, never)).toBe(false)
      await tx.query('insert into user_identities values ($1, 1, now(), $2, $2)', [project.id, 'late'])
      return id
    })
    await runToEnd(t.app, late)
    expect((await rowsOf(project.id)).has('user_identities')).toBe(false)
  })
})
