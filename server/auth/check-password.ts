import type { Caller, RequestOrigin } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import {
  accountKey,
  LIMITS,
  networkKey,
  pairKey,
  resetAttempts,
  returnAttempt,
  takeAttempt,
  type Taken,
} from './attempts.ts'
import type { UserRow } from './auth.queries.ts'
import { keyedQueue } from './keyed-queue.ts'
import { isKnownNetwork } from './known-network.ts'
import { perApp } from './per-app.ts'

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
  readonly password: string
}

/**
 * Whether this is the user's password, within the limits of docs/accounts.md.
 * @throws AppError rate_limited, with the same sentence and count for accounts that do not exist
 */
export function checkPassword(app: App, check: PasswordCheck, { origin }: Pick<Caller, 'origin'>): Promise<boolean> {
  const key = pairKey(check.email, origin.ip)
  return lanes(app)(key, async () => {
    const pair = await takeAttempt(app, LIMITS.loginPair, key, origin.ip)
    if (!pair.allowed) throw pair.refusal
    const others = await takeOthers(app, check, origin, pair.taken)
    const { user, password } = check
    const matches = await app.passwords.verify(user?.password_hash ?? null, password).catch(async (error: unknown) => {
      // The password was not checked, so the attempts do not count.
      for (const taken of [pair.taken, ...others]) await returnAttempt(app, taken)
      throw error
    })
    if (matches) {
      await resetAttempts(app, pair.taken)
      for (const taken of others) await returnAttempt(app, taken)
    }
    return matches
  })
}

async function takeOthers(app: App, check: PasswordCheck, origin: RequestOrigin, pair: Taken): Promise<Taken[]> {
  const taken: Taken[] = []
  const account = await takeAttempt(app, LIMITS.loginAccount, accountKey(check.email), origin.ip)
  if (account.allowed) {
    taken.push(account.taken)
  } else {
    if (account.first) warnUser(app, check.user)
    // A distributed attack must not lock the user out: networks the user had sessions from stay allowed.
    if (check.user === null || !(await isKnownNetwork(app, check.user.id, origin.ip))) {
      await returnAttempt(app, pair)
      throw account.refusal
    }
  }
  const network = await takeAttempt(app, LIMITS.loginNetwork, networkKey(origin.ip), origin.ip)
  if (network.allowed) return [...taken, network.taken]
  for (const counted of [pair, ...taken]) await returnAttempt(app, counted)
  throw network.refusal
}

/** At most one mail per hour. It is sent in the background: the response time must not reveal that the account exists. */
function warnUser(app: App, user: UserRow | null): void {
  app.log.warn(
    { user_id: user?.id ?? null },
    'signin.locked: too many wrong passwords for one account; until the hour ends, it accepts log-ins from known networks only',
  )
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
