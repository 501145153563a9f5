import { readUser, type UserRow } from './auth.queries.ts'
import { requireRecentSignIn } from './require-recent-sign-in.ts'
import type { SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { invalid, unauthenticated } from '../../platform/kernel/errors.ts'

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
