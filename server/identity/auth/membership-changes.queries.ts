import type { Role } from '#shared/permissions.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'

/**
 * SQL of changes of memberships. Order of locks: organisation, user, session, membership; refreshes lock the session
 * before the membership.
 */

/** Changes of the members of an organisation run one after the other. */
export async function lockOrg(tx: Tx, orgId: string): Promise<{ readonly slug: string; readonly name: string } | null> {
  const row = await tx
    .selectFrom('orgs')
    .select(['slug', 'name'])
    .where('id', '=', orgId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row ?? null
}

export type HeldMembership = {
  readonly user_id: string
  readonly role: Role
  readonly disabled_at: Date | null
}

/** A membership, also a disabled one; null for a removed one. */
export async function heldMembership(db: Connection, orgId: string, userId: string): Promise<HeldMembership | null> {
  const row = await db
    .selectFrom('memberships')
    .select(['user_id', 'role', 'disabled_at'])
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** Whether the organisation has an owner who can log in, apart from this user. Lock the organisation first. */
export async function hasOtherOwner(tx: Tx, orgId: string, userId: string): Promise<boolean> {
  const row = await tx
    .selectFrom('memberships as m')
    .innerJoin('users as u', 'u.id', 'm.user_id')
    .select('m.user_id')
    .where('m.org_id', '=', orgId)
    .where('m.user_id', '<>', userId)
    .where('m.role', '=', 'owner')
    .where('m.disabled_at', 'is', null)
    .where('u.disabled_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

type MembershipChange = {
  readonly role?: Role
  readonly disabled_at?: Date | null
  readonly removed_at?: Date
}

export async function updateMembership(
  tx: Tx,
  { orgId, userId }: { readonly orgId: string; readonly userId: string },
  change: MembershipChange,
): Promise<void> {
  await tx
    .updateTable('memberships')
    .set(change)
    .where('org_id', '=', orgId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
}

/** Notes that someone was invited for the first time. */
export async function noteInvite(tx: Tx, orgId: string, now: Date): Promise<void> {
  await tx
    .updateTable('orgs')
    .set({ first_invite_at: now })
    .where('id', '=', orgId)
    .where('first_invite_at', 'is', null)
    .execute()
}
