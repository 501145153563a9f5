import { sql, type SqlBool } from 'kysely'
import type { Connection, Tx } from '../storage/database.ts'

/** Reads of members. Users and memberships are written by auth/. */

/** Members who can log in: a subquery that other domains join. */
export const activeMembers = (db: Connection) =>
  db
    .selectFrom('memberships')
    .innerJoin('users', 'users.id', 'memberships.user_id')
    .select([
      'users.id',
      'users.name',
      'users.email',
      'memberships.org_id',
      'memberships.role',
      'memberships.created_at',
      'memberships.last_used_at',
    ])
    .where('memberships.disabled_at', 'is', null)
    .where('users.disabled_at', 'is', null)

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
  const query = db.selectFrom(activeMembers(db).as('member')).where('member.org_id', '=', orgId)
  if (holding === null) return query
  return query.where(
    sql<SqlBool>`(position(lower(${holding}) in lower(member.name)) > 0 or position(lower(${holding}) in member.email) > 0)`,
  )
}

export type MemberRow = Awaited<ReturnType<typeof selectMembers>>[number]

/** A page of members, by name (whatever its case) or age, ids deciding among equals. */
export function selectMembers(db: Connection, listing: MemberListing) {
  const { orgId, holding, sort, descending, limit, offset, after } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql`lower(member.name)` : sql`member.created_at`
  let query = membersOf(db, orgId, holding)
    .selectAll()
    .select(sql<string>`lower(member.name)`.as('folded_name'))
    .orderBy(value, direction)
    .orderBy('member.id', direction)
    .limit(limit)
    .offset(offset)
  if (after !== null) {
    const bound = sort === 'name' ? sql`${after.value}::text` : sql`${new Date(after.value)}::timestamptz`
    query = query.where(
      sql<SqlBool>`(${value}, member.id) ${sql.raw(descending ? '<' : '>')} (${bound}, ${after.id}::uuid)`,
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
    .select(['id', 'name', 'email'])
    .where(sql<SqlBool>`member.id = any(${[...userIds]}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Undefined for a user who is not an active member of the organisation. */
export const readMember = (db: Connection, orgId: string, userId: string) =>
  membersOf(db, orgId, null).selectAll().where('member.id', '=', userId).executeTakeFirst()

/** The same, locked: the member is not removed before the transaction ends. */
export const lockMember = (tx: Tx, orgId: string, userId: string) =>
  activeMembers(tx)
    .where('memberships.org_id', '=', orgId)
    .where('memberships.user_id', '=', userId)
    .forKeyShare('memberships')
    .executeTakeFirst()

/** Names and addresses of an organisation's members, oldest first, at most so many. */
export const nameMembers = (db: Connection, orgId: string, most: number) =>
  membersOf(db, orgId, null).select(['id', 'name', 'email']).orderBy('member.created_at').limit(most).execute()

/** How many of these users are members of the organisation. */
export async function countMembersAmong(on: Connection, orgId: string, userIds: readonly string[]): Promise<number> {
  const rows = await on
    .selectFrom('memberships')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('user_id', 'in', [...userIds])
    .execute()
  return rows.length
}
