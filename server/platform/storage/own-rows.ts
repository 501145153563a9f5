import { type RawBuilder, sql } from 'kysely'
import type { Connection } from './database.ts'
import type { Tables } from './tables.gen.ts'

/** A table whose rows are deleted in batches, as the room declares it that owns the table. */
export type OwnRows = { readonly table: keyof Tables; readonly key: readonly string[] }

/**
 * Declares a table of the room that calls this: `scripts/check-sql.ts` compares the literal name with the owner.
 * @param key for a table with partitions: columns that identify a row, those of an index first
 */
export const ownRows = (table: keyof Tables, ...key: string[]): OwnRows => ({ table, key })

/** Values that columns of the deleted rows have, and a time or day that a column is before. */
export type RowFilter = {
  readonly equal?: Readonly<Record<string, string | number>>
  readonly before?: readonly [column: string, time: Date | string]
}

/**
 * Deletes at most `max` rows.
 * @param locked rows that others hold: wait for them, or leave them to the next batch
 * @returns number of rows deleted
 */
export async function deleteRows(
  on: Connection,
  { table, key }: OwnRows,
  { equal = {}, before }: RowFilter,
  max: number,
  locked: 'wait' | 'skip',
): Promise<number> {
  const rows = sql.table(table)
  const filterOf = (prefix: string): RawBuilder<unknown> =>
    sql.join(
      [
        ...Object.entries(equal).map(([column, value]) => sql`${sql.ref(prefix + column)} = ${value}`),
        ...(before === undefined ? [] : [sql`${sql.ref(prefix + before[0])} < ${before[1]}`]),
      ],
      sql` and `,
    )
  const same = key.map((column) => sql`t.${sql.ref(column)} = chosen.${sql.ref(column)}`)
  const statement =
    key.length === 0
      ? sql`delete from ${rows} where ctid = any(array(
          select ctid from ${rows} where ${filterOf('')} limit ${max} for update ${sql.raw(locked === 'skip' ? 'skip locked' : '')}))`
      : sql`delete from ${rows} t using (
          select ${sql.join(key.map((column) => sql.ref(column)))} from ${rows} where ${filterOf('')} limit ${max}
        ) chosen where ${filterOf('t.')} and ${sql.join(same, sql` and `)}`
  return Number((await statement.execute(on)).numAffectedRows ?? 0)
}
