import { expect, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { fakeClock } from '#test/kit/fake-clock.ts'
import { anEvent, sendEvent } from '#test/kit/sdk.ts'
import { testServer } from '#test/kit/test-server.ts'
import { waitFor } from '#test/kit/wait.ts'
import { superviseDigestion } from './supervise-digestion.ts'

const server = await testServer({ realTime: true, env: { FAULTLINE_ROLES: 'ingest,api' } })
const { app, logLines } = server

/** How many shards each thread has locked. */
async function locked(): Promise<number[]> {
  const { rows } = await app.db.query<{ n: number }>(
    `select count(*)::int as n from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and mode = 'ExclusiveLock' and application_name = 'faultline digest'
       and datname = current_database() group by pid order by n`,
  )
  return rows.map(({ n }) => n)
}

test('threads start while a backlog lasts, one that ends is replaced, and all but one end afterwards; counts stay exact', async () => {
  const ERRORS = ['alpha', 'beta', 'gamma']
  const projects = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const founder = await server.founder()
      return [await server.project(founder), await server.project(founder)]
    }),
  )
  let rounds = 0
  const sendRound = async (): Promise<void> => {
    rounds++
    await Promise.all(
      projects.flat().flatMap(({ dsn }) => ERRORS.map((error) => sendEvent(server.url, dsn, anEvent({ error })))),
    )
  }
  await sendRound()
  await sendRound()
  // Nothing can be recorded before this transaction ends, so requests wait longer and longer.
  const blocker = await app.db.reserve()
  await blocker.query('begin')
  await blocker.query('select id from spool for update')

  const clock = fakeClock(new Date())
  const proxy = await startDatabaseProxy(server.connectionString)
  const digestion = superviseDigestion(
    { ...app, clock, config: { ...app.config, digestThreads: 4 } },
    proxy.connectionString,
    null,
    20,
  )
  try {
    const grown = (threads: number) =>
      waitFor(`${threads} threads`, () => {
        clock.advance(1_000)
        return digestion.threads() === threads
      })
    await waitFor('the first thread', async () => String(await locked()) === '16')
    await grown(2)
    // Threads that run are cut off, and one that starts ends.
    proxy.setFaults({ reset: true })
    await waitFor('a thread to end', () => logLines.some(({ restart_in_ms }) => restart_in_ms !== undefined))
    proxy.setFaults({})
    await waitFor('both threads', async () => (await locked()).length === 2)
    await grown(4)
    await blocker.query('commit')
    await sendRound()
    await waitFor('the shards to be divided', async () => String(await locked()) === '4,4,4,4')
    await sendRound()
    await waitFor('the end of the others', async () => {
      const { rows } = await app.db.query('select 1 from spool limit 1')
      if (rows.length === 0) clock.advance(1_000)
      return digestion.threads() === 1
    })
    await waitFor('one thread', async () => String(await locked()) === '16')
    await sendRound()
    await waitFor('all events', () => digestion.figures().events === rounds * projects.flat().length * ERRORS.length)
  } finally {
    await blocker.query('rollback')
    blocker.release()
    await digestion.stop(30_000)
    await proxy.close()
  }
  expect(await locked()).toEqual([])
  const { rows: issues } = await app.db.query<{ count: number }>('select event_count as count from issues')
  expect(issues.map(({ count }) => count)).toEqual(projects.flat().flatMap(() => ERRORS.map(() => rounds)))
  const { rows: outcomes } = await app.db.query(
    'select outcome, sum(quantity)::int as n from outcomes_hourly group by 1 order by 1',
  )
  expect(outcomes).toEqual([{ outcome: 'accepted', n: rounds * projects.flat().length * ERRORS.length }])
  expect(digestion.figures()).toMatchObject({ duplicates: 0, quarantined: 0 })
})
