import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import { countDenial } from '../../history/audit/denials.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { forbidden, notFound, unauthenticated } from '../../platform/kernel/errors.ts'
import { LIMITS, takeAttempt } from './attempts.ts'
import { endSession, lockUser, membershipInSlug, readSession } from './auth.queries.ts'
import { maySignInByPassword } from './password-policy.ts'
import { announceSessions, dropCachedSessions } from './session-cache.ts'
import { SignInMethod } from './sign-in-method.api.ts'
import { issueTokens, startSession, type SessionTokens, aboutSession } from './start-session.ts'
import type { Role } from '#shared/permissions.ts'

/**
 * Ends the session and begins one in another organisation of the same user. The new session ends when the old one would
 * have ended: switching does not prolong a log-in.
 * @throws AppError not_found (also for an organisation that does not exist), forbidden (single sign-on), unauthenticated, rate_limited
 */
export async function switchOrg(
  app: App,
  actor: SessionActor,
  slug: string,
): Promise<{ readonly org: string; readonly role: Role; readonly tokens: SessionTokens }> {
  const { session, org } = await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    const membership = await membershipInSlug(tx, actor.userId, slug)
    if (membership === null) throw notFound('Organisation')
    const attempt = await takeAttempt(app, LIMITS.switchOrg, actor.userId, actor.origin.ip, tx)
    if (!attempt.allowed) {
      countDenial(app, 'ratelimit.exceeded', { actor }, { name: 'limits', value: attempt.limit.name })
      throw attempt.refusal
    }
    const old = await readSession(tx, actor.sessionId)
    // An organisation's provider answers for that organisation only.
    if (old?.method === 'oidc')
      throw forbidden('You logged in with single sign-on of this organisation. Log in again to open another one.')
    // Another session would go round the provider of an organisation that requires it.
    if (user === null || !(await maySignInByPassword(tx, user)))
      throw forbidden('An organisation of yours requires single sign-on. Log in with it to open that organisation.')
    // It may have ended since the request was admitted.
    if (old === null || !(await endSession(tx, old.id, 'switched_org', app.clock.now()))) throw ended()
    await announceSessions(tx, { session_id: old.id })
    const start = {
      method: SignInMethod.parse(old.method),
      origin: actor.origin,
      deviceId: old.device_id,
      continues: old,
    }
    const { session, revoked } = await startSession(tx, app, membership, start)
    await recordFacts(tx, factContext(app, actor), [
      { kind: 'session.org_switched', ...aboutSession(actor), data: { direction: 'out' } },
      {
        kind: 'session.org_switched',
        orgId: membership.org_id,
        userId: actor.userId,
        sessionId: session.sessionId,
        data: { direction: 'in' },
      },
      ...revoked,
    ])
    return { session, org: membership.org_slug }
  })
  dropCachedSessions(app, { session_id: actor.sessionId })
  app.log.info({ ...actorForLog(actor), to_org_id: session.member.orgId }, 'session.org_switched')
  return { org, role: session.member.role, tokens: await issueTokens(app, session) }
}

const ended = () => unauthenticated('This session has ended. Log in again.')
