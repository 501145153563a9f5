import type { MembershipRow } from '../auth/auth.queries.ts'
import type { Caller, NewUserActor } from '../../platform/context/actor.ts'

/** A user who acts without a session, such as with a link from a mail. */
export const accountActor = (membership: MembershipRow, { origin, requestId }: Caller): NewUserActor => ({
  kind: 'user',
  userId: membership.user_id,
  name: membership.user_name,
  orgId: membership.org_id,
  role: membership.role,
  sessionId: null,
  origin,
  requestId,
})
