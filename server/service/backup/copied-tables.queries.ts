import type { Connection, ReservedConnection } from '../../platform/storage/database.ts'
import { MIGRATION_LOCK } from '../../platform/storage/migrate.ts'

/** SQL of a backup: the tables of a database as its catalog lists them, their rows and their sequences. */

export type TableSchema = 'main' | 'jobs'

export type TableToCopy = {
  readonly oid: number
  readonly schema: TableSchema
  readonly name: string
  readonly columns: readonly string[]
  readonly partition: {
    readonly of: string
    readonly bound: string
    readonly options: readonly string[]
    readonly statistics: Readonly<Record<string, number>>
  } | null
  /** On disk, without indexes. */
  readonly sizeBytes: number
}

/** An arbitrary number: one backup of a database at a time. */
const BACKUP_LOCK = 7_201_994_341

/** The two schemas of an installation: its own and the one of the job queue. */
const SCHEMAS = `(select oid, 'main' as schema from pg_namespace where nspname = current_schema()
  union all select oid, 'jobs' from pg_namespace where nspname = 'graphile_worker')`

/**
 * Tables with rows of their own. Not those that migrations keep, those of a restore, and the copies that packing a day makes
 * (events/store/pack.queries.ts), which it begins again after a restore.
 */
const TABLES = `pg_class c join ${SCHEMAS} s on s.oid = c.relnamespace
  where c.relkind = 'r' and c.relname !~ '^(schema_migrations|migrations|restore_steps|restore_state)$'
    and c.relname !~ '^(events|event_blocks)_[0-9]{8}_packed$'`

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A table's name in a statement. COPY and DDL take no parameters, so names are quoted; they come from the catalog. */
export const tableName = ({ schema, name }: { readonly schema: TableSchema; readonly name: string }): string =>
  schema === 'main' ? quoted(name) : `graphile_worker.${quoted(name)}`

export const columnList = (columns: readonly string[]): string => columns.map(quoted).join(', ')

/** Prepares a connection for statements that take as long as they take. */
export async function allowLongWork(on: Connection): Promise<void> {
  await on.query('set statement_timeout = 0')
  await on.query('set idle_in_transaction_session_timeout = 0')
  // A large table would otherwise be read from its middle, where another reader is, and its content would differ.
  await on.query('set synchronize_seqscans = off')
}

/**
 * Takes the locks of a backup for the session: no other backup, and no migration, which would wait for the tables with
 * everything else waiting behind it.
 * @returns what another process does meanwhile, or null when the locks were taken
 */
export async function lockForBackup(on: ReservedConnection): Promise<'backup' | 'migration' | null> {
  const { rows } = await on.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [BACKUP_LOCK])
  if (rows[0]?.alone !== true) return 'backup'
  const { rows: migrated } = await on.query<{ quiet: boolean }>('select pg_try_advisory_lock_shared($1) as quiet', [
    MIGRATION_LOCK,
  ])
  return migrated[0]?.quiet === true ? null : 'migration'
}

/** Takes the lock of a restore for the session. @returns whether no other process has it */
export async function lockForRestore(on: ReservedConnection): Promise<boolean> {
  const { rows } = await on.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [BACKUP_LOCK])
  return rows[0]?.alone === true
}

/** Begins a transaction that sees one state of the database. */
export const beginSnapshot = (on: Connection): Promise<unknown> =>
  on.query('begin transaction isolation level repeatable read read only')

export const endTransaction = (on: Connection): Promise<unknown> => on.query('rollback')

export async function joinSnapshot(on: Connection, snapshot: string): Promise<void> {
  if (!/^[0-9A-F-]+$/i.test(snapshot)) throw new Error(`not a snapshot: ${snapshot}`)
  await beginSnapshot(on)
  await on.query(`set transaction snapshot '${snapshot}'`)
}

/** The tables that a backup locks: all without partitions, and partitions since a day. Older ones are many, and settled. */
export async function selectTablesToLock(
  on: Connection,
  sinceDay: string,
): Promise<{ schema: TableSchema; name: string }[]> {
  const { rows } = await on.query<{ schema: TableSchema; name: string; bound: string | null }>(
    `select s.schema, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound from ${TABLES} order by 1, 2`,
  )
  return rows.filter(({ bound }) => bound === null || dayAfter(bound) > sinceDay)
}

/** The day after the last one of a partition. */
export const dayAfter = (bound: string): string => /TO \('(\d{4}-\d{2}-\d{2})'\)$/.exec(bound)?.[1] ?? '9999-12-31'

/**
 * Keeps others from dropping or replacing tables, and from nothing else. Partitioned tables are not locked, so that new
 * days begin while a backup runs. It is the first statement of its transaction: the snapshot is taken after it.
 */
export async function lockTables(
  on: Connection,
  tables: readonly { readonly schema: TableSchema; readonly name: string }[],
): Promise<void> {
  await on.query(`set local lock_timeout = '5s'`)
  if (tables.length === 0) return
  const names = tables.map((table) => `only ${tableName(table)}`).join(', ')
  await on.query(`lock table ${names} in access share mode`)
}

/** Takes the snapshot of this transaction, for others to join. */
export async function exportSnapshot(on: Connection): Promise<{ snapshot: string; at: Date; postgres: number }> {
  const { rows } = await on.query<{ snapshot: string; at: Date; postgres: number }>(
    `select pg_export_snapshot() as snapshot, clock_timestamp() as at, current_setting('server_version_num')::int as postgres`,
  )
  const [row] = rows
  if (row === undefined) throw new Error('the database gave no snapshot')
  return row
}

type CatalogRow = {
  oid: number
  schema: TableSchema
  name: string
  columns: string[]
  parent: string | null
  bound: string | null
  options: string[] | null
  statistics: Record<string, number> | null
  size: number
}

/** The tables of the snapshot, largest first. */
export async function selectTables(on: Connection): Promise<TableToCopy[]> {
  const { rows } = await on.query<CatalogRow>(
    `select c.oid::int8 as oid, s.schema, c.relname as name, pg_table_size(c.oid) as size,
       (select array_agg(attname::text order by attnum) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '') as columns,
       (select p.relname from pg_inherits i join pg_class p on p.oid = i.inhparent where i.inhrelid = c.oid) as parent,
       pg_get_expr(c.relpartbound, c.oid) as bound, c.reloptions as options,
       (select jsonb_object_agg(attname, attstattarget) from pg_attribute
        where attrelid = c.oid and attnum > 0 and not attisdropped and attstattarget >= 0) as statistics
     from ${TABLES} order by size desc, 2, 3`,
  )
  return rows.map(({ oid, schema, name, columns, parent, bound, options, statistics, size }) => ({
    oid,
    schema,
    name,
    columns,
    sizeBytes: size,
    partition:
      parent === null || bound === null
        ? null
        : { of: parent, bound, options: options ?? [], statistics: statistics ?? {} },
  }))
}

/**
 * Names the files of the database server. It changes when they are replaced by older ones, as after a promotion or a
 * recovery to a point in time: fingerprints of before then mean nothing. Null where the user may not ask.
 */
export async function readSource(on: Connection): Promise<string | null> {
  try {
    const { rows } = await on.query<{ source: string }>(
      `select system_identifier || '/' || (select timeline_id from pg_control_checkpoint()) || '/' ||
         (select oid from pg_database where datname = current_database()) as source from pg_control_system()`,
    )
    return rows[0]?.source ?? null
  } catch {
    return null
  }
}

/**
 * Tells whether a table has the same rows as before: every row has its place and the transaction that wrote it. Reads the
 * rows without their large values, which cannot change without the row.
 */
export async function readFingerprint(on: Connection, table: TableToCopy): Promise<string> {
  const { rows } = await on.query<{ fingerprint: string }>(
    `select pg_relation_filenode(${table.oid}::oid) || '/' || count(*) || '/' ||
       coalesce(sum(hashtextextended(ctid::text || ' ' || xmin::text, 0)), 0) as fingerprint
     from only ${tableName(table)}`,
  )
  return rows[0]?.fingerprint ?? ''
}

/**
 * Whether the name still leads to the table of the snapshot: packing replaces tables. Asked after reading, in the transaction
 * that read, which keeps the answer true.
 */
export async function isSameTable(on: Connection, table: TableToCopy): Promise<boolean> {
  const { rows } = await on.query<{ same: boolean }>('select to_regclass($1)::oid = $2::oid as same', [
    tableName(table),
    table.oid,
  ])
  return rows[0]?.same === true
}

export const copyOutStatement = (table: Pick<TableToCopy, 'schema' | 'name' | 'columns'>): string =>
  `copy ${tableName(table)} (${columnList(table.columns)}) to stdout (format binary)`

type SequenceValue = {
  readonly schema: TableSchema
  readonly name: string
  readonly value: string
  readonly isCalled: boolean
}

/** Sequences are no part of a snapshot: read after it, they are at least as far as its rows. */
export async function selectSequences(on: Connection): Promise<SequenceValue[]> {
  const { rows } = await on.query<{ schema: TableSchema; name: string }>(
    `select s.schema, c.relname as name from pg_class c join ${SCHEMAS} s on s.oid = c.relnamespace
     where c.relkind = 'S' order by 1, 2`,
  )
  const values: SequenceValue[] = []
  for (const { schema, name } of rows) {
    const { rows: found } = await on.query<{ value: string; called: boolean }>(
      `select last_value::text as value, is_called as called from ${tableName({ schema, name })}`,
    )
    for (const { value, called } of found) values.push({ schema, name, value, isCalled: called })
  }
  return values
}

export async function selectMigrations(
  on: Connection,
): Promise<{ migrations: { name: string; digest: string }[]; jobMigrations: number[] }> {
  const { rows } = await on.query<{ name: string; digest: string }>(
    'select name, digest from schema_migrations order by name',
  )
  const { rows: jobs } = await on.query<{ id: number }>('select id from graphile_worker.migrations order by id')
  return { migrations: rows, jobMigrations: jobs.map(({ id }) => id) }
}
