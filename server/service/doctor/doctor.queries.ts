import type { Connection } from '../../platform/storage/database.ts'

/** SQL of the check of an installation. */

type DatabaseFacts = {
  readonly version: string
  /** By the clock of the database. */
  readonly now: Date
  readonly sizeBytes: number
  /** Processes of the service that are connected. */
  readonly isServing: boolean
}

export async function readDatabaseFacts(on: Connection): Promise<DatabaseFacts> {
  const { rows } = await on.query<{ version: string; now: Date; size: number; serving: boolean }>(
    `select current_setting('server_version') as version, clock_timestamp() as now, pg_database_size(current_database()) as size,
       exists (select 1 from pg_stat_activity where datname = current_database() and application_name ~ '^faultline (serve|jobs|intake|digest)') as serving`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no answer')
  return { version: row.version, now: row.now, sizeBytes: row.size, isServing: row.serving }
}

/** The job that has waited longest since it was due, and how many jobs were given up. */
export async function readJobs(on: Connection): Promise<{ task: string | null; waitedMs: number; givenUp: number }> {
  const { rows } = await on.query<{ task: string; waited: number }>(
    `select task_identifier as task, extract(epoch from now() - run_at)::float8 * 1000 as waited from graphile_worker.jobs
     where locked_at is null and attempts < max_attempts and run_at <= now() order by run_at limit 1`,
  )
  const { rows: failed } = await on.query<{ n: number }>(
    'select count(*) as n from graphile_worker.jobs where attempts >= max_attempts',
  )
  return { task: rows[0]?.task ?? null, waitedMs: rows[0]?.waited ?? 0, givenUp: failed[0]?.n ?? 0 }
}
