import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { errorText } from '../kernel/errors.ts'
import { DatabaseStartError } from './pool.ts'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'

/** An arbitrary fixed number: only one process migrates a database at a time. Backups share it. */
export const MIGRATION_LOCK = 7_201_994_311
const LOCK_RETRY_MS = 250

/**
 * Brings the database up to date. Each file is one transaction, or runs statement by statement if its first line is
 * `-- no transaction`; such a file starts again from its first statement after an interruption. Several processes may
 * call this at once.
 * @returns the names of the files that were applied
 * A database that a newer program migrated is used when each of its further files can be ignored (`can_be_ignored`).
 * @throws DatabaseStartError when the database is newer than this program can use, or older than the first release
 * @throws Error when an applied file was changed, or a statement fails
 */
export async function migrate(
  client: StatementRunner,
  progress: (line: string) => void = () => {},
  migrations: readonly Migration[] = readMigrations(),
): Promise<string[]> {
  // A running backup delays only a start that has something to migrate.
  if (await isUpToDate(client, migrations)) return []
  await lock(client, progress)
  try {
    await prepareRecords(client)
    const applied = await readApplied(client)
    checkApplied(applied, migrations)
    const pending = migrations.filter((migration) => !applied.has(migration.name))
    for (const migration of pending) {
      progress(`migrating ${migration.name}`)
      if (migration.statements === null) await applyInTransaction(client, migration)
      else await applyStatements(client, migration, migration.statements)
    }
    return pending.map((migration) => migration.name)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {})
  }
}

async function prepareRecords(client: StatementRunner): Promise<void> {
  await client.query(
    'create table if not exists schema_migrations (name text primary key, digest text not null, applied_at timestamptz not null default now(), can_be_ignored boolean not null default false)',
  )
  // Asked first: the statement below waits for every reader of the table.
  const { rows } = await client.query(
    `select 1 from pg_attribute where attrelid = 'schema_migrations'::regclass and attname = 'can_be_ignored'`,
  )
  if (rows.length === 0)
    await client.query('alter table schema_migrations add column can_be_ignored boolean not null default false')
}

type Applied = { readonly digest: string; readonly canBeIgnored: boolean }

/** The first versions had no column `can_be_ignored`. */
async function readApplied(client: StatementRunner): Promise<Map<string, Applied>> {
  const { rows } = await client.query<{ name: string; digest: string; ignored: string | null }>(
    `select name, digest, to_jsonb(m)->>'can_be_ignored' as ignored from schema_migrations m`,
  )
  return new Map(rows.map(({ name, digest, ignored }) => [name, { digest, canBeIgnored: ignored === 'true' }]))
}

async function isUpToDate(client: StatementRunner, migrations: readonly Migration[]): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select to_regclass('schema_migrations') is not null as exists`,
  )
  if (rows[0]?.exists !== true) return false
  const applied = await readApplied(client)
  checkApplied(applied, migrations)
  return migrations.every(({ name }) => applied.has(name))
}

/**
 * Polls instead of waiting inside a statement: `create index concurrently` waits for the end of every statement that
 * started before it, also of one that waits for this lock.
 */
async function lock(client: StatementRunner, progress: (line: string) => void): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [
      MIGRATION_LOCK,
    ])
    if (rows[0]?.locked === true) return
    if (attempt === 0) progress('waiting for another process that migrates or backs up the database')
    await sleep(LOCK_RETRY_MS)
  }
}

function checkApplied(applied: ReadonlyMap<string, Applied>, migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.name, migration.digest]))
  const newest = migrations.at(-1)?.name.slice(0, 4) ?? ''
  for (const [name, { digest, canBeIgnored }] of applied) {
    const expected = known.get(name)
    // Before the first release the files had other names under the same numbers.
    if (expected === undefined && name.slice(0, 4) <= newest)
      throw new DatabaseStartError(
        'The database comes from Faultline 0.1 before its release and cannot be upgraded. Start with an empty one: name another FAULTLINE_DATA_DIR or DATABASE_URL.',
      )
    if (expected === undefined && canBeIgnored) continue
    if (expected === undefined)
      throw new DatabaseStartError(
        `The database was migrated by a newer version (${name}). Run that version, or restore a backup.`,
      )
    if (expected !== digest)
      throw new Error(`migrations/${name} was changed after it was applied. Restore it and add a new file instead.`)
  }
}

async function applyInTransaction(client: StatementRunner, migration: Migration): Promise<void> {
  await client.query('begin')
  try {
    await client.query(migration.sql)
    await recordApplied(client, migration)
    await client.query('commit')
  } catch (error) {
    // A broken connection has rolled back already; its error must not replace the first one.
    await client.query('rollback').catch(() => {})
    throw failed(migration.name, error)
  }
}

async function applyStatements(
  client: StatementRunner,
  migration: Migration,
  statements: readonly string[],
): Promise<void> {
  for (const [index, statement] of statements.entries()) {
    try {
      await dropInvalidIndex(client, statement)
      await client.query(statement)
    } catch (error) {
      throw failed(`${migration.name}, statement ${index + 1}`, error)
    }
  }
  await recordApplied(client, migration)
}

/** A `create index concurrently` that failed leaves an invalid index, which `if not exists` would accept. */
async function dropInvalidIndex(client: StatementRunner, statement: string): Promise<void> {
  const name = /^create\s+(?:unique\s+)?index\s+concurrently\s+if\s+not\s+exists\s+([a-z0-9_]+)\s/i.exec(statement)?.[1]
  if (name === undefined) return
  const { rows } = await client.query(
    'select 1 from pg_index where indexrelid = to_regclass($1)::oid and not indisvalid',
    [name],
  )
  if (rows.length > 0) await client.query(`drop index concurrently if exists ${name}`)
}

async function recordApplied(client: StatementRunner, { name, digest, sql }: Migration): Promise<void> {
  await client.query('insert into schema_migrations (name, digest, can_be_ignored) values ($1, $2, $3)', [
    name,
    digest,
    !CONTRACT_NOTE.test(sql),
  ])
}

/**
 * The line of a file that removes what an earlier program used, with the reason why that is safe now. Without it a file only
 * adds what the program of the release before can ignore: `scripts/migration-rules.ts` refuses other statements.
 */
export const CONTRACT_NOTE = /^-- contract: \S.{19,}$/m

const failed = (where: string, cause: unknown): Error =>
  new Error(`migrations/${where} failed: ${errorText(cause)}`, { cause })

/** A {@link Connection}, or a client of `pg`. */
export type StatementRunner = {
  query<Row extends pg.QueryResultRow = pg.QueryResultRow>(
    text: string,
    values?: unknown[],
  ): Promise<{ readonly rows: Row[] }>
}

/** Names of this program's migrations that the database does not have. */
export async function pendingMigrations(db: StatementRunner): Promise<string[]> {
  const { rows } = await db.query<{ name: string }>('select name from schema_migrations')
  const applied = new Set(rows.map((row) => row.name))
  return readMigrations()
    .map((migration) => migration.name)
    .filter((name) => !applied.has(name))
}

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
