import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { endUserSessions, type SessionsOf } from './auth.queries.ts'
import { announceSessions } from './session-cache.ts'
import { revokedSessions } from './session-facts.ts'

/**
 * Ends sessions of a user: their tokens are refused within a second in every process. Record the facts in the same
 * transaction, and call `dropCachedSessions(app, { user_id })` after the commit, so that this process refuses them
 * immediately.
 * @param of all sessions of the user, those of one organisation, all but one, or one
 * @param reason such as `role_changed`
 * @returns one fact per session that ended
 */
export async function endSessions(tx: Tx, app: App, of: SessionsOf, reason: string): Promise<Fact[]> {
  const ended = await endUserSessions(tx, of, reason, app.clock.now())
  // Also without an active session: cached access tokens must be read again after a change of the role.
  await announceSessions(tx, { user_id: of.userId })
  return revokedSessions(of.userId, ended, reason)
}
