import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { forbidden, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { selectMemberships, readSession, readUser, type UserRow } from './auth.queries.ts'
import { checkPassword } from './check-password.ts'
import { hasTotp } from './password-policy.queries.ts'
import type { Tx } from '../../platform/storage/database.ts'

/** Changes of how a user signs in need a log-in within this time, or the password again. */
const RECENT_SIGN_IN_MS = 15 * 60_000

/**
 * Refuses a change of how a user signs in when only an old session proves who they are: a stranger at an open browser
 * must not be able to keep the account.
 * A recent single sign-on suffices only for users who have no password and no other organisation, and with the password
 * only where it opens the account by itself: with two-factor authentication on, the sign-in must have had a code.
 * @param password null or undefined when none was sent
 * @throws AppError forbidden (ask for the password), invalid (wrong password), rate_limited, unauthenticated
 */
export async function requireRecentSignIn(
  app: App,
  actor: SessionActor,
  password: string | null | undefined,
): Promise<void> {
  const [session, user] = await Promise.all([readSession(app.db, actor.sessionId), readUser(app.db, actor.userId)])
  if (session === null || session.ended_at !== null || user === null)
    throw unauthenticated('This session has ended. Log in again.')
  // A change that opens every organisation of a user must not follow from what the provider of one of them says.
  const isOfOne =
    session.method === 'oidc' && (user.password_hash !== null || (await selectMemberships(app.db, user.id)).length > 1)
  // The provider may have said that it checked a second factor; the one of the account guards the other organisations.
  if (isOfOne && !session.has_code && (await hasTotp(app.db, user.id)))
    throw forbidden(
      'You logged in with single sign-on, without a code. Log in with your password and a code to do this.',
    )
  if (password !== null && password !== undefined) {
    const check = { email: user.email, user, accountId: user.id, password }
    if (!(await checkPassword(app, check, actor))) throw invalid('password is wrong.')
    return
  }
  if (isOfOne) throw forbidden('You logged in with single sign-on. Send your password.')
  if (app.clock.now().getTime() - session.authenticated_at.getTime() < RECENT_SIGN_IN_MS) return
  throw forbidden('You logged in more than 15 minutes ago. Send your password again.')
}

/**
 * Refuses what outlives the session, such as a passkey, when the session has ended since the request was admitted: another
 * process may not know it for a second. The transaction holds the lock of the user's row.
 * @throws AppError unauthenticated
 */
export async function requireActiveSession(tx: Tx, { sessionId }: SessionActor): Promise<void> {
  const session = await readSession(tx, sessionId)
  if (session === null || session.ended_at !== null) throw unauthenticated('This session has ended. Log in again.')
}

/**
 * Requires the password again, also right after the log-in; of a user without one, a recent log-in.
 * @returns the user whose password it was
 * @throws AppError invalid (no or wrong password), forbidden (log in again), rate_limited, unauthenticated
 */
export async function proveIdentity(app: App, actor: SessionActor, password: string | undefined): Promise<UserRow> {
  const user = await readUser(app.db, actor.userId)
  if (user === null) throw unauthenticated('This session has ended. Log in again.')
  if (user.password_hash !== null && password === undefined) throw invalid('password must be sent.')
  await requireRecentSignIn(app, actor, user.password_hash === null ? undefined : password)
  return user
}
