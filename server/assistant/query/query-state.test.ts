import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Database } from '#server/platform/storage/database.ts'
import { migrate } from '#server/platform/storage/migrate.ts'
import { createPool } from '#server/platform/storage/pool.ts'
import { ReadOnlyDatabase } from '#server/platform/storage/read-only.ts'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { testApp } from '#test/kit/test-app.ts'
import { ROLE } from './catalogue.ts'
import { queryState } from './query-state.ts'
import { runStatement } from './run-statement.ts'

const { app } = await testApp()
const SCOPE = { projectId: '018f0000-0000-7000-8000-000000000001', oldestDay: '2026-01-01' }

/** An external database whose owner may create tables and nothing else. */
async function ownedDatabase() {
  const { connectionString, connect } = await emptyDatabase()
  const admin = await connect()
  const owner = `owner_${randomBytes(5).toString('hex')}`
  await admin.query(`create role ${owner} login`)
  await admin.query(`grant create on database ${new URL(connectionString).pathname.slice(1)} to ${owner}`)
  await admin.query(`grant all on schema public to ${owner}`)
  const url = new URL(connectionString)
  url.username = owner
  const poolOf = () => createPool({ connectionString: url.href, name: 'owner', max: 2, onError: () => {} })
  const pool = poolOf()
  const [db, readOnly] = [new Database(pool), new ReadOnlyDatabase(poolOf())]
  onTestFinished(async () => {
    await db.close()
    await readOnly.close()
    await admin.query(`drop owned by ${owner} cascade`)
    await admin.query(`drop role ${owner}`)
  })
  const client = await pool.connect()
  await migrate(client)
  client.release()
  return { admin, owner, owned: { ...app, db, readOnly } }
}

test('an owner who may not take on the role sees the statement that permits it, and then statements run', async () => {
  const { admin, owner, owned } = await ownedDatabase()
  const state = await queryState(owned)
  expect(state).toMatchObject({ available: false, setup_sql: [`grant ${ROLE} to "${owner}";`] })
  expect(state.reason).toContain('may not take it on')
  for (const statement of state.setup_sql) await admin.query(statement)
  expect(await queryState(owned)).toEqual({ available: true, reason: null, setup_sql: [] })
  const { rows } = await runStatement(
    owned,
    { sql: 'select count(*), current_user from nlq.issues', views: ['issues'] },
    SCOPE,
  )
  expect(rows).toEqual([['0', ROLE]])
  // The limit of temporary files is for superusers to set.
  const { rows: limits } = await runStatement(
    owned,
    { sql: "select current_setting('temp_file_limit')", views: [] },
    SCOPE,
  )
  expect(limits).toEqual([['-1']])
})

test('the role of the embedded database may not write, and has the limits of statements', async () => {
  expect(await queryState(app)).toEqual({ available: true, reason: null, setup_sql: [] })
  const settings = [
    'statement_timeout',
    'lock_timeout',
    'work_mem',
    'temp_file_limit',
    'search_path',
    'transaction_read_only',
    'role',
  ]
  const { rows } = await runStatement(
    app,
    { sql: `select ${settings.map((name) => `current_setting('${name}')`).join(', ')}`, views: [] },
    SCOPE,
  )
  expect(rows).toEqual([['3s', '100ms', '16MB', '64MB', 'pg_catalog, nlq', 'on', ROLE]])
  await expect(runStatement(app, { sql: 'select count(*) from public.users', views: [] }, SCOPE)).rejects.toThrow(
    'The database does not accept it.',
  )
  // Nothing of the transaction is left on the connection.
  const left = await app.readOnly.run({ role: 'none', settings: {} }, (tx) =>
    tx.read(
      "select current_setting('statement_timeout'), current_user <> 'nlq_ro', current_setting('nlq.project', true)",
      {
        rows: 1,
        bytes: 100,
      },
    ),
  )
  expect(left.rows).toEqual([['10s', 't', '']])
})
