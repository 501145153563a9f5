import type { Connection } from '../../platform/storage/database.ts'
import type { ChainedEntry } from './entry.ts'

/** SQL that reads entries. Times are read as text: a Date has no microseconds. */

const TIME = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

export const ENTRY_COLUMNS = `l.org_id, l.seq, l.id, ${TIME('l.created_at')} as created_at, l.action, l.event_type, l.actor_type,
  l.actor_id, l.actor_email, l.actor_role, l.target_type, l.target_id, l.target_label, l.project_id, l.ip,
  l.user_agent, l.request_id, l.session_id, l.outcome, l.meta, l.prev_hash, l.hash, l.mac`

/** Place in a list: time and number of its last entry. */
export type Place = { readonly created_at: string; readonly seq: number }

export type Listing = {
  readonly orgId: string
  /** Null means all. */
  readonly actions: readonly string[] | null
  readonly actor: string | null
  readonly target: string | null
  readonly from: string | null
  readonly to: string | null
}

const actorIs = (actor: string, param: string): string =>
  `l.${actor.includes('@') ? 'actor_email' : 'actor_id'} = ${param}`

/**
 * The entries of a filter as one query: a part per action, and per way in which an entry can name the target. Each part
 * walks one index from its newest entry, so the query reads what it returns, however long the log is.
 * @param select columns of `l`
 * @param values receives the parameters
 * @param after the entry before the first one
 */
function matching(
  select: string,
  listing: Listing,
  { after, limit }: { readonly after: Place | null; readonly limit: number },
  values: unknown[],
): string {
  const param = (value: unknown, type: string): string => `$${values.push(value)}::${type}`
  const { orgId, actions, actor, target, from, to } = listing
  const where = [`l.org_id = ${param(orgId, 'uuid')}`]
  if (actor !== null) where.push(actorIs(actor, param(actor.toLowerCase(), 'text')))
  if (from !== null) where.push(`l.created_at >= ${param(from, 'timestamptz')}`)
  if (to !== null) where.push(`l.created_at < ${param(to, 'timestamptz')}`)
  if (after !== null)
    where.push(`(l.created_at, l.seq) < (${param(after.created_at, 'timestamptz')}, ${param(after.seq, 'bigint')})`)
  const names = target === null ? null : param(target, 'text')
  const targets =
    names === null
      ? [[]]
      : [[`l.target_id = ${names}`], [`l.target_label = ${names}`, `l.target_id is distinct from ${names}`]]
  const bound = param(limit, 'integer')
  const list = actions === null ? null : param(actions, 'text[]')
  const parts = targets.map((of) => {
    const conditions = [...where, ...of, ...(list === null ? [] : ['l.action = a.action'])]
    const part = `(select ${select} from audit_log l where ${conditions.join(' and ')}
      order by l.created_at desc, l.seq desc limit ${bound})`
    return list === null
      ? `select * from ${part} p`
      : `select p.* from unnest(${list}) a (action) cross join lateral ${part} p`
  })
  return parts.join(' union all ')
}

/** Newest first. */
export async function selectEntries(
  db: Connection,
  listing: Listing,
  page: { readonly after: Place | null; readonly limit: number; readonly offset: number },
): Promise<ChainedEntry[]> {
  const values: unknown[] = []
  const entries = matching(
    `${ENTRY_COLUMNS}, l.created_at as at`,
    listing,
    { after: page.after, limit: page.limit + page.offset },
    values,
  )
  const { rows } = await db.query<ChainedEntry>(
    `select * from (${entries}) e order by e.at desc, e.seq desc limit ${page.limit} offset ${page.offset}`,
    values,
  )
  return rows
}

/**
 * The entries of a filter in the reverse order of their chain, which is not always the order of their times: processes
 * have clocks of their own.
 * @param before the number behind the first one
 */
export async function selectChainEntries(
  db: Connection,
  { orgId, actions, actor, target, from, to }: Listing,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<ChainedEntry[]> {
  const values: unknown[] = []
  const param = (value: unknown, type: string): string => `$${values.push(value)}::${type}`
  const where = [`l.org_id = ${param(orgId, 'uuid')}`]
  if (before !== null) where.push(`l.seq < ${param(before, 'bigint')}`)
  if (actions !== null) where.push(`l.action = any(${param(actions, 'text[]')})`)
  if (actor !== null) where.push(actorIs(actor, param(actor.toLowerCase(), 'text')))
  if (target !== null) {
    const name = param(target, 'text')
    where.push(`(l.target_id = ${name} or l.target_label = ${name})`)
  }
  if (from !== null) where.push(`l.created_at >= ${param(from, 'timestamptz')}`)
  if (to !== null) where.push(`l.created_at < ${param(to, 'timestamptz')}`)
  const { rows } = await db.query<ChainedEntry>(
    `select ${ENTRY_COLUMNS} from audit_log l where ${where.join(' and ')} order by l.seq desc limit ${limit}`,
    values,
  )
  return rows
}

/** @returns at most `cap` */
export async function countEntries(db: Connection, listing: Listing, cap: number): Promise<number> {
  const values: unknown[] = []
  const entries = matching('1', listing, { after: null, limit: cap }, values)
  const { rows } = await db.query<{ n: number }>(
    `select count(*)::int as n from (select 1 from (${entries}) e limit ${cap}) c`,
    values,
  )
  return rows[0]?.n ?? 0
}
