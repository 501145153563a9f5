import { countDenial, type Refused } from '../../history/audit/denials.ts'
import type { Caller, SessionActor } from '../../platform/context/actor.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import type { AppError } from '../../platform/kernel/errors.ts'
import {
  accountKey,
  deviceKey,
  LIMITS,
  networkKey,
  pairKey,
  resetAttempts,
  returnAttempt,
  takeAttempt,
  type RefusedAttempt,
  type Limit,
  type Taken,
} from './attempts.ts'
import { type UserRow, readSession, selectMemberships } from './auth.queries.ts'
import type { SignInCaller } from './complete-sign-in.ts'
import { readDeviceToken } from './device-token.ts'
import { isDevice } from './devices.queries.ts'
import { enqueueMails } from '../../platform/mails/enqueue-mails.ts'

/**
 * Attempts are counted before the password is checked, so that parallel correct log-ins look like failures at first.
 * Fewer parallel checks per account and network, or device, than the quota of five keep them below it.
 */
const MAX_PARALLEL_CHECKS = 4
const lanes = perApp(() => keyedQueue(MAX_PARALLEL_CHECKS))

type PasswordCheck = {
  readonly email: string
  /** Null when no such user can log in. The check takes the same time and counts the same. */
  readonly user: UserRow | null
  /** The account with this address, also when it is disabled. For the audit log. */
  readonly accountId: string | null
  readonly password: string
}

/**
 * Whether this is the user's password, within the limits of docs/accounts.md. A known device has a limit of its own: wrong
 * passwords of strangers, also of the same network, do not keep its user out.
 * @throws AppError rate_limited, with the same sentence and count for accounts that do not exist
 */
export async function checkPassword(
  app: App,
  check: PasswordCheck,
  caller: SignInCaller | SessionActor,
): Promise<boolean> {
  const { ip } = caller.origin
  const device = check.user === null ? null : await knownDevice(app, check.user.id, caller)
  const limit = device === null ? LIMITS.loginPair : LIMITS.loginDevice
  const key = device === null ? pairKey(check.email, ip) : deviceKey(check.email, device)
  return lanes(app)(key, async () => {
    // First of all, so that a network beyond its limit uses up no count of an account.
    const network = device === null ? await take(app, check, caller, [], LIMITS.loginNetwork, networkKey(ip)) : null
    const own = await take(app, check, caller, network === null ? [] : [network], limit, key)
    const others =
      network === null
        ? []
        : [network, await take(app, check, caller, [network, own], LIMITS.loginAccount, accountKey(check.email))]
    const { user, password } = check
    const matches = await app.passwords.verify(user?.password_hash ?? null, password).catch(async (error: unknown) => {
      // The password was not checked, so the attempts do not count.
      for (const taken of [own, ...others]) await returnAttempt(app, taken)
      throw error
    })
    if (matches) {
      await resetAttempts(app, own)
      for (const taken of others) await returnAttempt(app, taken)
    } else if (check.accountId !== null) countDenial(app, 'signin.failed', refusedOf(check.accountId, caller))
    return matches
  })
}

/**
 * Counts an attempt.
 * @param taken what was counted for it before, and is returned when this limit refuses it
 * @throws AppError rate_limited
 */
async function take(
  app: App,
  check: PasswordCheck,
  caller: SignInCaller | SessionActor,
  taken: readonly Taken[],
  limit: Limit,
  key: string,
): Promise<Taken> {
  const attempt = await takeAttempt(app, limit, key, caller.origin.ip)
  if (attempt.allowed) return attempt.taken
  if (limit === LIMITS.loginAccount && attempt.first) warnOfFailedLogIns(app, check, caller)
  for (const one of taken) await returnAttempt(app, one)
  throw exceeded(app, check, caller, attempt)
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

/**
 * Runs at most `max` tasks per key in parallel. The others wait in order. A key is removed with its last task.
 */
function keyedQueue(max: number): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const lanes = new Map<string, { running: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    const lane = lanes.get(key) ?? { running: 0, waiting: [] }
    lanes.set(key, lane)
    if (lane.running < max) lane.running++
    // A task that ends passes its place on, so `running` does not change.
    else
      await new Promise<void>((resolve) => {
        lane.waiting.push(resolve)
      })
    try {
      return await work()
    } finally {
      const next = lane.waiting.shift()
      if (next === undefined) {
        lane.running--
        if (lane.running === 0) lanes.delete(key)
      } else next()
    }
  }
}

/**
 * The device of a caller who has proved before to be this user: of the `svc_device` cookie, or of the session. Attempts
 * of strangers do not count against it.
 * @returns its id, or the session's where the device is not known; null for strangers
 */
async function knownDevice(app: App, userId: string, caller: SignInCaller | SessionActor): Promise<string | null> {
  if ('kind' in caller) {
    const session = await readSession(app.db, caller.sessionId)
    // A provider can begin any number of sessions, each on another device: they share one count.
    if (session !== null && session.method !== 'password') return session.method
    return session?.device_id ?? caller.sessionId
  }
  const id = readDeviceToken(app, userId, caller.deviceToken)
  return id !== null && (await isDevice(app.db, userId, id)) ? id : null
}

/**
 * Warns the user of an account that exceeded its limit, at most once per hour. It works in the background: the response
 * time must not reveal whether the account exists.
 */
function warnOfFailedLogIns(
  app: App,
  { user, accountId }: { readonly user: UserRow | null; readonly accountId: string | null },
  caller: Caller,
): void {
  app.log.warn(
    { user_id: user?.id ?? null },
    'signin.locked: too many wrong passwords for one account; until the hour ends, it accepts log-ins from known devices only',
  )
  if (accountId !== null) countDenial(app, 'signin.locked', { userId: accountId, caller })
  if (user === null) return
  warn(app, user).catch((error: unknown) =>
    app.log.warn(
      { err: error },
      'the mail that warns of failed log-ins could not be queued; the user does not know of them',
    ),
  )
}

const warn = (app: App, user: UserRow): Promise<void> =>
  app.tx(async (tx) => {
    const [membership] = await selectMemberships(tx, user.id)
    if (membership === undefined) return
    await enqueueMails(tx, app, membership.org_id, [
      {
        type: 'signin.locked',
        userId: user.id,
        to: user.email,
        subject: 'Many failed log-ins to your Faultline account',
        name: user.name,
        paragraphs: [
          `Within an hour there were more than ${LIMITS.loginAccount.quota} attempts to log in to your account with a wrong password.`,
          'Until the hour is over you can log in only on devices that you logged in with before. Your account is not locked, and nothing was changed.',
        ],
        action: { label: 'Log in', url: `${app.config.publicUrl}/login` },
        closing: [
          'If this was not you, make sure that your password is long and that you use it only here, and turn on two-factor authentication.',
        ],
      },
    ])
  })
