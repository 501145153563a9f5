import type { Caller } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { factContext } from '../context/fact-context.ts'
import { recordFacts } from '../facts/record-facts.ts'
import { unauthenticated } from '../kernel/errors.ts'
import type { Role } from '#shared/permissions.ts'
import {
  accountIdByEmail,
  activeUserByEmail,
  lockUser,
  membershipsOf,
  setPasswordHash,
  type UserRow,
} from './auth.queries.ts'
import { checkPassword } from './check-password.ts'
import { foldEmail } from './email.ts'
import { aboutSession, sessionActor } from './session-facts.ts'
import { issueTokens, startSession, type SessionTokens } from './start-session.ts'

export type LogInInput = { readonly email: string; readonly password: string }

export type LoggedIn = { readonly org: string; readonly role: Role; readonly tokens: SessionTokens }

/**
 * Checks e-mail and password and begins a session in the organisation used last.
 * @throws AppError unauthenticated (the same for an unknown address, a wrong password and a disabled account),
 *   rate_limited
 */
export async function logIn(app: App, input: LogInInput, caller: Caller): Promise<LoggedIn> {
  const email = foldEmail(input.email)
  const [found, accountId] = await Promise.all([activeUserByEmail(app.db, email), accountIdByEmail(app.db, email)])
  const matches = await checkPassword(app, { email, user: found, accountId, password: input.password }, caller)
  if (!matches || found === null) {
    app.log.info({ user_id: found?.id ?? null, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.failed')
    throw refused()
  }
  const newHash = await rehashed(app, found, input.password)
  const { session, org } = await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    const [membership] = await membershipsOf(tx, found.id)
    // The password may have been changed, or the account disabled, while the old password was checked.
    if (user?.password_hash !== found.password_hash || membership === undefined) throw refused()
    if (newHash !== null) await setPasswordHash(tx, user.id, newHash)
    const { session, revoked } = await startSession(tx, app, membership, { method: 'password', origin: caller.origin })
    const actor = sessionActor(membership, session.sessionId, caller)
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'signin.password.ok', ...aboutSession(actor), data: {} },
      ...revoked,
    ])
    return { session, org: membership.org_slug }
  })
  app.log.info({ user_id: found.id, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.password.ok')
  return { org, role: session.member.role, tokens: await issueTokens(app, session) }
}

/** A hash with the current cost, when the stored one has a lower one; else null. */
async function rehashed(app: App, user: UserRow, password: string): Promise<string | null> {
  if (user.password_hash === null || !app.passwords.isOutdated(user.password_hash)) return null
  return app.passwords.hash(password)
}

const refused = () => unauthenticated('E-mail or password is wrong.')
