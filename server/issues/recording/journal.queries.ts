import type { Connection, Tx } from '../../platform/storage/database.ts'

/**
 * SQL of the journal: what batches added and no fold counted yet, one row per batch. Only the process that has a shard uses
 * its rows.
 */

export async function insertJournalRow(tx: Tx, shard: number, body: string): Promise<string> {
  const { rows } = await tx.query<{ id: string }>({
    name: 'journal-insert',
    text: 'insert into issue_journal (shard, body) values ($1, $2) returning id::text',
    values: [shard, body],
  })
  return rows[0]?.id ?? ''
}

/**
 * Deletes all rows of shards.
 * @param known ids of rows whose contents the caller has
 * @returns the deleted rows; of known ones only the id
 */
export async function takeJournalRows(
  tx: Tx,
  shards: readonly number[],
  known: readonly string[],
): Promise<{ readonly id: string; readonly body: string | null }[]> {
  const { rows } = await tx.query<{ id: string; body: string | null }>({
    name: 'journal-take',
    text: `delete from issue_journal where shard = any($1::smallint[])
           returning id::text, case when id = any($2::bigint[]) then null else body end as body`,
    values: [shards, known],
  })
  return rows
}

export async function hasJournalRows(on: Connection, shards: readonly number[]): Promise<boolean> {
  const { rows } = await on.query({
    name: 'journal-exists',
    text: 'select from issue_journal where shard = any($1::smallint[]) limit 1',
    values: [shards],
  })
  return rows.length > 0
}

/** The id of the newest row of all shards; null when all are folded. */
export async function newestJournalRow(on: Connection): Promise<string | null> {
  const { rows } = await on.query<{ id: string | null }>('select max(id)::text as id from issue_journal')
  return rows[0]?.id ?? null
}

export async function hasJournalRowsUpTo(on: Connection, id: string): Promise<boolean> {
  const { rows } = await on.query('select from issue_journal where id <= $1 limit 1', [id])
  return rows.length > 0
}
