import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type pg from 'pg'

/** Any fixed number: two processes migrating at once wait for each other on it. */
const MIGRATION_LOCK = 7_201_994_311

export type Migration = { readonly name: string; readonly sql: string; readonly digest: string }

const FOLDER = new URL('../../migrations/', import.meta.url)

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
    const sql = readFileSync(new URL(name, FOLDER), 'utf8')
    return { name, sql, digest: createHash('sha256').update(sql).digest('hex') }
  })
}

/**
 * Brings the database up to date, each file in its own transaction. Safe to run from several processes at once.
 * Returns the names applied now.
 * @throws Error when an applied file was edited since, or the database is newer than this program
 */
export async function migrate(client: pg.ClientBase, progress: (line: string) => void = () => {}): Promise<string[]> {
  const migrations = readMigrations()
  await client.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
  try {
    await client.query(
      'create table if not exists schema_migrations (name text primary key, digest text not null, applied_at timestamptz not null default now())',
    )
    const { rows } = await client.query<{ name: string; digest: string }>('select name, digest from schema_migrations')
    const applied = new Map(rows.map((row) => [row.name, row.digest]))
    const known = new Set(migrations.map((migration) => migration.name))
    for (const [name, digest] of applied) {
      if (!known.has(name))
        throw new Error(
          `The database was migrated by a newer version (${name}). Run that version, or restore a backup.`,
        )
      const mine = migrations.find((migration) => migration.name === name)
      if (mine !== undefined && mine.digest !== digest)
        throw new Error(`migrations/${name} was changed after it was applied. Put it back and add a new file instead.`)
    }
    const pending = migrations.filter((migration) => !applied.has(migration.name))
    for (const migration of pending) {
      progress(`migrating ${migration.name}`)
      await client.query('begin')
      try {
        await client.query(migration.sql)
        await client.query('insert into schema_migrations (name, digest) values ($1, $2)', [
          migration.name,
          migration.digest,
        ])
        await client.query('commit')
      } catch (error) {
        // A connection that is gone took it back already; what ended it is what has to be told.
        await client.query('rollback').catch(() => {})
        throw new Error(
          `migrations/${migration.name} failed: ${error instanceof Error ? error.message : String(error)}`,
          { cause: error },
        )
      }
    }
    return pending.map((migration) => migration.name)
  } finally {
    await client.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]).catch(() => {})
  }
}

/** Names of this program's migrations that the database does not have. */
export async function pendingMigrations(client: Pick<pg.ClientBase, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>('select name from schema_migrations')
  const applied = new Set(rows.map((row) => row.name))
  return readMigrations()
    .map((migration) => migration.name)
    .filter((name) => !applied.has(name))
}
