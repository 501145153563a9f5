import { endSession, lockUser } from '../auth/auth.queries.ts'
import { mustUseSso } from '../auth/password-policy.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import { revokedSessions } from '../auth/start-session.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { selectActiveMemberIds, sessionsOfOrg } from './sso.queries.ts'

type EndedSessions = { readonly facts: readonly Fact[]; readonly sessionIds: readonly string[] }

export const NONE_ENDED: EndedSessions = { facts: [], sessionIds: [] }

/** Ends every session of the organisation that began with single sign-on. After the commit call {@link dropEnded}. */
export const endSsoSessions = async (tx: Tx, app: App, orgId: string, reason: string): Promise<EndedSessions> =>
  end(tx, app, orgId, await sessionsOfOrg(tx, orgId, 'by_sso'), reason)

/**
 * Ends the sessions of the organisation that began in another way, of members whom it now lets in by single sign-on only.
 * Owners with two-factor authentication keep theirs. After the commit call {@link dropEnded}.
 */
export async function endRefusedSessions(tx: Tx, app: App, orgId: string): Promise<EndedSessions> {
  const refused = new Set<string>()
  // A log-in that is under way holds the lock of its user, and reads the policy under it.
  for (const { id } of await selectActiveMemberIds(tx, orgId)) {
    const user = await lockUser(tx, id)
    if (user !== null && (await mustUseSso(tx, orgId, user))) refused.add(id)
  }
  const sessions = (await sessionsOfOrg(tx, orgId, 'otherwise')).filter(({ user_id }) => refused.has(user_id))
  return end(tx, app, orgId, sessions, 'sso_enforced')
}

async function end(
  tx: Tx,
  app: App,
  orgId: string,
  sessions: readonly { readonly id: string; readonly user_id: string }[],
  reason: string,
): Promise<EndedSessions> {
  const now = app.clock.now()
  const facts: Fact[] = []
  const sessionIds: string[] = []
  for (const { id, user_id: userId } of sessions) {
    if (!(await endSession(tx, id, reason, now))) continue
    await announceSessions(tx, { session_id: id })
    facts.push(...revokedSessions(userId, [{ id, org_id: orgId }], reason))
    sessionIds.push(id)
  }
  return { facts, sessionIds }
}

export function dropEnded(app: App, { sessionIds }: EndedSessions): void {
  for (const id of sessionIds) dropCachedSessions(app, { session_id: id })
}
