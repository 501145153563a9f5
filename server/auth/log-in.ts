import type { Caller } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { unauthenticated } from '../kernel/errors.ts'
import type { Role } from '#shared/permissions.ts'
import { accountByEmail, lockUser, setPasswordHash, type AccountRow } from './auth.queries.ts'
import { checkPassword } from './check-password.ts'
import { foldEmail } from './email.ts'
import { issueTokens, startSession, type SessionTokens } from './start-session.ts'

export type LogInInput = { readonly email: string; readonly password: string }

export type LoggedIn = { readonly org: string; readonly role: Role; readonly tokens: SessionTokens }

/**
 * Checks e-mail and password and begins a session.
 * @throws AppError unauthenticated (the same for an unknown address, a wrong password and a disabled account),
 *   rate_limited
 */
export async function logIn(app: App, input: LogInInput, caller: Caller): Promise<LoggedIn> {
  const email = foldEmail(input.email)
  const account = await accountByEmail(app.db, email)
  const matches = await checkPassword(app, { email, account, password: input.password }, caller)
  if (!matches || account === null) {
    app.log.info({ user_id: account?.id ?? null, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.failed')
    throw refused()
  }
  const newHash = await rehashed(app, account, input.password)
  const session = await app.tx(async (tx) => {
    const user = await lockUser(tx, account.id)
    // The password may have been changed while we were checking the old one.
    if (user === null || user.disabled_at !== null || user.password_hash !== account.password_hash) throw refused()
    if (newHash !== null) await setPasswordHash(tx, user.id, newHash)
    return startSession(tx, app, { id: user.id, orgId: user.org_id, role: user.role }, 'password', caller.origin)
  })
  app.log.info({ user_id: account.id, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.password.ok')
  return { org: account.org_slug, role: session.user.role, tokens: await issueTokens(app, session) }
}

/** A hash at today's cost, when the stored one was made with less. */
async function rehashed(app: App, account: AccountRow, password: string): Promise<string | null> {
  if (account.password_hash === null || !app.passwords.isOutdated(account.password_hash)) return null
  return app.passwords.hash(password)
}

const refused = () => unauthenticated('E-mail or password is wrong.')
