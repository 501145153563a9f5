import { requireActingMember, type OrgActor } from '../../platform/context/actor.ts'
import { unauthenticated, forbidden, conflict, notFound } from '../../platform/kernel/errors.ts'
import { explainRefusal, roleAtLeast, type Role } from '#shared/permissions.ts'
import { lockUser, readMembership } from '../auth/auth.queries.ts'
import { hasOtherOwner, heldMembership, lockOrg, type HeldMembership } from '../auth/membership-changes.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** An organisation whose members this transaction may change, with the actor's role of now. */
export type LockedTeam = {
  readonly orgId: string
  readonly org: { readonly slug: string; readonly name: string }
  readonly role: Role
}

/**
 * Lets other changes of the organisation's members wait for this transaction, and checks the actor's role again: it may
 * have changed since the request was admitted.
 * @throws AppError unauthenticated, forbidden
 */
export async function lockTeam(tx: Tx, actor: OrgActor): Promise<LockedTeam> {
  const { userId, orgId } = requireActingMember(actor)
  const org = await lockOrg(tx, orgId)
  const membership = await readMembership(tx, userId, orgId)
  if (org === null || membership === null) throw unauthenticated('You are no longer a member. Log in again.')
  const refusal = explainRefusal('team.write', membership)
  if (refusal !== null) throw forbidden(refusal)
  return { orgId, org, role: membership.role }
}

/** @throws AppError forbidden when the role is higher than the actor's */
export function requireGrantable(team: LockedTeam, role: Role): void {
  if (!roleAtLeast(team.role, role)) throw forbidden(`Only an ${role} can give the role ${role}; you are ${team.role}.`)
}

/**
 * A member whom the actor may change. The member's row of the user stays locked: no session begins meanwhile.
 * @throws AppError not_found, forbidden
 */
export async function lockChangeable(tx: Tx, team: LockedTeam, userId: string): Promise<HeldMembership> {
  await lockUser(tx, userId)
  const member = await heldMembership(tx, team.orgId, userId)
  if (member === null) throw notFound('Member')
  if (member.role === 'owner' && team.role !== 'owner') throw forbidden('Only an owner can change an owner.')
  return member
}

/** @throws AppError conflict when the organisation would have no owner who can log in */
export async function requireOtherOwner(tx: Tx, team: LockedTeam, member: HeldMembership): Promise<void> {
  if (member.role !== 'owner' || member.disabled_at !== null) return
  if (!(await hasOtherOwner(tx, team.orgId, member.user_id)))
    throw conflict('This is the last owner. Make another member an owner first.')
}
