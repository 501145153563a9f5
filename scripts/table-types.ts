import type { StatementRunner } from '#server/platform/storage/migrate.ts'

/** The driver's TypeScript type of a PostgreSQL type, with the parsers of server/platform/storage/pool.ts. */
const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  date: 'string',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  text: 'string',
  timestamptz: 'Date',
  tsvector: 'string',
  uuid: 'string',
  _text: 'string[]',
  _uuid: 'string[]',
}

/** The type of a JSON column when it is read, where it is more than `unknown`. It is written as text. */
const JSON_TYPES: Readonly<Record<string, string>> = {
  'erasures.erased': 'Record<string, number>',
  'issue_activity.data': 'Record<string, unknown>',
  'issue_views.filters': 'Record<string, unknown>',
  'issues.ignore_until': 'Record<string, unknown>',
  'projects.settings': 'Record<string, unknown>',
  'signing_keys.public_jwk': 'Record<string, unknown>',
}

/** The migrator's own table. */
const LEFT_OUT = new Set(['schema_migrations'])

const HEADER = `import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

/** Row types of the migrated database, written by \`npm run tables\`. A test compares this file with the database. */

/** JSON is parsed when it is read and written as text. */
type Json<T> = ColumnType<T, string, string>
type DefaultJson<T> = ColumnType<T, string | undefined, string>
type NullableJson<T> = ColumnType<T | null, string | null | undefined, string | null>
`

type Column = {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
  /** A generated column, or an identity that accepts no value. */
  readonly isAlwaysGenerated: boolean
  /** Definitions of the checks on this column alone. */
  readonly checks: readonly string[]
}

/**
 * TypeScript source of the row types of every table in schema `public`; partitions are left out.
 * @throws Error for a column type without an entry in {@link TYPES}, and for a JSON type whose column is gone
 */
export async function tableTypes(on: StatementRunner): Promise<string> {
  const columns = await readColumns(on)
  const names = new Set(columns.map((column) => `${column.table}.${column.name}`))
  for (const name of Object.keys(JSON_TYPES)) {
    if (!names.has(name)) throw new Error(`scripts/table-types.ts: no column ${name}. Remove its JSON type.`)
  }
  const tables = Map.groupBy(columns, (column) => column.table)
  const body = [...tables].map(([table, own]) =>
    [`  ${table}: {`, ...own.map((column) => `    ${column.name}: ${columnType(column)}`), '  }'].join('\n'),
  )
  return `${HEADER}\nexport type Tables = {\n${body.join('\n')}\n}\n`
}

async function readColumns(on: StatementRunner): Promise<Column[]> {
  const { rows } = await on.query<Column>(
    `select c.relname as table, a.attname as name, t.typname as type, not a.attnotnull as "isNullable",
       (a.atthasdef or a.attidentity = 'd') as "hasDefault",
       (a.attgenerated <> '' or a.attidentity = 'a') as "isAlwaysGenerated",
       array(select pg_get_constraintdef(k.oid) from pg_constraint k
             where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum] order by k.conname) as checks
     from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     join pg_type t on t.oid = a.atttypid
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     order by c.relname collate "C", a.attnum`,
  )
  return rows.filter((row) => !LEFT_OUT.has(row.table))
}

function columnType(column: Column): string {
  const { isNullable, hasDefault } = column
  if (column.type === 'jsonb') {
    const inner = JSON_TYPES[`${column.table}.${column.name}`] ?? 'unknown'
    return `${isNullable ? 'NullableJson' : hasDefault ? 'DefaultJson' : 'Json'}<${inner}>`
  }
  const read = union(column.checks) ?? TYPES[column.type]
  if (read === undefined)
    throw new Error(`scripts/table-types.ts: ${column.table}.${column.name} is ${column.type}, which has no entry.`)
  const type = isNullable ? `${read} | null` : read
  if (column.isAlwaysGenerated) return `GeneratedAlways<${type}>`
  return hasDefault ? `Generated<${type}>` : type
}

/** The values of a check of the form `column in ('a', 'b')`, as a union of strings. */
function union(checks: readonly string[]): string | undefined {
  for (const check of checks) {
    const list = /^CHECK \(\(\w+ = ANY \(ARRAY\[((?:'[^']*'::text(?:, )?)+)\]\)\)\)$/.exec(check)?.[1]
    if (list !== undefined) return [...list.matchAll(/'([^']*)'/g)].map((match) => `'${match[1] ?? ''}'`).join(' | ')
  }
  return undefined
}
