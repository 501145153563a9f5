import { CANARY_ORG_ID } from '../../platform/kernel/ids.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
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

export type StoredHead = Head & { readonly is_signed: boolean }

export async function selectHead(db: Connection, orgId: string): Promise<StoredHead | null> {
  const row = await db
    .selectFrom('audit_heads')
    .select(['org_id', 'seq', 'hash', 'mac', 'is_signed'])
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

/**
 * Organisations that have or had a chain, by id; those that exist with their slug. A chain may be missing in any of the
 * tables, because someone removed it there.
 * @param filter.known organisations that are known from elsewhere
 */
export async function selectChains(
  db: Connection,
  { slug, known = [] }: { readonly slug?: string | undefined; readonly known?: readonly string[] } = {},
): Promise<{ org_id: string; slug: string | null }[]> {
  const { rows } = await db.query<{ org_id: string; slug: string | null }>(
    `with recursive logs (org_id) as (
       (select org_id from audit_log order by org_id limit 1)
       union all
       select (select l.org_id from audit_log l where l.org_id > logs.org_id order by l.org_id limit 1)
       from logs where logs.org_id is not null
     )
     select k.org_id, o.slug from (
       select id as org_id from orgs
       union select org_id from audit_heads
       union select org_id from audit_checkpoints
       union select org_id from logs where org_id is not null
       union select unnest($2::uuid[])
     ) k left join orgs o on o.id = k.org_id
     where ($1::text is null or o.slug = $1) and k.org_id <> '${CANARY_ORG_ID}'
     order by k.org_id`,
    [slug ?? null, known],
  )
  return rows
}

/** Heads of all chains, by organisation. */
export async function selectHeads(db: Connection, after: string | null, limit: number): Promise<StoredHead[]> {
  let query = db
    .selectFrom('audit_heads')
    .select(['org_id', 'seq', 'hash', 'mac', 'is_signed'])
    .orderBy('org_id')
    .limit(limit)
  if (after !== null) query = query.where('org_id', '>', after)
  return query.execute()
}

/** Entries at places of chains: the hash of each, unless the purge has deleted it. */
export async function selectPlaces(
  db: Connection,
  places: readonly { readonly org_id: string; readonly seq: number }[],
): Promise<{ org_id: string; hash: Buffer | null; is_purged: boolean }[]> {
  if (places.length === 0) return []
  const { rows } = await db.query<{ org_id: string; hash: Buffer | null; is_purged: boolean }>(
    `select p.org_id, l.hash, coalesce(c.seq >= p.seq, false) as is_purged
     from unnest($1::uuid[], $2::bigint[]) p (org_id, seq)
     left join audit_log l on l.org_id = p.org_id and l.seq = p.seq
     left join audit_checkpoints c on c.org_id = p.org_id`,
    [places.map(({ org_id }) => org_id), places.map(({ seq }) => seq)],
  )
  return rows
}

/** One at a time: a statement that locked several heads in another order could deadlock with transactions that add entries. */
export async function markSigned(db: Connection, orgId: string): Promise<void> {
  await db.updateTable('audit_heads').set({ is_signed: true }).where('org_id', '=', orgId).execute()
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
