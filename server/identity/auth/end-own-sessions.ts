import { actorForLog, type SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { notFound } from '../../platform/kernel/errors.ts'
import type { SessionsOf } from './auth.queries.ts'
import { endSessions } from './end-sessions.ts'
import { dropCachedSessions } from './session-cache.ts'

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
