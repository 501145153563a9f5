import { countDenial } from '../../history/audit/denials.ts'
import { completeSignIn, issueSignIn, type SignedIn, type SignInCaller } from '../auth/complete-sign-in.ts'
import type { App } from '../../platform/context/app.ts'
import { forbidden, unauthenticated } from '../../platform/kernel/errors.ts'
import { lockUser, selectMemberships, setPasswordHash, userByEmail, type UserRow } from '../auth/auth.queries.ts'
import { checkPassword } from '../auth/check-password.ts'
import { foldEmail } from '../auth/email.ts'
import { checkSecondFactor, returnCodeAttempt, consumeSecondFactor } from '../two-factor/second-factor.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'

const NO_USER = '00000000-0000-0000-0000-000000000000'

export type LogInInput = {
  readonly email: string
  readonly password: string
  /** A code of the authenticator app or a backup code. */
  readonly totpToken?: string | undefined
}

export type LoggedIn = SignedIn & {
  /** Few backup codes are left. */
  readonly warning: string | null
}

/**
 * Checks e-mail and password, and the code of a user with two-factor authentication, and begins a session in the
 * organisation used last.
 * @returns null when the password is right and a code is needed that was not sent
 * @throws AppError unauthenticated (the same for an unknown address, a wrong password, a disabled account and one that must
 *   use single sign-on; another for a wrong code), forbidden (right password, no organisation), rate_limited
 */
export async function logIn(app: App, input: LogInInput, caller: SignInCaller): Promise<LoggedIn | null> {
  const email = foldEmail(input.email)
  const account = await userByEmail(app.db, email)
  // Who must use single sign-on has no password here: a right one counts as a failure, too. Unknown addresses cost the same.
  const allowed = await maySignInByPassword(app.db, { id: account?.id ?? NO_USER, email })
  const found = allowed && account?.disabled_at === null ? account : null
  const check = { email, user: found, accountId: account?.id ?? null, password: input.password }
  const matches = await checkPassword(app, check, caller)
  if (!matches || found === null) {
    app.log.info({ user_id: found?.id ?? null, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.failed')
    throw refused()
  }
  const factor = await checkSecondFactor(app, found.id, input.totpToken, caller)
  if (factor === null) return null
  const newHash = await rehashed(app, found, input.password)
  const { completed, warning } = await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    // The password may have been changed, or the account disabled, while the old password was checked.
    if (user?.password_hash !== found.password_hash || user.disabled_at !== null) throw refused()
    // Single sign-on may have been enforced meanwhile, which ends the sessions that there are.
    if (!(await maySignInByPassword(tx, user))) throw refused()
    const [membership] = await selectMemberships(tx, found.id)
    if (membership === undefined) {
      countDenial(app, 'signin.failed', { userId: user.id, caller })
      throw forbidden('You are not a member of any organisation. Ask an owner to invite you.')
    }
    if (newHash !== null) await setPasswordHash(tx, user.id, newHash)
    const { facts, warning } = await consumeSecondFactor(tx, app, { user, orgId: membership.org_id }, factor, caller)
    const fact = { kind: 'signin.password.ok', data: {} } as const
    const signIn = { fact, caller, more: facts, hasCode: factor.kind === 'code' }
    return { completed: await completeSignIn(tx, app, membership, signIn), warning }
  })
  await returnCodeAttempt(app, factor)
  app.log.info({ user_id: found.id, ip: caller.origin.ip, request_id: caller.requestId }, 'signin.password.ok')
  return { ...(await issueSignIn(app, completed)), warning }
}

/** A hash with the current cost, when the stored one has a lower one; else null. */
async function rehashed(app: App, user: UserRow, password: string): Promise<string | null> {
  if (user.password_hash === null || !app.passwords.isOutdated(user.password_hash)) return null
  return app.passwords.hash(password)
}

const refused = () => unauthenticated('E-mail or password is wrong.')
