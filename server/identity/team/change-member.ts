import type { z } from 'zod'
import { roleAtLeast, type Role } from '#shared/permissions.ts'
import { readSession } from '../auth/auth.queries.ts'
import { endSessions } from '../auth/end-sessions.ts'
import { updateMembership } from '../auth/membership-changes.queries.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { SignInMethod } from '../auth/sign-in-method.api.ts'
import { issueTokens, startSession, type SessionState, type SessionTokens } from '../auth/start-session.ts'
import { actorForLog, type OrgActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound, unauthenticated } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { lockChangeable, lockTeam, requireGrantable, requireOtherOwner } from './change-team.ts'
import { viewMember } from './list-members.ts'
import type { Member } from './members.api.ts'
import { readListedMember } from './members.queries.ts'

type MemberInput = { readonly role?: Role | undefined; readonly disabled?: boolean | undefined }

type Changed = {
  readonly member: z.infer<typeof Member>
  /** Tokens of the caller, who changed their own role: the session that replaces the ended one. */
  readonly tokens: SessionTokens | null
}

/**
 * Changes a member's role, or disables or enables the member. Both end the member's sessions in the organisation; API keys
 * have the new role at once. A change to what is so already does nothing.
 * @throws AppError not_found, forbidden (a role above one's own; an owner), conflict (the last owner), unauthenticated
 */
export async function changeMember(app: App, actor: OrgActor, memberId: string, input: MemberInput): Promise<Changed> {
  const now = app.clock.now()
  const { session, row } = await app.tx(async (tx) => {
    const team = await lockTeam(tx, actor)
    const member = await lockChangeable(tx, team, memberId)
    const { role = member.role } = input
    const disabled = input.disabled ?? member.disabled_at !== null
    const newRole = role !== member.role
    const newState = disabled !== (member.disabled_at !== null)
    if (newRole) requireGrantable(team, role)
    if ((newRole && !roleAtLeast(role, member.role)) || (newState && disabled))
      await requireOtherOwner(tx, team, member)
    const of = { orgId: team.orgId, userId: memberId }
    let session: SessionState | null = null
    if (newRole || newState) {
      const ended = await endSessions(tx, app, of, newRole ? 'role_changed' : 'member_disabled')
      await updateMembership(tx, of, { role, disabled_at: disabled ? (member.disabled_at ?? now) : null })
      const facts: Fact[] = []
      if (newRole) facts.push({ kind: 'member.role_changed', ...of, data: { from: member.role, to: role } })
      if (newState) facts.push({ kind: disabled ? 'user.disabled' : 'user.enabled', ...of, data: {} })
      facts.push(...ended)
      if (actor.kind === 'user' && actor.userId === memberId && !disabled) {
        const own = ended.find((fact) => 'sessionId' in fact && fact.sessionId === actor.sessionId)
        // It may have ended since the request was admitted.
        if (own === undefined || actor.sessionId === null) throw sessionEnded()
        const continued = await continueSession(tx, app, actor, actor.sessionId, role)
        session = continued.session
        facts.push(...continued.revoked)
      }
      await recordFacts(tx, factContext(app, actor, now), facts)
    }
    const row = await readListedMember(tx, team.orgId, memberId)
    if (row === undefined) throw notFound('Member')
    return { session, row }
  })
  dropCachedSessions(app, { user_id: memberId })
  app.log.info(
    { ...actorForLog(actor), member_id: memberId, role: row.role, disabled: input.disabled },
    'member.changed',
  )
  return { member: viewMember(row), tokens: session === null ? null : await issueTokens(app, session) }
}

/** A new session for the caller whose own role changed; it ends when the old one would have ended. */
async function continueSession(tx: Tx, app: App, actor: OrgActor, sessionId: string, role: Role) {
  const old = await readSession(tx, sessionId)
  if (old === null || actor.origin.kind !== 'request') throw sessionEnded()
  const membership = { user_id: old.user_id, org_id: old.org_id, role }
  return startSession(tx, app, membership, {
    method: SignInMethod.parse(old.method),
    origin: actor.origin,
    continues: old,
  })
}

const sessionEnded = () => unauthenticated('This session has ended. Log in again.')
