import { accountFacts } from '../auth/account-facts.ts'
import { lockUser } from '../auth/auth.queries.ts'
import { actorForLog, type SessionActor, factContext } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { conflict, unauthenticated } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import { newBackupCodes } from './backup-codes.ts'
import { proveIdentity } from '../auth/require-recent-sign-in.ts'
import { newCodesMail } from './two-factor-mails.ts'
import { readFactor, replaceCodes } from './two-factor.queries.ts'

/**
 * Creates ten new backup codes; the old ones stop working.
 * @throws AppError conflict (two-factor authentication is off), and those of {@link proveIdentity}
 */
export async function replaceBackupCodes(
  app: App,
  actor: SessionActor,
  password: string | undefined,
): Promise<string[]> {
  await proveIdentity(app, actor, password)
  const { codes, salt, hashes } = await newBackupCodes(app)
  await app.tx(async (tx) => {
    const user = await lockUser(tx, actor.userId)
    if (user === null) throw unauthenticated('This session has ended. Log in again.')
    const factor = await readFactor(tx, user.id)
    if (factor === null || factor.verified_at === null) throw conflict('Two-factor authentication is off.')
    await replaceCodes(tx, factor.id, salt, hashes)
    const fact = { kind: 'mfa.backup_codes.generated', data: { factor_id: factor.id } } as const
    await recordFacts(tx, factContext(app, actor), await accountFacts(tx, user.id, fact))
    await enqueueMails(tx, app, actor.orgId, [newCodesMail(app, user)])
  })
  app.log.info({ ...actorForLog(actor), ip: actor.origin.ip }, 'mfa.backup_codes.generated')
  return [...codes]
}
