import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'

/**
 * Background work, once or on a schedule. A task may run twice, because its worker was killed: a second run must not
 * change the result.
 */
export type Task<P = unknown> = {
  /** Letters, digits and `-`; must not change while jobs of this name may wait. */
  readonly name: string
  readonly payload: z.ZodType<P>
  /** Five crontab fields, UTC; its payload is then `{}`. */
  readonly cron?: string
  /** Runs in a queue of its own, so that it never waits behind long jobs. It must be short itself. */
  readonly isPrompt?: true
  /** Runs in a queue of its own, because it may take minutes. */
  readonly isSlow?: true
  /** Runs in a queue of its own, because it may take hours. The queue exists only where a process has such a task. */
  readonly isLong?: true
  /** @param signal aborted when the process stops: finish the batch and throw or return */
  run(app: App, payload: P, signal: AbortSignal): Promise<void>
}

/** For tasks without a payload. */
export const NoPayload = z.object({})

/** Returns the task with its payload parsed, as the list of all tasks holds it. */
export function defineTask<P>(task: Task<P>): Task {
  return { ...task, run: (app, payload, signal) => task.run(app, task.payload.parse(payload), signal) }
}

export type JobOptions = {
  /** At most one job of this key waits; a later one replaces it. */
  readonly key?: string
  /** A later job of the key runs when the waiting one would have run. */
  readonly keepsTurn?: true
  /** Jobs with the same text run one after the other. */
  readonly oneByOne?: string
  readonly runAt?: Date
  /** Default 25, with growing delays: the last attempt is made after three days. */
  readonly maxAttempts?: number
}

/** Adds a job; inside a transaction, when it commits. */
export async function addJob(
  on: Connection,
  name: string,
  payload: Readonly<Record<string, unknown>> = {},
  options: JobOptions = {},
): Promise<void> {
  await on.query(
    'select 1 from graphile_worker.add_job($1, payload => $2::json, job_key => $3, run_at => $4::timestamptz, max_attempts => $5, queue_name => $6, job_key_mode => $7)',
    [
      name,
      JSON.stringify(payload),
      options.key ?? null,
      options.runAt?.toISOString() ?? null,
      options.maxAttempts ?? null,
      options.oneByOne ?? null,
      options.keepsTurn === true ? 'preserve_run_at' : 'replace',
    ],
  )
}
