import { randomBytes } from 'node:crypto'
import type { RequestOrigin, Caller, SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import type { Fact } from '../../history/facts/kinds.ts'
import { newId } from '../../platform/kernel/ids.ts'
import type { Role } from '#shared/permissions.ts'
import type { Tx } from '../../platform/storage/database.ts'
import type { OrgSealedColumn } from '../../platform/storage/sealed-column.ts'
import { makeAccessToken } from './access-token.ts'
import type { SignInMethod } from './sign-in-method.api.ts'
import {
  endSurplusSessions,
  insertSession,
  lowerNotBefore,
  touchMembership,
  type MembershipRow,
  type SessionRow,
  type EndedSession,
} from './auth.queries.ts'
import { orgSealer } from './org-sealer.ts'
import { makeRefreshToken } from './refresh-token.ts'
import { announceSessions } from './session-cache.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** A session ends after this time without a refresh. */
const IDLE_MS = 7 * DAY_MS
/** A session ends after this time in any case. */
const ABSOLUTE_MS = 30 * DAY_MS
const MAX_SESSIONS = 20
const KEY_BYTES = 32

/** The tokens that a signed-in browser keeps. */
export type SessionTokens = {
  readonly accessToken: string
  readonly refreshToken: string
  /** Whole seconds until an unused refresh token expires. */
  readonly refreshLifeSeconds: number
}

/** Whose session it is: a user in one organisation, with the role of now. */
type SessionMember = { readonly userId: string; readonly orgId: string; readonly role: Role }

/** The place of a session's HMAC key, for the sealer. */
export const hmacKeyPlace = (sessionId: string, orgId: string): string =>
  `sessions:hmac_key_sealed:${sessionId}:${orgId}`

export const HMAC_KEYS: OrgSealedColumn = {
  table: 'sessions',
  column: 'hmac_key_sealed',
  keys: ['id'],
  placeOf: (orgId, sessionId = '') => hmacKeyPlace(sessionId, orgId),
}

/** When the session ends if it is not used: in a week, at the latest at its absolute end. */
export const idleEnd = (now: Date, expiresAt: Date): Date =>
  new Date(Math.min(now.getTime() + IDLE_MS, expiresAt.getTime()))

/**
 * Begins a session of one membership and ends the user's oldest sessions beyond 20. The transaction holds the lock of the
 * user's row.
 * @param start.method how the user proved who they are
 * @param start.deviceId the device it is started on
 * @param start.hasCode whether the user proved the second factor of the account with a code
 * @param start.continues the session that this one continues in another organisation; by default it is a new log-in of 30
 *   days
 * @returns the state from which {@link issueTokens} makes tokens after the commit; facts of the sessions that ended
 */
export async function startSession(
  tx: Tx,
  app: App,
  membership: Pick<MembershipRow, 'user_id' | 'org_id' | 'role'>,
  start: {
    readonly method: SignInMethod
    readonly origin: RequestOrigin
    readonly deviceId?: string | null
    readonly hasCode?: boolean
    readonly continues?: Pick<SessionRow, 'authenticated_at' | 'expires_at' | 'has_code'>
  },
): Promise<{ readonly session: SessionState; readonly revoked: readonly Fact[] }> {
  const { user_id: userId, org_id: orgId, role } = membership
  const now = app.clock.now()
  const sessionId = newId()
  const key = randomBytes(KEY_BYTES)
  const expiresAt = start.continues?.expires_at ?? new Date(now.getTime() + ABSOLUTE_MS)
  const idleExpiresAt = idleEnd(now, expiresAt)
  const sealer = await orgSealer(app, orgId, tx)
  await insertSession(tx, {
    id: sessionId,
    user_id: userId,
    org_id: orgId,
    method: start.method,
    hmac_key_sealed: sealer.seal(key, hmacKeyPlace(sessionId, orgId)),
    authenticated_at: start.continues?.authenticated_at ?? now,
    created_at: now,
    last_used_at: now,
    idle_expires_at: idleExpiresAt,
    expires_at: expiresAt,
    ip: start.origin.ip,
    user_agent: start.origin.userAgent,
    device_id: start.deviceId ?? null,
    has_code: start.hasCode ?? start.continues?.has_code ?? false,
  })
  await lowerNotBefore(tx, userId, now)
  const surplus = await endSurplusSessions(tx, { userId, newId: sessionId, max: MAX_SESSIONS, now })
  for (const { id } of surplus) await announceSessions(tx, { session_id: id })
  await touchMembership(tx, userId, orgId, now)
  const session = { member: { userId, orgId, role }, sessionId, key, counter: 0, idleExpiresAt, expiresAt }
  return { session, revoked: revokedSessions(userId, surplus, 'too_many') }
}

/** The state from which the tokens of a session are made. */
export type SessionState = {
  readonly member: SessionMember
  readonly sessionId: string
  readonly key: Buffer
  readonly counter: number
  readonly idleExpiresAt: Date
  readonly expiresAt: Date
}

/**
 * Both tokens of a session. Call it after the commit: signing may query the database, and a transaction that waits for a
 * second connection may never end.
 */
export async function issueTokens(app: App, session: SessionState): Promise<SessionTokens> {
  const { member, sessionId, key, counter, idleExpiresAt, expiresAt } = session
  return {
    accessToken: await makeAccessToken(app, {
      ...member,
      sessionId,
      sessionEndsAt: expiresAt,
    }),
    refreshToken: makeRefreshToken(key, sessionId, counter),
    refreshLifeSeconds: Math.max(0, Math.floor((idleExpiresAt.getTime() - app.clock.now().getTime()) / 1000)),
  }
}

/** The actor of a request that starts or uses this session of a member. */
export const sessionActor = (
  { user_id: userId, user_name: name, org_id: orgId, role }: MembershipRow,
  sessionId: string,
  { origin, requestId }: Caller,
): SessionActor => ({ kind: 'user', userId, name, orgId, role, sessionId, origin, requestId })

/** The ids that a fact about the actor's own session names. */
export const aboutSession = ({ orgId, userId, sessionId }: SessionActor) => ({ orgId, userId, sessionId })

export const revokedSessions = (userId: string, ended: readonly EndedSession[], reason: string): Fact[] =>
  ended.map(({ id, org_id: orgId }) => ({ kind: 'session.revoked', orgId, userId, sessionId: id, data: { reason } }))
