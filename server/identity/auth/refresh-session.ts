import { setTimeout as sleep } from 'node:timers/promises'
import { type Caller, factContext } from '../../platform/context/actor.ts'
import { countDenial } from '../../history/audit/denials.ts'
import { type App, perApp } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { recordFacts } from '../../history/facts/record-facts.ts'
import { AppError, unauthenticated } from '../../platform/kernel/errors.ts'
import type { Tx } from '../../platform/storage/database.ts'
import { LIMITS, takeAttempt } from './attempts.ts'
import { endSession, lockSession, readMembership, readSession, rotateSession, touchMembership } from './auth.queries.ts'
import { orgOpener } from './org-sealer.ts'
import { isOwnRefreshToken, parseRefreshToken, type RefreshToken } from './refresh-token.ts'
import { announceSessions, dropCachedSessions } from './session-cache.ts'
import {
  hmacKeyPlace,
  idleEnd,
  issueTokens,
  type SessionState,
  type SessionTokens,
  aboutSession,
  sessionActor,
} from './start-session.ts'

/** Rotations in progress by token. Calls with the same token share the response. */
const rotations = perApp(() => new Map<string, Promise<SessionTokens>>())

/** Timers may fire a fraction of a millisecond early. After an early response, its client's next call would count as theft. */
const TIMER_SLACK_MS = 2

/**
 * Rotates the refresh token. A token is valid once. Its second use ends the session, unless the call arrived before the
 * response of the rotation was sent: then it is a parallel call of the same browser and gets the same new token. To
 * tell the two apart, every response of a rotation is sent `REFRESH_OVERLAP_MS` after it.
 *
 * Within this process parallel calls share one rotation. Across processes the row lock and `hold_until`, by the clock of
 * the database, decide.
 * @throws AppError unauthenticated, rate_limited
 */
export function refreshSession(app: App, tokenText: string | null, caller: Caller): Promise<SessionTokens> {
  const arrivedAtMs = app.clock.monotonicMs()
  if (tokenText === null || tokenText === '') return Promise.reject(unauthenticated('Log in to continue.'))
  const token = parseRefreshToken(tokenText)
  if (token === null) return Promise.reject(unauthenticated('The refresh token is not valid. Log in again.'))
  const running = rotations(app)
  const known = running.get(tokenText)
  if (known !== undefined) return known
  const rotation = rotate(app, token, caller, arrivedAtMs).finally(() => running.delete(tokenText))
  running.set(tokenText, rotation)
  return rotation
}

type Rotated =
  /** `leaveAtMs`: monotonic time of `hold_until`. No response is sent before it. */
  | { readonly kind: 'rotated' | 'parallel'; readonly session: SessionState; readonly leaveAtMs: number }
  | { readonly kind: 'theft' }

async function rotate(app: App, token: RefreshToken, caller: Caller, arrivedAtMs: number): Promise<SessionTokens> {
  const key = await keyOf(app, token)
  const result = await app.tx((tx) => rotateLocked(tx, app, { token, key, arrivedAtMs }, caller))
  if (result.kind === 'theft') {
    dropCachedSessions(app, { session_id: token.sessionId })
    app.log.warn(
      { session_id: token.sessionId, ip: caller.origin.ip, request_id: caller.requestId },
      'session.theft_detected',
    )
    throw endedBecause('theft', 'This refresh token was already used, so the session was ended. Log in again.')
  }
  const tokens = await issueTokens(app, result.session)
  const waitMs = Math.ceil(result.leaveAtMs - app.clock.monotonicMs()) + TIMER_SLACK_MS
  if (app.config.refreshOverlapMs > 0 && waitMs > 0) await sleep(waitMs)
  return tokens
}

/** @throws AppError unauthenticated when the token does not belong to its session */
async function keyOf(app: App, token: RefreshToken): Promise<Buffer> {
  const session = await readSession(app.db, token.sessionId)
  if (session === null) throw ended()
  const opener = await orgOpener(app, session.org_id)
  const key = opener.open(session.hmac_key_sealed, hmacKeyPlace(session.id, session.org_id))
  if (!isOwnRefreshToken(key, token)) throw unauthenticated('The refresh token is not valid. Log in again.')
  return key
}

type Presented = {
  readonly token: RefreshToken
  readonly key: Buffer
  /** Monotonic time. */
  readonly arrivedAtMs: number
}

/** @throws AppError unauthenticated, rate_limited; both roll back. A theft commits. */
async function rotateLocked(tx: Tx, app: App, presented: Presented, caller: Caller): Promise<Rotated> {
  const { token, key, arrivedAtMs } = presented
  const { origin } = caller
  const now = app.clock.now()
  // The time from here until the database reads its clock makes the call look later than it was, never earlier. A call
  // after the response is therefore never taken for a parallel one.
  const waitedMs = app.clock.monotonicMs() - arrivedAtMs
  const row = await lockSession(tx, token.sessionId)
  const lockedAtMs = app.clock.monotonicMs()
  if (row === null) throw ended()
  if (row.ended_at !== null) throw endedBecause(row.end_reason)
  if (row.idle_expires_at <= now || row.expires_at <= now) {
    throw unauthenticated('This session has expired. Log in again.')
  }
  const membership = await readMembership(tx, row.user_id, row.org_id)
  if (membership === null) throw ended()
  const member = { userId: row.user_id, orgId: row.org_id, role: membership.role }
  const actor = sessionActor(membership, row.id, caller)
  const record = (fact: Fact) => recordFacts(tx, factContext(app, actor, now), [fact])
  const stateAt = (counter: number, idleExpiresAt: Date): SessionState => ({
    member,
    sessionId: row.id,
    key,
    counter,
    idleExpiresAt,
    expiresAt: row.expires_at,
  })
  if (token.counter < row.counter) {
    const holdLeftMs = row.hold_left_ms ?? Number.NEGATIVE_INFINITY
    if (token.counter === row.counter - 1 && holdLeftMs + waitedMs > 0) {
      const session = stateAt(row.counter, row.idle_expires_at)
      return { kind: 'parallel', session, leaveAtMs: lockedAtMs + holdLeftMs }
    }
    await endSession(tx, row.id, 'theft', now)
    await announceSessions(tx, { session_id: row.id })
    await record({
      kind: 'session.theft_detected',
      ...aboutSession(actor),
      data: { family_id: row.id, revoked_sessions: 1, first_ip: row.ip, reuse_ip: origin.ip },
    })
    return { kind: 'theft' }
  }
  // The token is authentic but newer than the session: the database was restored from a backup.
  if (token.counter > row.counter) throw ended()
  const attempt = await takeAttempt(app, LIMITS.refresh, row.id, origin.ip, tx)
  if (!attempt.allowed) {
    countDenial(app, 'ratelimit.exceeded', { actor }, { name: 'limits', value: attempt.limit.name })
    throw attempt.refusal
  }
  const idleExpiresAt = idleEnd(now, row.expires_at)
  await rotateSession(tx, row.id, {
    counter: row.counter + 1,
    holdMs: app.config.refreshOverlapMs,
    now,
    idleExpiresAt,
    ip: origin.ip,
    userAgent: origin.userAgent,
  })
  await touchMembership(tx, row.user_id, row.org_id, now)
  await record({ kind: 'session.refreshed', ...aboutSession(actor), data: {} })
  const leaveAtMs = app.clock.monotonicMs() + app.config.refreshOverlapMs
  return { kind: 'rotated', session: stateAt(row.counter + 1, idleExpiresAt), leaveAtMs }
}

const ENDED = 'This session has ended. Log in again.'
const ended = () => unauthenticated(ENDED)

/** The header tells the dashboard why, so that its log-in page can explain it. The token is authentic. */
const endedBecause = (reason: string | null, sentence = ENDED) =>
  new AppError('unauthenticated', sentence, reason === null ? {} : { headers: { 'svc-session-ended': reason } })
