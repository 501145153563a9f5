import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { Database } from './database.ts'
import { createPool, isDatabaseAway } from './pool.ts'

const { app, connectionString } = await testApp()

/** Ends a session as a restart of the database would, and waits until it is gone. */
async function end(pid: number): Promise<void> {
  await app.db.query('select pg_terminate_backend($1)', [pid])
  await waitFor('the session to end', async () => {
    const { rowCount } = await app.db.query('select 1 from pg_stat_activity where pid = $1', [pid])
    return rowCount === 0
  })
}

// An error event without a listener ends the process, and vitest fails on it.
describe('a connection that breaks between two statements fails its transaction and nothing else', () => {
  test('in the query builder', async () => {
    const work = app.tx(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      await end(rows[0]?.pid ?? 0)
      await sql`select 1`.execute(tx)
    })
    expect(isDatabaseAway(await work.catch((error: unknown) => error))).toBe(true)
  })

  test('in a statement', async () => {
    const work = app.tx(async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('select pg_backend_pid() as pid')
      await end(rows[0]?.pid ?? 0)
      await tx.query('select 1')
    })
    expect(isDatabaseAway(await work.catch((error: unknown) => error))).toBe(true)
  })

  test('and the pool still works', async () => {
    expect((await app.db.query('select 1')).rowCount).toBe(1)
  })
})

describe('on a network that drops all packets', () => {
  test('a statement ends after the allowed silence, and the next one gets a connection', async () => {
    const proxy = await startDatabaseProxy(connectionString)
    const pool = createPool({
      connectionString: proxy.connectionString,
      name: 'silence',
      max: 2,
      silenceMs: 1_000,
      onError: () => {},
    })
    const db = new Database(pool)
    try {
      expect((await pool.query('select 1')).rowCount).toBe(1)
      proxy.setFaults({ silent: true })
      const failure: unknown = await pool.query('select 1').catch((error: unknown) => error)
      expect(isDatabaseAway(failure)).toBe(true)
      proxy.setFaults({})
      const work = db.tx(async (tx) => {
        await tx.query('select 1')
        proxy.setFaults({ silent: true })
        await tx.query('select 1')
      })
      expect(isDatabaseAway(await work.catch((error: unknown) => error))).toBe(true)
      proxy.setFaults({})
      expect((await pool.query('select 1')).rowCount).toBe(1)
    } finally {
      await pool.end()
      await proxy.close()
    }
  })

  test('an idle connection stays open', async () => {
    const pool = createPool({ connectionString, name: 'idle', max: 1, silenceMs: 500, onError: () => {} })
    try {
      const pidOf = async (): Promise<unknown> => (await pool.query('select pg_backend_pid() as pid')).rows[0]
      const first = await pidOf()
      await app.db.query('select pg_sleep(1)')
      expect(await pidOf()).toEqual(first)
    } finally {
      await pool.end()
    }
  })
})
