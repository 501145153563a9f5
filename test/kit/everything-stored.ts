import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import type { Connection } from '#server/platform/storage/database.ts'

/** Returns everything a database holds as one text: every column of every table, compressed bytes decoded. */
export async function everythingStored(db: Connection): Promise<string> {
  const { rows: columns } = await db.query<{ table: string; column: string; type: string }>(
    `select c.table_schema || '.' || quote_ident(c.table_name) as table, quote_ident(c.column_name) as column, c.data_type as type
     from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
     where c.table_schema not in ('pg_catalog', 'information_schema') and t.table_type = 'BASE TABLE'`,
  )
  const texts: string[] = []
  for (const { table, column, type } of columns) {
    const value = type === 'bytea' ? column : `${column}::text`
    const { rows } = await db.query<{ v: Buffer | string | null }>(`select ${value} as v from ${table}`)
    for (const { v } of rows) if (v !== null) texts.push(typeof v === 'string' ? v : decoded(v))
  }
  return texts.join('\n')
}

/** The bytes as text, and as every compression that can read them decodes them. */
function decoded(bytes: Buffer): string {
  const texts = [bytes.toString('utf8'), bytes.toString('latin1')]
  for (const open of [zstdDecompressSync, gunzipSync, inflateSync, brotliDecompressSync]) {
    try {
      texts.push(open(bytes).toString('utf8'))
    } catch {
      // Another format.
    }
  }
  return texts.join('\n')
}
