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
import type { App } from '../context/app.ts'
import { withinGrace } from '../kernel/abortable.ts'
import { createPool } from '../storage/pool.ts'
import type { Task } from './task.ts'

/** Jobs at once: they share processor and database with everything else. */
const CONCURRENCY = 2
/** One per job at work, one that listens, one for heartbeats. */
const CONNECTIONS = CONCURRENCY + 2
/** A worker that was not heard of for three beats is dead, and its jobs are free again: within 60 s. */
const HEARTBEAT_MS = 15_000
const DEAD_AFTER_SECONDS = 45
const FIRST_PAUSE_MS = 500
const MAX_PAUSE_MS = 10_000
/** Jobs due later are looked for this often; those added now announce themselves. */
const POLL_MS = 5_000
const LOOK_EVERY_MS = 20
const MAX_LOOKS = 50

export type JobRunner = {
  /**
   * Asks what runs to give up, and waits for it for at most `graceMs`. What does not end by then ends with its
   * connection, and runs again after the next start.
   */
  stop(graceMs?: number): Promise<void>
}

/** Tasks look at their signal between two statements. */
const STOP_GRACE_MS = 4_000

/** Makes or updates the queue's own tables (schema `graphile_worker`); safe from several processes at once. */
export async function migrateJobs(connectionString: string): Promise<void> {
  // A pool of ours: connections of the queue's own are still closing when it returns, and one that a stopping database
  // ends then would end the process.
  const pool = createPool({ connectionString, name: 'faultline migrate', max: 1, onError: () => {} })
  try {
    await runMigrations({ pgPool: pool, logger: loggerOf(null) })
  } finally {
    await pool.end()
  }
}

/**
 * Works off jobs until stopped; starts again by itself when the database was away. Jobs of a worker that was killed are
 * taken over within a minute.
 */
export function runJobs(
  app: App,
  connectionString: string,
  tasks: readonly Task[],
  heartbeatMs = HEARTBEAT_MS,
): JobRunner {
  const stopping = new AbortController()
  const pool = createPool({
    connectionString,
    name: 'faultline jobs',
    max: CONNECTIONS,
    onError: (error) => {
      if (!stopping.signal.aborted)
        app.log.warn({ err: error.message }, 'an idle database connection of the jobs broke')
    },
  })
  releaseOnce(pool)
  let runner: Runner | null = null
  /** Jobs that gave up because we stop, and how often they had been tried with that. */
  const interrupted = new Map<string, number>()

  const once = async (): Promise<void> => {
    const workerIds = new Set<string>()
    // Ours, as the workers are made before `run` returns.
    const events: WorkerEvents = new EventEmitter()
    events.on('worker:create', ({ worker }) => void workerIds.add(worker.workerId))
    const started = await run({
      events,
      pgPool: pool,
      taskList: taskList(app, tasks, stopping.signal, interrupted),
      parsedCronItems: parseCronItems(
        tasks.flatMap(({ name, cron }) =>
          cron === undefined ? [] : [{ task: name, match: cron, options: { jobKey: name, backfillPeriod: 0 } }],
        ),
      ),
      concurrency: CONCURRENCY,
      pollInterval: POLL_MS,
      noHandleSignals: true,
      logger: loggerOf(app, stopping.signal),
    })
    runner = started
    // A stop during the start of the queue found no runner to stop.
    if (stopping.signal.aborted) await started.stop()
    // Also at the start: a process that was killed before it may have left jobs.
    let beats = heartbeat(app, pool, [...workerIds], stopping.signal)
    const beat = setInterval(() => {
      beats = beats.then(() => heartbeat(app, pool, [...workerIds], stopping.signal))
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
    let pauseMs = FIRST_PAUSE_MS
    while (!stopping.signal.aborted) {
      const startedAtMs = app.clock.monotonicMs()
      try {
        await once()
      } catch (error) {
        // What goes wrong while stopping is put right by the next start.
        if (stopping.signal.aborted) return
        app.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'jobs were interrupted')
      }
      if (app.clock.monotonicMs() - startedAtMs > MAX_PAUSE_MS) pauseMs = FIRST_PAUSE_MS
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)
    }
  })()

  return {
    async stop(graceMs = STOP_GRACE_MS) {
      stopping.abort()
      const ended = (async () => {
        await runner?.stop().catch(() => {})
        await work
        await giveBack(app, pool, interrupted)
        await pool.end()
      })()
      if (!(await withinGrace(graceMs, ended)))
        app.log.warn({ grace_ms: graceMs }, 'jobs did not end in time; they run again after the next start')
    },
  }
}

type Release = (destroy?: boolean | Error) => void
type Connected = (error: Error | undefined, client: pg.PoolClient | undefined, release: Release) => void

/**
 * The queue gives its listening connection back twice when it breaks while a stop gives it back, and the pool's
 * error, which is not caught, would end the process.
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
          // What cron adds about the schedule (`_cron`) is dropped by the task's own schema.
          await task.run(app, payload ?? {}, signal)
        } catch (error) {
          if (signal.aborted) interrupted.set(job.id, job.attempts)
          throw error
        }
      },
    ]),
  )
}

/** The queue took them for failed; a service that is restarted often must neither slow its long jobs down nor lose them. */
async function giveBack(app: App, pool: pg.Pool, interrupted: ReadonlyMap<string, number>): Promise<void> {
  try {
    for (const [id, attempts] of interrupted) {
      for (let look = 0; look < MAX_LOOKS; look++) {
        const { rowCount } = await pool.query(
          'select id from graphile_worker.reschedule_jobs(array[$1::bigint], run_at => now(), attempts => $2::int)',
          [id, Math.max(0, attempts - 1)],
        )
        if (rowCount !== 0) break
        // The queue does not wait for its own note of the failure.
        await delay(LOOK_EVERY_MS)
      }
    }
  } catch (error) {
    app.log.info({ err: error instanceof Error ? error.message : String(error) }, 'interrupted jobs run again later')
  }
}

/** Says that these workers live, and frees the jobs of those that stopped saying so. */
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
      app.log.warn({ workers: dead }, 'jobs of workers that are gone run again')
      await pool.query('select graphile_worker.force_unlock_workers($1::text[])', [dead])
    }
    await pool.query(`delete from job_workers where seen_at < now() - interval '1 day'`)
  } catch (error) {
    if (signal.aborted) return
    app.log.warn({ err: error instanceof Error ? error.message : String(error) }, 'heartbeat of the jobs failed')
  }
}

/** Its own messages are for developers of the queue; failures of jobs are ours to read. */
function loggerOf(app: Pick<App, 'log'> | null, stopping?: AbortSignal): Logger {
  return new Logger(() => (level, message, meta) => {
    if (app === null || level === 'debug' || level === 'info') return
    // A job that gave up because we asked it to did not fail: it runs again after the next start.
    if (stopping?.aborted && meta?.['error'] === stopping.reason) return
    // What goes wrong while stopping is put right by the next start.
    app.log[stopping?.aborted ? 'info' : level === 'error' ? 'error' : 'warn']({ message }, 'jobs')
  })
}
