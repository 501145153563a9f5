import { accountFacts } from '../auth/account-facts.ts'
import { endUserSessions, lockUser, selectMemberships } from '../auth/auth.queries.ts'
import { announceSessions, dropCachedSessions } from '../auth/session-cache.ts'
import { issueTokens, type SessionTokens, revokedSessions } from '../auth/start-session.ts'
import { actorForLog, systemActor, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, notFound } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { proveIdentity } from '../auth/require-recent-sign-in.ts'
import { renewSession } from './renew-session.ts'
import { disabledMail } from './two-factor-mails.ts'
import { deleteVerifiedFactor } from './two-factor.queries.ts'

/**
 * Turns off two-factor authentication, ends every session of the user and starts a new one.
 * @throws AppError conflict (it is off), and those of {@link proveIdentity}
 */
export async function disableTwoFactor(
  app: App,
  actor: SessionActor,
  password: string | undefined,
): Promise<SessionTokens> {
  const found = await proveIdentity(app, actor, password)
  const session = await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    if (user?.password_hash !== found.password_hash)
      throw invalid('password is wrong: it was just changed by another request.')
    const factorId = await deleteVerifiedFactor(tx, user.id)
    if (factorId === null) throw conflict('Two-factor authentication is off.')
    const { session, facts } = await renewSession(tx, app, actor, { hasCode: false })
    await recordFacts(tx, factContext(app, actor), [
      ...(await accountFacts(tx, user.id, { kind: 'mfa.totp.disabled', data: { factor_id: factorId } })),
      ...facts,
    ])
    await enqueueMails(tx, app, actor.orgId, [disabledMail(app, user, false)])
    return session
  })
  dropCachedSessions(app, { user_id: actor.userId })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip }, 'mfa.totp.disabled')
  return issueTokens(app, session)
}

/**
 * Turns off two-factor authentication of a user who lost the app and the backup codes, for a command of the operator. Ends
 * every session of the user.
 * @returns how many sessions it ended
 * @throws AppError not_found (no such user), conflict (it is off)
 */
export async function disableTwoFactorByOperator(app: App, userId: string): Promise<{ readonly ended: number }> {
  const actor = systemActor('disable-2fa')
  const ended = await app.tx(async (tx) => {
    const user = await lockUser(tx, userId)
    if (user === null) throw notFound('User')
    const factorId = await deleteVerifiedFactor(tx, user.id)
    if (factorId === null) throw conflict('Two-factor authentication of this user is off.')
    const sessions = await endUserSessions(tx, { userId: user.id }, 'two_factor_changed', app.clock.now())
    await announceSessions(tx, { user_id: user.id })
    await recordFacts(tx, factContext(app, actor), [
      ...(await accountFacts(tx, user.id, { kind: 'mfa.totp.disabled', data: { factor_id: factorId } })),
      ...revokedSessions(user.id, sessions, 'two_factor_changed'),
    ])
    const [membership] = await selectMemberships(tx, user.id)
    if (membership !== undefined) await enqueueMails(tx, app, membership.org_id, [disabledMail(app, user, true)])
    return sessions.length
  })
  dropCachedSessions(app, { user_id: userId })
  app.log.info({ ...actorForLog(actor), user_id: userId }, 'mfa.totp.disabled')
  return { ended }
}
