import { createHash } from 'node:crypto'
import { isLoopbackHost } from '../config.ts'
import type { App } from '../context/app.ts'
import { rateLimited, type AppError } from '../kernel/errors.ts'
import type { Connection } from '../storage/database.ts'
import { countAttempt, forgetAttempts, returnAttempt } from './auth.queries.ts'
import { networkOf } from './network.ts'

/** The limits of security 4.5 for accounts. Counted before the check they protect, in one statement each. */

const MINUTE_MS = 60_000

type Limit = {
  /** Name of the policy in the `RateLimit` headers and of the bucket in the table. */
  readonly name: string
  readonly quota: number
  readonly windowMs: number
  /** Passing the quota blocks for 1, 2, 4 … up to this many minutes instead of until the window's end. */
  readonly mostBlockMs: number | null
  /** Judges the client's address alone: does not apply to loopback clients in relaxed mode. */
  readonly byAddress: boolean
}

export const LIMITS = {
  loginPair: { name: 'login', quota: 5, windowMs: 15 * MINUTE_MS, mostBlockMs: 15 * MINUTE_MS, byAddress: false },
  loginAccount: { name: 'login-account', quota: 50, windowMs: 60 * MINUTE_MS, mostBlockMs: null, byAddress: false },
  loginNetwork: { name: 'login-network', quota: 60, windowMs: 15 * MINUTE_MS, mostBlockMs: null, byAddress: true },
  signUp: { name: 'signup', quota: 60, windowMs: 60 * MINUTE_MS, mostBlockMs: null, byAddress: true },
  switchOrg: { name: 'switch-org', quota: 60, windowMs: 60 * MINUTE_MS, mostBlockMs: null, byAddress: false },
  refresh: { name: 'refresh', quota: 60, windowMs: 60 * MINUTE_MS, mostBlockMs: null, byAddress: false },
} as const satisfies Record<string, Limit>

/** An attempt that was counted. Give it back when it turns out not to be a failure. */
export type Taken = {
  readonly limit: Limit
  readonly key: string
  /** Null when the limit does not apply: nothing was counted. */
  readonly windowStartedAt: Date | null
}

export type Attempt =
  | { readonly allowed: true; readonly taken: Taken }
  /** `first`: no attempt of this window was refused before. */
  | { readonly allowed: false; readonly first: boolean; readonly refusal: AppError }

/**
 * Counts an attempt and says whether it may go on. Refused attempts do not prolong anything.
 * @param key what is counted, see the `…Key` functions
 * @param ip of the client, for the loopback rule
 * @param db the transaction, when the count shall stand or fall with it
 */
export async function takeAttempt(
  app: App,
  limit: Limit,
  key: string,
  ip: string,
  db: Connection = app.db,
): Promise<Attempt> {
  const free = limit.byAddress && app.config.mode === 'relaxed' && isLoopbackHost(ip)
  if (app.config.rateLimitScale === 0 || free) return { allowed: true, taken: { limit, key, windowStartedAt: null } }
  const now = app.clock.now()
  const quota = Math.max(1, Math.round(limit.quota * app.config.rateLimitScale))
  const row = await countAttempt(db, {
    bucket: limit.name,
    key,
    now,
    quota,
    windowMs: limit.windowMs,
    firstBlockMs: limit.mostBlockMs === null ? null : MINUTE_MS,
    mostBlockMs: limit.mostBlockMs,
  })
  if (row.attempts <= quota) return { allowed: true, taken: { limit, key, windowStartedAt: row.window_started_at } }
  const until = row.blocked_until ?? new Date(row.window_started_at.getTime() + limit.windowMs)
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return {
    allowed: false,
    first: row.attempts === quota + 1 && row.strikes <= 1,
    refusal: rateLimited(`Too many attempts. Try again in ${inWords(seconds)}.`, seconds, {
      'ratelimit-policy': `"${limit.name}";q=${quota};w=${limit.windowMs / 1000}`,
      ratelimit: `"${limit.name}";r=0;t=${seconds}`,
    }),
  }
}

/** The attempt was no failure: it does not count. */
export async function giveBack(app: App, taken: Taken): Promise<void> {
  if (taken.windowStartedAt !== null) await returnAttempt(app.db, taken.limit.name, taken.key, taken.windowStartedAt)
}

/** The right password from this place: earlier typing errors there are forgotten. */
export async function forgive(app: App, taken: Taken): Promise<void> {
  if (taken.windowStartedAt !== null) await forgetAttempts(app.db, taken.limit.name, taken.key)
}

/** Digests, so that the table holds no address of anybody who only mistyped. */
const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('base64url')

export const pairKey = (email: string, ip: string): string => digest(email, networkOf(ip))
export const accountKey = (email: string): string => digest(email)
export const networkKey = (ip: string): string => digest(networkOf(ip))
export const addressKey = (ip: string): string => digest(ip)

const inWords = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`)
