import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, selectMemberships, userByEmail, type UserRow } from '../auth/auth.queries.ts'
import { foldEmail } from '../auth/email.ts'
import { endSessions } from '../auth/end-sessions.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import { checkPasswordLength, judgePassword } from '../auth/password-rules.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { systemActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, notFound } from '../../platform/kernel/errors.ts'
import { newOneTimeToken, oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { putToken } from './account-tokens.queries.ts'
import { replacePassword } from './replace-password.ts'
import { LINK_LIFE_MS } from './send-reset-link.ts'

/** Commands with which the operator of the installation changes an account. */

const NO_PASSWORD = 'The organisation of this user enforces single sign-on: a password would not let them in.'

/** @throws AppError not_found */
export async function requireAccount(app: App, email: string): Promise<UserRow> {
  const user = await userByEmail(app.db, foldEmail(email))
  if (user === null) throw notFound('User')
  return user
}

/** Returns the address at which the user chooses a password, once and within an hour. An earlier link stops working. */
export async function makeResetLink(tx: Tx, app: App, userId: string): Promise<string> {
  const now = app.clock.now()
  const token = newOneTimeToken()
  await putToken(tx, {
    user_id: userId,
    purpose: 'reset',
    token_hash: oneTimeTokenHash(token),
    email: null,
    created_at: now,
    expires_at: new Date(now.getTime() + LINK_LIFE_MS),
  })
  return `${app.config.publicUrl}/reset?token=${token}`
}

/** @throws AppError not_found; conflict (the user may not use a password) */
export async function resetLinkByOperator(app: App, email: string): Promise<string> {
  const { id } = await requireAccount(app, email)
  return app.tx(async (tx) => {
    const user = await lockUser(tx, id)
    if (user === null) throw notFound('User')
    if (!(await maySignInByPassword(tx, user))) throw conflict(NO_PASSWORD)
    await recordFacts(
      tx,
      factContext(app, systemActor('reset-password')),
      await accountFacts(tx, id, { kind: 'password.reset.requested', data: {} }),
    )
    return makeResetLink(tx, app, id)
  })
}

/**
 * Sets a password; what else changes: {@link replacePassword}. The operator vouches for the address.
 * @returns how many sessions it ended, what else it removed, and a warning when a weak password was accepted
 * @throws AppError not_found; conflict (the user may not use a password); invalid (password)
 */
export async function setPasswordByOperator(
  app: App,
  email: string,
  password: string,
): Promise<{ readonly ended: number; readonly removed: readonly string[]; readonly warning: string | null }> {
  const found = await requireAccount(app, email)
  checkPasswordLength(password, 'password')
  const [{ org_name: org } = { org_name: '' }] = await selectMemberships(app.db, found.id)
  const warning = await judgePassword(app.config.passwordCheck, password, { ...found, org })
  const hash = await app.passwords.hash(password)
  const { endedSessions, removed } = await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    if (user === null) throw notFound('User')
    if (!(await maySignInByPassword(tx, user))) throw conflict(NO_PASSWORD)
    const replaced = await replacePassword(tx, app, user, { hash, requestedAt: app.clock.now() })
    await recordFacts(tx, factContext(app, systemActor('reset-password')), replaced.facts)
    return replaced
  })
  dropCachedSessions(app, { user_id: found.id })
  return { ended: endedSessions, removed, warning }
}

/**
 * Ends sessions of a user.
 * @param sessionId null ends all
 * @throws AppError not_found (user, or session)
 */
export async function endSessionsByOperator(app: App, email: string, sessionId: string | null): Promise<number> {
  const { id: userId } = await requireAccount(app, email)
  const ended = await app.tx(async (tx) => {
    const of = sessionId === null ? { userId } : { userId, onlyId: sessionId }
    const facts = await endSessions(tx, app, of, 'ended_by_operator')
    await recordFacts(tx, factContext(app, systemActor('end-sessions')), facts)
    return facts.length
  })
  dropCachedSessions(app, { user_id: userId })
  if (sessionId !== null && ended === 0) throw notFound('Session')
  return ended
}
