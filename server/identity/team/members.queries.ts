import { sql, type SqlBool } from 'kysely'
import type { NameListing } from '../../platform/kernel/page-by-name.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/** Reads of members. Users and memberships are written by auth/. */

/** Members, also disabled ones. */
const members = (db: Connection) =>
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
    .select((row) => [
      row.fn.coalesce('memberships.disabled_at', 'users.disabled_at').as('disabled_at'),
      row
        .exists(
          row
            .selectFrom('totp_factors')
            .whereRef('totp_factors.user_id', '=', 'users.id')
            .where('totp_factors.verified_at', 'is not', null),
        )
        .as('two_factor'),
    ])
    .where('memberships.removed_at', 'is', null)

/** Returns a subquery of members who can log in, for joins of other domains. */
export const activeMembers = (db: Connection) =>
  members(db).where('memberships.disabled_at', 'is', null).where('users.disabled_at', 'is', null)

export type MemberState = 'active' | 'disabled' | 'all'

type MemberFilter = {
  readonly orgId: string
  /** Text in the name or email address. */
  readonly search: string | null
  readonly state: MemberState
}

const membersOf = (db: Connection, { orgId, search, state }: MemberFilter) => {
  let query = db
    .selectFrom((state === 'active' ? activeMembers(db) : members(db)).as('member'))
    .where('member.org_id', '=', orgId)
  if (state === 'disabled') query = query.where('member.disabled_at', 'is not', null)
  if (search === null) return query
  return query.where(
    sql<SqlBool>`(position(lower(${search}) in lower(member.name)) > 0 or position(lower(${search}) in member.email) > 0)`,
  )
}

const activeMembersOf = (db: Connection, orgId: string) => membersOf(db, { orgId, search: null, state: 'active' })

export type MemberRow = Awaited<ReturnType<typeof selectMembers>>[number]

/** Returns a page of members by name (in any case) or time of joining, then by id. */
export function selectMembers(db: Connection, listing: NameListing & MemberFilter) {
  const { sort, descending, limit, offset, after } = listing
  const direction = descending ? 'desc' : 'asc'
  const value = sort === 'name' ? sql`lower(member.name)` : sql`member.created_at`
  let query = membersOf(db, listing)
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

export async function countMembers(db: Connection, filter: MemberFilter): Promise<number> {
  const row = await membersOf(db, filter)
    .select((count) => count.fn.countAll<number>().as('n'))
    .executeTakeFirstOrThrow()
  return row.n
}

/** Returns those of the users who are active members of the organisation, by id. */
export async function membersAmong(
  db: Connection,
  orgId: string,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string; readonly email: string }>> {
  if (userIds.length === 0) return new Map()
  const rows = await activeMembersOf(db, orgId)
    .select(['id', 'name', 'email'])
    .where(sql<SqlBool>`member.id = any(${[...userIds]}::uuid[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns those active members of the organisation whose folded addresses these are. */
export const selectMembersByEmail = (db: Connection, orgId: string, emails: readonly string[]) =>
  activeMembersOf(db, orgId)
    .select(['id', 'name', 'email'])
    .where(sql<SqlBool>`member.email = any(${[...emails]}::text[])`)
    .execute()

/** Returns undefined for a user who is not an active member of the organisation. */
export const readMember = (db: Connection, orgId: string, userId: string) =>
  activeMembersOf(db, orgId).selectAll().where('member.id', '=', userId).executeTakeFirst()

/** Returns a member as lists show it, also a disabled one; undefined for a user who is none. */
export const readListedMember = (db: Connection, orgId: string, userId: string) =>
  membersOf(db, { orgId, search: null, state: 'all' })
    .selectAll()
    .select(sql<string>`lower(member.name)`.as('folded_name'))
    .where('member.id', '=', userId)
    .executeTakeFirst()

/** Locks a member, who cannot be removed before the transaction ends. */
export const lockMember = (tx: Tx, orgId: string, userId: string) =>
  activeMembers(tx)
    .where('memberships.org_id', '=', orgId)
    .where('memberships.user_id', '=', userId)
    .forKeyShare('memberships')
    .executeTakeFirst()

/** Returns names and email addresses of an organisation's members, oldest first. */
export const nameMembers = (db: Connection, orgId: string, max: number) =>
  activeMembersOf(db, orgId).select(['id', 'name', 'email']).orderBy('member.created_at').limit(max).execute()

/** Counts those of the users who are members of the organisation, also disabled ones. */
export async function countMembersAmong(on: Connection, orgId: string, userIds: readonly string[]): Promise<number> {
  const rows = await on
    .selectFrom('memberships')
    .select('user_id')
    .where('org_id', '=', orgId)
    .where('user_id', 'in', [...userIds])
    .execute()
  return rows.length
}

/** Active members of the organisation by the name, in lower case, of the GitHub account with which they sign in. */
export async function membersByLogin(
  db: Connection,
  orgId: string,
  logins: readonly string[],
): Promise<ReadonlyMap<string, { readonly id: string; readonly name: string; readonly email: string }>> {
  if (logins.length === 0) return new Map()
  const rows = await activeMembersOf(db, orgId)
    .innerJoin('social_identities as s', 's.user_id', 'member.id')
    .select(['member.id', 'member.name', 'member.email', sql<string>`lower(s.login)`.as('login')])
    .where('s.provider', '=', 'github')
    .where(sql<SqlBool>`lower(s.login) = any(${[...logins]}::text[])`)
    .execute()
  return new Map(rows.map(({ login, ...member }) => [login, member]))
}

/** Owners and admins who can log in. */
export const selectAdmins = (db: Connection, orgId: string) =>
  activeMembersOf(db, orgId)
    .select(['id', 'name', 'email'])
    .where('member.role', 'in', ['owner', 'admin'])
    .orderBy('member.id')
    .execute()
