import type { Database } from '#server/platform/storage/database.ts'

/** Key ids of every sealed value by `table.column`, found by its form in every column of every table. */
export async function keyIdsBySealedColumn(db: Database): Promise<Map<string, readonly string[]>> {
  const { rows: columns } = await db.query<{ table: string; column: string; type: string }>(
    `select table_name as table, column_name as column, data_type as type from information_schema.columns
     where table_schema = 'public' and data_type in ('text', 'bytea')`,
  )
  const found = new Map<string, readonly string[]>()
  for (const { table, column, type } of columns) {
    const value = type === 'bytea' ? `encode(${column}, 'escape')` : column
    const { rows } = await db.query<{ id: string }>(
      `select distinct split_part(${value}, '.', 2) as id from ${table} where ${value} ~ '^v1[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]{16}[.]'`,
    )
    if (rows.length > 0)
      found.set(
        `${table}.${column}`,
        rows.map(({ id }) => id),
      )
  }
  return found
}
