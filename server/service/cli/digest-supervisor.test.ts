import { expect, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { superviseDigestion } from './supervise-digestion.ts'

const { app, connectionString, logLines } = await testApp({ realTime: true })

const connections = async (): Promise<number> => {
  const { rows } = await app.db.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'faultline digest'`,
  )
  return rows[0]?.n ?? 0
}

test('a stop ends a starting and a working thread without an error in the log', async () => {
  await superviseDigestion(app, connectionString).stop(30_000)
  const atWork = superviseDigestion(app, connectionString)
  await waitFor('its connections', async () => (await connections()) > 0)
  await atWork.stop(30_000)
  await waitFor('its connections to end', async () => (await connections()) === 0)
  expect(logLines.filter(({ level }) => level !== 'info')).toEqual([])
})

test('several threads share the parts of the spool, and one that ends gets its own back', async () => {
  const threads = superviseDigestion({ ...app, config: { ...app.config, digestThreads: 3 } }, connectionString)
  /** Shards that each thread has locked. */
  const locked = async (): Promise<number[]> => {
    const { rows } = await app.db.query<{ n: number }>(
      `select count(*)::int as n from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and mode = 'ExclusiveLock' and application_name = 'faultline digest'
         and datname = current_database() group by pid order by n`,
    )
    return rows.map(({ n }) => n)
  }
  const shares = [4, 4, 8]
  await waitFor('all shards', async () => String(await locked()) === String(shares))
  await app.db.query(
    `select pg_terminate_backend(pid) from (select pid from pg_locks join pg_stat_activity using (pid)
     where locktype = 'advisory' and mode = 'ExclusiveLock' and application_name = 'faultline digest'
       and datname = current_database() limit 1) one`,
  )
  await waitFor('all shards again', async () => String(await locked()) === String(shares))
  await threads.stop(30_000)
  expect(await locked()).toEqual([])
  logLines.length = 0
})

test('a stop terminates a thread that hangs in its start after the grace period', async () => {
  const network = await startDatabaseProxy(connectionString)
  network.setFaults({ silent: true })
  const hanging = superviseDigestion(app, network.connectionString)
  await waitFor('its first question', () => network.connections() > 0)
  await hanging.stop(100)
  await network.close()
  expect(logLines.filter(({ level }) => level !== 'info')).toEqual([])
})

test('a stop while no thread runs starts none', async () => {
  const away = superviseDigestion(app, 'postgresql://faultline@127.0.0.1:1/faultline')
  await waitFor('the thread to end', () => logLines.some(({ restart_in_ms }) => restart_in_ms !== undefined))
  const before = logLines.length
  await away.stop(30_000)
  // Longer than the first pause.
  await new Promise((resolve) => setTimeout(resolve, 400))
  expect(logLines.slice(before)).toEqual([])
})
