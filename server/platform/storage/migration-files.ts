import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

const FOLDER = new URL('../../../migrations/', import.meta.url)

/** The first line of a file whose statements cannot run in a transaction, such as `create index concurrently`. */
const NO_TRANSACTION = '-- no transaction'

export type Migration = {
  readonly name: string
  readonly sql: string
  readonly digest: string
  /** The statements to run one by one, or null when the whole file is one transaction. */
  readonly statements: readonly string[] | null
}

/**
 * The numbered SQL files in order.
 * @throws Error when numbers repeat or a name is not `NNNN_words.sql`
 */
export function readMigrations(): Migration[] {
  const names = readdirSync(FOLDER)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  const seen = new Set<string>()
  return names.map((name) => {
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(name)) throw new Error(`migrations/${name}: the name must be NNNN_words.sql`)
    const number = name.slice(0, 4)
    if (seen.has(number)) throw new Error(`migrations/${name}: number ${number} is taken`)
    seen.add(number)
    return parseMigration(name, readFileSync(new URL(name, FOLDER), 'utf8'))
  })
}

export function parseMigration(name: string, sql: string): Migration {
  const [first = ''] = sql.split('\n', 1)
  return {
    name,
    sql,
    digest: createHash('sha256').update(sql).digest('hex'),
    statements: first.trim() === NO_TRANSACTION ? splitStatements(sql) : null,
  }
}

/** A statement ends with a semicolon at the end of a line; lines that are comments belong to none. */
export function splitStatements(sql: string): string[] {
  return sql
    .split('\n')
    .filter((line) => !/^\s*--/.test(line))
    .join('\n')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}
