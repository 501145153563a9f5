import { operatorCommand } from '../../config/manifest.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { StatementRunner } from '../../platform/storage/migrate.ts'
import { BackupError } from './backup-error.ts'
import { columnList, tableName, type TableSchema } from './copied-tables.queries.ts'
import type { BackedUpTable } from './manifest.ts'

/**
 * SQL of a restore. Its progress is in the database that it fills: `restore_state` says that a restore began and what it
 * restores, `restore_steps` what is left to do. Both are dropped at its end.
 */

/** `isPrepared`: the tables exist and the steps are listed. */
type RestoreState = { readonly backup: string; readonly isPrepared: boolean }

/** The state of a restore that was cut off here; null where none was. */
export async function readRestoreState(on: Connection): Promise<RestoreState | null> {
  const { rows } = await on.query<{ exists: boolean }>(`select to_regclass('restore_state') is not null as exists`)
  if (rows[0]?.exists !== true) return null
  const { rows: states } = await on.query<{ backup: string; prepared: boolean }>(
    'select backup, is_prepared as prepared from restore_state',
  )
  const [state] = states
  return state === undefined ? null : { backup: state.backup, isPrepared: state.prepared }
}

/** @throws BackupError when the database holds half of a restore */
export async function refuseUnfinishedRestore(on: StatementRunner): Promise<void> {
  const { rows } = await on.query<{ exists: boolean }>(`select to_regclass('restore_state') is not null as exists`)
  if (rows[0]?.exists === true)
    throw new BackupError(
      `A restore into this database was cut off. Start it again with "${operatorCommand('restore <folder>')}".`,
    )
}

/** A table that the database has already, and that no restore made. */
export async function findForeignTable(on: Connection): Promise<string | null> {
  const { rows } = await on.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p', 'v', 'm', 'S') and (nspname = current_schema() or nspname in ('graphile_worker', 'nlq'))
     order by 1 limit 1`,
  )
  return rows[0]?.name ?? null
}

/** @param backup names the backup: a restore that was cut off continues with the same one only */
export async function beginRestore(tx: Tx, backup: string): Promise<void> {
  await tx.query('create table restore_state (backup text not null, is_prepared boolean not null)')
  await tx.query(
    'create table restore_steps (id integer primary key, kind text not null, name text not null, statement text, is_done boolean not null default false)',
  )
  await tx.query('insert into restore_state values ($1, false)', [backup])
}

/** Tables that the migrations made. */
export async function selectMadeTables(on: Connection): Promise<{ schema: TableSchema; name: string }[]> {
  const { rows } = await on.query<{ schema: TableSchema; name: string }>(
    `select case nspname when 'graphile_worker' then 'jobs' else 'main' end as schema, c.relname as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and nspname in (current_schema(), 'graphile_worker')`,
  )
  return rows
}

/** Names of the tables that this restore filled, also before it was cut off. */
export async function selectRestoredTables(on: Connection): Promise<Set<string>> {
  const { rows } = await on.query<{ name: string }>(`select name from restore_steps where kind = 'table' and is_done`)
  return new Set(rows.map(({ name }) => name))
}

/** Creates the partition of a day. Its values were checked when the manifest was read. */
export async function createPartition(on: Connection, { name, partition }: BackedUpTable): Promise<void> {
  if (partition === null) return
  const table = tableName({ schema: 'main', name })
  const options = partition.options.length === 0 ? '' : ` with (${partition.options.join(', ')})`
  await on.query(
    `create table ${table} partition of ${tableName({ schema: 'main', name: partition.of })} ${partition.bound.toLowerCase()}${options}`,
  )
  const changes = Object.entries(partition.statistics).map(
    ([column, target]) => `alter column ${columnList([column])} set statistics ${target}`,
  )
  if (changes.length > 0) await on.query(`alter table ${table} ${changes.join(', ')}`)
}

const OURS = `n.nspname in (current_schema(), 'graphile_worker')`

/**
 * Statements that make again what is removed while tables are filled: indexes, foreign keys and triggers; in this order. Filling a
 * table without indexes takes a fraction of the time, and rows may come in any order.
 */
const REMOVED = `
  select 1 as place, 'index' as kind, c.relname as name,
         replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') as again,
         format('drop index %I.%I', n.nspname, c.relname) as remove
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and not c.relispartition and c.relname !~ '^restore_'
    and not exists (select 1 from pg_constraint where conindid = i.indexrelid and contype in ('p', 'u', 'x'))
  union all
  select 2, 'foreign key', format('%s.%s', t.relname, k.conname),
         format('alter table %I.%I add constraint %I %s', n.nspname, t.relname, k.conname, pg_get_constraintdef(k.oid)),
         format('alter table %I.%I drop constraint %I', n.nspname, t.relname, k.conname)
  from pg_constraint k join pg_class t on t.oid = k.conrelid join pg_namespace n on n.oid = t.relnamespace
  where ${OURS} and k.contype = 'f' and k.conparentid = 0
  union all
  select 3, 'trigger', format('%s.%s', t.relname, g.tgname),
         format('alter table %I.%I enable trigger %I', n.nspname, t.relname, g.tgname),
         format('alter table %I.%I disable trigger %I', n.nspname, t.relname, g.tgname)
  from pg_trigger g join pg_class t on t.oid = g.tgrelid join pg_namespace n on n.oid = t.relnamespace
  where ${OURS} and not g.tgisinternal and g.tgparentid = 0 and g.tgenabled = 'O'`

/**
 * Plans the restore and removes what would slow it down, in one transaction.
 * @param files tables in the order in which they are filled
 */
export async function planRestore(tx: Tx, files: readonly string[]): Promise<void> {
  const { rows } = await tx.query<{ kind: string; name: string; again: string; remove: string }>(
    `select kind, name, again, remove from (${REMOVED}) r order by place, name`,
  )
  // Foreign keys need the indexes of the tables they lead to.
  for (const { remove } of rows.filter(({ kind }) => kind !== 'index')) await tx.query(remove)
  for (const { remove } of rows.filter(({ kind }) => kind === 'index')) await tx.query(remove)
  await tx.query(
    `insert into restore_steps (id, kind, name, statement)
     select row_number() over (), kind, name, statement
     from unnest($1::text[], $2::text[], $3::text[]) as t (kind, name, statement)`,
    [
      [...files.map(() => 'table'), ...rows.map(({ kind }) => kind)],
      [...files, ...rows.map(({ name }) => name)],
      [...files.map(() => null), ...rows.map(({ again }) => again)],
    ],
  )
  await tx.query('update restore_state set is_prepared = true')
}

export type RestoreStep = {
  readonly id: number
  readonly kind: 'table' | 'index' | 'foreign key' | 'trigger'
  readonly name: string
  readonly statement: string | null
}

export async function selectSteps(on: Connection): Promise<RestoreStep[]> {
  const { rows } = await on.query<RestoreStep>(
    'select id, kind, name, statement from restore_steps where not is_done order by id',
  )
  return rows
}

export async function finishStep(on: Connection, id: number): Promise<void> {
  await on.query('update restore_steps set is_done = true where id = $1', [id])
}

export const begin = (on: Connection): Promise<unknown> => on.query('begin')
export const commit = (on: Connection): Promise<unknown> => on.query('commit')

/** Building an index sorts in this much memory. */
export async function allowMemory(on: Connection): Promise<void> {
  await on.query(`set maintenance_work_mem = '256MB'`)
}

/** Runs a statement that the database itself wrote ({@link planRestore}). */
export const runStep = (on: Connection, { statement }: RestoreStep): Promise<unknown> => on.query(statement ?? '')

/** In the transaction of a COPY: rows then need no log of their own and are frozen. */
export const emptyTable = (on: Connection, table: BackedUpTable): Promise<unknown> =>
  on.query(`truncate only ${tableName(table)}`)

export const copyInStatement = (table: BackedUpTable): string =>
  `copy ${tableName(table)} (${columnList(table.columns)}) from stdin (format binary, freeze)`

export async function countRows(on: Connection, table: BackedUpTable): Promise<number> {
  const { rows } = await on.query<{ n: number }>(`select count(*) as n from only ${tableName(table)}`)
  return rows[0]?.n ?? -1
}

export async function setSequence(
  on: Connection,
  { schema, name, value, isCalled }: { schema: TableSchema; name: string; value: string; isCalled: boolean },
): Promise<void> {
  await on.query('select setval(to_regclass($1), $2::bigint, $3)', [tableName({ schema, name }), value, isCalled])
}

/** Statistics of all tables, for the planner. */
export const analyzeAll = (on: Connection): Promise<unknown> => on.query('analyze')

export async function endRestore(tx: Tx): Promise<void> {
  await tx.query('drop table restore_steps, restore_state')
}
