import { describe, expect, test } from 'vitest'
import { aFounder, aProject } from '#test/kit/founder.ts'
import { testServer } from '#test/kit/test-server.ts'
import { ROLE, SCHEMA, VIEW_NAMES, VIEWS, FILTER_COLUMNS, isViewName } from './catalogue.ts'
import type { QueryResult, SavedQuery } from './query.api.ts'
import { BENIGN, BENIGN_COUNTED, NEUTRALISED, REFUSED } from './guard/statements.fixture.ts'

/** Statements through the API, on a database with the data of two organisations. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
const { app } = server
const CANARY = 'canary_of_another_organisation'
const ada = await aFounder(server.url)
const eve = await aFounder(server.url)
const own = await aProject(ada, { name: 'Own' })
const foreign = await aProject(eve, { name: 'Foreign' })
for (const error of ['alpha', 'beta']) await server.event({ project: own, error, user: { id: '17' } })
for (const error of [CANARY, `${CANARY}_2`])
  await server.event({ project: foreign, error, release: CANARY, environment: CANARY, user: { id: CANARY } })

const run = (sql: string, project = own.id) => ada.post('/api/issues/nlq', { project_id: project, sql })
const result = async (sql: string) => (await run(sql)).as<QueryResult>()

/** Views of the schema, with their columns in order. */
async function viewsInDatabase(): Promise<Map<string, { column: string; type: string }[]>> {
  const { rows } = await app.db.query<{ view: string; column: string; type: string }>(
    `select table_name::text as view, column_name::text as column, data_type::text as type
     from information_schema.columns where table_schema = $1 order by table_name, ordinal_position`,
    [SCHEMA],
  )
  return Map.groupBy(rows, ({ view }) => view)
}

describe('the views', () => {
  test('have the columns of the catalogue, with their types, and a barrier', async () => {
    const views = await viewsInDatabase()
    expect([...views.keys()]).toEqual(expect.arrayContaining(['events', 'issues', 'releases']))
    for (const [name, columns] of views) {
      if (!isViewName(name)) throw new Error(`${name} is not in the catalogue`)
      const listed = VIEWS[name].columns.map((column) => ({ column: column.name, type: column.type }))
      const shown = columns
        .map(({ column, type }) => ({ column, type }))
        .filter(({ column }) => !FILTER_COLUMNS[name].includes(column))
      const byName = (a: { column: string }, b: { column: string }): number => (a.column < b.column ? -1 : 1)
      expect(shown.toSorted(byName), name).toEqual(listed.toSorted(byName))
    }
    const { rows } = await app.db.query(
      `select relname from pg_class where relnamespace = $1::regnamespace and relkind = 'v'
       and not coalesce(reloptions @> '{security_barrier=true}', false)`,
      [SCHEMA],
    )
    expect(rows).toEqual([])
  })

  test('show nothing without the setting of a project, and only its rows with it', async () => {
    for (const [name] of await viewsInDatabase()) {
      const count = (project: string) =>
        app.readOnly.run({ role: ROLE, settings: { 'nlq.project': project, 'nlq.oldest_day': '2000-01-01' } }, (tx) =>
          tx.read(`select count(*), count(*) filter (where project_id <> '${own.id}') from ${SCHEMA}.${name}`, {
            rows: 1,
            bytes: 1_000,
          }),
        )
      expect((await count('')).rows, name).toEqual([['0', '0']])
      expect((await count(own.id)).rows[0]?.[1], name).toBe('0')
    }
  })

  test('are all that the role can read', async () => {
    const { rows } = await app.db.query<{ name: string }>(
      `select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where n.nspname not in ('pg_catalog', 'information_schema') and n.nspname not like 'pg_toast%'
         and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
         and (has_table_privilege($1, c.oid, 'insert') or has_table_privilege($1, c.oid, 'update')
           or has_table_privilege($1, c.oid, 'delete')
           or (n.nspname <> $2 and c.relkind <> 'S' and has_table_privilege($1, c.oid, 'select'))
           or (c.relkind = 'S' and has_sequence_privilege($1, c.oid, 'usage')))`,
      [ROLE, SCHEMA],
    )
    expect(rows).toEqual([])
  })
})

describe('statements', () => {
  test('of every refused kind are 400 with a sentence and without a text of the database, and change nothing', async () => {
    const before = await state()
    // The guard's own test has all of them.
    for (const sql of REFUSED.filter((_, i) => i % 6 === 0)) {
      const { status, body } = await run(sql)
      expect(status, sql).toBe(400)
      expect(JSON.stringify(body), sql).not.toMatch(new RegExp(`${CANARY}|ERROR:|permission denied|relation "`))
    }
    expect(await state()).toEqual(before)
  })

  test('that look dangerous run, or are refused, without a row of another organisation', async () => {
    const before = await state()
    for (const sql of NEUTRALISED) {
      const { status, body } = await run(sql)
      expect([200, 400], sql).toContain(status)
      expect(JSON.stringify(body), sql).not.toContain(CANARY)
    }
    expect(await state()).toEqual(before)
  })

  test('that members write run', async () => {
    const views = await viewsInDatabase()
    const missing = VIEW_NAMES.filter((name) => !views.has(name))
    const there = [...BENIGN, ...BENIGN_COUNTED].filter(
      (sql) => !missing.some((name) => new RegExp(`\\b${name}\\b`).test(sql)),
    )
    expect(there.length).toBeGreaterThan(50)
    for (const sql of there) {
      const { status, body } = await run(sql)
      expect({ sql, status, body: status === 200 ? null : body }).toEqual({ sql, status: 200, body: null })
      expect(JSON.stringify(body), sql).not.toContain(CANARY)
    }
  })

  test('answer with rows, types, a drawing, and what the server added', async () => {
    const answer = await result('select title, event_count from issues order by title')
    expect(answer).toMatchObject({
      columns: [
        { name: 'title', type: 'text' },
        { name: 'event_count', type: 'number' },
      ],
      rows: [
        ['alphaError: alpha failed', 1],
        ['betaError: beta failed', 1],
      ],
      row_count: 2,
      truncated: false,
      chart_hint: { kind: 'bar', x: 'title', y: 'event_count' },
      source: 'typed',
    })
    expect(answer.additions.map(({ from, to }) => answer.sql.slice(from, to)).join(' ')).toContain(
      `project_id = '${own.id}'::uuid`,
    )
    expect(await result('select count(*) as n from events')).toMatchObject({
      rows: [[2]],
      chart_hint: { kind: 'number', x: null, y: 'n' },
    })
    const [row] = (await result('select time, level from events limit 1')).rows
    expect(row?.[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  test('have at most 1,000 rows, short cells and 5 MiB', async () => {
    const hours = "select t from generate_series(now() - interval '999 hours', now(), interval '1 hour') as g (t)"
    expect(await result(hours)).toMatchObject({ row_count: 1_000, truncated: false })
    expect(await result(hours.replace('999', '1000'))).toMatchObject({ row_count: 1_000, truncated: true })
    const long = `select '${'x'.repeat(5_000)}' || '${'€'.repeat(900)}' as a, 1 as b, t from`
    const cut = await result(`${long} generate_series(now(), now(), interval '1 hour') as g (t)`)
    expect(cut.truncated).toBe(false)
    const wide = Array.from({ length: 10 }, (_, i) => `'${'w'.repeat(600)}${i}' || t`).join(', ')
    const many = await result(
      `select ${wide} from generate_series(now() - interval '999 hours', now(), interval '1 hour') as g (t)`,
    )
    expect(many.truncated).toBe(true)
    expect(JSON.stringify(many.rows).length).toBeLessThan(7 * 1024 * 1024)
    const [cell] = (await result(`select '${'x'.repeat(2_000)}' || '${'€'.repeat(1_000)}'`)).rows[0] ?? []
    expect(String(cell)).toHaveLength(2_048)
    // The connection that ended in the middle is replaced.
    expect((await result('select count(*) from events')).rows).toEqual([[2]])
  })

  test('that read or take too much are too broad, and say what helps', async () => {
    const slow = `select count(*) from ${['a', 'b'].map((g) => `generate_series(now() - interval '60 days', now(), interval '1 minute') ${g}`).join(', ')}`
    const { status, body } = await run(slow)
    expect(status).toBe(400)
    expect(JSON.stringify(body)).toContain('This query is too broad.')
  })

  test('over a project of another organisation are 404', async () => {
    expect((await run('select 1', foreign.id)).status).toBe(404)
    expect((await run('select 1', '018f0000-0000-7000-8000-000000000001')).status).toBe(404)
  })

  test('leave an entry of the audit log, also when they are refused', async () => {
    await run('select count(*) from events')
    await run('delete from events')
    const { items } = (await ada.get('/api/audit-log?limit=2')).as<{ items: { action: string }[] }>()
    expect(items.map(({ action }) => action)).toEqual(['nlq.rejected', 'nlq.executed'])
  })

  test('a question without a translator is 400', async () => {
    const { status } = await ada.post('/api/issues/nlq', { project_id: own.id, query: 'zzz qqq?' })
    expect(status).toBe(400)
  })
})

describe('saved queries', () => {
  const path = `/api/projects/${own.id}/queries`
  const list = async (who = ada) => (await who.get(path)).as<{ items: SavedQuery[] }>().items

  test('are seen by the organisation, and deleted by their maker or an admin', async () => {
    const bob = await server.member(ada, { name: 'Bob' })
    const carl = await server.member(ada, { name: 'Carl' })
    const saved = (await bob.post(path, { name: 'Fatal', sql: 'select 1' })).as<SavedQuery>()
    expect(await list()).toEqual([saved])
    expect(saved.created_by?.name).toBeTypeOf('string')
    expect((await carl.delete(`${path}/${saved.id}`)).status).toBe(403)
    expect((await eve.get(path)).status).toBe(404)
    expect((await eve.delete(`${path}/${saved.id}`)).status).toBe(404)
    expect((await bob.delete(`${path}/${saved.id}`)).status).toBe(204)
    const question = (await bob.post(path, { name: 'Question', query: 'How many?' })).as<SavedQuery>()
    expect((await ada.delete(`${path}/${question.id}`)).status).toBe(204)
    expect(await list()).toEqual([])
  })

  test('are at most 100 per project, and hold a question or a statement', async () => {
    expect((await ada.post(path, { name: 'Both', sql: 'select 1', query: 'How many?' })).status).toBe(400)
    for (let i = 0; i < 100; i++) await ada.post(path, { name: `Query ${i}`, sql: 'select 1' })
    expect((await ada.post(path, { name: 'One more', sql: 'select 1' })).status).toBe(409)
    expect(await list()).toHaveLength(100)
  })
})

describe('the retention', () => {
  test('hides events beyond the retention of the project', async () => {
    const settings = { 'nlq.project': own.id, 'nlq.oldest_day': '2099-01-01' }
    const later = await app.readOnly.run({ role: ROLE, settings }, (tx) =>
      tx.read(`select count(*) from ${SCHEMA}.events`, { rows: 1, bytes: 100 }),
    )
    expect(later.rows).toEqual([['0']])
    server.clock.advance(100 * 86_400_000)
    await ada.post('/api/auth/login', { email: ada.email, password: ada.password })
    expect(await result('select count(*) from events')).toMatchObject({ rows: [[0]] })
    expect(await result('select count(*) from issues')).toMatchObject({ rows: [[2]] })
    server.clock.advance(-100 * 86_400_000)
    await ada.post('/api/auth/login', { email: ada.email, password: ada.password })
  })
})

/** Things that a statement could have changed. */
async function state(): Promise<unknown> {
  const { rows } = await app.db.query(
    `select (select count(*) from events) as events, (select count(*) from issues) as issues, (select count(*) from users) as users,
       (select count(*) from pg_class where relkind in ('r', 'v', 'p', 'S') and relname not like 'pg_%') as relations,
       (select count(*) from pg_roles) as roles, (select count(*) from pg_proc) as functions,
       (select md5(string_agg(title || status, ',' order by id)) from issues) as titles,
       (select array_agg(rolname::text || rolsuper::text order by oid) from pg_roles) as attributes,
       (select last_value from event_block_ids) as blocks`,
  )
  return rows
}
