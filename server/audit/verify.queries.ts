import type { Connection, Tx } from '../storage/database.ts'
import type { Head } from './append.queries.ts'
import type { ChainedEntry } from './entry.ts'
import { ENTRY_COLUMNS } from './read.queries.ts'

/** SQL of verifying, signing and purging. */

/** Entries behind a place, in the order of the chain. */
export async function entriesAfter(db: Connection, orgId: string, seq: number, limit: number): Promise<ChainedEntry[]> {
  const { rows } = await db.query<ChainedEntry>({
    name: 'audit-entries-after',
    text: `select ${ENTRY_COLUMNS} from audit_log l where l.org_id = $1 and l.seq > $2 order by l.seq limit $3`,
    values: [orgId, seq, limit],
  })
  return rows
}

export async function selectHead(db: Connection, orgId: string): Promise<Head | null> {
  const row = await db
    .selectFrom('audit_heads')
    .select(['org_id', 'seq', 'hash', 'mac'])
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return row ?? null
}

export type Checkpoint = {
  readonly org_id: string
  readonly seq: number
  readonly hash: Buffer
  readonly created_at: Date
  readonly signature: Buffer
}

export async function selectCheckpoint(db: Connection, orgId: string): Promise<Checkpoint | null> {
  const row = await db.selectFrom('audit_checkpoints').selectAll().where('org_id', '=', orgId).executeTakeFirst()
  return row ?? null
}

/** Organisations with a chain, by id; those that exist with their slug. */
export async function selectChains(
  db: Connection,
  filter: { readonly slug?: string | undefined; readonly after?: string | undefined },
  limit: number,
): Promise<{ org_id: string; slug: string | null }[]> {
  let query = db
    .selectFrom('audit_heads as h')
    .leftJoin('orgs as o', 'o.id', 'h.org_id')
    .select(['h.org_id', 'o.slug'])
    .orderBy('h.org_id')
    .limit(limit)
  if (filter.slug !== undefined) query = query.where('o.slug', '=', filter.slug)
  if (filter.after !== undefined) query = query.where('h.org_id', '>', filter.after)
  return query.execute()
}

/** Heads with entries that no signed head covers yet. */
export async function unsignedHeads(db: Connection, after: string | null, limit: number): Promise<Head[]> {
  let query = db
    .selectFrom('audit_heads')
    .select(['org_id', 'seq', 'hash', 'mac'])
    .whereRef('seq', '>', 'signed_seq')
    .orderBy('org_id')
    .limit(limit)
  if (after !== null) query = query.where('org_id', '>', after)
  return query.execute()
}

/** One at a time: a statement that locked several heads in another order could deadlock with transactions that add entries. */
export async function markSigned(db: Connection, orgId: string, seq: number): Promise<void> {
  await db
    .updateTable('audit_heads')
    .set({ signed_seq: seq })
    .where('org_id', '=', orgId)
    .where('signed_seq', '<', seq)
    .execute()
}

/** The clock of the database. */
export async function selectTime(db: Connection): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>('select now() as now')
  const [row] = rows
  if (row === undefined) throw new Error('The database did not tell its time.')
  return row.now
}

/** Deletes the entries up to a place and leaves a checkpoint there. Only this transaction may delete. */
export async function deletePrefix(tx: Tx, { org_id, seq, hash, created_at, signature }: Checkpoint): Promise<void> {
  await tx.query(`set local faultline.audit_purge = 'on'`)
  await tx.query('delete from audit_log where org_id = $1 and seq <= $2', [org_id, seq])
  await tx.query(`set local faultline.audit_purge = 'off'`)
  await tx.query(
    `insert into audit_checkpoints (org_id, seq, hash, created_at, signature) values ($1, $2, $3, $4, $5)
     on conflict (org_id) do update
     set seq = excluded.seq, hash = excluded.hash, created_at = excluded.created_at, signature = excluded.signature`,
    [org_id, seq, hash, created_at, signature],
  )
}
