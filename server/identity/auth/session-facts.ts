import type { Caller, SessionActor } from '../../platform/context/actor.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import type { EndedSession, MembershipRow } from './auth.queries.ts'

/** The actor of a request that starts or uses this session of a member. */
export const sessionActor = (
  { user_id: userId, user_name: name, org_id: orgId, role }: MembershipRow,
  sessionId: string,
  { origin, requestId }: Caller,
): SessionActor => ({ kind: 'user', userId, name, orgId, role, sessionId, origin, requestId })

/** The ids that a fact about the actor's own session names. */
export const aboutSession = ({ orgId, userId, sessionId }: SessionActor) => ({ orgId, userId, sessionId })

export const revokedSessions = (userId: string, ended: readonly EndedSession[], reason: string): Fact[] =>
  ended.map(({ id, org_id: orgId }) => ({ kind: 'session.revoked', orgId, userId, sessionId: id, data: { reason } }))
