import { EventEmitter } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import {
  Logger,
  parseCronItems,
  run,
  runMigrations,
  type Runner,
  type TaskList,
  type WorkerEvents,
} from 'graphile-worker'
import type pg from 'pg'
import { errorText } from '../kernel/errors.ts'
import type { App } from '../context/app.ts'
import { withinGrace } from '../kernel/abortable.ts'
import { createPool } from '../storage/pool.ts'
import type { Task } from './task.ts'

/** Jobs that run at the same time: they share processor and database with everything else. */
const CONCURRENCY = 2
/** Connections of a queue, beside one per running job: one that listens. */
const LISTENING_CONNECTIONS = 1
/** For the heartbeats of all queues. */
const HEARTBEAT_CONNECTIONS = 1
/** A worker without a heartbeat for this time is dead, and its jobs run again: within 60 s after it ended. */
const HEARTBEAT_MS = 15_000
const DEAD_AFTER_SECONDS = 45
const FIRST_RETRY_DELAY_MS = 500
const MAX_RETRY_DELAY_MS = 10_000
/** How often jobs that are due later are looked for; adding a job that is due now sends a NOTIFY. */
const POLL_MS = 5_000
const RESCHEDULE_RETRY_MS = 20
const MAX_RESCHEDULE_ATTEMPTS = 50

type RunOptions = { readonly heartbeatMs?: number; readonly concurrency?: number }

type JobRunner = {
  /**
   * Aborts the running jobs and waits for at most `graceMs`. A job that does not end in time loses its connection and
   * runs again after the next start.
   */
  stop(graceMs?: number): Promise<void>
}

/** Tasks check their signal between two statements. */
const STOP_GRACE_MS = 4_000

/** Creates or updates the tables of the queue (schema `graphile_worker`). Several processes may call this at once. */
export async function migrateJobs(connectionString: string): Promise<void> {
  // The queue's own pool would still be closing connections when this returns, and an error on one of them would end
  // the process.
  const pool = createPool({ connectionString, name: 'faultline migrate', max: 1, onError: () => {} })
  try {
    await runMigrations({ pgPool: pool, logger: loggerOf(null) })
  } finally {
    await pool.end()
  }
}

/**
 * Runs jobs until stopped, those of prompt tasks in a queue of their own; starts again automatically after a lost database.
 * Jobs of a worker that was killed are taken over within a minute.
 */
export function runJobs(
  app: App,
  connectionString: string,
  tasks: readonly Task[],
  { heartbeatMs = HEARTBEAT_MS, concurrency = CONCURRENCY }: RunOptions = {},
): JobRunner {
  const stopping = new AbortController()
  const queues = [
    { tasks: tasks.filter(isPrompt), concurrency: 1 },
    { tasks: tasks.filter(({ isSlow }) => isSlow === true), concurrency: 1 },
    { tasks: tasks.filter(({ isLong }) => isLong === true), concurrency: 1 },
    { tasks: tasks.filter((task) => !isPrompt(task) && task.isSlow !== true && task.isLong !== true), concurrency },
  ].filter((queue) => queue.tasks.length > 0)
  // One for all queues: each connection takes two megabytes of the database's memory.
  const pool = createPool({
    connectionString,
    name: 'faultline jobs',
    max: queues.reduce((sum, queue) => sum + queue.concurrency + LISTENING_CONNECTIONS, HEARTBEAT_CONNECTIONS),
    onError: (error) => {
      if (!stopping.signal.aborted)
        app.log.warn({ err: error.message }, 'an idle database connection of the jobs broke')
    },
  })
  releaseOnce(pool)
  /** Attempts, by the id of the job, of jobs that ended because of the stop. */
  const interrupted = new Map<string, number>()
  const running = queues.map((queue) =>
    runQueue(app, pool, { ...queue, heartbeatMs, signal: stopping.signal, interrupted }),
  )

  return {
    async stop(graceMs = STOP_GRACE_MS) {
      stopping.abort()
      const ended = (async () => {
        await Promise.all(running.map((queue) => queue.stop()))
        await reschedule(app, pool, interrupted)
        await pool.end()
      })()
      if (!(await withinGrace(graceMs, ended)))
        app.log.warn({ grace_ms: graceMs }, 'jobs did not end in time; they run again after the next start')
    },
  }
}

const isPrompt = (task: Task): boolean => task.isPrompt === true

type Queue = {
  readonly tasks: readonly Task[]
  readonly concurrency: number
  readonly heartbeatMs: number
  /** Aborted before `stop` is called. */
  readonly signal: AbortSignal
  readonly interrupted: Map<string, number>
}

function runQueue(
  app: App,
  pool: pg.Pool,
  { tasks, concurrency, heartbeatMs, signal, interrupted }: Queue,
): { stop(): Promise<void> } {
  let runner: Runner | null = null

  const once = async (): Promise<void> => {
    const workerIds = new Set<string>()
    // Passed in, because the workers are created before `run` returns.
    const events: WorkerEvents = new EventEmitter()
    events.on('worker:create', ({ worker }) => void workerIds.add(worker.workerId))
    const started = await run({
      events,
      pgPool: pool,
      taskList: taskList(app, tasks, signal, interrupted),
      parsedCronItems: parseCronItems(
        tasks.flatMap(({ name, cron }) =>
          cron === undefined ? [] : [{ task: name, match: cron, options: { jobKey: name, backfillPeriod: 0 } }],
        ),
      ),
      concurrency,
      // Without a batch the queue does not catch the error of a connection that breaks when a job ends, and the process
      // exits.
      preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 } },
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: loggerOf(app, signal),
    })
    runner = started
    // A stop during the start of the queue has no runner to stop.
    if (signal.aborted) await started.stop()
    // Also at the start: a killed process may have left jobs.
    let beats = heartbeat(app, pool, [...workerIds], signal)
    const beat = setInterval(() => {
      beats = beats.then(() => heartbeat(app, pool, [...workerIds], signal))
    }, heartbeatMs)
    try {
      await started.promise
    } finally {
      clearInterval(beat)
      runner = null
      await beats
    }
  }

  const work = (async () => {
    let delayMs = FIRST_RETRY_DELAY_MS
    while (!signal.aborted) {
      const startedAtMs = app.clock.monotonicMs()
      try {
        await once()
      } catch (error) {
        // The next start repairs what failed during a stop.
        if (signal.aborted) return
        app.log.warn({ err: errorText(error) }, 'jobs were interrupted')
      }
      if (app.clock.monotonicMs() - startedAtMs > MAX_RETRY_DELAY_MS) delayMs = FIRST_RETRY_DELAY_MS
      await delay(delayMs, undefined, { signal }).catch(() => {})
      delayMs = Math.min(MAX_RETRY_DELAY_MS, delayMs * 2)
    }
  })()

  return {
    async stop() {
      await runner?.stop().catch(() => {})
      await work
    },
  }
}

type Release = (destroy?: boolean | Error) => void
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: Release) => void

/**
 * The queue releases its listening connection twice when the connection breaks during a stop. The error of the pool,
 * which is not caught, would end the process.
 */
function releaseOnce(pool: pg.Pool): void {
  const connect = pool.connect.bind(pool)
  const connectOnce = (callback?: Connected): Promise<pg.PoolClient> | void => {
    if (callback === undefined) return connect()
    connect((error, client, release: Release) => {
      let isReleased = false
      callback(error, client, (destroy) => {
        if (isReleased) return
        isReleased = true
        release(destroy)
      })
    })
  }
  Object.assign(pool, { connect: connectOnce })
}

function taskList(app: App, tasks: readonly Task[], signal: AbortSignal, interrupted: Map<string, number>): TaskList {
  return Object.fromEntries(
    tasks.map((task) => [
      task.name,
      async (payload: unknown, { job }) => {
        try {
          // The schema of the task drops `_cron`, which the schedule adds.
          await task.run(app, payload ?? {}, signal)
        } catch (error) {
          if (signal.aborted) interrupted.set(job.id, job.attempts)
          throw error
        }
      },
    ]),
  )
}

/** Restores the attempts of interrupted jobs, which the queue counted as failed: restarts must not delay or end long jobs. */
async function reschedule(app: App, pool: pg.Pool, interrupted: ReadonlyMap<string, number>): Promise<void> {
  try {
    for (const [id, attempts] of interrupted) {
      for (let attempt = 0; attempt < MAX_RESCHEDULE_ATTEMPTS; attempt++) {
        const { rowCount } = await pool.query(
          'select id from graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now(), attempts => $2::int)',
          [id, Math.max(0, attempts - 1)],
        )
        if (rowCount !== 0) break
        // The queue does not wait until it has recorded the failure.
        await delay(RESCHEDULE_RETRY_MS)
      }
    }
  } catch (error) {
    app.log.info({ err: errorText(error) }, 'interrupted jobs run again later')
  }
}

/** Records that these workers are alive, and unlocks the jobs of workers without a heartbeat. */
async function heartbeat(app: App, pool: pg.Pool, workerIds: readonly string[], signal: AbortSignal): Promise<void> {
  try {
    await pool.query(
      `insert into job_workers (worker_id, seen_at) select id, now() from unnest($1::text[]) id
       on conflict (worker_id) do update set seen_at = excluded.seen_at`,
      [workerIds],
    )
    const { rows } = await pool.query<{ worker_id: string }>(
      `select distinct j.locked_by as worker_id from graphile_worker.jobs j left join job_workers w on w.worker_id = j.locked_by
       where j.locked_by is not null and j.locked_at < now() - make_interval(secs => $1)
         and (w.seen_at is null or w.seen_at < now() - make_interval(secs => $1))`,
      [DEAD_AFTER_SECONDS],
    )
    const dead = rows.map((row) => row.worker_id)
    if (dead.length > 0) {
      app.log.warn({ workers: dead }, 'jobs of ended workers run again')
      await pool.query('select graphile_worker.force_unlock_workers($1::text[])', [dead])
    }
    await pool.query(`delete from job_workers where seen_at < now() - interval '1 day'`)
  } catch (error) {
    if (signal.aborted) return
    app.log.warn({ err: errorText(error) }, 'the heartbeat of the jobs failed')
  }
}

/** Logs failures of jobs; other messages of the queue are for its developers. */
function loggerOf(app: Pick<App, 'log'> | null, stopping?: AbortSignal): Logger {
  return new Logger(() => (level, message, meta) => {
    if (app === null || level === 'debug' || level === 'info') return
    // An aborted job did not fail: it runs again after the next start.
    if (stopping?.aborted && meta?.['error'] === stopping.reason) return
    // The next start repairs what failed during a stop.
    app.log[stopping?.aborted ? 'info' : level === 'error' ? 'error' : 'warn']({ message }, 'jobs')
  })
}
