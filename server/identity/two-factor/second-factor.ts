import { countDenial, type Refused } from '../../history/audit/denials.ts'
import { accountFacts } from '../auth/account-facts.ts'
import { LIMITS, returnAttempt, takeAttempt, type Taken } from '../auth/attempts.ts'
import { selectMemberships, readUser, type UserRow } from '../auth/auth.queries.ts'
import type { Caller, SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { unauthenticated, type AppError } from '../../platform/kernel/errors.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'
import type { Connection, Tx } from '../../platform/storage/database.ts'
import { FEW_BACKUP_CODES, readBackupCode, openSecret } from './backup-codes.ts'
import { readTotpCode, stepOfCode } from './totp.ts'
import { codeUsedMail, wrongCodesMail } from './two-factor-mails.ts'
import {
  countUnusedCodes,
  hasUnusedCode,
  readFactor,
  consumeCode,
  consumeStep,
  type FactorRow,
} from './two-factor.queries.ts'

type Code = { readonly step: number } | { readonly hash: Buffer }

/** The factor that the user showed beside the first. It is not used up yet: {@link consumeSecondFactor} does that. */
type SecondFactor =
  /** The user has not turned on two-factor authentication. */
  | { readonly kind: 'none' }
  | { readonly kind: 'code'; readonly factorId: string; readonly code: Code; readonly taken: Taken }

/** Whether a sign-in of the user needs a code. */
export async function needsSecondFactor(db: Connection, userId: string): Promise<boolean> {
  return (await verifiedFactorOf(db, userId)) !== null
}

/**
 * Checks the code of a sign-in whose first factor was right, before its transaction: a backup code costs a hash. The
 * attempt is counted first, whatever the code is.
 * @param token a code of the app or a backup code; absent or empty when the user was not asked yet
 * @returns null when a code is needed and there is none
 * @throws AppError unauthenticated (wrong code), rate_limited
 */
export async function checkSecondFactor(
  app: App,
  userId: string,
  token: string | undefined,
  caller: Caller,
): Promise<SecondFactor | null> {
  const factor = await verifiedFactorOf(app.db, userId)
  if (factor === null) return { kind: 'none' }
  const text = token?.trim() ?? ''
  if (text === '') return null
  const taken = await takeCodeAttempt(app, userId, caller)
  const code = await readCode(app, factor, text).catch(async (error: unknown) => {
    // The code was not checked, so the attempt does not count.
    await returnAttempt(app, taken)
    throw error
  })
  if (code === null) throw wrongCode(app, userId, caller)
  return { kind: 'code', factorId: factor.id, code, taken }
}

/**
 * Uses up the code in the transaction of the sign-in, which holds the lock of the user's row: of parallel sign-ins with
 * one code exactly one succeeds.
 * @param whose the user, locked, and the organisation of the new session
 * @returns the facts of the sign-in, and a warning when few backup codes are left
 * @throws AppError unauthenticated when the code was used before
 */
export async function consumeSecondFactor(
  tx: Tx,
  app: App,
  whose: { readonly user: UserRow; readonly orgId: string },
  factor: SecondFactor,
  caller: Caller,
): Promise<{ readonly facts: readonly Fact[]; readonly warning: string | null }> {
  const { user, orgId } = whose
  const userId = user.id
  if (factor.kind === 'none') {
    // It may have been turned on since the check.
    if (await needsSecondFactor(tx, userId)) throw unauthenticated('Your log-in now needs a code. Log in again.')
    return { facts: [], warning: null }
  }
  const { factorId, code } = factor
  if ('step' in code) {
    if (!(await consumeStep(tx, factorId, code.step))) throw wrongCode(app, userId, caller)
    return { facts: [], warning: null }
  }
  if (!(await consumeCode(tx, factorId, code.hash, app.clock.now()))) throw wrongCode(app, userId, caller)
  const facts = await accountFacts(tx, userId, { kind: 'mfa.backup_code.used', data: { factor_id: factorId } })
  const left = await countUnusedCodes(tx, factorId)
  await enqueueMails(tx, app, orgId, [codeUsedMail(app, user, left)])
  return { facts, warning: left > FEW_BACKUP_CODES ? null : fewLeft(left) }
}

/** Takes a right code off the count of failures, after the commit of its sign-in. */
export async function returnCodeAttempt(app: App, factor: SecondFactor): Promise<void> {
  if (factor.kind === 'code') await returnAttempt(app, factor.taken)
}

/** Counts an attempt with a code. @throws AppError rate_limited */
export async function takeCodeAttempt(app: App, userId: string, who: Caller | SessionActor): Promise<Taken> {
  const attempt = await takeAttempt(app, LIMITS.secondFactor, userId, who.origin.ip)
  if (attempt.allowed) return attempt.taken
  const refused = refusedOf(userId, who)
  if (attempt.first) await warnUser(app, userId)
  countDenial(app, 'ratelimit.exceeded', refused, { name: 'limits', value: attempt.limit.name })
  throw attempt.refusal
}

/** Someone knows the password: at most one mail per window. */
async function warnUser(app: App, userId: string): Promise<void> {
  await app.tx(async (tx) => {
    const user = await readUser(tx, userId)
    const [membership] = await selectMemberships(tx, userId)
    if (user !== null && membership !== undefined)
      await enqueueMails(tx, app, membership.org_id, [wrongCodesMail(app, user, LIMITS.secondFactor.quota)])
  })
}

/** A signed-in user who turns it on is known; at the log-in, someone only claims the account. */
const refusedOf = (userId: string, who: Caller | SessionActor): Refused =>
  'kind' in who ? { actor: who } : { userId, caller: who }

async function verifiedFactorOf(db: Connection, userId: string): Promise<FactorRow | null> {
  const factor = await readFactor(db, userId)
  return factor === null || factor.verified_at === null ? null : factor
}

async function readCode(app: App, factor: FactorRow, text: string): Promise<Code | null> {
  const totp = readTotpCode(text)
  if (totp !== null) {
    const step = await stepOfCode(openSecret(app, factor), totp, app.clock.now())
    return step === null ? null : { step }
  }
  const code = readBackupCode(text)
  if (code === null) return null
  const hash = await app.passwords.hashCode(code, factor.backup_salt)
  return (await hasUnusedCode(app.db, factor.id, hash)) ? { hash } : null
}

/** The same for a wrong code and a used one. @returns what to throw */
function wrongCode(app: App, userId: string, caller: Caller): AppError {
  countDenial(app, 'mfa.failed', refusedOf(userId, caller))
  return unauthenticated(
    'The code is wrong or was used already. Wait for the next one of your app, and check the time of its device.',
  )
}

const fewLeft = (left: number): string =>
  left === 0
    ? 'This was your last backup code. Create new ones.'
    : `You have ${left} backup ${left === 1 ? 'code' : 'codes'} left. Create new ones.`
