import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { migrate, pendingMigrations, parseMigration, readMigrations, splitStatements } from './migrate.ts'

const { app, connectionString } = await testApp()

test('when the connection breaks during a migration, the error names the file and its changes are rolled back', async () => {
  // A file that can be undone here: it only creates.
  const file = readMigrations().findLast(
    ({ sql }) =>
      /^create table/m.test(sql) &&
      !/^(?:alter|insert|create schema)/m.test(sql) &&
      [...sql.matchAll(/^create (?:unique )?index .* on (?:only )?(\w+)/gm)].every(([, table = '']) =>
        new RegExp(`^create table ${table} `, 'm').test(sql),
      ),
  )
  const last = file?.name ?? ''
  const tables = [...(file?.sql ?? '').matchAll(/^create table (\w+)/gm)].map(([, name = '']) => name)
  const functions = [...(file?.sql ?? '').matchAll(/^create function (\w+)/gm)].map(([, name = '']) => name)
  await app.db.query('delete from schema_migrations where name = $1', [last])
  const client = new pg.Client({ connectionString, application_name: 'cut off' })
  client.on('error', () => {})
  await client.connect()
  const holding = await app.db.reserve()
  onTestFinished(() => holding.release(true))
  await holding.query('begin; lock table schema_migrations in share mode')
  // Only the last statement waits: the row that records the file. What the file created must be gone, too.
  for (const name of tables) await app.db.query(`drop table ${name} cascade`)
  for (const name of functions) await app.db.query(`drop function ${name} cascade`)
  const outcome = expect(migrate(client)).rejects.toThrow(`migrations/${last} failed: terminating connection`)
  await waitFor('the statement to wait', async () => {
    const { rows } = await app.db.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'cut off' and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await outcome
  const { rows } = await app.db.query('select name from schema_migrations where name = $1', [last])
  expect(rows).toEqual([])
  expect(tables.length).toBeGreaterThan(0)
  for (const name of tables)
    expect((await app.db.query(`select to_regclass('${name}') as found`)).rows).toEqual([{ found: null }])
})

describe('a file that begins with `-- no transaction`', () => {
  const table = parseMigration('0001_jobs.sql', 'create table jobs (name text, n integer);')
  const index = parseMigration(
    '0002_index.sql',
    `-- no transaction
create index concurrently if not exists jobs_by_n on jobs (n);
-- Names are unique; nothing; makes this comment a statement;
create unique index concurrently if not exists jobs_by_name
  on jobs (name);
create index concurrently if not exists jobs_by_both on jobs (name, n);
`,
  )
  const both = [table, index]
  const indexes = async (client: pg.Client) =>
    (
      await client.query<{ name: string; valid: boolean }>(
        `select indexrelid::regclass::text as name, indisvalid as valid from pg_index
         where indrelid = 'jobs'::regclass order by 1`,
      )
    ).rows
  const applied = async (client: pg.Client) =>
    (await client.query<{ name: string }>('select name from schema_migrations order by name')).rows.map(
      ({ name }) => name,
    )

  test('runs statement by statement', async () => {
    expect(table.statements).toBeNull()
    expect(index.statements).toEqual([
      'create index concurrently if not exists jobs_by_n on jobs (n)',
      'create unique index concurrently if not exists jobs_by_name\n  on jobs (name)',
      'create index concurrently if not exists jobs_by_both on jobs (name, n)',
    ])
    expect(splitStatements('-- no transaction\n-- select 1;\n')).toEqual([])
    const client = await (await emptyDatabase()).connect()
    expect(await migrate(client, () => {}, both)).toEqual(['0001_jobs.sql', '0002_index.sql'])
    expect(await indexes(client)).toEqual([
      { name: 'jobs_by_both', valid: true },
      { name: 'jobs_by_n', valid: true },
      { name: 'jobs_by_name', valid: true },
    ])
    expect(await migrate(client, () => {}, both)).toEqual([])
  })

  test('the error of a failed index names its statement; the next run drops and creates the index', async () => {
    const client = await (await emptyDatabase()).connect()
    await migrate(client, () => {}, [table])
    await client.query(`insert into jobs values ('a', 1), ('a', 2)`)
    await expect(migrate(client, () => {}, both)).rejects.toThrow(
      'migrations/0002_index.sql, statement 2 failed: could not create unique index "jobs_by_name"',
    )
    expect(await indexes(client)).toEqual([
      { name: 'jobs_by_n', valid: true },
      { name: 'jobs_by_name', valid: false },
    ])
    expect(await applied(client)).toEqual(['0001_jobs.sql'])
    await client.query('delete from jobs where n = 2')
    expect(await migrate(client, () => {}, both)).toEqual(['0002_index.sql'])
    expect(await indexes(client)).toEqual([
      { name: 'jobs_by_both', valid: true },
      { name: 'jobs_by_n', valid: true },
      { name: 'jobs_by_name', valid: true },
    ])
  })

  test('after a connection breaks while it creates an index, the next run finishes', async () => {
    const database = await emptyDatabase()
    const [client, writer, other] = [await database.connect(), await database.connect(), await database.connect()]
    await migrate(client, () => {}, [table])
    // The index waits for the end of this transaction.
    await writer.query(`begin; insert into jobs values ('a', 1)`)
    const outcome = expect(migrate(client, () => {}, both)).rejects.toThrow(
      'migrations/0002_index.sql, statement 1 failed: terminating connection',
    )
    await waitFor('the index to wait', async () => {
      const { rows } = await other.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and query like 'create index%' and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    await outcome
    await writer.query('commit')
    expect(await indexes(other)).toEqual([{ name: 'jobs_by_n', valid: false }])
    expect(await applied(other)).toEqual(['0001_jobs.sql'])
    expect(await migrate(other, () => {}, both)).toEqual(['0002_index.sql'])
    expect((await indexes(other)).every(({ valid }) => valid)).toBe(true)
  })

  test('of two processes one applies it; the other waits and does not block it', async () => {
    const database = await emptyDatabase()
    const [first, second, writer] = [await database.connect(), await database.connect(), await database.connect()]
    await migrate(first, () => {}, [table])
    await writer.query(`begin; insert into jobs values ('a', 1)`)
    const lines: string[] = []
    const runs = [first, second].map((client) => migrate(client, (line) => lines.push(line), both))
    await waitFor('one to wait for the other', () =>
      lines.some((line) => line.startsWith('waiting for another process')),
    )
    await writer.query('commit')
    expect((await Promise.all(runs)).flat()).toEqual(['0002_index.sql'])
    expect((await indexes(first)).every(({ valid }) => valid)).toBe(true)
  })
})

test('the program of the release before uses a database to which a newer one only added', async () => {
  const client = await (await emptyDatabase()).connect()
  const before = [parseMigration('0001_a.sql', 'create table a (id int);')]
  await migrate(client, () => {}, before)
  const added = [...before, parseMigration('0002_b.sql', 'create table b (id int);')]
  expect(await migrate(client, () => {}, added)).toEqual(['0002_b.sql'])
  expect(await migrate(client, () => {}, before)).toEqual([])
  const note = '-- contract: no release that is still supported reads the table a'
  await migrate(client, () => {}, [...added, parseMigration('0003_c.sql', `${note}\ndrop table a;`)])
  await expect(migrate(client, () => {}, added)).rejects.toThrow('migrated by a newer version (0003_c.sql)')
})

test('a database of a version that did not say what can be ignored is migrated as before', async () => {
  const client = await (await emptyDatabase()).connect()
  await client.query(
    'create table schema_migrations (name text primary key, digest text not null, applied_at timestamptz not null default now())',
  )
  expect(await migrate(client, () => {}, [parseMigration('0001_a.sql', 'create table a (id int);')])).toEqual([
    '0001_a.sql',
  ])
})

describe('the migration is refused for', () => {
  test('a database that a newer version migrated', async () => {
    const client = await (await emptyDatabase()).connect()
    await migrate(client)
    await client.query(`insert into schema_migrations values ('9999_future.sql', '')`)
    await expect(migrate(client)).rejects.toThrow('The database was migrated by a newer version (9999_future.sql).')
    expect(await pendingMigrations(client)).toEqual([])
  })

  test('a file that was changed after it was applied', async () => {
    const client = await (await emptyDatabase()).connect()
    await migrate(client, () => {}, [parseMigration('0001_a.sql', 'select 1;')])
    await expect(migrate(client, () => {}, [parseMigration('0001_a.sql', 'select 2;')])).rejects.toThrow(
      'migrations/0001_a.sql was changed after it was applied.',
    )
  })

  test('a database from before the first release, which does not change', async () => {
    const client = await (await emptyDatabase()).connect()
    await migrate(client, () => {}, [
      parseMigration('0001_accounts.sql', 'create table orgs (id uuid primary key, slug text);'),
      parseMigration('0002_projects.sql', 'create table projects (id uuid primary key);'),
    ])
    const tables = () =>
      client.query(`select relname, relfilenode from pg_class where relnamespace = 'public'::regnamespace`)
    const before = await tables()
    await expect(migrate(client)).rejects.toThrow(
      'The database comes from Faultline 0.1 before its release and cannot be upgraded.',
    )
    expect((await tables()).rows).toEqual(before.rows)
    expect((await client.query('select name from schema_migrations order by 1')).rows).toEqual([
      { name: '0001_accounts.sql' },
      { name: '0002_projects.sql' },
    ])
  })
})
