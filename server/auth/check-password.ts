import type { Caller, RequestOrigin } from '../context/actor.ts'
import type { App } from '../context/app.ts'
import { accountKey, forgive, giveBack, LIMITS, networkKey, pairKey, takeAttempt, type Taken } from './attempts.ts'
import type { UserRow } from './auth.queries.ts'
import { keyedQueue } from './keyed-queue.ts'
import { isKnownNetwork } from './known-network.ts'
import { perApp } from './per-app.ts'

/**
 * Attempts are counted before they are checked, so several honest log-ins at once would look like failures; fewer at
 * once per account and network than the quota of five keeps them apart.
 */
const MOST_AT_ONCE = 4
const lanes = perApp(() => keyedQueue(MOST_AT_ONCE))

export type PasswordCheck = {
  readonly email: string
  /** Null where no such user can log in. That costs and counts the same. */
  readonly user: UserRow | null
  readonly password: string
}

/**
 * Whether this is the account's password, under the limits of security 4.5.
 * @throws AppError rate_limited; worded and counted the same for accounts that do not exist
 */
export function checkPassword(app: App, check: PasswordCheck, { origin }: Pick<Caller, 'origin'>): Promise<boolean> {
  const key = pairKey(check.email, origin.ip)
  return lanes(app)(key, async () => {
    const pair = await takeAttempt(app, LIMITS.loginPair, key, origin.ip)
    if (!pair.allowed) throw pair.refusal
    const others = await takeOthers(app, check, origin, pair.taken)
    const { user, password } = check
    const matches = await app.passwords.verify(user?.password_hash ?? null, password).catch(async (error: unknown) => {
      // Too busy to check: nobody failed.
      for (const taken of [pair.taken, ...others]) await giveBack(app, taken)
      throw error
    })
    if (matches) {
      await forgive(app, pair.taken)
      for (const taken of others) await giveBack(app, taken)
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
    // Attackers from everywhere must not lock the owner out: where this account has signed in before, it still can.
    if (check.user === null || !(await isKnownNetwork(app, check.user.id, origin.ip))) {
      await giveBack(app, pair)
      throw account.refusal
    }
  }
  const network = await takeAttempt(app, LIMITS.loginNetwork, networkKey(origin.ip), origin.ip)
  if (network.allowed) return [...taken, network.taken]
  for (const counted of [pair, ...taken]) await giveBack(app, counted)
  throw network.refusal
}

/** Once per hour at most; in the background, so that the answer does not tell that there is somebody to write to. */
function warnUser(app: App, user: UserRow | null): void {
  app.log.warn({ user_id: user?.id ?? null }, 'signin.locked: too many wrong passwords for one account')
  if (user === null) return
  const { publicUrl } = app.config
  app.mail
    .send({
      to: user.email,
      subject: 'Many failed log-ins to your Faultline account',
      text: `Hello ${user.name},\n\nsomebody tried more than ${LIMITS.loginAccount.quota} wrong passwords for your account at ${publicUrl} within an hour. For the rest of that hour you can log in only from networks you used before. Your account is not locked and nothing was changed.\n\nIf this was not you, make sure that your password is long and used nowhere else.\n`,
    })
    .catch((error: unknown) => app.log.warn({ err: error }, 'a mail about failed log-ins could not be sent'))
}
