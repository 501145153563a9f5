import { sql, type Insertable, type Selectable } from 'kysely'
import type { Role } from '#shared/permissions.ts'
import type { NameListing } from '../../platform/kernel/page-by-name.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import type { Tables } from '../../platform/storage/tables.gen.ts'

export type KeyRow = Omit<Selectable<Tables['api_keys']>, 'key_hash'>

const COLUMNS = [
  'id',
  'user_id',
  'org_id',
  'name',
  'prefix',
  'scopes',
  'created_at',
  'last_used_at',
  'expires_at',
] as const

/** Whose keys: one membership. */
type KeyOwner = { readonly userId: string; readonly orgId: string }

export type ListedKey = Awaited<ReturnType<typeof selectKeys>>[number]

/** A page of a member's keys by name (in any case) or time of creation, then by id. */
export function selectKeys(db: Connection, { userId, orgId, ...listing }: NameListing & KeyOwner) {
  const { sort, descending, limit, offset, after } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql<string>`lower(name)` : sql<Date>`created_at`
  let query = db
    .selectFrom('api_keys')
    .select(COLUMNS)
    .select(sql<string>`lower(name)`.as('folded_name'))
    .where('user_id', '=', userId)
    .where('org_id', '=', orgId)
    .orderBy(value, direction)
    .orderBy('id', direction)
    .limit(limit)
    .offset(offset)
  if (after !== null) {
    const bound = sort === 'name' ? sql`${after.value}::text` : sql`${new Date(after.value)}::timestamptz`
    query = query.where(sql<boolean>`(${value}, id) ${sql.raw(descending ? '<' : '>')} (${bound}, ${after.id}::uuid)`)
  }
  return query.execute()
}

export async function countKeys(db: Connection, { userId, orgId }: KeyOwner): Promise<number> {
  const row = await db
    .selectFrom('api_keys')
    .select((count) => count.fn.countAll<number>().as('n'))
    .where('user_id', '=', userId)
    .where('org_id', '=', orgId)
    .executeTakeFirstOrThrow()
  return row.n
}

/** Counts a user's keys in all organisations, and lets other creations of keys of this user wait for the transaction. */
export async function lockAndCountKeys(tx: Tx, userId: string): Promise<number> {
  await tx.selectFrom('users').select('id').where('id', '=', userId).forNoKeyUpdate().execute()
  const row = await tx
    .selectFrom('api_keys')
    .select((count) => count.fn.countAll<number>().as('n'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return row.n
}

/** @returns false when the user is no longer an active member, or the session that creates the key has ended */
export async function insertKey(tx: Tx, key: Insertable<Tables['api_keys']>, sessionId: string): Promise<boolean> {
  const member = await tx
    .selectFrom('memberships as m')
    .innerJoin('sessions as s', (join) => join.onRef('s.user_id', '=', 'm.user_id').onRef('s.org_id', '=', 'm.org_id'))
    .select('m.user_id')
    .where('m.user_id', '=', key.user_id)
    .where('m.org_id', '=', key.org_id)
    .where('m.disabled_at', 'is', null)
    .where('s.id', '=', sessionId)
    .where('s.ended_at', 'is', null)
    .forShare('m')
    .executeTakeFirst()
  if (member === undefined) return false
  await tx.insertInto('api_keys').values(key).execute()
  return true
}

/** @returns the deleted key; undefined when the member has no such key */
export const deleteMemberKey = (tx: Tx, { userId, orgId }: KeyOwner, keyId: string) =>
  tx
    .deleteFrom('api_keys')
    .where('id', '=', keyId)
    .where('user_id', '=', userId)
    .where('org_id', '=', orgId)
    .returning(COLUMNS)
    .executeTakeFirst()

/** Deletes the keys of a member. @returns them */
export const deleteMemberKeys = (tx: Tx, { userId, orgId }: KeyOwner) =>
  tx.deleteFrom('api_keys').where('user_id', '=', userId).where('org_id', '=', orgId).returning(COLUMNS).execute()

/** Deletes the keys of a user in all organisations. @returns them */
export const deleteKeysOfUser = (tx: Tx, userId: string): Promise<KeyRow[]> =>
  tx.deleteFrom('api_keys').where('user_id', '=', userId).returning(COLUMNS).execute()

type LiveKey = KeyRow & { readonly role: Role; readonly user_name: string }

/** The key with this hash and the role of its member now; null when the member or the user is disabled. */
export async function readLiveKey(db: Connection, hash: Buffer): Promise<LiveKey | null> {
  const { rows } = await db.query<LiveKey>({
    name: 'api-key-by-hash',
    text: `select k.id, k.user_id, k.org_id, k.name, k.prefix, k.scopes, k.created_at, k.last_used_at, k.expires_at,
             m.role, u.name as user_name
           from api_keys k
           join memberships m on m.user_id = k.user_id and m.org_id = k.org_id and m.disabled_at is null
           join users u on u.id = k.user_id and u.disabled_at is null
           where k.key_hash = $1`,
    values: [hash],
  })
  return rows[0] ?? null
}

/** Notes a use, unless one was noted after `notedAfter`. */
export async function touchKey(db: Connection, keyId: string, now: Date, notedAfter: Date): Promise<void> {
  await db
    .updateTable('api_keys')
    .set({ last_used_at: now })
    .where('id', '=', keyId)
    .where((where) => where.or([where('last_used_at', 'is', null), where('last_used_at', '<=', notedAfter)]))
    .execute()
}
