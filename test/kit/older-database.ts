import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject, onTestFinished } from 'vitest'
import { readMigrations } from '#server/storage/migrate.ts'
import { databaseUrl } from './database.ts'

/** A database as a version left it whose last migration has this number, with a client; gone after the test. */
export async function olderDatabase(last: number): Promise<pg.Client> {
  const name = `test_${process.pid}_${randomBytes(5).toString('hex')}`
  const admin = new pg.Client({ connectionString: databaseUrl(inject('postgres'), 'postgres') })
  await admin.connect()
  await admin.query(`create database ${name}`)
  const client = new pg.Client({ connectionString: databaseUrl(inject('postgres'), name) })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await admin.query(`drop database ${name} with (force)`)
    await admin.end()
  })
  await client.query(
    'create table schema_migrations (name text primary key, digest text not null, applied_at timestamptz not null default now())',
  )
  for (const migration of readMigrations().filter(({ name: file }) => Number(file.slice(0, 4)) <= last)) {
    await client.query(migration.sql)
    await client.query('insert into schema_migrations (name, digest) values ($1, $2)', [
      migration.name,
      migration.digest,
    ])
  }
  return client
}
