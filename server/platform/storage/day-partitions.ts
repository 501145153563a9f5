import type { Database, Tx } from './database.ts'
import { dayPlus } from '../kernel/day.ts'

const PARTITION_LOCK = 7_201_994_312

/** A table split by a `date` column, one partition per UTC day, so that old days can be dropped whole. */
export type DayTable = {
  /** Its name; written in code, never from input. */
  readonly table: string
  /** Storage parameters of each partition, for example `toast_tuple_target = 8160`. */
  readonly storage?: string
  /** Statistics target of its columns: ANALYZE holds 300 times as many rows in memory. Default: the database's own, 100. */
  readonly statistics?: number
}

/**
 * Creates missing partitions of these tables for a day and the next one. Call it before this process writes the first
 * rows of a day. It locks tables, so it uses its own transaction.
 */
export async function ensureDayPartitions(db: Database, tables: readonly DayTable[], day: string): Promise<void> {
  const wanted = tables.flatMap((table) =>
    [day, dayPlus(day, 1)].map((one) => ({ ...table, day: one, name: partitionName(table.table, one) })),
  )
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = any($1::text[]::regclass[]) and c.relname = any($2)`,
    [tables.map(({ table }) => table), wanted.map(({ name }) => name)],
  )
  const present = new Set(rows.map((row) => row.name))
  const missing = wanted.filter(({ name }) => !present.has(name))
  if (missing.length === 0) return
  await db.tx(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [PARTITION_LOCK])
    for (const { table, storage, statistics, day: from, name } of missing) {
      await tx.query(
        `create table if not exists ${name} partition of ${table} for values from ('${from}') to ('${dayPlus(from, 1)}')${storage === undefined ? '' : ` with (${storage})`}`,
      )
      if (statistics !== undefined) await setStatistics(tx, name, statistics)
    }
  })
}

/** A partition does not inherit its parent's statistics targets. */
async function setStatistics(tx: Tx, name: string, target: number): Promise<void> {
  const { rows } = await tx.query<{ changes: string }>(
    `select string_agg(format('alter column %I set statistics %s', attname, $2::int), ', ') as changes
     from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped`,
    [name, target],
  )
  await tx.query(`alter table ${name} ${rows[0]?.changes ?? ''}`)
}

/** Days a table has partitions of, newest first. */
export async function partitionDays(db: Database, table: string): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>(
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = $1::text::regclass order by c.relname desc`,
    [table],
  )
  return rows.flatMap(({ name }) => {
    const [, year, month, day] = /_(\d{4})(\d{2})(\d{2})$/.exec(name) ?? []
    return day === undefined ? [] : [`${year}-${month}-${day}`]
  })
}

/**
 * Drops the partitions of all days before `day`, for tables that belong together. Skips a day that readers hold for more
 * than two seconds: statements that arrive later would wait behind this one.
 * @returns the number of dropped days
 */
export async function dropDaysBefore(db: Database, tables: readonly string[], day: string): Promise<number> {
  const days = new Set<string>()
  for (const table of tables) for (const one of await partitionDays(db, table)) if (one < day) days.add(one)
  let dropped = 0
  for (const one of days) {
    try {
      await db.tx(async (tx) => {
        await tx.query(`set local lock_timeout = '2s'`)
        for (const table of tables) await tx.query(`drop table if exists ${partitionName(table, one)}`)
      })
      dropped++
    } catch (error) {
      const isBusy = error instanceof Error && 'code' in error && error.code === '55P03'
      if (!isBusy) throw error
    }
  }
  return dropped
}

/** Built from constants and dates, never from input. */
export function partitionName(table: string, day: string): string {
  if (!/^[a-z_]{1,40}$/.test(table)) throw new Error(`invalid table name: ${table}`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new Error(`invalid day: ${day}`)
  return `${table}_${day.replaceAll('-', '')}`
}
