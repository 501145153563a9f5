import type pg from 'pg'
import { describe, expect, test } from 'vitest'
import { newId } from '#server/platform/kernel/ids.ts'
import { emptyDatabase } from '#test/kit/empty-database.ts'
import { tableTypes } from '../../../scripts/table-types.ts'
import { migrate, readMigrations } from './migrate.ts'

const migrations = readMigrations()

/** Columns, constraints and indexes of the database. */
async function schemaOf(client: pg.Client): Promise<unknown> {
  const { rows: constraints } = await client.query(
    `select conrelid::regclass::text as "table", conname, pg_get_constraintdef(oid) from pg_constraint
     where connamespace = 'public'::regnamespace order by 1, 2`,
  )
  const { rows: indexes } = await client.query(
    `select indexname, indexdef from pg_indexes where schemaname = 'public' order by 1`,
  )
  return { tables: await tableTypes(client), constraints, indexes }
}

describe('a database that an older version migrated', () => {
  test.for([1, Math.ceil(migrations.length / 2), migrations.length - 1])(
    'after the first %i migrations, the rest produce the schema of a new database and keep the rows',
    async (count) => {
      const client = await (await emptyDatabase()).connect()
      const older = migrations.slice(0, count)
      const newer = migrations.slice(count)
      expect(await migrate(client, () => {}, older)).toEqual(older.map(({ name }) => name))
      const id = newId()
      await client.query(
        `insert into orgs (id, slug, name, data_key_sealed, created_at) values ($1, 'acme', 'Acme', '', now())`,
        [id],
      )
      expect(await migrate(client)).toEqual(newer.map(({ name }) => name))
      expect((await client.query('select id, name from orgs')).rows).toEqual([{ id, name: 'Acme' }])

      const fresh = await (await emptyDatabase()).connect()
      await migrate(fresh)
      expect(await schemaOf(client)).toEqual(await schemaOf(fresh))
    },
  )
})

test('search documents are stored out of line and indexed once', async () => {
  const client = await (await emptyDatabase()).connect()
  await migrate(client)
  await client.query('set session_replication_role = replica')
  const words = Array.from({ length: 40 }, (_, n) => `word${n}`)
  for (let n = 0; n < 300; n++)
    await client.query('insert into issue_search (issue_id, document) values ($1, array_to_tsvector($2::text[]))', [
      newId(),
      [...words, `user.id\u001F${n}`],
    ])
  const { rows } = await client.query<{
    rows: number
    indexes: number
    storage: string
    filler: string
    target: number
  }>(
    `select pg_relation_size('issue_search')::int / 300 as rows,
       (select count(*)::int from pg_indexes where tablename = 'issue_search') as indexes,
       (select attstorage::text from pg_attribute where attrelid = 'issue_search'::regclass and attname = 'document') as storage,
       (select attstorage::text from pg_attribute where attrelid = 'issue_search'::regclass and attname = 'filler') as filler,
       (select attstattarget::int from pg_attribute where attrelid = 'issue_search'::regclass and attname = 'document') as target`,
  )
  // A document beside its row would be 700 bytes.
  expect(rows[0]).toEqual({ rows: expect.any(Number) as number, indexes: 3, storage: 'e', filler: 'm', target: 1000 })
  expect(rows[0]?.rows).toBeLessThan(150)
})
