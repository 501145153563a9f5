import { lockUser, selectMemberships, readUser } from '../auth/auth.queries.ts'
import { maySignInByPassword } from '../auth/password-policy.ts'
import { checkPasswordLength, judgePassword } from '../auth/password-rules.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { type Caller, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { invalid } from '../../platform/kernel/errors.ts'
import { oneTimeTokenHash } from '../../platform/kernel/one-time-token.ts'
import { accountActor } from './account-actor.ts'
import { readToken } from './account-tokens.queries.ts'
import { mailPasswordChanged } from './mail-password-changed.ts'
import { replacePassword } from './replace-password.ts'

/**
 * Sets a new password with the link of a mail; what else changes: {@link replacePassword}.
 * @returns a warning when a weak password was accepted
 * @throws AppError invalid: password not allowed; or the link, with one answer whether it is unknown, used, replaced or
 *   expired, or its user may not use a password
 */
export async function resetPassword(
  app: App,
  input: { readonly token: string; readonly password: string },
  caller: Caller,
): Promise<{ warning: string | null }> {
  checkPasswordLength(input.password, 'password')
  const hash = oneTimeTokenHash(input.token)
  const token = await readToken(app.db, 'reset', hash, app.clock.now())
  const found = token === null ? null : await readUser(app.db, token.user_id)
  if (token === null || found === null) throw linkInvalid()
  const [{ org_name: org } = { org_name: '' }] = await selectMemberships(app.db, found.id)
  const warning = await judgePassword(app.config.passwordCheck, input.password, { ...found, org })
  const passwordHash = await app.passwords.hash(input.password)
  await app.tx(async (tx) => {
    const user = await lockUser(tx, found.id)
    const now = app.clock.now()
    const [membership] = await selectMemberships(tx, found.id)
    // When calls with one link run in parallel, the first to lock the user's row wins.
    const valid = (await readToken(tx, 'reset', hash, now)) !== null
    if (!valid || user === null || membership === undefined || !(await maySignInByPassword(tx, user)))
      throw linkInvalid()
    const replacement = { hash: passwordHash, requestedAt: token.created_at }
    const { facts, removed } = await replacePassword(tx, app, user, replacement)
    await recordFacts(tx, factContext(app, accountActor(membership, caller), now), facts)
    await mailPasswordChanged(tx, app, { user, orgId: membership.org_id, caller, removed })
  })
  dropCachedSessions(app, { user_id: found.id })
  app.log.info({ user_id: found.id, ip: caller.origin.ip, request_id: caller.requestId }, 'password.reset.ok')
  return { warning }
}

export const linkInvalid = () => invalid('This link is not valid any more. Ask for a new one.')
