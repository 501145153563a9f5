import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readMigrations } from '#server/storage/migrate.ts'
import { testApp } from '#test/kit/test-app.ts'

const { app } = await testApp()

/** Tables only their own module knows; the row types leave them out. */
const PRIVATE = new Set(['schema_migrations', 'spool', 'spool_quarantine'])

test('the row types of server/storage/tables.ts name exactly the columns of the migrated database', async () => {
  const { rows } = await app.pool.query<{ table_name: string; column_name: string }>(
    `select table_name, column_name from information_schema.columns
     where table_schema = 'public' and table_name not similar to '%_[0-9]{8}' order by table_name, ordinal_position`,
  )
  const actual = new Map<string, string[]>()
  for (const { table_name: table, column_name: column } of rows) {
    if (!PRIVATE.has(table)) actual.set(table, [...(actual.get(table) ?? []), column])
  }
  expect(Object.fromEntries([...actual].map(([table, columns]) => [table, columns.sort()]))).toEqual(declaredTables())
})

/** `name: { column: Type … }` entries of the Tables type, read as text: types are gone when tests run. */
function declaredTables(): Record<string, string[]> {
  const bodies = [
    'tables.ts',
    'people-tables.ts',
    'performance-tables.ts',
    'release-tables.ts',
    'telemetry-tables.ts',
  ].map((file) => {
    const source = readFileSync(new URL(`../../server/storage/${file}`, import.meta.url), 'utf8')
    return source.slice(source.search(/export type \w*Tables = /))
  })
  const tables: Record<string, string[]> = {}
  for (const [, table = '', columns = ''] of bodies.join('\n').matchAll(/^ {2}(\w+): \{([\s\S]*?)\n? {0,2}\}$/gm)) {
    tables[table] = [...columns.matchAll(/(?:^|[;{\n])\s*(\w+):/g)].map((match) => match[1] ?? '').sort()
  }
  return tables
}

test('migrations are numbered without gaps', () => {
  expect(readMigrations().map((migration) => Number(migration.name.slice(0, 4)))).toEqual(
    readMigrations().map((_, index) => index + 1),
  )
})

test('migrating twice changes nothing', async () => {
  const { migrate } = await import('#server/storage/migrate.ts')
  const client = await app.pool.connect()
  try {
    expect(await migrate(client)).toEqual([])
  } finally {
    client.release()
  }
})
