import { expect, test } from 'vitest'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { SHARD_NUMBERS, shardsOfThread } from '../../ingest/spool/entry.ts'
import { superviseDigestion, threadsNeeded } from './supervise-digestion.ts'

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

test('shards are divided evenly, and parts as little as possible', () => {
  const sizes = (threads: number) => Array.from({ length: threads }, (_, one) => shardsOfThread(one, threads).length)
  expect([1, 2, 3, 4, 8, 16].map(sizes)).toEqual([
    [16],
    [8, 8],
    [6, 5, 5],
    [4, 4, 4, 4],
    Array(8).fill(2),
    Array(16).fill(1),
  ])
  expect(shardsOfThread(1, 4)).toEqual([1, 5, 9, 13])
  expect(shardsOfThread(2, 8)).toEqual([1, 5])
})

test('threads are added where they divide late requests, and end when the others do without them', () => {
  const calm = { threads: 4, maxThreads: 8, late: [], unchangedMs: 60_000, calmMs: 60_000, busy: 0.1 }
  expect(threadsNeeded(calm)).toBe(1)
  expect(threadsNeeded({ ...calm, calmMs: 59_000 })).toBe(4)
  expect(threadsNeeded({ ...calm, busy: 1.5 })).toBe(3)
  expect(threadsNeeded({ ...calm, busy: 3.9 })).toBe(4)
  const late = { ...calm, late: SHARD_NUMBERS, calmMs: 0, busy: 4 }
  expect(threadsNeeded(late)).toBe(8)
  expect(threadsNeeded({ ...late, unchangedMs: 9_000 })).toBe(4)
  expect(threadsNeeded({ ...late, maxThreads: 4 })).toBe(4)
  expect(threadsNeeded({ ...late, maxThreads: 5 })).toBe(5)
  // One project, and projects of one shard, are digested by one thread.
  expect(threadsNeeded({ ...late, late: [3] })).toBe(4)
  expect(threadsNeeded({ ...late, late: [0, 8] })).toBe(8)
})
