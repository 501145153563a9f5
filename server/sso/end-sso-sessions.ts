import { endSession } from '../auth/auth.queries.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import { revokedSessions } from '../auth/session-facts.ts'
import type { App } from '../context/app.ts'
import type { Fact } from '../facts/kinds.ts'
import type { Tx } from '../storage/database.ts'
import { ssoSessionsOf } from './sso.queries.ts'

export type EndedSessions = { readonly facts: readonly Fact[]; readonly sessionIds: readonly string[] }

/** Ends every session of the organisation that began with single sign-on. After the commit call {@link dropEnded}. */
export async function endSsoSessions(tx: Tx, app: App, orgId: string, reason: string): Promise<EndedSessions> {
  const now = app.clock.now()
  const facts: Fact[] = []
  const sessionIds: string[] = []
  for (const { id, user_id: userId } of await ssoSessionsOf(tx, orgId)) {
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
