import { countDenial, type Refused } from '../audit/denials.ts'
import type { Caller, SessionActor } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { perApp } from '../context/per-app.ts'
import type { AppError } from '../kernel/errors.ts'
import {
  accountKey,
  LIMITS,
  networkKey,
  pairKey,
  resetAttempts,
  returnAttempt,
  takeAttempt,
  type RefusedAttempt,
  type Taken,
} from './attempts.ts'
import type { UserRow } from './auth.queries.ts'
import { keyedQueue } from './keyed-queue.ts'
import { isKnownNetwork } from './known-network.ts'

/**
 * Attempts are counted before the password is checked, so that parallel correct log-ins look like failures at first.
 * Fewer parallel checks per account and network than the quota of five keep them below it.
 */
const MAX_PARALLEL_CHECKS = 4
const lanes = perApp(() => keyedQueue(MAX_PARALLEL_CHECKS))

export type PasswordCheck = {
  readonly email: string
  /** Null when no such user can log in. The check takes the same time and counts the same. */
  readonly user: UserRow | null
  /** Of the account with this address, also when it is disabled. For the audit log. */
  readonly accountId: string | null
  readonly password: string
}

/**
 * Whether this is the user's password, within the limits of docs/accounts.md.
 * @throws AppError rate_limited, with the same sentence and count for accounts that do not exist
 */
export function checkPassword(app: App, check: PasswordCheck, caller: Caller | SessionActor): Promise<boolean> {
  const { origin } = caller
  const key = pairKey(check.email, origin.ip)
  return lanes(app)(key, async () => {
    const pair = await takeAttempt(app, LIMITS.loginPair, key, origin.ip)
    if (!pair.allowed) throw exceeded(app, check, caller, pair)
    const others = await takeOthers(app, check, caller, pair.taken)
    const { user, password } = check
    const matches = await app.passwords.verify(user?.password_hash ?? null, password).catch(async (error: unknown) => {
      // The password was not checked, so the attempts do not count.
      for (const taken of [pair.taken, ...others]) await returnAttempt(app, taken)
      throw error
    })
    if (matches) {
      await resetAttempts(app, pair.taken)
      for (const taken of others) await returnAttempt(app, taken)
    } else if (check.accountId !== null) countDenial(app, 'signin.failed', refusedOf(check.accountId, caller))
    return matches
  })
}

async function takeOthers(
  app: App,
  check: PasswordCheck,
  caller: Caller | SessionActor,
  pair: Taken,
): Promise<Taken[]> {
  const { origin } = caller
  const taken: Taken[] = []
  const account = await takeAttempt(app, LIMITS.loginAccount, accountKey(check.email), origin.ip)
  if (account.allowed) {
    taken.push(account.taken)
  } else {
    if (account.first) warnUser(app, check, caller)
    // A distributed attack must not lock the user out: networks the user had sessions from stay allowed.
    if (check.user === null || !(await isKnownNetwork(app, check.user.id, origin.ip))) {
      await returnAttempt(app, pair)
      throw exceeded(app, check, caller, account)
    }
  }
  const network = await takeAttempt(app, LIMITS.loginNetwork, networkKey(origin.ip), origin.ip)
  if (network.allowed) return [...taken, network.taken]
  for (const counted of [pair, ...taken]) await returnAttempt(app, counted)
  throw exceeded(app, check, caller, network)
}

/** Counts for the audit log that a limit refused attempts for an account. @returns what to throw */
function exceeded(
  app: App,
  { accountId }: PasswordCheck,
  caller: Caller | SessionActor,
  { limit, refusal }: RefusedAttempt,
): AppError {
  if (accountId !== null)
    countDenial(app, 'ratelimit.exceeded', refusedOf(accountId, caller), { name: 'limits', value: limit.name })
  return refusal
}

/** A signed-in user who gives a wrong password is known; at the log-in, someone only claims the account. */
const refusedOf = (userId: string, caller: Caller | SessionActor): Refused =>
  'kind' in caller ? { actor: caller } : { userId, caller }

/** At most one mail per hour. It is sent in the background: the response time must not reveal that the account exists. */
function warnUser(app: App, { user, accountId }: PasswordCheck, caller: Caller): void {
  app.log.warn(
    { user_id: user?.id ?? null },
    'signin.locked: too many wrong passwords for one account; until the hour ends, it accepts log-ins from known networks only',
  )
  if (accountId !== null) countDenial(app, 'signin.locked', { userId: accountId, caller })
  if (user === null) return
  const { publicUrl } = app.config
  app.mail
    .send({
      to: user.email,
      subject: 'Many failed log-ins to your Faultline account',
      text: `Hello ${user.name},\n\nthere were more than ${LIMITS.loginAccount.quota} attempts with a wrong password for your account at ${publicUrl} within an hour. For the rest of that hour you can log in only from networks you used before. Your account is not locked and nothing was changed.\n\nIf this was not you, make sure that your password is long and that you use it only here.\n`,
    })
    .catch((error: unknown) =>
      app.log.warn(
        { err: error },
        'the mail that warns of failed log-ins could not be sent; the user does not know of them',
      ),
    )
}
