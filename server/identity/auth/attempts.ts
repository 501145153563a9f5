import ipaddr from 'ipaddr.js'
import { createHash } from 'node:crypto'
import { isLoopbackHost } from '../../config/config.ts'
import type { App } from '../../platform/context/app.ts'
import { rateLimited, type AppError } from '../../platform/kernel/errors.ts'
import type { Connection } from '../../platform/storage/database.ts'
import { countAttempt, deleteAttempts, uncountAttempt } from './auth.queries.ts'
import { MINUTE_MS } from '../../platform/kernel/day.ts'

/**
 * Limits of log-in, sign-up and refresh (docs/accounts.md). Each attempt is counted in one statement, before the check
 * that the limit protects: parallel requests cannot exceed it.
 */

export type Limit = {
  /** Name of the policy in the `RateLimit` headers and of the bucket in the table. */
  readonly name: string
  readonly quota: number
  readonly windowMs: number
  /** Exceeding the quota blocks for 1, 2, 4 … minutes up to this time. Null blocks until the window ends. */
  readonly maxBlockMs: number | null
  /** The limit counts by address alone. It does not apply to loopback clients in relaxed mode. */
  readonly byAddress: boolean
}

export const LIMITS = {
  loginPair: { name: 'login', quota: 5, windowMs: 15 * MINUTE_MS, maxBlockMs: 15 * MINUTE_MS, byAddress: false },
  loginDevice: {
    name: 'login-device',
    quota: 5,
    windowMs: 15 * MINUTE_MS,
    maxBlockMs: 15 * MINUTE_MS,
    byAddress: false,
  },
  loginAccount: { name: 'login-account', quota: 50, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  loginNetwork: { name: 'login-network', quota: 60, windowMs: 15 * MINUTE_MS, maxBlockMs: null, byAddress: true },
  secondFactor: { name: 'totp', quota: 10, windowMs: 15 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  signUp: { name: 'signup', quota: 60, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: true },
  acceptInvite: { name: 'accept-invite', quota: 60, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: true },
  /** Mails of an organisation to addresses outside of it. */
  invite: { name: 'invite', quota: 500, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  /** Mails with an invitation to one address, of all organisations. */
  inviteEmail: { name: 'invite-email', quota: 5, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  forgotEmail: { name: 'forgot-password', quota: 5, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  forgotAddress: {
    name: 'forgot-password-address',
    quota: 30,
    windowMs: 60 * MINUTE_MS,
    maxBlockMs: null,
    byAddress: true,
  },
  changeEmail: { name: 'change-email', quota: 5, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  switchOrg: { name: 'switch-org', quota: 60, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  /** Tests of alert actions, of an organisation: they reach addresses that a member typed. */
  alertTest: { name: 'alert-test', quota: 120, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
  refresh: { name: 'refresh', quota: 60, windowMs: 60 * MINUTE_MS, maxBlockMs: null, byAddress: false },
} as const satisfies Record<string, Limit>

/** An attempt that was counted. Return it when it was not a failure. */
export type Taken = {
  readonly limit: Limit
  readonly key: string
  /** Null when the limit does not apply: nothing was counted. */
  readonly windowStartedAt: Date | null
}

export type RefusedAttempt = {
  readonly allowed: false
  readonly limit: Limit
  /** The first refused attempt of its window. */
  readonly first: boolean
  readonly refusal: AppError
}

export type Attempt = { readonly allowed: true; readonly taken: Taken } | RefusedAttempt

/**
 * Counts an attempt and returns whether it is allowed. Refused attempts do not extend a block.
 * @param key what the limit counts by, from one of the `…Key` functions
 * @param ip of the client, for the loopback rule
 * @param db the transaction, when the count must be rolled back with it
 */
export async function takeAttempt(
  app: App,
  limit: Limit,
  key: string,
  ip: string,
  db: Connection = app.db,
): Promise<Attempt> {
  const isExempt = limit.byAddress && app.config.mode === 'relaxed' && isLoopbackHost(ip)
  if (app.config.rateLimitScale === 0 || isExempt)
    return { allowed: true, taken: { limit, key, windowStartedAt: null } }
  const now = app.clock.now()
  const quota = Math.max(1, Math.round(limit.quota * app.config.rateLimitScale))
  const row = await countAttempt(db, {
    bucket: limit.name,
    key,
    now,
    quota,
    windowMs: limit.windowMs,
    firstBlockMs: limit.maxBlockMs === null ? null : MINUTE_MS,
    maxBlockMs: limit.maxBlockMs,
  })
  if (row.attempts <= quota) return { allowed: true, taken: { limit, key, windowStartedAt: row.window_started_at } }
  const until = row.blocked_until ?? new Date(row.window_started_at.getTime() + limit.windowMs)
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000))
  return {
    allowed: false,
    limit,
    first: row.attempts === quota + 1 && row.strikes <= 1,
    refusal: rateLimited(`Too many attempts. Try again in ${inWords(seconds)}.`, seconds, {
      'ratelimit-policy': `"${limit.name}";q=${quota};w=${limit.windowMs / 1000}`,
      ratelimit: `"${limit.name}";r=0;t=${seconds}`,
    }),
  }
}

/** Removes an attempt that was not a failure from the count. */
export async function returnAttempt(app: App, taken: Taken): Promise<void> {
  if (taken.windowStartedAt !== null) await uncountAttempt(app.db, taken.limit.name, taken.key, taken.windowStartedAt)
}

/** Resets the counter after the correct password. */
export async function resetAttempts(app: App, taken: Taken): Promise<void> {
  if (taken.windowStartedAt !== null) await deleteAttempts(app.db, taken.limit.name, taken.key)
}

/** Digests: the table must not hold e-mail addresses that were only mistyped. */
const digest = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('base64url')

export const deviceKey = (email: string, deviceId: string): string => digest(email, deviceId)
export const pairKey = (email: string, ip: string): string => digest(email, toNetwork(ip))
export const accountKey = (email: string): string => digest(email)
export const networkKey = (ip: string): string => digest(toNetwork(ip))
export const addressKey = (ip: string): string => digest(ip)

const inWords = (seconds: number): string => (seconds < 120 ? `${seconds} s` : `${Math.ceil(seconds / 60)} minutes`)

/** The network that limits count an address by: /24 of IPv4, /56 of IPv6. */
export function toNetwork(ip: string): string {
  if (!ipaddr.isValid(ip)) return 'unknown'
  const address = ipaddr.process(ip)
  const bits = address.kind() === 'ipv4' ? 24 : 56
  const bytes = address.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes).toString()}/${bits}`
}
