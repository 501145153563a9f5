import { deleteMemberKeys } from '../api-keys/api-keys.queries.ts'
import { keyRevoked } from '../api-keys/delete-key.ts'
import { endSessions } from '../auth/end-sessions.ts'
import { updateMembership } from '../auth/membership-changes.queries.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { deleteInvitesTo } from './invites.queries.ts'
import { lockChangeable, lockTeam, requireOtherOwner } from './change-team.ts'

/**
 * Removes a member: sessions and API keys in this organisation end. Comments and assignments still name the person, who
 * keeps the account and the other memberships.
 * @throws AppError not_found, forbidden (an owner), conflict (the last owner)
 */
export async function removeMember(app: App, actor: OrgActor, memberId: string): Promise<void> {
  const now = app.clock.now()
  await app.tx(async (tx) => {
    const team = await lockTeam(tx, actor)
    const member = await lockChangeable(tx, team, memberId)
    await requireOtherOwner(tx, team, member)
    const of = { orgId: team.orgId, userId: memberId }
    const ended = await endSessions(tx, app, of, 'member_removed')
    const keys = await deleteMemberKeys(tx, of)
    // A member who joined in another way may still have an invitation: it must not bring them back.
    const invites = await deleteInvitesTo(tx, team.orgId, memberId)
    await updateMembership(tx, of, { disabled_at: member.disabled_at ?? now, removed_at: now })
    await recordFacts(tx, factContext(app, actor, now), [
      { kind: 'member.removed', ...of, data: { role: member.role } },
      ...ended,
      ...keys.map(keyRevoked),
      ...invites.map(({ id, email, role }): Fact => ({
        kind: 'invite.revoked',
        orgId: team.orgId,
        targetId: id,
        label: email,
        data: { role },
      })),
    ])
  })
  dropCachedSessions(app, { user_id: memberId })
  app.log.info({ ...actorForLog(actor), member_id: memberId }, 'member.removed')
}
