import { endUserSessions, readMembership, readSession, type SessionRow } from '../auth/auth.queries.ts'
import { announceSessions } from '../auth/session-cache.ts'
import { SignInMethod } from '../auth/sign-in-method.api.ts'
import { startSession, type SessionState, revokedSessions } from '../auth/start-session.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'

/**
 * Ends every session of the user and starts one for the caller, which ends when the old one would have ended. The
 * transaction holds the lock of the user's row; after the commit drop the cached sessions of the user.
 * @param hasCode whether a code of the second factor was just proved
 * @throws AppError unauthenticated when the caller's session ended meanwhile
 */
export async function renewSession(
  tx: Tx,
  app: App,
  actor: SessionActor,
  { hasCode }: { readonly hasCode: boolean },
): Promise<{ readonly session: SessionState; readonly facts: readonly Fact[] }> {
  const old = await readSession(tx, actor.sessionId)
  const membership = await readMembership(tx, actor.userId, actor.orgId)
  if (old === null || old.ended_at !== null || membership === null)
    throw unauthenticated('This session has ended. Log in again.')
  const ended = await endUserSessions(tx, { userId: actor.userId }, 'two_factor_changed', app.clock.now())
  await announceSessions(tx, { user_id: actor.userId })
  const { session } = await startSession(tx, app, membership, { ...startOf(old, actor), hasCode })
  return { session, facts: revokedSessions(actor.userId, ended, 'two_factor_changed') }
}

const startOf = (old: SessionRow, { origin }: SessionActor) => ({
  method: SignInMethod.parse(old.method),
  origin,
  continues: old,
})
