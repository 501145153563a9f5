import type pg from 'pg'
import { expect, test } from 'vitest'
import { newId } from '#server/kernel/ids.ts'
import { olderDatabase } from '#test/kit/older-database.ts'
import { migrate } from './migrate.ts'

/** What migrations make of data that older versions left. */

/** An issue as of migration 0020, without its organisation and project. */
async function anIssue(client: pg.Client, over: { usersDay?: string; mergedInto?: string } = {}): Promise<string> {
  const id = newId()
  await client.query(
    `insert into issues (id, org_id, project_id, number, title, culprit, level, platform, status, status_changed_at, open_since,
       severity, first_seen, last_seen, is_unhandled, search_text, created_at, users_day, wide_day, merged_into)
     values ($1, $2, $1, 1, 'title', '', 'error', 'node', 'unresolved', now(), now(), 1, now(), now(), false, '', now(), $3, $3, $4)`,
    [id, newId(), over.usersDay ?? null, over.mergedInto ?? null],
  )
  return id
}

/** Rows of single tables, without those they refer to. */
const withoutReferences = (client: pg.Client) => client.query('set session_replication_role = replica')

test('facts get their sign and releases their bare name; what is to be made anew waits for that', async () => {
  const client = await olderDatabase(20)
  await withoutReferences(client)
  const documents: Record<string, readonly string[]> = {
    plain: ['title', 'os', 'os.name\u001Fandroid', '\u001Fhas\u001Fos.name', 'release\u001F1.0', 'name\u001Fa@b'],
    packaged: ['release\u001Fcom.acme@1.2.3+45', 'release\u001F@scope/shop@2.0', 'release\u001Fodd@'],
    chinese: ['結帳失敗'],
    waiting: ['title'],
  }
  const ids = new Map<string, string>()
  for (const [name, lexemes] of Object.entries(documents)) {
    const id = await anIssue(client)
    ids.set(id, name)
    await client.query('insert into issue_search (issue_id, document) values ($1, array_to_tsvector($2::text[]))', [
      id,
      lexemes,
    ])
    if (name === 'waiting')
      await client.query('insert into issue_new_lexemes (issue_id, lexemes) values ($1, $2)', [id, 'os.name\u001Fios'])
  }
  await migrate(client)
  const { rows } = await client.query<{ issue_id: string; lexemes: string[]; stale: boolean }>(
    'select issue_id, tsvector_to_array(document) as lexemes, stale_since is not null as stale from issue_search',
  )
  const after = Object.fromEntries(
    rows.map((row) => [ids.get(row.issue_id) ?? '', { lexemes: row.lexemes.toSorted(), stale: row.stale }]),
  )
  const fact = (key: string, value: string): string => `\u001D${key}\u001F${value}`
  expect(after).toEqual({
    plain: {
      lexemes: [
        fact('name', 'a@b'),
        fact('os.name', 'android'),
        fact('release', '1.0'),
        '\u001Fhas\u001Fos.name',
        'os',
        'title',
      ],
      stale: false,
    },
    packaged: {
      lexemes: ['1.2.3+45', '2.0', '@scope/shop@2.0', 'com.acme@1.2.3+45', 'odd@'].map((one) => fact('release', one)),
      stale: false,
    },
    chinese: { lexemes: ['結帳失敗'], stale: true },
    waiting: { lexemes: ['title'], stale: true },
  })
  expect((await client.query('select 1 from issue_new_lexemes')).rows).toEqual([])
})

test('documents are written once, apart from their rows, and indexed once', async () => {
  const client = await olderDatabase(20)
  await withoutReferences(client)
  const words = Array.from({ length: 40 }, (_, n) => `word${n}`)
  for (let n = 0; n < 300; n++)
    await client.query('insert into issue_search (issue_id, document) values ($1, array_to_tsvector($2::text[]))', [
      newId(),
      [...words, `user.id\u001F${n}`],
    ])
  await client.query('vacuum issue_search')
  await migrate(client)
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
  // Two versions of each would be 200 bytes and more; a document beside its row, 700.
  expect(rows[0]).toEqual({ rows: expect.any(Number) as number, indexes: 3, storage: 'e', filler: 'm', target: 1000 })
  expect(rows[0]?.rows).toBeLessThan(150)
})

test('whom a merged issue reached by itself is known only of those nothing was ever merged into', async () => {
  const client = await olderDatabase(20)
  await withoutReferences(client)
  const day = '2026-11-01'
  const root = await anIssue(client, { usersDay: day })
  const [plain, formerRoot] = [
    await anIssue(client, { usersDay: day, mergedInto: root }),
    await anIssue(client, { usersDay: day, mergedInto: root }),
  ]
  for (const [id, ownId] of [
    [root, newId()],
    [plain, plain],
    [formerRoot, newId()],
  ])
    await client.query(
      `insert into issue_members (issue_id, own_id, root_id, merged_at, events_at_merge, event_count, first_seen, last_seen, title,
         culprit, level, is_unhandled, gravity, severity, search_text)
       values ($1, $2, $3, now(), 1, 1, now(), now(), '', '', 'error', false, 1, 1, '')`,
      [id, ownId, root],
    )
  await migrate(client)
  const { rows } = await client.query<{ issue_id: string }>(
    'select issue_id, users_day::text, wide_day::text from issue_members where users_day is not null or wide_day is not null',
  )
  expect(rows).toEqual([{ issue_id: plain, users_day: day, wide_day: day }])
})
