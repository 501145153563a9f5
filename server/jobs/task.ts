import { z } from 'zod'
import type { App } from '../context/app.ts'
import type { Connection } from '../storage/database.ts'

/**
 * Work behind the scenes, once or on a schedule. A task may run twice (its worker was killed) and must leave the same
 * behind as when it ran once.
 */
export type Task<P = unknown> = {
  /** Letters, digits and `-`; never renamed while jobs of it may wait. */
  readonly name: string
  readonly payload: z.ZodType<P>
  /** Five crontab fields, UTC; its payload is then `{}`. */
  readonly cron?: string
  /** @param signal aborted when the process stops: finish the batch and throw or return */
  run(app: App, payload: P, signal: AbortSignal): Promise<void>
}

/** For tasks that need nothing but the time. */
export const NoPayload = z.object({})

/** Gives a task its types, and the registry one it can hold. */
export function defineTask<P>(task: Task<P>): Task {
  return { ...task, run: (app, payload, signal) => task.run(app, task.payload.parse(payload), signal) }
}

export type JobOptions = {
  /** At most one waiting job of this key; a later one takes its place. */
  readonly key?: string
  readonly runAt?: Date
  /** Default 25, with exponential pauses: the last one after three days. */
  readonly maxAttempts?: number
}

/** Queues a job inside the caller's transaction: it exists exactly when what it belongs to was committed. */
export async function addJob(
  on: Connection,
  name: string,
  payload: Readonly<Record<string, unknown>> = {},
  options: JobOptions = {},
): Promise<void> {
  await on.query(
    'select 1 from graphile_worker.add_job($1, payload => $2::json, job_key => $3, run_at => $4::timestamptz, max_attempts => $5)',
    [
      name,
      JSON.stringify(payload),
      options.key ?? null,
      options.runAt?.toISOString() ?? null,
      options.maxAttempts ?? null,
    ],
  )
}
