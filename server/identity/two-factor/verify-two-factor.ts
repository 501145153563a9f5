import { countDenial } from '../../history/audit/denials.ts'
import { accountFacts } from '../auth/account-facts.ts'
import { returnAttempt } from '../auth/attempts.ts'
import { lockUser } from '../auth/auth.queries.ts'
import { dropCachedSessions } from '../auth/session-cache.ts'
import { issueTokens, type SessionTokens } from '../auth/start-session.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, invalid, unauthenticated } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { openSecret } from './backup-codes.ts'
import { renewSession } from './renew-session.ts'
import { takeCodeAttempt } from './second-factor.ts'
import { readTotpCode, stepOfCode } from './totp.ts'
import { enrolledMail } from './two-factor-mails.ts'
import { markVerified, readFactor } from './two-factor.queries.ts'

/**
 * Turns on two-factor authentication with a code of the app, ends every session of the user and starts a new one.
 *
 * The code stays valid for one log-in, so that enrolling and logging in within 30 s works; TOTP_STRICT uses it up.
 * @throws AppError conflict (no setup, or already on), invalid (wrong code), rate_limited, unauthenticated
 */
export async function verifyTwoFactor(app: App, actor: SessionActor, token: string): Promise<SessionTokens> {
  const factor = await readFactor(app.db, actor.userId)
  if (factor === null) throw conflict('There is nothing to verify. Start with the setup.')
  if (factor.verified_at !== null) throw conflict('Two-factor authentication is on already.')
  const taken = await takeCodeAttempt(app, actor.userId, actor)
  const code = readTotpCode(token)
  const step = code === null ? null : await stepOfCode(openSecret(app, factor), code, app.clock.now())
  if (step === null) {
    countDenial(app, 'mfa.failed', { actor })
    throw invalid('token is not the code that your app shows now. Check the time of your device.')
  }
  const session = await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    if (user === null) throw unauthenticated('This session has ended. Log in again.')
    const usedStep = app.config.totpStrict ? step : null
    if (!(await markVerified(tx, factor.id, { now: app.clock.now(), step, usedStep })))
      throw conflict('The setup was replaced by a newer one. Verify that one.')
    const { session, facts } = await renewSession(tx, app, actor, { hasCode: true })
    const data = { factor_id: factor.id }
    await recordFacts(tx, factContext(app, actor), [
      ...(await accountFacts(tx, user.id, { kind: 'mfa.totp.enrolled', data })),
      ...(await accountFacts(tx, user.id, { kind: 'mfa.backup_codes.generated', data })),
      ...facts,
    ])
    await enqueueMails(tx, app, actor.orgId, [enrolledMail(app, user)])
    return session
  })
  await returnAttempt(app, taken)
  dropCachedSessions(app, { user_id: actor.userId })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip }, 'mfa.totp.enrolled')
  return issueTokens(app, session)
}
