import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startDatabaseProxy } from '#test/kit/database-proxy.ts'
import { testApp } from '#test/kit/test-app.ts'
import { waitFor } from '#test/kit/wait.ts'
import { runJobs } from './run-jobs.ts'
import { addJob, defineTask } from './task.ts'

const { app, connectionString, onClose, logLines } = await testApp({ realTime: true })
const done: string[] = []
const greet = defineTask({
  name: 'greet',
  payload: z.object({ name: z.string() }),
  run: async (_app, { name }) => {
    done.push(name)
    await Promise.resolve()
  },
})
let failures = 0
const flaky = defineTask({
  name: 'flaky',
  payload: z.object({}),
  run: async () => {
    failures++
    await Promise.reject(new Error('not today'))
  },
})
const runner = runJobs(app, connectionString, [greet, flaky], { heartbeatMs: 200 })
onClose(() => runner.stop())

describe('jobs', () => {
  test('a job exists only if the transaction that added it committed', async () => {
    await app.tx((tx) => addJob(tx, 'greet', { name: 'Ada' }))
    await expect(
      app.tx(async (tx) => {
        await addJob(tx, 'greet', { name: 'Eve' })
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await addJob(app.db, 'greet', { name: 'Grace' })
    // Two jobs may run at the same time, so their order is open.
    await waitFor('both greetings', () => done.length >= 2)
    expect(done.toSorted()).toEqual(['Ada', 'Grace'])
  })

  test('a failed job is logged and tried again later', async () => {
    await addJob(app.db, 'flaky', {})
    await waitFor('the failure', () => failures === 1)
    await waitFor('the job to wait for its next attempt', async () => {
      const { rows } = await app.db.query<{ last_error: string; attempts: number; locked_by: string | null }>(
        `select last_error, attempts, locked_by from graphile_worker.jobs where task_identifier = 'flaky'`,
      )
      return rows[0]?.locked_by === null && rows[0].attempts > 0 && rows[0].last_error === 'not today'
    })
    expect(logLines.some((line) => JSON.stringify(line).includes('not today'))).toBe(true)
  })

  test('the last job of a key replaces the one that waits', async () => {
    const runAt = new Date(Date.now() + 3_600_000)
    await addJob(app.db, 'greet', { name: 'first' }, { key: 'k', runAt })
    await addJob(app.db, 'greet', { name: 'second' }, { key: 'k', runAt })
    const { rows } = await app.db.query<{ payload: unknown }>(
      `select payload from graphile_worker._private_jobs where key = 'k'`,
    )
    expect(rows).toEqual([{ payload: { name: 'second' } }])
  })

  test('workers record heartbeats', async () => {
    const { rows } = await app.db.query<{ worker_id: string }>('select worker_id from job_workers')
    expect(rows.length).toBe(2)
  })

  test('jobs of a worker that was killed are taken over', async () => {
    await addJob(app.db, 'greet', { name: 'orphan' }, { key: 'orphan', runAt: new Date(Date.now() + 3_600_000) })
    // As a killed worker leaves it: locked, and without a heartbeat.
    await app.db.query(
      `update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now() - interval '50 s', run_at = now(), attempts = 1 where key = 'orphan'`,
    )
    await waitFor('the orphan', () => done.includes('orphan'), 60_000)
  })
})

test.each(['succeeds', 'fails'])(
  'a database that is away when a job %s is a warning; further jobs run',
  async (how) => {
    const network = await startDatabaseProxy(connectionString)
    const cut = defineTask({
      name: 'cut',
      payload: z.object({}),
      run: async () => {
        network.setFaults({ reset: true })
        await (how === 'fails' ? Promise.reject(new Error('not today')) : Promise.resolve())
      },
    })
    const after: string[] = []
    const greetAfter = defineTask({
      name: 'greet-after',
      payload: z.object({}),
      run: async () => void (await Promise.resolve(after.push('done'))),
    })
    const far = runJobs(app, network.connectionString, [cut, greetAfter])
    onTestFinished(async () => {
      await far.stop()
      await network.close()
    })
    const before = logLines.length
    await addJob(app.db, 'cut')
    await waitFor('the warning', () => logLines.slice(before).some(({ msg }) => msg === 'jobs were interrupted'))
    network.setFaults({})
    await addJob(app.db, 'greet-after')
    await waitFor('a further job', () => after.length === 1)
  },
)

describe('stopping', () => {
  test('ends a queue that is still starting', async () => {
    for (const turns of [0, 1, 2, 5, 20, 100]) {
      const starting = runJobs(app, connectionString, [greet])
      for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve))
      await starting.stop()
    }
  })

  test('an aborted job has not failed, and runs again', async () => {
    let runs = 0
    const patient = defineTask({
      name: 'patient',
      payload: z.object({}),
      run: async (_app, _payload, signal) => {
        runs++
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      },
    })
    const first = runJobs(app, connectionString, [patient])
    await addJob(app.db, 'patient')
    await waitFor('the job to run', () => runs === 1)
    await first.stop()
    const { rows } = await app.db.query<{ locked_by: string | null }>(
      `select locked_by, attempts, run_at <= now() as is_due from graphile_worker.jobs where task_identifier = 'patient'`,
    )
    expect(rows).toEqual([{ locked_by: null, attempts: 0, is_due: true }])
    const second = runJobs(app, connectionString, [patient])
    await waitFor('the job to run again', () => runs === 2)
    await second.stop()
    expect(logLines.filter((line) => JSON.stringify(line).includes('patient'))).toEqual([])
  })

  test('does not wait for a job that ignores its signal, and logs it once', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let runs = 0
    const stubborn = defineTask({
      name: 'stubborn',
      payload: z.object({}),
      run: async () => {
        runs++
        await released
      },
    })
    const first = runJobs(app, connectionString, [stubborn])
    await addJob(app.db, 'stubborn')
    await waitFor('the job to run', () => runs === 1)
    const before = logLines.length
    await first.stop(50)
    expect(logLines.slice(before)).toMatchObject([{ level: 'warn', grace_ms: 50 }])
    release()
  })

  test('logs no warning when the database is away', async () => {
    const network = await startDatabaseProxy(connectionString)
    const far = runJobs(app, network.connectionString, [greet])
    await addJob(app.db, 'greet', { name: 'far' })
    await waitFor('the greeting', () => done.includes('far'))
    const before = logLines.length
    const stopped = far.stop()
    network.setFaults({ reset: true })
    await stopped
    await network.close()
    expect(logLines.slice(before).filter(({ level }) => level !== 'info')).toEqual([])
  })
})
