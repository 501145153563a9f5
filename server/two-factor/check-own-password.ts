import type { SessionActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { readUser, type UserRow } from '../auth/auth.queries.ts'
import { requireRecentSignIn } from '../auth/require-recent-sign-in.ts'
import { invalid, unauthenticated } from '../kernel/errors.ts'

/**
 * For changes that always need the password, however recent the log-in is. Users without a password, who sign in with a
 * provider or a passkey, need a recent sign-in instead.
 * @returns the user as they were when the password was checked
 * @throws AppError invalid (missing or wrong password), forbidden, rate_limited, unauthenticated
 */
export async function checkOwnPassword(app: App, actor: SessionActor, password: string | undefined): Promise<UserRow> {
  const user = await readUser(app.db, actor.userId)
  if (user === null) throw unauthenticated('This session has ended. Log in again.')
  if (user.password_hash === null) await requireRecentSignIn(app, actor, null)
  else if (password === undefined) throw invalid('password is missing.')
  else await requireRecentSignIn(app, actor, password)
  return user
}
