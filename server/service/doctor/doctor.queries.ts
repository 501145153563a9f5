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

/** When the first migration was applied: by the installation, or by the restore of a backup. */
export async function selectInstalledAt(on: Connection): Promise<Date> {
  const { rows } = await on.query<{ at: Date }>(
    'select applied_at as at from schema_migrations order by applied_at limit 1',
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database has no migrations')
  return row.at
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

export type VacuumFacts = {
  readonly isOn: boolean
  /** Transactions since the oldest row that is not frozen. */
  readonly transactionAge: number
  /** Age of the oldest open transaction that this user may see, also of a prepared one; 0 without one. */
  readonly openMs: number
  readonly openName: string
  /** Replication slots without a reader. */
  readonly slots: readonly { readonly name: string; readonly keptBytes: number }[]
  /** The table with the most dead rows, if they are many and a large share. */
  readonly bloated: { readonly table: string; readonly deadRows: number; readonly liveRows: number } | null
}

/** By the statistics of the database, which may be a second old. */
export async function readVacuumFacts(on: Connection): Promise<VacuumFacts> {
  const { rows } = await on.query<{ is_on: boolean; age: number; open_ms: number; open_name: string }>(
    `select current_setting('autovacuum')::boolean as is_on,
       (select age(datfrozenxid) from pg_database where datname = current_database()) as age,
       coalesce(extract(epoch from clock_timestamp() - oldest.since)::float8 * 1000, 0) as open_ms, coalesce(oldest.name, '') as open_name
     from (select 1) as one left join lateral (
       select xact_start as since, application_name as name from pg_stat_activity where datname = current_database() and backend_xmin is not null
       union all select prepared, gid from pg_prepared_xacts where database = current_database()
       order by since limit 1) as oldest on true`,
  )
  const { rows: slots } = await on.query<{ name: string; bytes: number }>(
    `select slot_name as name, pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::float8 as bytes from pg_replication_slots
     where not active and restart_lsn is not null and not pg_is_in_recovery()`,
  )
  const { rows: bloated } = await on.query<{ table: string; dead: number; live: number }>(
    `select relname as table, n_dead_tup::float8 as dead, n_live_tup::float8 as live from pg_stat_user_tables
     where n_dead_tup > 1000000 and n_dead_tup > n_live_tup / 2 order by n_dead_tup desc limit 1`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no answer')
  const [worst] = bloated
  return {
    isOn: row.is_on,
    transactionAge: row.age,
    openMs: row.open_ms,
    openName: row.open_name,
    slots: slots.map(({ name, bytes }) => ({ name, keptBytes: bytes })),
    bloated: worst === undefined ? null : { table: worst.table, deadRows: worst.dead, liveRows: worst.live },
  }
}
