import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { accountFacts } from '../auth/account-facts.ts'
import { lockUser, readMembership, readSession, readUser, setPasswordHash } from '../auth/auth.queries.ts'
import { checkPassword } from '../auth/check-password.ts'
import { checkPasswordLength, judgePassword, type PasswordSubject } from '../auth/password-rules.ts'
import { endSessions } from '../auth/end-sessions.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { SignInMethod } from '../auth/sign-in-method.api.ts'
import { issueTokens, startSession, type SessionTokens } from '../auth/start-session.ts'
import { deleteTokens } from './account-tokens.queries.ts'
import { mailPasswordChanged } from './mail-password-changed.ts'

type ChangePasswordInput = { readonly currentPassword: string; readonly newPassword: string }

/**
 * Sets a new password, ends every session of the user and starts a new one for the caller. A wrong current password counts
 * as a failed log-in.
 * @returns the new session's tokens, and a warning when a weak password was accepted
 * @throws AppError invalid (wrong current password, new one not allowed), rate_limited, unauthenticated
 */
export async function changePassword(
  app: App,
  actor: SessionActor,
  input: ChangePasswordInput,
): Promise<{ tokens: SessionTokens; warning: string | null }> {
  const [found, org] = await Promise.all([
    readUser(app.db, actor.userId),
    readMembership(app.db, actor.userId, actor.orgId),
  ])
  if (found === null || org === null) throw sessionEnded()
  const warning = await checkNewPassword(app, { ...found, org: org.org_name }, input)
  const check = { email: found.email, user: found, accountId: found.id, password: input.currentPassword }
  if (!(await checkPassword(app, check, actor))) throw invalid('currentPassword is wrong.')
  const newHash = await app.passwords.hash(input.newPassword)
  const session = await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    const membership = await readMembership(tx, found.id, actor.orgId)
    if (user === null || membership === null) throw sessionEnded()
    if (user.password_hash !== found.password_hash)
      throw invalid('currentPassword is wrong: the password was just changed by another request.')
    const now = app.clock.now()
    await setPasswordHash(tx, user.id, newHash, now)
    await deleteTokens(tx, user.id)
    const old = await readSession(tx, actor.sessionId)
    if (old === null || old.ended_at !== null) throw sessionEnded()
    const revoked = await endSessions(tx, app, { userId: user.id }, 'password_changed')
    // The same way to sign in, and as long: a password does not make a session of single sign-on one of its own.
    const { session: started } = await startSession(tx, app, membership, {
      method: SignInMethod.parse(old.method),
      origin: actor.origin,
      deviceId: old.device_id,
      continues: old,
    })
    await recordFacts(tx, factContext(app, actor, now), [
      ...(await accountFacts(tx, user.id, { kind: 'user.password_changed', data: {} })),
      ...revoked,
    ])
    await mailPasswordChanged(tx, app, { user, orgId: actor.orgId, caller: actor })
    return started
  })
  dropCachedSessions(app, { user_id: found.id })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip }, 'user.password_changed')
  return { tokens: await issueTokens(app, session), warning }
}

async function checkNewPassword(
  app: App,
  subject: PasswordSubject,
  input: ChangePasswordInput,
): Promise<string | null> {
  checkPasswordLength(input.newPassword, 'newPassword')
  if (input.newPassword === input.currentPassword) throw invalid('newPassword must differ from the current one.')
  return judgePassword(app.config.passwordCheck, input.newPassword, subject)
}

const sessionEnded = () => unauthenticated('This session has ended. Log in again.')
