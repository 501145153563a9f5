import { actorOfKey } from '../api-keys/key-actor.ts'
import type { ApiKeyActor, Caller, SessionActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { unauthenticated } from '../../platform/kernel/errors.ts'
import { readAccessToken } from './access-token.ts'
import { purgeAccounts } from './purge-accounts.ts'
import { liveSession } from './session-cache.ts'

/** The credentials of a request. */
export type Credentials = {
  /** The `Authorization` header. */
  readonly authorization: string | null | undefined
  /** The `svc_access` cookie. */
  readonly accessToken: string | null | undefined
}

export type Authenticator = {
  /**
   * @returns the actor, or null when the request has no credentials
   * @throws AppError unauthenticated when its credentials are not valid
   */
  authenticate(credentials: Credentials, caller: Caller): Promise<Authenticated | null>
  close(): void
}

/** Who sent a request. Only browsers send cookies without being asked to: other sites can make them. */
export type Authenticated = (
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
