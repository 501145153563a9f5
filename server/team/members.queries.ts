import { sql, type SqlBool } from 'kysely'
import type { Connection, Tx } from '../storage/database.ts'

/** Reads of an organisation's members: people who may log in now. Accounts themselves are written by auth/. */

export type MemberListing = {
  readonly orgId: string
  /** Of a name or address. */
  readonly holding: string | null
  readonly sort: 'name' | 'created_at'
  readonly descending: boolean
  readonly limit: number
  readonly offset: number
  /** Sort value and id of the last row of the page before. */
  readonly after: { readonly value: string; readonly id: string } | null
}

const membersOf = (db: Connection, orgId: string, holding: string | null) => {
  const query = db.selectFrom('users').where('users.org_id', '=', orgId).where('users.disabled_at', 'is', null)
  if (holding === null) return query
  return query.where(
    sql<SqlBool>`(position(lower(${holding}) in lower(users.name)) > 0 or position(lower(${holding}) in users.email) > 0)`,
  )
}

export type MemberRow = Awaited<ReturnType<typeof selectMembers>>[number]

/** A page of members, by name (whatever its case) or age, ids deciding among equals. */
export function selectMembers(db: Connection, listing: MemberListing) {
  const { orgId, holding, sort, descending, limit, offset, after } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql`lower(users.name)` : sql`users.created_at`
  let query = membersOf(db, orgId, holding)
    .select((row) => [
      'users.id',
      'users.name',
      'users.email',
      'users.role',
      'users.created_at',
      sql<string>`lower(users.name)`.as('folded_name'),
      row
        .selectFrom('sessions')
        .select((session) => session.fn.max('last_used_at').as('at'))
        .whereRef('sessions.user_id', '=', 'users.id')
        .as('last_seen_at'),
    ])
    .orderBy(value, direction)
    .orderBy('users.id', direction)
    .limit(limit)
    .offset(offset)
  if (after !== null) {
    const bound = sort === 'name' ? sql`${after.value}::text` : sql`${new Date(after.value)}::timestamptz`
    query = query.where(
      sql<SqlBool>`(${value}, users.id) ${sql.raw(descending ? '<' : '>')} (${bound}, ${after.id}::uuid)`,
    )
  }
  return query.execute()
}

export async function countMembers(db: Connection, orgId: string, holding: string | null): Promise<number> {
  const row = await membersOf(db, orgId, holding)
    .select((count) => count.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Those of the people who are members of the organisation now, as `id → name`. */
export async function membersAmong(
  db: Connection,
  orgId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string; readonly email: string }>> {
  if (userIds.length === 0) return new Map()
  const rows = await membersOf(db, orgId, null)
    .select(['users.id', 'users.name', 'users.email'])
    .where(sql<SqlBool>`users.id = any(${[...userIds]}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** The same person, locked against being removed until the transaction ends; undefined for nobody of this organisation. */
export const lockMember = (tx: Tx, orgId: string, userId: string) =>
  membersOf(tx, orgId, null)
    .select(['users.id', 'users.name'])
    .where('users.id', '=', userId)
    .forKeyShare()
    .executeTakeFirst()

/** Names and addresses of an organisation's members, oldest first, at most so many. */
export const nameMembers = (db: Connection, orgId: string, most: number) =>
  membersOf(db, orgId, null)
    .select(['users.id', 'users.name', 'users.email'])
    .orderBy('users.created_at')
    .limit(most)
    .execute()
