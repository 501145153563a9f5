import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { endUserSessions, type SessionsOf } from './auth.queries.ts'
import { announceSessions, dropCachedSessions } from './session-cache.ts'
import { revokedSessions } from './start-session.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'

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

/**
 * Ends one session of the caller.
 * @throws AppError not_found, also when it has ended or is another user's
 */
export async function endOwnSession(app: App, actor: SessionActor, sessionId: string): Promise<void> {
  if ((await end(app, actor, { userId: actor.userId, onlyId: sessionId })) === 0) throw notFound('Session')
}

/** Ends all sessions of the caller but the one of the request. @returns how many */
export const endOtherSessions = (app: App, actor: SessionActor): Promise<number> =>
  end(app, actor, { userId: actor.userId, exceptId: actor.sessionId })

async function end(app: App, actor: SessionActor, of: SessionsOf): Promise<number> {
  const ended = await app.tx(async (tx) => {
    const facts = await endSessions(tx, app, of, 'ended_by_user')
    await recordFacts(tx, factContext(app, actor), facts)
    return facts.length
  })
  dropCachedSessions(app, { user_id: actor.userId })
  if (ended > 0) app.log.info({ ...actorForLog(actor), sessions: ended }, 'session.revoked')
  return ended
}
