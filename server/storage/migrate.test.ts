import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { migrate, readMigrations } from './migrate.ts'

const { app, connectionString } = await testApp()

test('a database that ends in the middle of a migration is told with its file, and nothing of it stays', async () => {
  const last = readMigrations().at(-1)?.name ?? ''
  await app.pool.query('delete from schema_migrations where name = $1', [last])
  const client = new pg.Client({ connectionString, application_name: 'cut off' })
  client.on('error', () => {})
  await client.connect()
  const holding = await app.pool.connect()
  onTestFinished(() => holding.release(true))
  await holding.query('begin; lock table schema_migrations, issues in share mode')
  const outcome = expect(migrate(client)).rejects.toThrow(`migrations/${last} failed: terminating connection`)
  await waitFor('it to wait', async () => {
    const { rows } = await app.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'cut off' and wait_event_type = 'Lock'`,
    )
    return rows.length > 0
  })
  await outcome
  const { rows } = await app.pool.query('select name from schema_migrations where name = $1', [last])
  expect(rows).toEqual([])
})
