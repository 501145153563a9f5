import { actorOfKey } from '../api-keys/key-actor.ts'
import type { ApiKeyActor, Caller, SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { readAccessToken } from './access-token.ts'
import { liveSession } from './session-cache.ts'
import { purgeRows } from '../../platform/jobs/purge.ts'
import { ownRows } from '../../platform/storage/own-rows.ts'
import { deleteOldAttempts } from './auth.queries.ts'
import { DEVICE_COOKIE_DAYS } from './device-token.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** The credentials of a request. */
type Credentials = {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `svc_access` cookie. */
  readonly accessToken: string | null | undefined
}

type Authenticator = {
  /**
   * @returns the actor, or null when the request has no credentials
   * @throws AppError unauthenticated when its credentials are not valid
   */
  authenticate(credentials: Credentials, caller: Caller): Promise<Authenticated | null>
  close(): void
}

/** Who sent a request. Only browsers send cookies without being asked to: other sites can make them. */
type Authenticated = (
  | { readonly actor: SessionActor; readonly viaCookie: true }
  | { readonly actor: ApiKeyActor; readonly viaCookie: false }
) & {
  /** When the session or key ends by itself; null for never. What stays open longer than its request must end then. */
  readonly expiresAt: Date | null
}

const PURGE_EVERY_MS = 10 * 60_000

/**
 * A bearer token takes precedence over the cookie, without fallback when it is not valid. Until it is closed, it also
 * deletes old sessions and counters every ten minutes.
 */
export function createAuthenticator(app: App): Authenticator {
  const purging = setInterval(() => {
    purgeAccounts(app).catch((error: unknown) =>
      app.log.warn(
        { err: error },
        'deleting old sessions and attempt counters failed; it is tried again in ten minutes',
      ),
    )
  }, PURGE_EVERY_MS)
  purging.unref()
  return {
    close: () => clearInterval(purging),
    async authenticate({ authorization, accessToken }, caller) {
      // `Basic` may be meant for a proxy in front of the service.
      const bearer = /^bearer(?:\s+(.*))?$/is.exec(authorization ?? '')
      if (bearer !== null) return { ...(await actorOfKey(app, (bearer[1] ?? '').trim(), caller)), viaCookie: false }
      if (accessToken == null || accessToken === '') return null
      return { ...(await sessionOfToken(app, accessToken, caller)), viaCookie: true }
    },
  }
}

/** @throws AppError unauthenticated */
export const actorOfToken = async (app: App, token: string, caller: Caller): Promise<SessionActor> =>
  (await sessionOfToken(app, token, caller)).actor

async function sessionOfToken(
  app: App,
  token: string,
  caller: Caller,
): Promise<{ readonly actor: SessionActor; readonly expiresAt: Date }> {
  const claims = await readAccessToken(app, token)
  const session = await liveSession(app, claims.sid)
  if (session === null || session.userId !== claims.sub || session.expiresAt <= app.clock.now()) throw ended()
  // `iat` has whole seconds: a token of the same second stays valid.
  if (session.notBefore !== null && claims.iat < Math.floor(session.notBefore.getTime() / 1000)) throw ended()
  const { userId, name, orgId, role, sessionId, expiresAt, idleExpiresAt } = session
  return {
    actor: { kind: 'user', userId, name, orgId, role, sessionId, ...caller },
    expiresAt: idleExpiresAt < expiresAt ? idleExpiresAt : expiresAt,
  }
}

const ended = () => unauthenticated('This session has ended. Log in again.')

/** Sessions end after 30 days at the latest; they are kept to answer questions about them. */
const SESSION_DAYS = 90

/** Deletes counters after a day, sessions 90 days after their last use, and devices whose cookie has expired. */
export async function purgeAccounts(app: App): Promise<void> {
  await deleteOldAttempts(app.db, new Date(app.clock.now().getTime() - DAY_MS))
  await purgeRows(app, [
    { rows: ownRows('sessions'), column: 'last_used_at', kept: { ms: SESSION_DAYS * DAY_MS } },
    { rows: ownRows('devices'), column: 'last_seen_at', kept: { ms: DEVICE_COOKIE_DAYS * DAY_MS } },
  ])
}
